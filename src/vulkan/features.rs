//! Which features a device has, asked and switched on with the same chain of structures.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};

use ash::{ext, khr, vk};

use crate::device::Features;

/// Extensions that Vulkan 1.2 took into its core.
const PROMOTED: [&CStr; 4] = [
    khr::_8bit_storage::NAME,
    khr::shader_float16_int8::NAME,
    khr::shader_float_controls::NAME,
    khr::vulkan_memory_model::NAME,
];

/// What the driver offers beyond its version.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    /// The device's version, at most the instance's.
    pub(super) version: u32,
    /// Its extensions.
    pub(super) extensions: BTreeSet<CString>,
}

impl Offer {
    /// Whether an extension's functionality is there, as itself or in the core since `since`.
    pub(super) fn has(&self, extension: &CStr, since: u32) -> bool {
        self.version >= since || self.extensions.contains(extension)
    }

    fn has_only_as_extension(&self, extension: &CStr) -> bool {
        self.extensions.contains(extension)
    }

    /// The extensions that a device is opened with.
    pub(super) fn to_enable(&self, features: &Features) -> Vec<&'static CStr> {
        let mut enable = Vec::new();
        // VUID-VkDeviceCreateInfo-pProperties-04451: offered means it must be enabled.
        if self.has_only_as_extension(khr::portability_subset::NAME) {
            enable.push(khr::portability_subset::NAME);
        }
        if self.version < vk::API_VERSION_1_2 {
            enable.extend(PROMOTED.into_iter().filter(|name| self.extensions.contains(*name)));
        }
        if features.subgroup_size_control && self.version < vk::API_VERSION_1_3 {
            enable.push(ext::subgroup_size_control::NAME);
        }
        if features.zeroed_shared && self.version < vk::API_VERSION_1_3 {
            enable.push(khr::zero_initialize_workgroup_memory::NAME);
        }
        if features.explicit_shared_layout {
            enable.push(khr::workgroup_memory_explicit_layout::NAME);
        }
        if features.atomic_add_f32 {
            enable.push(ext::shader_atomic_float::NAME);
        }
        enable
    }
}

/// The feature structures of everything in [`Features`].
#[derive(Clone, Default)]
pub(super) struct Chain {
    pub(super) core: vk::PhysicalDeviceFeatures,
    storage_16: vk::PhysicalDevice16BitStorageFeatures<'static>,
    storage_8: vk::PhysicalDevice8BitStorageFeatures<'static>,
    arithmetic: vk::PhysicalDeviceShaderFloat16Int8Features<'static>,
    atomic: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    subgroup_sizes: vk::PhysicalDeviceSubgroupSizeControlFeatures<'static>,
    pointers: vk::PhysicalDeviceVariablePointersFeatures<'static>,
    memory_model: vk::PhysicalDeviceVulkanMemoryModelFeatures<'static>,
    zeroed: vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures<'static>,
    shared_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>,
    portability: vk::PhysicalDevicePortabilitySubsetFeaturesKHR<'static>,
}

impl Chain {
    /// Asks a device of Vulkan 1.1 or newer.
    pub(super) fn query(
        instance: &ash::Instance,
        device: vk::PhysicalDevice,
        offer: &Offer,
    ) -> Self {
        let mut chain = Self::default();
        let mut root = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut chain.storage_16)
            .push_next(&mut chain.pointers);
        if offer.has(khr::vulkan_memory_model::NAME, vk::API_VERSION_1_2) {
            root = root.push_next(&mut chain.memory_model);
        }
        if offer.has(khr::zero_initialize_workgroup_memory::NAME, vk::API_VERSION_1_3) {
            root = root.push_next(&mut chain.zeroed);
        }
        if offer.has_only_as_extension(khr::workgroup_memory_explicit_layout::NAME) {
            root = root.push_next(&mut chain.shared_layout);
        }
        if offer.has(khr::_8bit_storage::NAME, vk::API_VERSION_1_2) {
            root = root.push_next(&mut chain.storage_8);
        }
        if offer.has(khr::shader_float16_int8::NAME, vk::API_VERSION_1_2) {
            root = root.push_next(&mut chain.arithmetic);
        }
        if offer.has_only_as_extension(ext::shader_atomic_float::NAME) {
            root = root.push_next(&mut chain.atomic);
        }
        if offer.has(ext::subgroup_size_control::NAME, vk::API_VERSION_1_3) {
            root = root.push_next(&mut chain.subgroup_sizes);
        }
        if offer.has_only_as_extension(khr::portability_subset::NAME) {
            root = root.push_next(&mut chain.portability);
        }
        // SAFETY: the device speaks 1.1, and each structure belongs to its core or to an
        // extension that it offers, once each (VUID-VkPhysicalDeviceProperties2-sType-unique
        // has the same rule).
        unsafe { instance.get_physical_device_features2(device, &mut root) };
        chain.core = root.features;
        chain.unlink();
        chain
    }

    /// Severs the structures from one another: the pointers are valid only where they were made.
    fn unlink(&mut self) {
        self.storage_16.p_next = std::ptr::null_mut();
        self.storage_8.p_next = std::ptr::null_mut();
        self.arithmetic.p_next = std::ptr::null_mut();
        self.atomic.p_next = std::ptr::null_mut();
        self.subgroup_sizes.p_next = std::ptr::null_mut();
        self.pointers.p_next = std::ptr::null_mut();
        self.memory_model.p_next = std::ptr::null_mut();
        self.zeroed.p_next = std::ptr::null_mut();
        self.shared_layout.p_next = std::ptr::null_mut();
        self.portability.p_next = std::ptr::null_mut();
    }

    /// Forgets that subgroup sizes can be chosen, as they can't be in compute.
    pub(super) fn leave_subgroup_sizes(&mut self) {
        self.subgroup_sizes.subgroup_size_control = vk::FALSE;
    }

    /// The answers in the lab's words; subgroups and float controls are properties and are filled
    /// in by the caller.
    pub(super) fn answers(&self) -> Features {
        Features {
            storage_f16: self.storage_16.storage_buffer16_bit_access == vk::TRUE,
            arithmetic_f16: self.arithmetic.shader_float16 == vk::TRUE,
            storage_i8: self.storage_8.storage_buffer8_bit_access == vk::TRUE,
            arithmetic_i8: self.arithmetic.shader_int8 == vk::TRUE,
            arithmetic_i16: self.core.shader_int16 == vk::TRUE,
            int64: self.core.shader_int64 == vk::TRUE,
            float64: self.core.shader_float64 == vk::TRUE,
            atomic_add_f32: self.atomic.shader_buffer_float32_atomic_add == vk::TRUE,
            subgroup_size_control: self.subgroup_sizes.subgroup_size_control == vk::TRUE,
            variable_pointers: self.pointers.variable_pointers == vk::TRUE
                && self.pointers.variable_pointers_storage_buffer == vk::TRUE,
            vulkan_memory_model: self.memory_model.vulkan_memory_model == vk::TRUE
                && self.memory_model.vulkan_memory_model_device_scope == vk::TRUE,
            zeroed_shared: self.zeroed.shader_zero_initialize_workgroup_memory == vk::TRUE,
            explicit_shared_layout: self.shared_layout.workgroup_memory_explicit_layout == vk::TRUE,
            push_i8: self.storage_8.storage_push_constant8 == vk::TRUE,
            push_f16: self.storage_16.storage_push_constant16 == vk::TRUE,
            ..Features::default()
        }
    }

    /// What was found and is wanted: these features and no others, plus whatever a portability
    /// driver offers, which is the behaviour that other drivers have anyway.
    fn wanted(&self) -> Self {
        let found = self.answers();
        let add = found.atomic_add_f32;
        let atomics = add && self.atomic.shader_buffer_float32_atomics == vk::TRUE;
        let uniform_16 = self.storage_16.uniform_and_storage_buffer16_bit_access == vk::TRUE;
        let uniform_8 = self.storage_8.uniform_and_storage_buffer8_bit_access == vk::TRUE;
        let core = &self.core;
        Self {
            core: vk::PhysicalDeviceFeatures {
                shader_int16: core.shader_int16,
                shader_int64: core.shader_int64,
                shader_float64: core.shader_float64,
                shader_storage_buffer_array_dynamic_indexing: core
                    .shader_storage_buffer_array_dynamic_indexing,
                shader_uniform_buffer_array_dynamic_indexing: core
                    .shader_uniform_buffer_array_dynamic_indexing,
                ..vk::PhysicalDeviceFeatures::default()
            },
            storage_16: vk::PhysicalDevice16BitStorageFeatures::default()
                .storage_buffer16_bit_access(found.storage_f16)
                .uniform_and_storage_buffer16_bit_access(uniform_16)
                .storage_push_constant16(found.push_f16),
            storage_8: vk::PhysicalDevice8BitStorageFeatures::default()
                .storage_buffer8_bit_access(found.storage_i8)
                .uniform_and_storage_buffer8_bit_access(uniform_8)
                .storage_push_constant8(found.push_i8),
            arithmetic: vk::PhysicalDeviceShaderFloat16Int8Features::default()
                .shader_float16(found.arithmetic_f16)
                .shader_int8(found.arithmetic_i8),
            atomic: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default()
                .shader_buffer_float32_atomics(atomics)
                .shader_buffer_float32_atomic_add(add),
            subgroup_sizes: vk::PhysicalDeviceSubgroupSizeControlFeatures::default()
                .subgroup_size_control(found.subgroup_size_control),
            pointers: vk::PhysicalDeviceVariablePointersFeatures::default()
                .variable_pointers(found.variable_pointers)
                .variable_pointers_storage_buffer(found.variable_pointers),
            memory_model: vk::PhysicalDeviceVulkanMemoryModelFeatures::default()
                .vulkan_memory_model(found.vulkan_memory_model)
                .vulkan_memory_model_device_scope(found.vulkan_memory_model),
            zeroed: vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures::default()
                .shader_zero_initialize_workgroup_memory(found.zeroed_shared),
            shared_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR::default()
                .workgroup_memory_explicit_layout(found.explicit_shared_layout),
            portability: self.portability,
        }
    }

    /// Calls `create` with a structure that switches on what was found.
    pub(super) fn enable<T>(
        &self,
        offer: &Offer,
        create: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>) -> T,
    ) -> T {
        let found = self.answers();
        let mut on = self.wanted();
        let mut root = vk::PhysicalDeviceFeatures2::default()
            .features(on.core)
            .push_next(&mut on.storage_16)
            .push_next(&mut on.pointers);
        if offer.has(khr::_8bit_storage::NAME, vk::API_VERSION_1_2) {
            root = root.push_next(&mut on.storage_8);
        }
        if offer.has(khr::shader_float16_int8::NAME, vk::API_VERSION_1_2) {
            root = root.push_next(&mut on.arithmetic);
        }
        if found.vulkan_memory_model {
            root = root.push_next(&mut on.memory_model);
        }
        if found.zeroed_shared {
            root = root.push_next(&mut on.zeroed);
        }
        if found.explicit_shared_layout {
            root = root.push_next(&mut on.shared_layout);
        }
        if found.atomic_add_f32 {
            root = root.push_next(&mut on.atomic);
        }
        if found.subgroup_size_control {
            root = root.push_next(&mut on.subgroup_sizes);
        }
        if offer.has_only_as_extension(khr::portability_subset::NAME) {
            root = root.push_next(&mut on.portability);
        }
        create(&mut root)
    }
}
