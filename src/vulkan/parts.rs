//! What an opened device is made of: its buffers, its kernels, its submissions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use gpu_allocator::MemoryLocation;
use sha2::{Digest, Sha256};

use super::cache::PipelineCache;
use super::flight::{Flight, nanoseconds};
use super::logical::Logical;
use super::memory::{Buffer, Memory};
use super::pipeline::{self, Pipeline};
use super::slot::Slot;
use crate::device::{BufferId, DeviceError, Kernel, KernelId, Ticket};

/// How long `drop` waits for submissions that nobody waited for.
const DROP_WAIT: Duration = Duration::from_secs(5);

/// What goes when nothing runs any more. Every field holds the parents that it needs.
pub(super) struct Parts {
    pub(super) flights: HashMap<Ticket, Flight>,
    pub(super) idle: Vec<Slot>,
    pub(super) kernels: HashMap<KernelId, Pipeline>,
    pub(super) loaded: HashMap<[u8; 32], KernelId>,
    pub(super) buffers: HashMap<BufferId, Buffer>,
    pub(super) memory: Arc<Memory>,
    pub(super) cache: PipelineCache,
    pub(super) logical: Arc<Logical>,
    pub(super) set_count: u32,
    /// Counts buffers, kernels and tickets alike.
    pub(super) next_id: u64,
    pub(super) state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Usable,
    Lost,
    /// Something may run for ever.
    Stuck,
}

impl Parts {
    pub(super) fn usable(&self, doing: &'static str) -> Result<(), DeviceError> {
        match self.state {
            State::Usable => Ok(()),
            State::Lost | State::Stuck => {
                Err(DeviceError::Lost { device: self.logical.info.name.clone(), doing })
            }
        }
    }

    pub(super) fn next_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Remembers that the device is lost when an error says so.
    pub(super) fn note<T>(&mut self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        if matches!(result, Err(DeviceError::Lost { .. })) && self.state == State::Usable {
            self.state = State::Lost;
        }
        result
    }

    /// Waits until nothing runs; false if that may never be.
    pub(super) fn settle(&mut self) -> bool {
        if self.state == State::Stuck {
            return false;
        }
        let end = Instant::now() + DROP_WAIT;
        self.flights.values().all(|flight| {
            let left = nanoseconds(end.saturating_duration_since(Instant::now()));
            // SAFETY: the fence was submitted and its slot is alive
            // (VUID-vkWaitForFences-pFences-parameter).
            let waited =
                unsafe { self.logical.raw.wait_for_fences(&[flight.slot.fence.raw()], true, left) };
            matches!(waited, Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST))
        })
    }

    pub(super) fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        let refuse = |reason: &str| {
            let reason = format!("buffer {} {reason}", buffer.0);
            Err(self.logical.refused("freeing a buffer", reason))
        };
        if self.flights.values().any(|flight| flight.buffers.binary_search(&buffer).is_ok()) {
            return refuse("is used by a submission that nobody has waited for");
        }
        if !self.buffers.contains_key(&buffer) {
            return refuse("doesn't exist");
        }
        self.buffers.remove(&buffer);
        Ok(())
    }

    pub(super) fn allocate(&mut self, name: &str, len_bytes: u64) -> Result<BufferId, DeviceError> {
        let limit = self.logical.info.limits.allocation_bytes;
        if len_bytes == 0 || !len_bytes.is_multiple_of(4) {
            return Err(self.logical.unsupported(format!(
                "buffer '{name}' of {len_bytes} bytes; a positive multiple of 4 is needed"
            )));
        }
        if len_bytes > limit {
            return Err(self.logical.unsupported(format!(
                "buffer '{name}' of {len_bytes} bytes; this device allocates at most {limit}"
            )));
        }
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = self.memory.buffer(name, len_bytes, usage, MemoryLocation::GpuOnly)?;
        let id = BufferId(self.next_id());
        self.buffers.insert(id, buffer);
        Ok(id)
    }

    pub(super) fn load(&mut self, kernel: &Kernel) -> Result<KernelId, DeviceError> {
        let digest = digest(kernel);
        if let Some(&id) = self.loaded.get(&digest) {
            return Ok(id);
        }
        pipeline::check(&self.logical, self.set_count, kernel)?;
        let pipeline = Pipeline::new(&self.logical, self.cache.raw(), kernel)?;
        let id = KernelId(self.next_id());
        self.kernels.insert(id, pipeline);
        self.loaded.insert(digest, id);
        Ok(id)
    }
}

/// Two kernels with the same digest make the same pipeline.
fn digest(kernel: &Kernel) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut part = |words: &[u32]| {
        hash.update((words.len() as u64).to_le_bytes());
        hash.update(bytemuck::cast_slice::<u32, u8>(words));
    };
    part(&kernel.optimized);
    part(&kernel.bindings.iter().flat_map(|&(set, binding)| [set, binding]).collect::<Vec<_>>());
    part(&kernel.spec.iter().flat_map(|value| [value.id, value.bits]).collect::<Vec<_>>());
    part(&[kernel.push_bytes]);
    hash.update(&kernel.entry);
    hash.finalize().into()
}
