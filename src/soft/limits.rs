//! What the interpreter says of itself.

use std::fs;

use crate::device::{DeviceInfo, Features, Limits};

/// The name of the device, which selects it.
pub(super) const NAME: &str = "soft";

/// The smallest subgroup, and the largest one.
pub(super) const SUBGROUP_SIZES: [u32; 2] = [4, 128];

/// Addresses in a buffer have 32 bits, and the last ones mean that there is none.
const MOST_BYTES: u64 = 0xffff_ff00;

/// Limits beyond those of most devices, so that it is the kernel that doesn't fit and never the
/// interpreter; what a real device lacks is asked of the real one.
pub(super) fn info(subgroup_size: u32) -> DeviceInfo {
    let [least, most] = SUBGROUP_SIZES;
    DeviceInfo {
        name: NAME.to_owned(),
        driver: "vklab".to_owned(),
        driver_version: env!("CARGO_PKG_VERSION").to_owned(),
        api_version: "1.3.0".to_owned(),
        kind: DeviceInfo::INTERPRETER.to_owned(),
        vendor_id: 0,
        device_id: 0,
        limits: Limits {
            workgroup_invocations: 2048,
            workgroup_size: [2048; 3],
            workgroup_count: [u32::MAX; 3],
            shared_bytes: 64 << 10,
            push_bytes: 4096,
            storage_range_bytes: MOST_BYTES,
            storage_offset_alignment: 16,
            storage_buffers: 1024,
            subgroup_size,
            subgroup_size_min: least,
            subgroup_size_max: most,
            workgroup_subgroups: 2048 / least,
            allocation_bytes: MOST_BYTES,
            timestamp_period_ns: 1.0,
            timestamp_bits: u64::BITS,
        },
        features: Features {
            storage_f16: true,
            arithmetic_f16: true,
            storage_i8: true,
            arithmetic_i8: true,
            arithmetic_i16: true,
            int64: true,
            float64: true,
            atomic_add_f32: true,
            subgroup_arithmetic: true,
            subgroup_size_control: true,
            rounding_rte_f32: true,
            denorm_preserve_f32: true,
            variable_pointers: false,
            vulkan_memory_model: true,
            zeroed_shared: true,
            explicit_shared_layout: true,
            push_i8: true,
            push_f16: true,
        },
    }
}

/// How much memory the buffers may take together: half of what the machine has, since observers
/// keep shadows of them. Where the system doesn't say, only the allocator sets a limit.
pub(super) fn memory_bytes() -> u64 {
    let kibibytes = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    kibibytes.map_or(u64::MAX, |kibibytes| kibibytes.saturating_mul(1024) / 2)
}
