//! Submissions: from a recording to its outcome.

use std::ops::Range;
use std::time::Duration;

use ash::vk;

use super::clock::unwrap_ticks;
use super::encode::encode;
use super::parts::{Parts, State};
use super::rules::{self, Known};
use super::slot::Slot;
use crate::device::{BufferId, DeviceError, Outcome, Recording, Ticket};

/// A submission that nobody has waited for yet.
pub(super) struct Flight {
    pub(super) slot: Slot,
    /// Ascending.
    pub(super) buffers: Vec<BufferId>,
    downloads: Vec<Range<usize>>,
    timestamp_count: u32,
}

impl Parts {
    pub(super) fn submit(&mut self, recording: &Recording) -> Result<Ticket, DeviceError> {
        let known =
            Known { device: &self.logical.info, buffers: &self.buffers, kernels: &self.kernels };
        let needs = rules::check(recording, &known)?;
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

    pub(super) fn wait(
        &mut self,
        ticket: Ticket,
        timeout: Duration,
    ) -> Result<Outcome, DeviceError> {
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
            observations: Vec::new(),
            costs: Vec::new(),
        })
    }

    fn timestamps(&self, flight: &Flight) -> Result<Vec<f64>, DeviceError> {
        let (Some(queries), 1..) = (&flight.slot.queries, flight.timestamp_count) else {
            return Ok(Vec::new());
        };
        let mut ticks = vec![0_u64; flight.timestamp_count as usize];
        // SAFETY: the submission has finished, so that its queries are available; they lie in the
        // pool and have 64 bits each (VUID-vkGetQueryPoolResults-firstQuery-00816, -flags-00815).
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

    pub(super) fn is_done(&mut self, ticket: Ticket) -> Result<bool, DeviceError> {
        let flight = self.flights.get(&ticket).ok_or_else(|| self.unknown(ticket))?;
        // SAFETY: the fence was submitted and its slot is alive
        // (VUID-vkGetFenceStatus-fence-parent).
        unsafe { self.logical.raw.get_fence_status(flight.slot.fence.raw()) }
            .map_err(|error| self.logical.failed("asking for a fence", error))
    }
}

pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
