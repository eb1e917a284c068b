//! A recording as command buffers.
//!
//! Commands become what they say and nothing more: a barrier stands only where the recording has
//! one, and at the very end, where the host and later submissions must see the results.

use ash::vk;

use super::descriptors::{Bound, descriptor_sets};
use super::logical::Logical;
use super::memory::Buffer;
use super::rules::{Known, Needs};
use super::slot::Slot;
use crate::device::{BufferId, Command, DeviceError, KernelId, Recording};

/// A submission is split at the first barrier after this many dispatches. Some systems kill a
/// submission that runs for two seconds, and see each split as a submission of its own.
const SPLIT_AFTER: usize = 500;
/// Without a barrier it is split here: dispatches that no barrier orders may as well stand in
/// different submissions.
const SPLIT_AT_MOST: usize = 512;

/// Everything a recording's command buffers are written from.
struct Encoder<'a> {
    logical: &'a Logical,
    known: Known<'a>,
    slot: &'a mut Slot,
    sets: Vec<vk::DescriptorSet>,
    used_count: usize,
    raw: vk::CommandBuffer,
    pipeline: Option<KernelId>,
    bound: Option<(KernelId, Bound)>,
    dispatch_count: usize,
    staged_bytes: u64,
    download_count: usize,
    timestamp_count: u32,
}

/// Writes a checked recording into an idle, prepared slot; returns how many of its command
/// buffers are to be submitted.
pub(super) fn encode(
    logical: &Logical,
    known: Known<'_>,
    slot: &mut Slot,
    recording: &Recording,
    needs: &Needs,
) -> Result<usize, DeviceError> {
    stage(slot, recording)?;
    let (bound, sets) = descriptor_sets(logical, known, slot, recording)?;
    let mut encoder = Encoder {
        logical,
        known,
        slot,
        sets,
        used_count: 0,
        raw: vk::CommandBuffer::null(),
        pipeline: None,
        bound: None,
        dispatch_count: 0,
        staged_bytes: 0,
        download_count: 0,
        timestamp_count: 0,
    };
    encoder.begin()?;
    encoder.reset_queries(needs.timestamp_count);
    let mut bound = bound.into_iter();
    for command in &recording.commands {
        encoder.command(command, &mut bound, needs)?;
    }
    encoder.barrier(vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
    encoder.end()?;
    Ok(encoder.used_count)
}

/// Copies all uploads into the staging buffer, one behind the other.
fn stage(slot: &mut Slot, recording: &Recording) -> Result<(), DeviceError> {
    let Some(staging) = &mut slot.staging else {
        return Ok(());
    };
    let mut rest = staging.mapped_mut()?;
    for command in &recording.commands {
        if let Command::Upload { data, .. } = command {
            let (head, tail) = rest.split_at_mut(data.len());
            head.copy_from_slice(data);
            rest = tail;
        }
    }
    Ok(())
}

// In the blocks below: the command buffer is in the recording state, between `begin` and `end`
// (VUID-vkCmdDispatch-commandBuffer-recording and its kind); its queue family supports compute,
// and so transfers (VUID-vkCmdDispatch-commandBuffer-cmdpool and its kind); no render pass exists.
impl Encoder<'_> {
    fn begin(&mut self) -> Result<(), DeviceError> {
        self.raw = self.slot.command_buffer(self.used_count)?;
        self.used_count += 1;
        (self.pipeline, self.bound, self.dispatch_count) = (None, None, 0);
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the pool was reset, so that the buffer is in the initial state
        // (VUID-vkBeginCommandBuffer-commandBuffer-00049).
        unsafe { self.logical.raw.begin_command_buffer(self.raw, &begin) }
            .map_err(|error| self.logical.failed("beginning a command buffer", error))
    }

    fn end(&mut self) -> Result<(), DeviceError> {
        // SAFETY: the buffer is in the recording state
        // (VUID-vkEndCommandBuffer-commandBuffer-00059).
        unsafe { self.logical.raw.end_command_buffer(self.raw) }
            .map_err(|error| self.logical.failed("ending a command buffer", error))
    }

    fn split(&mut self) -> Result<(), DeviceError> {
        self.end()?;
        self.begin()
    }

    fn command(
        &mut self,
        command: &Command,
        bound: &mut impl Iterator<Item = Bound>,
        needs: &Needs,
    ) -> Result<(), DeviceError> {
        match command {
            Command::Upload { buffer, offset_bytes, data } => {
                self.upload(*buffer, *offset_bytes, data.len() as u64);
            }
            Command::Fill { buffer, offset_bytes, len_bytes, word }
            | Command::Undefine { buffer, offset_bytes, len_bytes, pattern: word } => {
                let target = self.buffer(*buffer).raw;
                // SAFETY: the range lies in the buffer and both numbers are multiples of 4
                // (VUID-vkCmdFillBuffer-dstOffset-00024, -00025, -size-00026 to -00028).
                unsafe {
                    self.logical.raw.cmd_fill_buffer(
                        self.raw,
                        target,
                        *offset_bytes,
                        *len_bytes,
                        *word,
                    );
                }
            }
            Command::Dispatch { kernel, push, groups, .. } => {
                if self.dispatch_count >= SPLIT_AT_MOST {
                    self.split()?;
                }
                if let Some(bound) = bound.next() {
                    self.dispatch(*kernel, bound, push, *groups);
                }
            }
            Command::Barrier => {
                self.barrier(vk::PipelineStageFlags::empty(), vk::AccessFlags::empty());
                if self.dispatch_count >= SPLIT_AFTER {
                    self.split()?;
                }
            }
            Command::Download { buffer, offset_bytes, len_bytes } => {
                let to = needs.downloads[self.download_count].start as u64;
                self.download_count += 1;
                self.download(*buffer, *offset_bytes, *len_bytes, to);
            }
            Command::Retire { .. } => {}
            Command::Timestamp => self.timestamp(),
        }
        Ok(())
    }

    fn buffer(&self, id: BufferId) -> &Buffer {
        &self.known.buffers[&id]
    }

    fn upload(&mut self, to: BufferId, offset: u64, len: u64) {
        let Some(staging) = &self.slot.staging else {
            return;
        };
        let part = vk::BufferCopy { src_offset: self.staged_bytes, dst_offset: offset, size: len };
        // SAFETY: the part lies in both buffers (VUID-vkCmdCopyBuffer-srcOffset-00113,
        // -size-00115, -size-00116), which were made for transfers (-srcBuffer-00118,
        // -dstBuffer-00120) and are different (-pRegions-00117).
        unsafe {
            self.logical.raw.cmd_copy_buffer(self.raw, staging.raw, self.buffer(to).raw, &[part]);
        }
        self.staged_bytes += len;
    }

    fn download(&mut self, from: BufferId, offset: u64, len: u64, to: u64) {
        let Some(readback) = &self.slot.readback else {
            return;
        };
        let part = vk::BufferCopy { src_offset: offset, dst_offset: to, size: len };
        // SAFETY: as in `upload`, the other way.
        unsafe {
            self.logical.raw.cmd_copy_buffer(
                self.raw,
                self.buffer(from).raw,
                readback.raw,
                &[part],
            );
        }
    }

    fn dispatch(&mut self, kernel: KernelId, bound: Bound, push: &[u8], groups: [u32; 3]) {
        let raw = &self.logical.raw;
        let pipeline = &self.known.kernels[&kernel];
        let layout = pipeline.layout.raw();
        if self.pipeline != Some(kernel) {
            // SAFETY: the pipeline is a compute pipeline
            // (VUID-vkCmdBindPipeline-pipelineBindPoint-00779).
            unsafe {
                raw.cmd_bind_pipeline(self.raw, vk::PipelineBindPoint::COMPUTE, pipeline.raw.raw());
            }
            self.pipeline = Some(kernel);
        }
        if self.bound != Some((kernel, bound)) {
            let sets = &self.sets[bound.first..];
            for ((number, _), set) in pipeline.sets.iter().zip(sets) {
                // SAFETY: the set was allocated with the layout that the pipeline layout has at
                // this number (VUID-vkCmdBindDescriptorSets-pDescriptorSets-00358).
                unsafe {
                    raw.cmd_bind_descriptor_sets(
                        self.raw,
                        vk::PipelineBindPoint::COMPUTE,
                        layout,
                        *number,
                        std::slice::from_ref(set),
                        &[],
                    );
                }
            }
            self.bound = Some((kernel, bound));
        }
        if !push.is_empty() {
            // SAFETY: the block is the layout's whole range
            // (VUID-vkCmdPushConstants-offset-01795, -size-00369).
            unsafe {
                raw.cmd_push_constants(self.raw, layout, vk::ShaderStageFlags::COMPUTE, 0, push);
            }
        }
        // SAFETY: groups are within the limits (VUID-vkCmdDispatch-groupCountX-00386 and its
        // kind); all sets are bound (VUID-vkCmdDispatch-None-02697), push constants set
        // (VUID-vkCmdDispatch-maintenance4-06425).
        unsafe { raw.cmd_dispatch(self.raw, groups[0], groups[1], groups[2]) };
        self.dispatch_count += 1;
    }

    /// Orders everything before with everything behind, on the device and in `more`.
    fn barrier(&mut self, more: vk::PipelineStageFlags, more_access: vk::AccessFlags) {
        let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
        let writes = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
        let reads = vk::AccessFlags::SHADER_READ | vk::AccessFlags::TRANSFER_READ;
        let memory = vk::MemoryBarrier::default()
            .src_access_mask(reads | writes)
            .dst_access_mask(reads | writes | more_access);
        // SAFETY: the accesses belong to the stages (VUID-vkCmdPipelineBarrier-srcAccessMask-02815,
        // -dstAccessMask-02816), which the queue supports (-srcStageMask-06461).
        unsafe {
            self.logical.raw.cmd_pipeline_barrier(
                self.raw,
                stages,
                stages | more,
                vk::DependencyFlags::empty(),
                &[memory],
                &[],
                &[],
            );
        }
    }

    fn reset_queries(&mut self, count: u32) {
        let (Some(queries), 1..) = (&self.slot.queries, count) else {
            return;
        };
        // SAFETY: the pool has at least `count` queries, which no submission uses
        // (VUID-vkCmdResetQueryPool-firstQuery-00797, -None-02841).
        unsafe {
            self.logical.raw.cmd_reset_query_pool(self.raw, queries.raw.raw(), 0, count);
        };
    }

    fn timestamp(&mut self) {
        let Some(queries) = &self.slot.queries else {
            return;
        };
        // SAFETY: the family has timestamps, else there were no pool
        // (VUID-vkCmdWriteTimestamp-timestampValidBits-00829); the query lies in it and was reset
        // in the first command buffer (-query-04904, -None-00830).
        unsafe {
            self.logical.raw.cmd_write_timestamp(
                self.raw,
                vk::PipelineStageFlags::BOTTOM_OF_PIPE,
                queries.raw.raw(),
                self.timestamp_count,
            );
        }
        self.timestamp_count += 1;
    }
}
