//! The plain program: ash and nothing else, written as one would write it by hand.
//!
//! It uses every object from one thread and waits for the fence of each submission before it touches
//! anything again, which is what the blocks below mean by "idle" and "recording is under way".

use std::error::Error;
use std::time::Instant;

use ash::vk;
use vklab::vulkan::Found;

use super::setup::{BYTES, buffer, device, instance, pipeline, pools};
use super::{BUFFERS, Barriers, DISPATCHES, LEN, Round, Work};

pub(crate) struct Plain {
    _entry: ash::Entry,
    instance: ash::Instance,
    device: ash::Device,
    queue: vk::Queue,
    buffers: Vec<(vk::Buffer, vk::DeviceMemory)>,
    readback: (vk::Buffer, vk::DeviceMemory),
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    sets: vk::DescriptorPool,
    commands: vk::CommandPool,
    command: vk::CommandBuffer,
    fence: vk::Fence,
}

impl Plain {
    pub(crate) fn open(found: &Found, work: &Work) -> Result<Self, Box<dyn Error>> {
        // SAFETY: the loader's initialisers have no preconditions, and the entry is kept as long as
        // the functions taken from it.
        let entry = unsafe { ash::Entry::load() }?;
        let instance = instance(&entry)?;
        // SAFETY: the instance was just made.
        let physical = unsafe { instance.enumerate_physical_devices() }?
            .get(found.index)
            .copied()
            .ok_or("the device is no longer there")?;
        let (device, family) = device(&instance, physical)?;
        // SAFETY: the device was given one queue of this family
        // (VUID-vkGetDeviceQueue-queueIndex-00385).
        let queue = unsafe { device.get_device_queue(family, 0) };
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        // SAFETY: the device was enumerated from this instance.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let buffers = (0..BUFFERS)
            .map(|_| buffer(&device, &memory, storage, local))
            .collect::<Result<Vec<_>, _>>()?;
        let visible =
            vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let readback = buffer(&device, &memory, vk::BufferUsageFlags::TRANSFER_DST, visible)?;
        let (set_layout, layout, pipeline) = pipeline(&device, work)?;
        let (sets, commands, command) = pools(&device, family)?;
        // SAFETY: a fence has no preconditions.
        let fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }?;
        let plain = Self {
            _entry: entry,
            instance,
            device,
            queue,
            buffers,
            readback,
            set_layout,
            layout,
            pipeline,
            sets,
            commands,
            command,
            fence,
        };
        plain.begin()?;
        for (buffer, _) in &plain.buffers {
            // SAFETY: recording is under way; the range is the whole buffer, which was made for
            // transfers (VUID-vkCmdFillBuffer-size-00027, -dstBuffer-00029).
            unsafe { plain.device.cmd_fill_buffer(plain.command, *buffer, 0, BYTES, 0) };
        }
        plain.submit()?;
        plain.wait()?;
        Ok(plain)
    }

    pub(crate) fn round(
        &mut self,
        work: &Work,
        barriers: Barriers,
    ) -> Result<Round, Box<dyn Error>> {
        let begin = Instant::now();
        self.begin()?;
        let sets = self.write_sets()?;
        let memory = both();
        let compute = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
        let (device, command) = (&self.device, self.command);
        // SAFETY: recording is under way. The pipeline is a compute pipeline
        // (VUID-vkCmdBindPipeline-pipelineBindPoint-00779); sets and push constants have its layout
        // (VUID-vkCmdBindDescriptorSets-pDescriptorSets-00358, VUID-vkCmdPushConstants-offset-01795);
        // the accesses belong to the stages (VUID-vkCmdPipelineBarrier-srcAccessMask-02815); a
        // handful of workgroups are within every limit (VUID-vkCmdDispatch-groupCountX-00386).
        unsafe {
            device.cmd_bind_pipeline(command, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            for set in sets.iter().cycle().take(DISPATCHES) {
                device.cmd_bind_descriptor_sets(
                    command,
                    vk::PipelineBindPoint::COMPUTE,
                    self.layout,
                    0,
                    std::slice::from_ref(set),
                    &[],
                );
                device.cmd_push_constants(
                    command,
                    self.layout,
                    vk::ShaderStageFlags::COMPUTE,
                    0,
                    &work.push,
                );
                device.cmd_dispatch(command, work.groups[0], work.groups[1], work.groups[2]);
                if barriers == Barriers::Each {
                    let flags = vk::DependencyFlags::empty();
                    device.cmd_pipeline_barrier(
                        command,
                        compute,
                        compute,
                        flags,
                        &[memory],
                        &[],
                        &[],
                    );
                }
            }
        }
        self.submit()?;
        let host = begin.elapsed();
        self.wait()?;
        Ok(Round { host, all: begin.elapsed() })
    }

    pub(crate) fn first_buffer(&mut self) -> Result<Vec<f32>, Box<dyn Error>> {
        self.begin()?;
        let part = vk::BufferCopy::default().size(BYTES);
        let (device, command) = (&self.device, self.command);
        let stages = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
        let seen = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        // SAFETY: recording is under way; the part lies in both buffers, which were made for
        // transfers (VUID-vkCmdCopyBuffer-size-00115, -size-00116, -srcBuffer-00118,
        // -dstBuffer-00120); the fence made earlier submissions' writes available.
        unsafe {
            device.cmd_copy_buffer(command, self.buffers[0].0, self.readback.0, &[part]);
            let flags = vk::DependencyFlags::empty();
            device.cmd_pipeline_barrier(command, stages.0, stages.1, flags, &[seen], &[], &[]);
        }
        self.submit()?;
        self.wait()?;
        let mut values = vec![0.0; LEN];
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is host-visible, coherent and not mapped (VUID-vkMapMemory-memory-00682,
        // -00678); it holds LEN floats that no submission touches any more, and the pointer is
        // aligned to minMemoryMapAlignment, which is at least 64.
        unsafe {
            let mapped = self.device.map_memory(self.readback.1, 0, BYTES, flags)?;
            std::ptr::copy_nonoverlapping(mapped.cast::<f32>(), values.as_mut_ptr(), LEN);
            self.device.unmap_memory(self.readback.1);
        }
        Ok(values)
    }

    /// Starts recording. Nothing may be in flight.
    fn begin(&self) -> Result<(), vk::Result> {
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the last submission was waited for, so that fence, pools and command buffer are
        // idle (VUID-vkResetFences-pFences-01123, VUID-vkResetCommandPool-commandPool-00040,
        // VUID-vkResetDescriptorPool-descriptorPool-00313).
        unsafe {
            self.device.reset_fences(&[self.fence])?;
            self.device.reset_command_pool(self.commands, vk::CommandPoolResetFlags::empty())?;
            self.device.reset_descriptor_pool(self.sets, vk::DescriptorPoolResetFlags::empty())?;
            self.device.begin_command_buffer(self.command, &begin)
        }
    }

    fn submit(&self) -> Result<(), vk::Result> {
        let submit = vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&self.command));
        // SAFETY: recording is under way, and after it the buffer is executable
        // (VUID-vkEndCommandBuffer-commandBuffer-00059, VUID-vkQueueSubmit-pCommandBuffers-00070);
        // the fence was reset (VUID-vkQueueSubmit-fence-00063).
        unsafe {
            self.device.end_command_buffer(self.command)?;
            self.device.queue_submit(self.queue, &[submit], self.fence)
        }
    }

    fn wait(&self) -> Result<(), vk::Result> {
        let ten_seconds = 10_000_000_000;
        // SAFETY: the fence is this device's (VUID-vkWaitForFences-pFences-parent).
        unsafe { self.device.wait_for_fences(&[self.fence], true, ten_seconds) }
    }

    fn write_sets(&self) -> Result<Vec<vk::DescriptorSet>, vk::Result> {
        let layouts = [self.set_layout; BUFFERS];
        let allocate = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.sets)
            .set_layouts(&layouts);
        // SAFETY: the pool was reset and has room for these sets
        // (VUID-VkDescriptorSetAllocateInfo-descriptorSetCount-00306, -descriptorPool-00307).
        let sets = unsafe { self.device.allocate_descriptor_sets(&allocate) }?;
        let infos = self.buffers.iter().map(|(buffer, _)| {
            [vk::DescriptorBufferInfo::default().buffer(*buffer).range(vk::WHOLE_SIZE)]
        });
        let infos: Vec<_> = infos.collect();
        let writes = sets.iter().enumerate().flat_map(|(at, set)| {
            [(0, at), (1, (at + 1) % BUFFERS)].map(|(binding, buffer)| {
                vk::WriteDescriptorSet::default()
                    .dst_set(*set)
                    .dst_binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&infos[buffer])
            })
        });
        let writes: Vec<_> = writes.collect();
        // SAFETY: the sets are in no submission (VUID-vkUpdateDescriptorSets-None-03047) and have
        // both bindings (VUID-VkWriteDescriptorSet-dstBinding-00315).
        unsafe { self.device.update_descriptor_sets(&writes, &[]) };
        Ok(sets)
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let device = &self.device;
        // SAFETY: after the wait nothing is in use; children go before the device, the device before
        // the instance (VUID-vkDestroyDevice-device-00378, VUID-vkDestroyInstance-instance-00629).
        // A device that is lost, which the wait may say, still lets its objects be destroyed.
        unsafe {
            let _ = device.device_wait_idle();
            for (buffer, memory) in self.buffers.iter().chain([&self.readback]) {
                device.destroy_buffer(*buffer, None);
                device.free_memory(*memory, None);
            }
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.commands, None);
            device.destroy_descriptor_pool(self.sets, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
            device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// The lab's barrier: everything before against everything behind.
fn both() -> vk::MemoryBarrier<'static> {
    let access = vk::AccessFlags::SHADER_READ
        | vk::AccessFlags::SHADER_WRITE
        | vk::AccessFlags::TRANSFER_READ
        | vk::AccessFlags::TRANSFER_WRITE;
    vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access)
}
