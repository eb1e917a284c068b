//! What a device is and can do, as it answered itself.

use serde::{Deserialize, Serialize};

/// Identity and abilities of a device under one driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// The device's own name, for example `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// The driver's name, for example `llvmpipe`.
    pub driver: String,
    /// The driver's own version text.
    pub driver_version: String,
    /// Vulkan version of the device, `major.minor.patch`.
    pub api_version: String,
    /// `cpu`, `discrete`, `integrated`, `virtual`, `other`, or [`DeviceInfo::INTERPRETER`].
    pub kind: String,
    /// PCI vendor id or a Khronos-assigned number.
    pub vendor_id: u32,
    /// The vendor's own device id.
    pub device_id: u32,
    /// What it offers at most.
    pub limits: Limits,
    /// What it can do.
    pub features: Features,
}

impl DeviceInfo {
    /// The kind of a device that interprets kernels, and watches them.
    pub const INTERPRETER: &str = "interpreter";

    /// Whether it interprets kernels, and watches them.
    #[must_use]
    pub fn is_interpreter(&self) -> bool {
        self.kind == Self::INTERPRETER
    }

    /// What selects this device on the command line: `soft`, or `vk:` with the name.
    #[must_use]
    pub fn selector(&self) -> String {
        if self.is_interpreter() { self.name.clone() } else { format!("vk:{}", self.name) }
    }

    /// The subgroup sizes that a kernel may require, ascending; none where it may require none.
    pub fn subgroup_sizes(&self) -> impl Iterator<Item = u32> + use<> {
        let (min, max) = (self.limits.subgroup_size_min, self.limits.subgroup_size_max);
        let can_choose = self.features.subgroup_size_control;
        let powers = (0..u32::BITS).map(|bit| 1_u32 << bit);
        powers.filter(move |size| can_choose && (min..=max).contains(size))
    }
}

/// Limits that a plan or a case can run into.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Invocations in one workgroup.
    pub workgroup_invocations: u32,
    /// Workgroup size along each axis.
    pub workgroup_size: [u32; 3],
    /// Workgroups along each axis of a dispatch.
    pub workgroup_count: [u32; 3],
    /// Shared memory of a workgroup in bytes.
    pub shared_bytes: u32,
    /// Push constant block in bytes.
    pub push_bytes: u32,
    /// One storage buffer binding in bytes.
    pub storage_range_bytes: u64,
    /// Alignment of a binding's offset in bytes.
    pub storage_offset_alignment: u64,
    /// Storage buffers in one kernel.
    pub storage_buffers: u32,
    /// Invocations in a subgroup, as the driver reports it.
    pub subgroup_size: u32,
    /// The smallest subgroup size that a kernel may require; 0 in runs of older versions.
    #[serde(default)]
    pub subgroup_size_min: u32,
    /// The largest one.
    #[serde(default)]
    pub subgroup_size_max: u32,
    /// Subgroups in one workgroup of a kernel that requires a size.
    #[serde(default)]
    pub workgroup_subgroups: u32,
    /// The largest single allocation in bytes.
    pub allocation_bytes: u64,
    /// Nanoseconds per timestamp tick; 0 where the queue has no timestamps.
    pub timestamp_period_ns: f64,
    /// Bits of a timestamp that count; 0 where the queue has none.
    pub timestamp_bits: u32,
}

impl Limits {
    /// The limits that Vulkan 1.1 requires of every device; subgroups of 4, no timestamps.
    pub const REQUIRED: Self = Self {
        workgroup_invocations: 128,
        workgroup_size: [128, 128, 64],
        workgroup_count: [65_535; 3],
        shared_bytes: 16_384,
        push_bytes: 128,
        storage_range_bytes: 1 << 27,
        storage_offset_alignment: 256,
        storage_buffers: 4,
        subgroup_size: 4,
        subgroup_size_min: 4,
        subgroup_size_max: 4,
        workgroup_subgroups: 32,
        allocation_bytes: 1 << 30,
        timestamp_period_ns: 0.0,
        timestamp_bits: 0,
    };
}

/// Features that a kernel can need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// f16 in storage buffers (`StorageBuffer16BitAccess`).
    pub storage_f16: bool,
    /// f16 arithmetic (`Float16`).
    pub arithmetic_f16: bool,
    /// 8-bit integers in storage buffers.
    pub storage_i8: bool,
    /// 8-bit integer arithmetic.
    pub arithmetic_i8: bool,
    /// 16-bit integer arithmetic.
    pub arithmetic_i16: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// 64-bit floats.
    pub float64: bool,
    /// atomicAdd on f32 in storage buffers (`VK_EXT_shader_atomic_float`).
    pub atomic_add_f32: bool,
    /// Subgroup votes, ballots, shuffles and arithmetic in compute, all four.
    pub subgroup_arithmetic: bool,
    /// A compute kernel may require a subgroup size (`VK_EXT_subgroup_size_control`).
    #[serde(default)]
    pub subgroup_size_control: bool,
    /// f32 results round to nearest even when the module asks for it.
    pub rounding_rte_f32: bool,
    /// f32 denormals survive when the module asks for it.
    pub denorm_preserve_f32: bool,
    /// Pointers that are chosen at run time (`VariablePointers`).
    #[serde(default)]
    pub variable_pointers: bool,
    /// The Vulkan memory model, with scopes up to the device.
    #[serde(default)]
    pub vulkan_memory_model: bool,
    /// Shared memory that is zero at first where the module asks for it.
    #[serde(default)]
    pub zeroed_shared: bool,
    /// Blocks in shared memory (`WorkgroupMemoryExplicitLayoutKHR`).
    #[serde(default)]
    pub explicit_shared_layout: bool,
    /// 8-bit numbers in push constants.
    #[serde(default)]
    pub push_i8: bool,
    /// 16-bit numbers in push constants.
    #[serde(default)]
    pub push_f16: bool,
}

impl Features {
    /// Whether the device has a capability that a module declares, by its SPIR-V name.
    /// Capabilities that every Vulkan 1.1 compute device has, and unknown ones, are left to the
    /// driver.
    #[must_use]
    pub fn has(&self, capability: &str) -> bool {
        match capability {
            "StorageBuffer16BitAccess" | "UniformAndStorageBuffer16BitAccess" => self.storage_f16,
            "Float16" => self.arithmetic_f16,
            "StorageBuffer8BitAccess" | "UniformAndStorageBuffer8BitAccess" => self.storage_i8,
            "Int8" => self.arithmetic_i8,
            "Int16" => self.arithmetic_i16,
            "Int64" => self.int64,
            "Float64" => self.float64,
            "AtomicFloat32AddEXT" => self.atomic_add_f32,
            "GroupNonUniformArithmetic"
            | "GroupNonUniformShuffle"
            | "GroupNonUniformBallot"
            | "GroupNonUniformVote" => self.subgroup_arithmetic,
            "VariablePointers" | "VariablePointersStorageBuffer" => self.variable_pointers,
            "VulkanMemoryModel" | "VulkanMemoryModelDeviceScope" => self.vulkan_memory_model,
            "WorkgroupMemoryExplicitLayoutKHR" => self.explicit_shared_layout,
            "StoragePushConstant8" => self.push_i8,
            "StoragePushConstant16" => self.push_f16,
            _ => true,
        }
    }
}
