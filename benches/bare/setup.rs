//! The objects of the plain program, each made once.

use std::error::Error;

use ash::{khr, vk};

use super::{BUFFERS, LEN, Work};

/// Size of a buffer.
pub(crate) const BYTES: u64 = LEN as u64 * 4;

pub(crate) fn instance(entry: &ash::Entry) -> Result<ash::Instance, vk::Result> {
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
    let portability = khr::portability_enumeration::NAME;
    // SAFETY: without a layer name the call has no preconditions.
    let offered = unsafe { entry.enumerate_instance_extension_properties(None) }?;
    let offered = offered.iter().any(|e| e.extension_name_as_c_str() == Ok(portability));
    let names: Vec<_> = offered.then_some(portability.as_ptr()).into_iter().collect();
    let flags = if offered {
        vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR
    } else {
        vk::InstanceCreateFlags::empty()
    };
    let create = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_extension_names(&names)
        .flags(flags);
    // SAFETY: the flag stands only with its extension, and that only where it is offered
    // (VUID-VkInstanceCreateInfo-flags-06559, VUID-vkCreateInstance-ppEnabledExtensionNames-01388).
    unsafe { entry.create_instance(&create, None) }
}

pub(crate) fn device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
) -> Result<(ash::Device, u32), Box<dyn Error>> {
    // SAFETY: the device was enumerated from this instance, here and below.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let family = families
        .iter()
        .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
        .ok_or("no compute queue")?;
    let family = u32::try_from(family)?;
    // SAFETY: as above.
    let offered = unsafe { instance.enumerate_device_extension_properties(physical) }?;
    let subset = khr::portability_subset::NAME;
    let offered = offered.iter().any(|e| e.extension_name_as_c_str() == Ok(subset));
    let names: Vec<_> = offered.then_some(subset.as_ptr()).into_iter().collect();
    let queues =
        [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let create =
        vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
    // SAFETY: the family exists (VUID-VkDeviceQueueCreateInfo-queueFamilyIndex-00381), and an
    // extension is enabled only where it is offered.
    let device = unsafe { instance.create_device(physical, &create, None) }?;
    Ok((device, family))
}

pub(crate) fn buffer(
    device: &ash::Device,
    memory: &vk::PhysicalDeviceMemoryProperties,
    usage: vk::BufferUsageFlags,
    wanted: vk::MemoryPropertyFlags,
) -> Result<(vk::Buffer, vk::DeviceMemory), Box<dyn Error>> {
    let create = vk::BufferCreateInfo::default().size(BYTES).usage(usage);
    // SAFETY: the size is positive (VUID-VkBufferCreateInfo-size-00912).
    let buffer = unsafe { device.create_buffer(&create, None) }?;
    // SAFETY: the buffer is this device's.
    let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
    let types = (0_u32..).zip(memory.memory_types_as_slice());
    let (index, _) = types
        .into_iter()
        .find(|(index, kind)| {
            needs.memory_type_bits & 1 << index != 0 && kind.property_flags.contains(wanted)
        })
        .ok_or("no memory type fits")?;
    let allocate =
        vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
    // SAFETY: the type exists (VUID-vkAllocateMemory-pAllocateInfo-01714) and suits the buffer, which
    // has no memory yet (VUID-vkBindBufferMemory-memory-01035, -buffer-07459).
    let memory = unsafe {
        let memory = device.allocate_memory(&allocate, None)?;
        device.bind_buffer_memory(buffer, memory, 0)?;
        memory
    };
    Ok((buffer, memory))
}

pub(crate) fn pipeline(
    device: &ash::Device,
    work: &Work,
) -> Result<(vk::DescriptorSetLayout, vk::PipelineLayout, vk::Pipeline), Box<dyn Error>> {
    let bindings = [0, 1].map(|binding| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    });
    let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the binding numbers differ (VUID-VkDescriptorSetLayoutCreateInfo-binding-00279).
    let set_layout = unsafe { device.create_descriptor_set_layout(&create, None) }?;
    let push = [vk::PushConstantRange::default()
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
        .size(u32::try_from(work.push.len())?)];
    let layouts = [set_layout];
    let create =
        vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
    let module = vk::ShaderModuleCreateInfo::default().code(&work.spirv);
    // SAFETY: one set and one small range are within every limit
    // (VUID-VkPipelineLayoutCreateInfo-setLayoutCount-00286); the words are a compiler's module for
    // Vulkan 1.1 (VUID-VkShaderModuleCreateInfo-pCode-08737).
    let (layout, module) = unsafe {
        (device.create_pipeline_layout(&create, None)?, device.create_shader_module(&module, None)?)
    };
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main");
    let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: the module has this entry point, and the layout all that it uses
    // (VUID-VkPipelineShaderStageCreateInfo-pName-00707, VUID-VkComputePipelineCreateInfo-layout-07988).
    // The module may go once the pipeline exists.
    let pipelines = unsafe {
        let made = device.create_compute_pipelines(vk::PipelineCache::null(), &create, None);
        device.destroy_shader_module(module, None);
        made.map_err(|(_, error)| error)?
    };
    Ok((set_layout, layout, pipelines[0]))
}

/// A pool with room for every set, a command pool and its one command buffer.
pub(crate) fn pools(
    device: &ash::Device,
    family: u32,
) -> Result<(vk::DescriptorPool, vk::CommandPool, vk::CommandBuffer), Box<dyn Error>> {
    let set_count = u32::try_from(BUFFERS)?;
    let sizes = [vk::DescriptorPoolSize::default()
        .ty(vk::DescriptorType::STORAGE_BUFFER)
        .descriptor_count(2 * set_count)];
    let sets = vk::DescriptorPoolCreateInfo::default().max_sets(set_count).pool_sizes(&sizes);
    let pool = vk::CommandPoolCreateInfo::default()
        .flags(vk::CommandPoolCreateFlags::TRANSIENT)
        .queue_family_index(family);
    // SAFETY: counts are positive (VUID-VkDescriptorPoolCreateInfo-maxSets-00301), and the
    // family is the device's (VUID-vkCreateCommandPool-queueFamilyIndex-01937).
    let (sets, commands) = unsafe {
        (device.create_descriptor_pool(&sets, None)?, device.create_command_pool(&pool, None)?)
    };
    let allocate =
        vk::CommandBufferAllocateInfo::default().command_pool(commands).command_buffer_count(1);
    // SAFETY: the pool was just made.
    let command = unsafe { device.allocate_command_buffers(&allocate) }?[0];
    Ok((sets, commands, command))
}
