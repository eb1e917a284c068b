//! What one submission needs beside buffers and kernels, kept for the next one.

use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;

use super::handle::Owned;
use super::logical::Logical;
use super::memory::{Buffer, Memory};
use super::rules::Needs;
use crate::device::DeviceError;

/// Staging and readback buffers above this size go after their submission, so that one large
/// copy doesn't hold its memory for the rest of the run.
const KEEP_BYTES: u64 = 16 << 20;
/// Below this size growing costs more than it saves.
const LEAST_BYTES: u64 = 64 << 10;

/// Resources of one submission at a time.
pub(super) struct Slot {
    pub(super) fence: Owned<vk::Fence>,
    pool: Owned<vk::CommandPool>,
    /// Belong to the pool and go with it.
    pub(super) commands: Vec<vk::CommandBuffer>,
    descriptors: Option<DescriptorPool>,
    pub(super) queries: Option<Queries>,
    pub(super) staging: Option<Buffer>,
    pub(super) readback: Option<Buffer>,
    logical: Arc<Logical>,
}

struct DescriptorPool {
    raw: Owned<vk::DescriptorPool>,
    set_count: u32,
    descriptor_count: u32,
}

/// A pool of timestamps.
pub(super) struct Queries {
    pub(super) raw: Owned<vk::QueryPool>,
    count: u32,
}

impl Slot {
    pub(super) fn new(logical: &Arc<Logical>) -> Result<Self, DeviceError> {
        // SAFETY: a plain fence has no preconditions.
        let fence = unsafe { logical.raw.create_fence(&vk::FenceCreateInfo::default(), None) }
            .map_err(|error| logical.failed("creating a fence", error))?;
        let fence = Owned::new(logical, fence, "submission");
        let create = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(logical.queue_family);
        // SAFETY: the family is the one that the device was opened with
        // (VUID-vkCreateCommandPool-queueFamilyIndex-01937).
        let pool = unsafe { logical.raw.create_command_pool(&create, None) }
            .map_err(|error| logical.failed("creating a command pool", error))?;
        Ok(Self {
            fence,
            pool: Owned::new(logical, pool, "submission"),
            commands: Vec::new(),
            descriptors: None,
            queries: None,
            staging: None,
            readback: None,
            logical: Arc::clone(logical),
        })
    }

    /// Makes an idle slot fit for a recording.
    pub(super) fn prepare(
        &mut self,
        memory: &Arc<Memory>,
        needs: &Needs,
    ) -> Result<(), DeviceError> {
        let logical = &self.logical;
        // SAFETY: the slot is idle: its last submission was waited for, so that neither the fence
        // nor a command buffer is in use (VUID-vkResetFences-pFences-01123,
        // VUID-vkResetCommandPool-commandPool-00040).
        unsafe {
            logical.raw.reset_fences(&[self.fence.raw()]).and_then(|()| {
                logical.raw.reset_command_pool(self.pool.raw(), vk::CommandPoolResetFlags::empty())
            })
        }
        .map_err(|error| logical.failed("resetting a submission", error))?;
        fit(
            &mut self.staging,
            needs.upload_bytes,
            memory,
            "staging",
            vk::BufferUsageFlags::TRANSFER_SRC,
            MemoryLocation::CpuToGpu,
        )?;
        fit(
            &mut self.readback,
            needs.download_bytes,
            memory,
            "readback",
            vk::BufferUsageFlags::TRANSFER_DST,
            MemoryLocation::GpuToCpu,
        )?;
        self.fit_queries(needs.timestamp_count)
    }

    /// Lets large buffers go.
    pub(super) fn trim(&mut self) {
        for buffer in [&mut self.staging, &mut self.readback] {
            if buffer.as_ref().is_some_and(|buffer| buffer.len_bytes > KEEP_BYTES) {
                *buffer = None;
            }
        }
    }

    fn fit_queries(&mut self, count: u32) -> Result<(), DeviceError> {
        if count == 0
            || self.logical.info.limits.timestamp_bits == 0
            || self.queries.as_ref().is_some_and(|queries| queries.count >= count)
        {
            return Ok(());
        }
        self.queries = None;
        let count = count.max(64).checked_next_power_of_two().unwrap_or(count);
        let create = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(count);
        // SAFETY: the count is positive (VUID-VkQueryPoolCreateInfo-queryCount-02763).
        let raw = unsafe { self.logical.raw.create_query_pool(&create, None) }
            .map_err(|error| self.logical.failed("creating a query pool", error))?;
        self.queries = Some(Queries { raw: Owned::new(&self.logical, raw, "timestamps"), count });
        Ok(())
    }

    /// Descriptor sets of these layouts, which have `descriptor_count` buffers together.
    pub(super) fn descriptor_sets(
        &mut self,
        layouts: &[vk::DescriptorSetLayout],
        descriptor_count: u32,
    ) -> Result<Vec<vk::DescriptorSet>, DeviceError> {
        if layouts.is_empty() {
            return Ok(Vec::new());
        }
        let logical = &self.logical;
        let set_count = u32::try_from(layouts.len())
            .map_err(|_| logical.unsupported("a recording with 2^32 descriptor sets"))?;
        let pool = match self.descriptors.take() {
            Some(pool)
                if pool.set_count >= set_count && pool.descriptor_count >= descriptor_count =>
            {
                // SAFETY: no submission uses the pool's sets, since the slot is idle
                // (VUID-vkResetDescriptorPool-descriptorPool-00313).
                unsafe {
                    logical.raw.reset_descriptor_pool(
                        pool.raw.raw(),
                        vk::DescriptorPoolResetFlags::empty(),
                    )
                }
                .map_err(|error| logical.failed("resetting a descriptor pool", error))?;
                pool
            }
            _ => DescriptorPool::new(logical, set_count, descriptor_count)?,
        };
        let allocate = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool.raw.raw())
            .set_layouts(layouts);
        // SAFETY: the pool was just reset or made, with room for these sets
        // (VUID-VkDescriptorSetAllocateInfo-descriptorSetCount-00306, -descriptorPool-00307).
        let sets = unsafe { logical.raw.allocate_descriptor_sets(&allocate) }
            .map_err(|error| logical.failed("allocating descriptor sets", error))?;
        self.descriptors = Some(pool);
        Ok(sets)
    }

    /// The command buffer number `index` of this submission, in the initial state.
    pub(super) fn command_buffer(
        &mut self,
        index: usize,
    ) -> Result<vk::CommandBuffer, DeviceError> {
        if let Some(&made) = self.commands.get(index) {
            return Ok(made);
        }
        let logical = &self.logical;
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool.raw())
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool comes from this device and only this thread uses it (`&mut self`;
        // vkAllocateCommandBuffers wants it externally synchronised).
        let made = unsafe { logical.raw.allocate_command_buffers(&allocate) }
            .map_err(|error| logical.failed("allocating a command buffer", error))?;
        for &raw in &made {
            logical.name(raw, "submission");
        }
        self.commands.extend(&made);
        made.first().copied().ok_or_else(|| {
            logical.refused("allocating a command buffer", "the driver returned none")
        })
    }
}

impl DescriptorPool {
    fn new(
        logical: &Arc<Logical>,
        set_count: u32,
        descriptor_count: u32,
    ) -> Result<Self, DeviceError> {
        let set_count = set_count.max(64).checked_next_power_of_two().unwrap_or(set_count);
        let descriptor_count =
            descriptor_count.max(256).checked_next_power_of_two().unwrap_or(descriptor_count);
        let kinds = [vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::UNIFORM_BUFFER];
        let sizes = kinds.map(|ty| vk::DescriptorPoolSize { ty, descriptor_count });
        let create = vk::DescriptorPoolCreateInfo::default().max_sets(set_count).pool_sizes(&sizes);
        // SAFETY: both counts are positive (VUID-VkDescriptorPoolCreateInfo-maxSets-00301,
        // VUID-VkDescriptorPoolSize-descriptorCount-00302).
        let raw = unsafe { logical.raw.create_descriptor_pool(&create, None) }
            .map_err(|error| logical.failed("creating a descriptor pool", error))?;
        Ok(Self { raw: Owned::new(logical, raw, "submission"), set_count, descriptor_count })
    }
}

/// Replaces an idle buffer that is too small.
fn fit(
    buffer: &mut Option<Buffer>,
    bytes: u64,
    memory: &Arc<Memory>,
    name: &str,
    usage: vk::BufferUsageFlags,
    location: MemoryLocation,
) -> Result<(), DeviceError> {
    if bytes == 0 || buffer.as_ref().is_some_and(|buffer| buffer.len_bytes >= bytes) {
        return Ok(());
    }
    *buffer = None;
    // Large ones aren't kept, so that rounding them up would only waste memory.
    let bytes = if bytes > KEEP_BYTES { bytes } else { bytes.max(LEAST_BYTES).next_power_of_two() };
    *buffer = Some(memory.buffer(name, bytes, usage, location)?);
    Ok(())
}
