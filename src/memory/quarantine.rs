//! Freed buffers: first they wait, then they serve again.

use std::collections::{BTreeMap, VecDeque};

use crate::device::BufferId;

/// A freed buffer and the slot that still names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Freed {
    pub(super) slot: u32,
    pub(super) buffer: BufferId,
    pub(super) capacity: u64,
}

/// Freed buffers in the order of their frees. As long as one waits here, a use of its old handle
/// finds the same tenant, and a use on the device finds poison.
#[derive(Debug)]
pub(super) struct Quarantine {
    waiting: VecDeque<Freed>,
    bytes: u64,
    max_buffers: usize,
    max_bytes: u64,
}

impl Quarantine {
    pub(super) fn new(max_buffers: usize, max_bytes: u64) -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, max_buffers, max_bytes }
    }

    pub(super) fn enter(&mut self, freed: Freed) {
        self.bytes += freed.capacity;
        self.waiting.push_back(freed);
    }

    /// The longest waiting buffer, if there are too many.
    pub(super) fn leave(&mut self) -> Option<Freed> {
        if self.waiting.len() <= self.max_buffers && self.bytes <= self.max_bytes {
            return None;
        }
        self.leave_early()
    }

    /// The longest waiting buffer, needed or not.
    pub(super) fn leave_early(&mut self) -> Option<Freed> {
        let freed = self.waiting.pop_front()?;
        self.bytes -= freed.capacity;
        Some(freed)
    }
}

/// Device buffers without a tenant, by capacity.
#[derive(Debug, Default)]
pub(super) struct IdleBuffers {
    by_capacity: BTreeMap<u64, Vec<BufferId>>,
    bytes: u64,
}

impl IdleBuffers {
    pub(super) fn put(&mut self, buffer: BufferId, capacity: u64) {
        self.bytes += capacity;
        self.by_capacity.entry(capacity).or_default().push(buffer);
    }

    pub(super) fn take(&mut self, capacity: u64) -> Option<BufferId> {
        let buffer = self.by_capacity.get_mut(&capacity)?.pop()?;
        self.bytes -= capacity;
        Some(buffer)
    }

    /// One of the largest buffers, while there are more than `max_bytes`.
    pub(super) fn shed(&mut self, max_bytes: u64) -> Option<BufferId> {
        if self.bytes <= max_bytes {
            return None;
        }
        loop {
            let mut largest = self.by_capacity.last_entry()?;
            let capacity = *largest.key();
            if let Some(buffer) = largest.get_mut().pop() {
                self.bytes -= capacity;
                return Some(buffer);
            }
            largest.remove();
        }
    }
}

/// Rounds a size up so that near sizes share device buffers: to 256 bytes, or to a sixteenth of
/// the next power of two for what is larger than 4 KiB. `None` where it overflows.
pub(super) fn capacity_for(bytes: u64) -> Option<u64> {
    let step = (bytes.checked_next_power_of_two()? / 16).max(256);
    bytes.checked_next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::{BufferId, Freed, IdleBuffers, Quarantine, capacity_for};

    #[test]
    fn the_oldest_leaves_when_either_limit_is_passed() {
        let freed = |slot| Freed { slot, buffer: BufferId(u64::from(slot)), capacity: 256 };
        let mut by_count = Quarantine::new(2, u64::MAX);
        (0..3).for_each(|slot| by_count.enter(freed(slot)));
        assert_eq!(by_count.leave(), Some(freed(0)));
        assert_eq!(by_count.leave(), None);
        let mut by_bytes = Quarantine::new(100, 300);
        (0..2).for_each(|slot| by_bytes.enter(freed(slot)));
        assert_eq!(by_bytes.leave(), Some(freed(0)));
        assert_eq!(by_bytes.leave(), None);
    }

    #[test]
    fn idle_buffers_shed_the_largest_first() {
        let mut idle = IdleBuffers::default();
        idle.put(BufferId(1), 256);
        idle.put(BufferId(2), 1024);
        assert_eq!(idle.take(512), None);
        assert_eq!(idle.shed(600), Some(BufferId(2)));
        assert_eq!(idle.shed(600), None);
        assert_eq!(idle.take(256), Some(BufferId(1)));
        assert_eq!(idle.shed(0), None);
    }

    #[test]
    fn capacities_waste_little() {
        assert_eq!(capacity_for(4), Some(256));
        assert_eq!(capacity_for(257), Some(512));
        assert_eq!(capacity_for(1_000_000), Some(1_048_576));
        assert_eq!(capacity_for(u64::MAX), None);
    }
}
