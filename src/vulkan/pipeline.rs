//! A kernel as the driver has it: layouts and a pipeline.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::sync::Arc;

use ash::vk;

use super::handle::Owned;
use super::logical::Logical;
use crate::device::{DeviceError, Kernel, SpecValue, rules};
use crate::spirv::{self, BindingKind};

const SPIRV_MAGIC: u32 = 0x0723_0203;

/// A loaded kernel.
pub(super) struct Pipeline {
    pub(super) name: String,
    /// (set, binding) of each descriptor, ascending.
    pub(super) bindings: Vec<(u32, u32)>,
    /// Those of uniform buffers.
    uniform: BTreeSet<(u32, u32)>,
    pub(super) push_bytes: u32,
    /// Layouts of the sets that have bindings, with their number, ascending.
    pub(super) sets: Vec<(u32, Owned<vk::DescriptorSetLayout>)>,
    pub(super) layout: Owned<vk::PipelineLayout>,
    pub(super) raw: Owned<vk::Pipeline>,
    /// Layouts of the sets between them, which have none.
    _empty_sets: Vec<Owned<vk::DescriptorSetLayout>>,
}

impl Pipeline {
    /// Builds a kernel that passed [`check`].
    pub(super) fn new(
        logical: &Arc<Logical>,
        cache: vk::PipelineCache,
        kernel: &Kernel,
    ) -> Result<Self, DeviceError> {
        let mut bindings = kernel.bindings.clone();
        bindings.sort_unstable();
        let uniform = uniform(kernel);
        let (mut sets, mut empty_sets, mut raw_sets) = (Vec::new(), Vec::new(), Vec::new());
        for set in 0..bindings.last().map_or(0, |&(set, _)| set + 1) {
            let descriptors: Vec<(u32, u32)> =
                bindings.iter().filter(|(s, _)| *s == set).copied().collect();
            let layout = set_layout(logical, &kernel.name, &descriptors, &uniform)?;
            raw_sets.push(layout.raw());
            if descriptors.is_empty() {
                empty_sets.push(layout);
            } else {
                sets.push((set, layout));
            }
        }
        let layout = pipeline_layout(logical, kernel, &raw_sets)?;
        let raw = compute_pipeline(logical, cache, kernel, layout.raw())?;
        Ok(Self {
            name: kernel.name.clone(),
            bindings,
            uniform,
            push_bytes: kernel.push_bytes,
            sets,
            layout,
            raw,
            _empty_sets: empty_sets,
        })
    }

    /// As what a buffer is bound.
    pub(super) fn kind(&self, place: (u32, u32)) -> vk::DescriptorType {
        descriptor_type(&self.uniform, place)
    }

    /// Where a set stands among those that have bindings.
    pub(super) fn set_place(&self, set: u32) -> Option<usize> {
        self.sets.binary_search_by_key(&set, |&(number, _)| number).ok()
    }
}

/// Which of a kernel's buffers its module has as uniform ones.
fn uniform(kernel: &Kernel) -> BTreeSet<(u32, u32)> {
    // A module that can't be read here is for the driver to refuse.
    let bindings = spirv::reflect(&kernel.optimized).map_or(Vec::new(), |module| module.bindings);
    let uniform = bindings.into_iter().filter(|binding| binding.kind == BindingKind::Uniform);
    uniform.map(|binding| (binding.set, binding.binding)).collect()
}

fn descriptor_type(uniform: &BTreeSet<(u32, u32)>, place: (u32, u32)) -> vk::DescriptorType {
    if uniform.contains(&place) {
        vk::DescriptorType::UNIFORM_BUFFER
    } else {
        vk::DescriptorType::STORAGE_BUFFER
    }
}

/// Refuses what the device can't run and what no driver may be given.
pub(super) fn check(logical: &Logical, set_count: u32, kernel: &Kernel) -> Result<(), DeviceError> {
    rules::check_kernel(kernel, &logical.info)?;
    let name = &kernel.name;
    let refuse = |what: String| Err(logical.unsupported(format!("kernel '{name}' {what}")));
    let [SPIRV_MAGIC, version, _, _, _, ..] = kernel.optimized[..] else {
        return refuse("is not a SPIR-V module".into());
    };
    let newest = newest_spirv(&logical.info.api_version, logical.instance.version);
    if version > newest {
        return refuse(format!(
            "is SPIR-V 1.{}; this device takes at most 1.{}",
            (version >> 8) & 0xff,
            (newest >> 8) & 0xff
        ));
    }
    if let Some((set, _)) = kernel.bindings.iter().find(|(set, _)| *set >= set_count) {
        return refuse(format!("uses descriptor set {set}; this device has {set_count}"));
    }
    Ok(())
}

/// The newest SPIR-V version word that a device takes: 1.3 with Vulkan 1.1, 1.5 with 1.2, 1.6
/// with 1.3.
fn newest_spirv(device: &str, instance: u32) -> u32 {
    let minor = device.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(1);
    match vk::api_version_minor(instance).min(minor) {
        0 | 1 => 0x0001_0300,
        2 => 0x0001_0500,
        _ => 0x0001_0600,
    }
}

fn set_layout(
    logical: &Arc<Logical>,
    name: &str,
    descriptors: &[(u32, u32)],
    uniform: &BTreeSet<(u32, u32)>,
) -> Result<Owned<vk::DescriptorSetLayout>, DeviceError> {
    let mut bindings: Vec<vk::DescriptorSetLayoutBinding<'_>> = Vec::new();
    for &place in descriptors {
        match bindings.last_mut().filter(|last| last.binding == place.1) {
            Some(array) => array.descriptor_count += 1,
            None => bindings.push(
                vk::DescriptorSetLayoutBinding::default()
                    .binding(place.1)
                    .descriptor_type(descriptor_type(uniform, place))
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE),
            ),
        }
    }
    let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: binding numbers are distinct, since equal ones follow each other and are one array
    // (VUID-VkDescriptorSetLayoutCreateInfo-binding-00279).
    let raw = unsafe { logical.raw.create_descriptor_set_layout(&create, None) }
        .map_err(|error| logical.failed("creating a descriptor set layout", error))?;
    Ok(Owned::new(logical, raw, name))
}

fn pipeline_layout(
    logical: &Arc<Logical>,
    kernel: &Kernel,
    sets: &[vk::DescriptorSetLayout],
) -> Result<Owned<vk::PipelineLayout>, DeviceError> {
    let push = [vk::PushConstantRange::default()
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
        .size(kernel.push_bytes)];
    let mut create = vk::PipelineLayoutCreateInfo::default().set_layouts(sets);
    if kernel.push_bytes > 0 {
        create = create.push_constant_ranges(&push);
    }
    // SAFETY: sets and push constants are within the limits
    // (VUID-VkPipelineLayoutCreateInfo-setLayoutCount-00286,
    // VUID-VkPushConstantRange-size-00298), and so is the count of storage buffers
    // (VUID-VkPipelineLayoutCreateInfo-descriptorType-03018), which `check` saw to.
    let raw = unsafe { logical.raw.create_pipeline_layout(&create, None) }
        .map_err(|error| logical.failed("creating a pipeline layout", error))?;
    Ok(Owned::new(logical, raw, &kernel.name))
}

fn compute_pipeline(
    logical: &Arc<Logical>,
    cache: vk::PipelineCache,
    kernel: &Kernel,
    layout: vk::PipelineLayout,
) -> Result<Owned<vk::Pipeline>, DeviceError> {
    let entry = CString::new(kernel.entry.as_str()).map_err(|_| {
        logical.unsupported(format!("kernel '{}' has a NUL in its entry point's name", kernel.name))
    })?;
    let create = vk::ShaderModuleCreateInfo::default().code(&kernel.optimized);
    // SAFETY: the module starts as SPIR-V of a version that the device takes; that the rest is
    // valid (VUID-VkShaderModuleCreateInfo-pCode-01088 and its kind) is the compiler's work, as it
    // is for every Vulkan program.
    let module = unsafe { logical.raw.create_shader_module(&create, None) }
        .map_err(|error| logical.failed("creating a shader module", error))?;
    let module = Owned::new(logical, module, &kernel.name);

    let (entries, data) = specialization(&kernel.spec);
    let specialization =
        vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&data));
    let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module.raw())
        .name(&entry)
        .specialization_info(&specialization);
    if let Some(size) = kernel.subgroup_size {
        required.required_subgroup_size = size;
        stage = stage.push_next(&mut required);
    }
    let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: module, layout and cache come from this device; constant ids are distinct
    // (VUID-VkSpecializationInfo-constantID-04911) and lie in the data
    // (VUID-VkSpecializationInfo-offset-00773); the layout has the kernel's bindings, which were
    // reflected from the module (VUID-VkComputePipelineCreateInfo-layout-00703); a required subgroup
    // size is one that the device offers to compute, with the feature enabled, which `check` saw to
    // (VUID-VkPipelineShaderStageCreateInfo-pNext-02755,
    // VUID-VkPipelineShaderStageRequiredSubgroupSizeCreateInfo-requiredSubgroupSize-02760).
    let made = unsafe { logical.raw.create_compute_pipelines(cache, &create, None) };
    let raw = match made {
        Ok(pipelines) => pipelines.first().copied().unwrap_or_default(),
        Err((_, error)) => return Err(logical.failed("building a pipeline", error)),
    };
    Ok(Owned::new(logical, raw, &kernel.name))
}

fn specialization(values: &[SpecValue]) -> (Vec<vk::SpecializationMapEntry>, Vec<u32>) {
    let entries = (0_u32..)
        .zip(values)
        .map(|(index, value)| vk::SpecializationMapEntry {
            constant_id: value.id,
            offset: index * 4,
            size: 4,
        })
        .collect();
    (entries, values.iter().map(|value| value.bits).collect())
}
