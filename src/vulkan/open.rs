//! The device behind the trait.

use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use gpu_allocator::MemoryLocation;
use sha2::{Digest, Sha256};

use super::cache::PipelineCache;
use super::encode::encode;
use super::instance::Instance;
use super::logical::Logical;
use super::memory::{Buffer, Memory};
use super::physical::{self, Physical};
use super::pipeline::{self, Pipeline};
use super::rules::{self, Known};
use super::slot::Slot;
use super::{Found, OpenOptions};
use crate::device::{
    BufferId, Device, DeviceError, DeviceInfo, Kernel, KernelId, Outcome, Recording, Ticket,
};

/// How long `drop` waits for submissions that nobody waited for.
const DROP_WAIT: Duration = Duration::from_secs(5);

/// An opened Vulkan device.
///
/// Dropping it waits a few seconds for submissions that nobody waited for. After a time-out it
/// waits for nothing: everything that the running kernel may still touch is leaked, and only the
/// end of the process gets it back.
pub struct VulkanDevice {
    parts: ManuallyDrop<Parts>,
}

/// What goes when nothing runs any more. Every field holds the parents that it needs.
struct Parts {
    flights: HashMap<Ticket, Flight>,
    idle: Vec<Slot>,
    kernels: HashMap<KernelId, Pipeline>,
    loaded: HashMap<[u8; 32], KernelId>,
    buffers: HashMap<BufferId, Buffer>,
    memory: Arc<Memory>,
    cache: PipelineCache,
    logical: Arc<Logical>,
    set_count: u32,
    /// Counts buffers, kernels and tickets alike.
    next_id: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Usable,
    Lost,
    /// Something may run for ever.
    Stuck,
}

/// A submission that nobody has waited for yet.
struct Flight {
    slot: Slot,
    /// Ascending.
    buffers: Vec<BufferId>,
    downloads: Vec<Range<usize>>,
    timestamp_count: u32,
}

impl VulkanDevice {
    pub(super) fn open(found: &Found, options: &OpenOptions) -> Result<Self, DeviceError> {
        let instance = Instance::new(options.validate)?;
        let physical = find(&instance, found)?;
        if let Some(reason) = &physical.found.left_out {
            return Err(DeviceError::Open {
                device: physical.found.info.name.clone(),
                reason: reason.clone(),
            });
        }
        let logical = Logical::open(instance, &physical)?;
        let cache = PipelineCache::open(&logical, &physical, options.cache_dir.as_deref())?;
        let memory = Memory::new(&logical, physical.raw)?;
        let parts = Parts {
            flights: HashMap::new(),
            idle: Vec::new(),
            kernels: HashMap::new(),
            loaded: HashMap::new(),
            buffers: HashMap::new(),
            memory,
            cache,
            logical,
            set_count: physical.set_count,
            next_id: 1,
            state: State::Usable,
        };
        Ok(Self { parts: ManuallyDrop::new(parts) })
    }

    /// Messages of the validation layer that no outcome has brought yet, for example those about
    /// a kernel that was loaded and never run.
    #[must_use]
    pub fn take_messages(&self) -> Vec<String> {
        self.parts.logical.instance.messages.take()
    }
}

impl std::fmt::Debug for VulkanDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VulkanDevice").field("info", self.info()).finish_non_exhaustive()
    }
}

impl Drop for VulkanDevice {
    fn drop(&mut self) {
        if !self.parts.settle() {
            return;
        }
        if self.parts.state == State::Usable {
            self.parts.cache.save();
        }
        // SAFETY: `drop` runs once and nothing uses the parts after it.
        unsafe { ManuallyDrop::drop(&mut self.parts) };
    }
}

/// The device of an earlier listing in a new instance.
fn find(instance: &Instance, wanted: &Found) -> Result<Physical, DeviceError> {
    let same = |found: &Found| {
        found.uuid == wanted.uuid
            && found.info.driver == wanted.info.driver
            && found.info.name == wanted.info.name
    };
    physical::enumerate(instance)?.into_iter().find(|physical| same(&physical.found)).ok_or_else(
        || DeviceError::Open {
            device: wanted.info.name.clone(),
            reason: "it is no longer there".into(),
        },
    )
}

impl Parts {
    fn usable(&self, doing: &'static str) -> Result<(), DeviceError> {
        match self.state {
            State::Usable => Ok(()),
            State::Lost | State::Stuck => {
                Err(DeviceError::Lost { device: self.logical.info.name.clone(), doing })
            }
        }
    }

    fn next_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Remembers that the device is lost when an error says so.
    fn note<T>(&mut self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        if matches!(result, Err(DeviceError::Lost { .. })) && self.state == State::Usable {
            self.state = State::Lost;
        }
        result
    }

    /// Waits until nothing runs; false if that may never be.
    fn settle(&mut self) -> bool {
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

    fn submit(&mut self, recording: &Recording) -> Result<Ticket, DeviceError> {
        let known =
            Known { device: &self.logical.info, buffers: &self.buffers, kernels: &self.kernels };
        let needs = rules::check(recording, known)?;
        let mut slot = match self.idle.pop() {
            Some(slot) => slot,
            None => Slot::new(&self.logical)?,
        };
        let encoded = slot
            .prepare(&self.memory, &needs)
            .and_then(|()| encode(&self.logical, known, &mut slot, recording, &needs));
        let count = match encoded {
            Ok(count) => count,
            Err(error) => {
                self.idle.push(slot);
                return Err(error);
            }
        };
        if let Err(error) = self.queue(&slot, count) {
            if self.state == State::Stuck {
                std::mem::forget(slot);
            } else {
                self.idle.push(slot);
            }
            return Err(error);
        }
        let ticket = Ticket(self.next_id());
        let flight = Flight {
            slot,
            buffers: recording.buffers(),
            downloads: needs.downloads,
            timestamp_count: needs.timestamp_count,
        };
        self.flights.insert(ticket, flight);
        Ok(ticket)
    }

    /// One submission per command buffer: drivers may merge what comes in one call.
    fn queue(&mut self, slot: &Slot, count: usize) -> Result<(), DeviceError> {
        for (index, commands) in slot.commands[..count].iter().enumerate() {
            let submit =
                [vk::SubmitInfo::default().command_buffers(std::slice::from_ref(commands))];
            let last = index + 1 == count;
            let fence = if last { slot.fence.raw() } else { vk::Fence::null() };
            // SAFETY: the command buffer is executable (VUID-vkQueueSubmit-pCommandBuffers-00070);
            // the fence is reset and in no other submission (VUID-vkQueueSubmit-fence-00063,
            // -00064); the queue is used through `&mut self` only.
            let queued =
                unsafe { self.logical.raw.queue_submit(self.logical.queue, &submit, fence) };
            if let Err(error) = queued {
                // Earlier parts may run, and no fence tells when they end.
                self.state = match error {
                    vk::Result::ERROR_DEVICE_LOST => State::Lost,
                    _ if index == 0 => State::Usable,
                    _ => State::Stuck,
                };
                return Err(self.logical.failed("submitting", error));
            }
        }
        Ok(())
    }

    fn unknown(&self, ticket: Ticket) -> DeviceError {
        self.logical.refused("waiting", format!("ticket {} is not in flight", ticket.0))
    }

    fn wait(&mut self, ticket: Ticket, timeout: Duration) -> Result<Outcome, DeviceError> {
        let flight = self.flights.get(&ticket).ok_or_else(|| self.unknown(ticket))?;
        // SAFETY: the fence was submitted and its slot is alive
        // (VUID-vkWaitForFences-pFences-parameter).
        let waited = unsafe {
            self.logical.raw.wait_for_fences(&[flight.slot.fence.raw()], true, nanoseconds(timeout))
        };
        match waited {
            Ok(()) => {}
            Err(vk::Result::TIMEOUT) => {
                self.state = State::Stuck;
                return Err(DeviceError::Timeout {
                    device: self.logical.info.name.clone(),
                    timeout,
                });
            }
            Err(error) => return Err(self.logical.failed("waiting", error)),
        }
        let Some(mut flight) = self.flights.remove(&ticket) else {
            return Err(self.unknown(ticket));
        };
        let outcome = self.collect(&flight);
        flight.slot.trim();
        self.idle.push(flight.slot);
        outcome
    }

    fn collect(&self, flight: &Flight) -> Result<Outcome, DeviceError> {
        let downloads = match &flight.slot.readback {
            Some(readback) if !flight.downloads.is_empty() => {
                let bytes = readback.mapped()?;
                flight.downloads.iter().map(|range| bytes[range.clone()].to_vec()).collect()
            }
            _ => Vec::new(),
        };
        Ok(Outcome {
            downloads,
            timestamps_ns: self.timestamps(flight)?,
            messages: self.logical.instance.messages.take(),
        })
    }

    fn timestamps(&self, flight: &Flight) -> Result<Vec<f64>, DeviceError> {
        let (Some(queries), 1..) = (&flight.slot.queries, flight.timestamp_count) else {
            return Ok(Vec::new());
        };
        let mut ticks = vec![0_u64; flight.timestamp_count as usize];
        // SAFETY: the submission has finished, so that its queries are available; they lie in the
        // pool and have 64 bits each (VUID-vkGetQueryPoolResults-firstQuery-09437, -flags-00815).
        unsafe {
            self.logical.raw.get_query_pool_results(
                queries.raw.raw(),
                0,
                &mut ticks,
                vk::QueryResultFlags::TYPE_64,
            )
        }
        .map_err(|error| self.logical.failed("reading timestamps", error))?;
        let limits = &self.logical.info.limits;
        Ok(unwrap_ticks(&ticks, limits.timestamp_bits, limits.timestamp_period_ns))
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
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

    fn allocate(&mut self, name: &str, len_bytes: u64) -> Result<BufferId, DeviceError> {
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
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = self.memory.buffer(name, len_bytes, usage, MemoryLocation::GpuOnly)?;
        let id = BufferId(self.next_id());
        self.buffers.insert(id, buffer);
        Ok(id)
    }

    fn load(&mut self, kernel: &Kernel) -> Result<KernelId, DeviceError> {
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

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, DeviceError> {
        let flight = self.flights.get(&ticket).ok_or_else(|| self.unknown(ticket))?;
        // SAFETY: the fence was submitted and its slot is alive
        // (VUID-vkGetFenceStatus-fence-parent).
        unsafe { self.logical.raw.get_fence_status(flight.slot.fence.raw()) }
            .map_err(|error| self.logical.failed("asking for a fence", error))
    }
}

impl Device for VulkanDevice {
    fn info(&self) -> &DeviceInfo {
        &self.parts.logical.info
    }

    fn allocate(&mut self, name: &str, len_bytes: u64) -> Result<BufferId, DeviceError> {
        self.parts.usable("allocating a buffer")?;
        let result = self.parts.allocate(name, len_bytes);
        self.parts.note(result)
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        self.parts.usable("freeing a buffer")?;
        self.parts.free(buffer)
    }

    fn load(&mut self, kernel: &Kernel) -> Result<KernelId, DeviceError> {
        self.parts.usable("loading a kernel")?;
        let result = self.parts.load(kernel);
        self.parts.note(result)
    }

    fn submit(&mut self, recording: &Recording) -> Result<Ticket, DeviceError> {
        self.parts.usable("submitting")?;
        let result = self.parts.submit(recording);
        self.parts.note(result)
    }

    fn wait(&mut self, ticket: Ticket, timeout: Duration) -> Result<Outcome, DeviceError> {
        self.parts.usable("waiting")?;
        let result = self.parts.wait(ticket, timeout);
        self.parts.note(result)
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, DeviceError> {
        self.parts.usable("asking for a fence")?;
        let result = self.parts.is_done(ticket);
        self.parts.note(result)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
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

/// Timestamps in nanoseconds since the first one. Only `bits` of each count, so that the clock
/// wraps; a step of more than half its range is one backwards.
#[expect(clippy::cast_precision_loss, reason = "a step of 2^53 ticks takes 100 days")]
fn unwrap_ticks(ticks: &[u64], bits: u32, period_ns: f64) -> Vec<f64> {
    let unused = 64_u32.saturating_sub(bits).min(63);
    let mut total = 0_i64;
    let mut last = ticks.first().copied().unwrap_or_default();
    ticks
        .iter()
        .map(|&tick| {
            // Shifting out the unused bits leaves a difference whose sign is that of the step.
            let step = (tick.wrapping_sub(last) << unused).cast_signed() >> unused;
            last = tick;
            total = total.saturating_add(step);
            total as f64 * period_ns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::unwrap_ticks;

    #[test]
    fn ticks_count_from_the_first() {
        assert_eq!(unwrap_ticks(&[1000, 1010, 1010, 1005], 64, 10.0), [0.0, 100.0, 100.0, 50.0]);
        assert!(unwrap_ticks(&[], 64, 1.0).is_empty());
    }

    #[test]
    fn a_clock_of_36_bits_wraps() {
        let top = (1_u64 << 36) - 2;
        // Bits above the valid ones are undefined.
        assert_eq!(unwrap_ticks(&[top, 3 | 1 << 40], 36, 1.0), [0.0, 5.0]);
        assert_eq!(unwrap_ticks(&[u64::MAX, 1], 64, 1.0), [0.0, 2.0]);
    }
}
