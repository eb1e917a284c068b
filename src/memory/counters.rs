//! What a run did with memory, in numbers.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Counts over the life of a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Buffers allocated and not yet freed.
    pub live: u64,
    /// Their bytes, guards included.
    pub live_bytes: u64,
    /// The most bytes that were live at one time.
    pub peak_bytes: u64,
    /// Successful allocations.
    pub allocations: u64,
    /// Successful frees.
    pub frees: u64,
    /// Frees of what was freed before.
    pub double_frees: u64,
    /// Other uses of a handle after its buffer was freed.
    pub stale_uses: u64,
    /// Guards found overwritten, one per buffer and submission.
    pub guard_hits: u64,
    /// Outputs that carry another buffer's poison, one per buffer and submission.
    pub poison_reads: u64,
    /// Buffers still live when the ledger was closed.
    pub leaks: u64,
}

impl AddAssign for Counters {
    /// Merges a ledger that ran before or after this one: the peak is the higher of the two,
    /// everything else adds up.
    fn add_assign(&mut self, other: Self) {
        self.live += other.live;
        self.live_bytes += other.live_bytes;
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
        self.allocations += other.allocations;
        self.frees += other.frees;
        self.double_frees += other.double_frees;
        self.stale_uses += other.stale_uses;
        self.guard_hits += other.guard_hits;
        self.poison_reads += other.poison_reads;
        self.leaks += other.leaks;
    }
}

impl Add for Counters {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Counters {
    pub(super) fn allocated(&mut self, bytes: u64) {
        self.allocations += 1;
        self.live += 1;
        self.live_bytes += bytes;
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
    }

    pub(super) fn freed(&mut self, bytes: u64) {
        self.frees += 1;
        self.live -= 1;
        self.live_bytes -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::Counters;

    #[test]
    fn merging_keeps_the_higher_peak_and_adds_the_rest() {
        let mut first = Counters::default();
        first.allocated(100);
        first.freed(100);
        let mut second = Counters::default();
        second.allocated(40);
        second.allocated(20);
        let both = first + second;
        assert_eq!((both.peak_bytes, both.live, both.live_bytes), (100, 2, 60));
        assert_eq!((both.allocations, both.frees), (3, 1));
    }
}
