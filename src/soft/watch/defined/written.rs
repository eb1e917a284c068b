//! A bit for every byte of a memory: whether somebody wrote it.

use std::ops::Range;

/// Which bytes somebody wrote. Most memory is written from its start on, by the host or by
/// workgroups in order: that takes no bits at all.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// All bytes below are written.
    prefix: usize,
    /// A bit for every byte; those of the prefix mean nothing. Bytes beyond are unwritten.
    bits: Vec<u64>,
    /// A bit for every word of `bits` that is all ones.
    full: Vec<u64>,
}

/// From this many words on, `full` is asked.
const LONG: usize = 8;

impl Written {
    /// Nobody wrote anything.
    pub(super) fn clear(&mut self) {
        self.prefix = 0;
        self.bits.fill(0);
        self.full.fill(0);
    }

    pub(super) fn has(&self, range: Range<usize>) -> bool {
        let range = range.start.max(self.prefix)..range.end;
        if range.is_empty() {
            return true;
        }
        let (first, last) = (range.start.div_ceil(64), range.end / 64);
        if last < first + LONG {
            return all(&self.bits, range);
        }
        all(&self.bits, range.start..first * 64)
            && all(&self.bits, last * 64..range.end)
            && all(&self.full, first..last)
    }

    /// A bit for each of at most 8 bytes that nobody wrote.
    pub(super) fn missing(&self, at: usize, len: usize) -> u8 {
        if at + len <= self.prefix {
            return 0;
        }
        let word = |at: usize| self.bits.get(at).copied().unwrap_or(0);
        let shift = at % 64;
        let high = if shift == 0 { 0 } else { word(at / 64 + 1) << (64 - shift) };
        let below = (1_u64 << self.prefix.saturating_sub(at).min(8)) - 1;
        let written = word(at / 64) >> shift | high | below;
        let wanted = (1_u64 << len.min(8)) - 1;
        u8::try_from(!written & wanted).unwrap_or(u8::MAX)
    }

    /// Somebody writes. `len` is that of the memory: its bits are made at once, since a vector
    /// that grows by and by ends up with twice of what it needs.
    pub(super) fn write(&mut self, range: Range<usize>, len: usize) {
        if range.start <= self.prefix {
            self.prefix = self.prefix.max(range.end);
            return;
        }
        self.fit(len.max(range.end));
        self.set(range);
    }

    /// Nobody wrote this any more.
    pub(super) fn forget(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        if range.start < self.prefix {
            let rest = range.end..self.prefix;
            self.fit(self.prefix);
            self.prefix = range.start;
            if !rest.is_empty() {
                self.set(rest);
            }
        }
        for (at, mask) in words(range) {
            if let Some(word) = self.bits.get_mut(at) {
                *word &= !mask;
                self.full[at / 64] &= !(1 << (at % 64));
            }
        }
    }

    fn fit(&mut self, len: usize) {
        let count = len.div_ceil(64);
        if let Some(more) = count.checked_sub(self.bits.len()) {
            self.bits.reserve_exact(more);
            self.bits.resize(count, 0);
            self.full.resize(count.div_ceil(64), 0);
        }
    }

    fn set(&mut self, range: Range<usize>) {
        for (at, mask) in words(range) {
            let word = &mut self.bits[at];
            *word |= mask;
            if *word == u64::MAX {
                self.full[at / 64] |= 1 << (at % 64);
            }
        }
    }
}

fn all(bits: &[u64], range: Range<usize>) -> bool {
    words(range).all(|(at, mask)| bits.get(at).is_some_and(|word| word & mask == mask))
}

/// The words that hold a range of bits, with the bits of the range.
fn words(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = range;
    let words = if start < end { start / 64..end.div_ceil(64) } else { 0..0 };
    words.map(move |at| {
        let low = start.saturating_sub(at * 64).min(63);
        let high = (end - at * 64).min(64);
        (at, (u64::MAX << low) & (u64::MAX >> (64 - high)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by one byte a byte.
    fn model_agrees(written: &Written, model: &[bool]) {
        for start in 0..model.len() {
            for len in [1, 2, 4, 8, 100, 700] {
                let end = (start + len).min(model.len());
                let whole = model[start..end].iter().all(|byte| *byte);
                assert_eq!(written.has(start..end), whole, "{start}..{end}");
                if end - start <= 8 {
                    let bits = (start..end).map(|at| u8::from(!model[at]) << (at - start));
                    assert_eq!(written.missing(start, end - start), bits.sum::<u8>());
                }
            }
        }
    }

    #[test]
    fn it_holds_what_was_written() {
        let mut written = Written::default();
        let mut model = vec![false; 1500];
        let steps = [
            (true, 700..1400),
            (true, 0..100),
            (true, 100..130),
            (false, 20..90),
            (true, 15..25),
            (true, 90..701),
            (false, 1000..1001),
            (true, 0..64),
            (false, 0..3),
            (true, 0..1500),
            (false, 128..192),
        ];
        for (write, range) in steps {
            model[range.clone()].fill(write);
            if write {
                written.write(range, 1500);
            } else {
                written.forget(range);
            }
            model_agrees(&written, &model);
        }
        written.clear();
        model_agrees(&written, &vec![false; 1500]);
    }

    #[test]
    fn what_is_written_in_order_takes_no_bits() {
        let mut written = Written::default();
        for at in 0..1000 {
            written.write(at * 4..at * 4 + 4, 1 << 30);
        }
        assert!(written.has(0..4000) && !written.has(0..4001));
        assert!(written.bits.is_empty());
    }
}
