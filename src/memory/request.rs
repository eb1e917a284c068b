//! What callers ask for, and where data and guards lie in the buffer that they get.

use std::time::Duration;

use super::events::Site;
use super::misuse::MemoryError;
use super::poison::Poison;
use crate::device::{Extent, Limits};
use crate::tensor::Dtype;

/// What the ledger does for every buffer unless a request says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerOptions {
    /// Length of the guard behind the data in bytes.
    pub guard_bytes: u64,
    /// Freed buffers that wait before they are used again.
    pub quarantine_buffers: usize,
    /// Their bytes together, at most.
    pub quarantine_bytes: u64,
    /// Bytes of device buffers kept for later requests after the quarantine.
    pub idle_bytes: u64,
    /// Events remembered per buffer.
    pub events: usize,
    /// How long a submission may take.
    pub timeout: Duration,
    /// What float buffers start with.
    pub poison: Poison,
    /// How much is looked at after each submission.
    pub inspection: Inspection,
}

impl Default for LedgerOptions {
    fn default() -> Self {
        Self {
            guard_bytes: 256,
            quarantine_buffers: 64,
            quarantine_bytes: 32 << 20,
            idle_bytes: 128 << 20,
            events: 12,
            timeout: Duration::from_secs(10),
            poison: Poison::Nan,
            inspection: Inspection::Everything,
        }
    }
}

/// What the ledger looks at after each submission, beside what the recorder was told to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inspection {
    /// The guards of every bound buffer: a few hundred bytes each.
    Guards,
    /// Also that every input which the recording uploaded and bound for reading only is unchanged:
    /// a download of its size.
    Everything,
}

/// How much of a buffer a kernel may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// So many 32-bit words behind the data, inside the bound range: a driver drops or zeroes what
    /// lies outside of it, and would hide the fault.
    Words(u32),
    /// The bound range ends with the data, for kernels that use `.length()`. The guard lies behind
    /// the range, where only a driver without bounds checks lets a kernel reach it.
    Exact,
}

/// A buffer to allocate; [`super::Ledger::request`] fills in the ledger's own ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// For findings and debug tools.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Number of elements, in whole blocks if the type is quantised; 0 is allowed.
    pub len: usize,
    /// Guard bytes in front of the data, which the binding's offset skips: a multiple of the
    /// device's storage buffer offset alignment and of 4.
    pub before_bytes: u64,
    /// The guard behind the data.
    pub guard: Guard,
    /// What a float buffer starts with.
    pub poison: Poison,
    /// What an integer buffer starts with: a wrong index inside the range.
    pub poison_index: u32,
    /// Who asks, where that is a line of a kernel file; otherwise the caller of `allocate`.
    pub site: Option<Site>,
}

/// Bytes of a buffer, front to back: guard, data, guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) before: u64,
    pub(super) data: u64,
    pub(super) total: u64,
    range: u64,
}

impl Layout {
    /// Places the parts and holds them against the device's limits.
    pub(super) fn new(
        request: &Request,
        exact_guard_bytes: u64,
        limits: &Limits,
    ) -> Result<Self, MemoryError> {
        let (dtype, len) = (request.dtype, request.len);
        if !len.is_multiple_of(dtype.block_len()) {
            return Err(MemoryError::PartialBlock { buffer: request.name.clone(), dtype, len });
        }
        let alignment = limits.storage_offset_alignment.max(4);
        if !request.before_bytes.is_multiple_of(alignment) {
            return Err(MemoryError::Misaligned {
                buffer: request.name.clone(),
                offset_bytes: request.before_bytes,
                alignment,
            });
        }
        let too_large = |needed, limit, limit_bytes| MemoryError::TooLarge {
            buffer: request.name.clone(),
            needed,
            limit,
            limit_bytes,
        };
        let layout = Self::place(request, exact_guard_bytes)
            .ok_or_else(|| too_large(u64::MAX, "an allocation", limits.allocation_bytes))?;
        if layout.total > limits.allocation_bytes {
            return Err(too_large(layout.total, "an allocation", limits.allocation_bytes));
        }
        if layout.range > limits.storage_range_bytes {
            return Err(too_large(
                layout.range,
                "a storage buffer binding",
                limits.storage_range_bytes,
            ));
        }
        Ok(layout)
    }

    /// `None` where a number overflows.
    fn place(request: &Request, exact_guard_bytes: u64) -> Option<Self> {
        let before = request.before_bytes;
        let data = u64::try_from(request.dtype.bytes_for(request.len)?).ok()?;
        let padded = data.checked_next_multiple_of(4)?;
        let (behind, range) = match request.guard {
            Guard::Words(words) => {
                let behind = u64::from(words) * 4;
                (behind, padded.checked_add(behind)?)
            }
            Guard::Exact => (exact_guard_bytes.checked_next_multiple_of(4)?, data),
        };
        // Vulkan has no empty buffers and no empty ranges: the least is one word, poisoned.
        let range = if range == 0 { 4 } else { range };
        let total = before.checked_add(padded.checked_add(behind)?.max(4))?;
        Some(Self { before, data, total, range })
    }

    pub(super) fn extent(&self) -> Extent {
        Extent { offset_bytes: self.before, range_bytes: self.range, logical_bytes: self.data }
    }

    /// Data up to the next word: the least that commands can copy.
    pub(super) fn padded(&self) -> u64 {
        self.data.next_multiple_of(4)
    }

    /// First byte of the word in which the guard behind the data begins. The last elements
    /// may share that word if they are narrow.
    pub(super) fn behind(&self) -> u64 {
        self.before + self.data / 4 * 4
    }

    /// Bytes of that word which are data.
    pub(super) fn shared(&self) -> usize {
        usize::try_from(self.data % 4).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Guard, Layout, Request};
    use crate::memory::Poison;
    use crate::tensor::Dtype;

    fn request(dtype: Dtype, len: usize, guard: Guard) -> Request {
        Request {
            name: "x".to_owned(),
            dtype,
            len,
            before_bytes: 64,
            guard,
            poison: Poison::Nan,
            poison_index: 0,
            site: None,
        }
    }

    #[test]
    fn a_guard_lies_inside_the_range_unless_it_is_exact() {
        let words = Layout::place(&request(Dtype::F16, 3, Guard::Words(2)), 256).unwrap();
        assert_eq!((words.total, words.extent().range_bytes), (64 + 8 + 8, 16));
        assert_eq!((words.behind(), words.shared()), (64 + 4, 2));
        let exact = Layout::place(&request(Dtype::F16, 3, Guard::Exact), 256).unwrap();
        assert_eq!((exact.total, exact.extent().range_bytes), (64 + 8 + 256, 6));
        let byte = Layout::place(&request(Dtype::U8, 1, Guard::Exact), 256).unwrap();
        assert_eq!((byte.total, byte.extent().range_bytes), (64 + 4 + 256, 1));
        assert_eq!((byte.behind(), byte.shared()), (64, 1));
        let blocks = Layout::place(&request(Dtype::Q4_0, 96, Guard::Words(1)), 256).unwrap();
        assert_eq!((blocks.data, blocks.padded(), blocks.shared()), (54, 56, 2));
    }

    #[test]
    fn an_empty_buffer_still_has_a_word_to_bind() {
        let empty = Layout::place(&request(Dtype::F32, 0, Guard::Words(0)), 0).unwrap();
        assert_eq!((empty.total, empty.extent().range_bytes), (64 + 4, 4));
        assert_eq!(empty.extent().logical_bytes, 0);
    }

    #[test]
    fn a_length_beyond_the_address_space_has_no_layout() {
        let huge = request(Dtype::F32, usize::MAX, Guard::Words(1));
        assert_eq!(Layout::place(&huge, 0), None);
    }
}
