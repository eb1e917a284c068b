//! Physical devices: who they are, what they can do, why one can't be used.

use std::collections::HashMap;
use std::ffi::CStr;

use ash::{ext, khr, vk};

use super::features::{Chain, Offer};
use super::instance::{Instance, extension_names, failed};
use super::{Found, loader};
use crate::device::{DeviceError, DeviceInfo, Features, Limits};

/// A physical device with everything that opening it needs.
pub(super) struct Physical {
    pub(super) raw: vk::PhysicalDevice,
    pub(super) found: Found,
    pub(super) queue_family: u32,
    pub(super) offer: Offer,
    pub(super) chain: Chain,
    /// Highest number of descriptor sets that a pipeline can name.
    pub(super) set_count: u32,
    /// Changes whenever a compiled pipeline of another driver build would be useless.
    pub(super) cache_uuid: [u8; 16],
}

pub(super) fn enumerate(instance: &Instance) -> Result<Vec<Physical>, DeviceError> {
    let listed = {
        let _lists = loader::changing();
        // SAFETY: the instance is valid as long as the reference to its owner.
        unsafe { instance.raw.enumerate_physical_devices() }
    };
    let raw = listed.map_err(|error| match error {
        // What loaders answer when drivers are installed and none of them starts.
        vk::Result::ERROR_INITIALIZATION_FAILED => DeviceError::NoDriver,
        other => failed("listing physical devices", other),
    })?;
    if raw.is_empty() {
        return Err(DeviceError::NoDriver);
    }
    let mut devices = Vec::with_capacity(raw.len());
    for (index, raw) in raw.into_iter().enumerate() {
        devices.push(query(instance, raw, index)?);
    }
    tell_apart(&mut devices);
    Ok(devices)
}

/// Numbers the second and later devices of a name.
fn tell_apart(devices: &mut [Physical]) {
    let mut seen = HashMap::<String, usize>::new();
    for device in devices {
        let name = &mut device.found.info.name;
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            name.push_str(&format!(" #{count}"));
        }
    }
}

fn query(
    instance: &Instance,
    raw: vk::PhysicalDevice,
    index: usize,
) -> Result<Physical, DeviceError> {
    // SAFETY: `raw` was enumerated from this instance (all three calls and the one below).
    let properties = unsafe { instance.raw.get_physical_device_properties(raw) };
    // SAFETY: as above.
    let families = unsafe { instance.raw.get_physical_device_queue_family_properties(raw) };
    // SAFETY: as above; no layer is named.
    let extensions = unsafe { instance.raw.enumerate_device_extension_properties(raw) }
        .map_err(|error| failed("listing device extensions", error))?;
    let offer = Offer {
        version: properties.api_version.min(instance.version),
        extensions: extension_names(&extensions),
    };
    let family = compute_family(&families);
    let more = if offer.version >= vk::API_VERSION_1_1 {
        Newer::query(instance, raw, &offer)
    } else {
        Newer::default()
    };
    let info = DeviceInfo {
        name: text(properties.device_name_as_c_str().ok()),
        driver: more.driver.clone(),
        driver_version: if more.driver_version.is_empty() {
            driver_version(properties.vendor_id, properties.driver_version)
        } else {
            more.driver_version.clone()
        },
        api_version: version_text(properties.api_version),
        kind: kind(properties.device_type).into(),
        vendor_id: properties.vendor_id,
        device_id: properties.device_id,
        limits: limits(&properties.limits, &more, family.map_or(0, |(_, bits)| bits)),
        features: more.features,
    };
    let left_out = left_out(&info, offer.version, family.is_some());
    Ok(Physical {
        raw,
        found: Found { index, info, left_out, uuid: more.uuid },
        queue_family: family.map_or(0, |(family, _)| family),
        offer,
        chain: more.chain,
        set_count: properties.limits.max_bound_descriptor_sets,
        cache_uuid: properties.pipeline_cache_uuid,
    })
}

fn left_out(info: &DeviceInfo, version: u32, has_compute: bool) -> Option<String> {
    if version < vk::API_VERSION_1_1 {
        Some(format!("it speaks Vulkan {}; 1.1 is needed", info.api_version))
    } else if !has_compute {
        Some("it has no compute queue".into())
    } else if info.kind != "cpu" && shim_is_loaded() {
        Some("it is a Mesa drm-shim device, which compiles and never executes".into())
    } else {
        None
    }
}

/// Whether Mesa's fake DRM device is preloaded. It answers every question as the hardware would,
/// so that only the process's own map of libraries gives it away.
fn shim_is_loaded() -> bool {
    std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains("_drm_shim.so"))
}

/// The first compute family that has timestamps, else the first with compute; with its
/// timestamp's valid bits.
fn compute_family(families: &[vk::QueueFamilyProperties]) -> Option<(u32, u32)> {
    let mut compute = (0_u32..)
        .zip(families)
        .filter(|(_, family)| {
            family.queue_count > 0 && family.queue_flags.contains(vk::QueueFlags::COMPUTE)
        })
        .map(|(index, family)| (index, family.timestamp_valid_bits));
    let first = compute.next()?;
    Some(if first.1 > 0 { first } else { compute.find(|family| family.1 > 0).unwrap_or(first) })
}

/// What Vulkan 1.1 and its extensions tell.
#[derive(Default)]
struct Newer {
    driver: String,
    driver_version: String,
    uuid: [u8; 16],
    subgroup_size: u32,
    subgroup_sizes: (u32, u32),
    workgroup_subgroups: u32,
    allocation_bytes: u64,
    features: Features,
    chain: Chain,
}

impl Newer {
    fn query(instance: &Instance, raw: vk::PhysicalDevice, offer: &Offer) -> Self {
        let mut ids = vk::PhysicalDeviceIDProperties::default();
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut floats = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut maintenance4 = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut root = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut ids)
            .push_next(&mut subgroup)
            .push_next(&mut maintenance3);
        if offer.has(khr::driver_properties::NAME, vk::API_VERSION_1_2) {
            root = root.push_next(&mut driver);
        }
        if offer.has(khr::shader_float_controls::NAME, vk::API_VERSION_1_2) {
            root = root.push_next(&mut floats);
        }
        if offer.has(khr::maintenance4::NAME, vk::API_VERSION_1_3) {
            root = root.push_next(&mut maintenance4);
        }
        if offer.has(ext::subgroup_size_control::NAME, vk::API_VERSION_1_3) {
            root = root.push_next(&mut sizes);
        }
        // SAFETY: the device speaks 1.1, and each structure belongs to its core or to an
        // extension that it offers (VUID-VkPhysicalDeviceProperties2-pNext-pNext).
        unsafe { instance.raw.get_physical_device_properties2(raw, &mut root) };

        let mut chain = Chain::query(&instance.raw, raw, offer);
        if !sizes.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE) {
            chain.leave_subgroup_sizes();
        }
        let mut features = chain.answers();
        let wanted = vk::SubgroupFeatureFlags::VOTE
            | vk::SubgroupFeatureFlags::BALLOT
            | vk::SubgroupFeatureFlags::SHUFFLE
            | vk::SubgroupFeatureFlags::ARITHMETIC;
        features.subgroup_arithmetic =
            subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE)
                && subgroup.supported_operations.contains(wanted);
        features.rounding_rte_f32 = floats.shader_rounding_mode_rte_float32 == vk::TRUE;
        features.denorm_preserve_f32 = floats.shader_denorm_preserve_float32 == vk::TRUE;

        // A driver without the newer limit leaves its zero.
        let buffer_bytes =
            if maintenance4.max_buffer_size == 0 { u64::MAX } else { maintenance4.max_buffer_size };
        Self {
            driver: text(driver.driver_name_as_c_str().ok()),
            driver_version: text(driver.driver_info_as_c_str().ok()),
            uuid: ids.device_uuid,
            subgroup_size: subgroup.subgroup_size,
            subgroup_sizes: if features.subgroup_size_control {
                (sizes.min_subgroup_size, sizes.max_subgroup_size)
            } else {
                (subgroup.subgroup_size, subgroup.subgroup_size)
            },
            workgroup_subgroups: sizes.max_compute_workgroup_subgroups,
            allocation_bytes: maintenance3.max_memory_allocation_size.min(buffer_bytes),
            features,
            chain,
        }
    }
}

fn limits(limits: &vk::PhysicalDeviceLimits, more: &Newer, timestamp_bits: u32) -> Limits {
    Limits {
        workgroup_invocations: limits.max_compute_work_group_invocations,
        workgroup_size: limits.max_compute_work_group_size,
        workgroup_count: limits.max_compute_work_group_count,
        shared_bytes: limits.max_compute_shared_memory_size,
        push_bytes: limits.max_push_constants_size,
        storage_range_bytes: limits.max_storage_buffer_range.into(),
        storage_offset_alignment: limits.min_storage_buffer_offset_alignment,
        storage_buffers: limits
            .max_per_stage_descriptor_storage_buffers
            .min(limits.max_descriptor_set_storage_buffers)
            .min(limits.max_per_stage_resources),
        subgroup_size: more.subgroup_size,
        subgroup_size_min: more.subgroup_sizes.0,
        subgroup_size_max: more.subgroup_sizes.1,
        workgroup_subgroups: more.workgroup_subgroups,
        allocation_bytes: more.allocation_bytes,
        timestamp_period_ns: if timestamp_bits == 0 { 0.0 } else { limits.timestamp_period.into() },
        timestamp_bits,
    }
}

fn kind(kind: vk::PhysicalDeviceType) -> &'static str {
    match kind {
        vk::PhysicalDeviceType::CPU => "cpu",
        vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
        vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
        vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
        _ => "other",
    }
}

fn version_text(version: u32) -> String {
    format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}

/// NVIDIA packs its version in fields of 10, 8, 8 and 6 bits; others follow Vulkan's layout.
fn driver_version(vendor_id: u32, version: u32) -> String {
    const NVIDIA: u32 = 0x10de;
    if vendor_id == NVIDIA {
        format!("{}.{}.{}", version >> 22, (version >> 14) & 0xff, (version >> 6) & 0xff)
    } else {
        version_text(version)
    }
}

fn text(name: Option<&CStr>) -> String {
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
