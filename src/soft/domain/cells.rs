//! Tangents of numbers in memory.

use std::ops::Range;

use super::dual::Tangent;

/// Bytes of the narrowest number.
const UNIT: u32 = 2;

/// A buffer's tangents, one place for every two bytes as far as there are any.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells(Vec<Cell>);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Cell {
    #[default]
    Empty,
    /// A number of so many bytes starts here.
    Head(Tangent, u32),
    /// One has started before.
    Rest,
}

/// A part of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Torn;

impl Cells {
    /// The tangent of the number at a byte.
    pub(super) fn read(&self, at: u32, bytes: u32) -> Result<Tangent, Torn> {
        let first = (at / UNIT) as usize;
        match self.0.get(first) {
            Some(Cell::Head(tangent, own)) if *own == bytes && at.is_multiple_of(UNIT) => {
                return Ok(*tangent);
            }
            _ => {}
        }
        let units = first..(at.saturating_add(bytes).div_ceil(UNIT) as usize).min(self.0.len());
        let is_empty = self.0.get(units).is_none_or(|part| part.iter().all(|c| *c == Cell::Empty));
        if is_empty { Ok(Tangent::default()) } else { Err(Torn) }
    }

    pub(super) fn write(&mut self, at: u32, bytes: u32, tangent: Tangent) {
        self.clear(u64::from(at)..u64::from(at) + u64::from(bytes));
        if tangent.is_zero() || bytes < UNIT || !at.is_multiple_of(UNIT) {
            return;
        }
        let (first, len) = ((at / UNIT) as usize, (bytes / UNIT) as usize);
        if self.0.len() < first + len {
            self.0.resize(first + len, Cell::Empty);
        }
        self.0[first] = Cell::Head(tangent, bytes);
        self.0[first + 1..first + len].fill(Cell::Rest);
    }

    /// Whole numbers go, also where only a part of them is overwritten.
    pub(super) fn clear(&mut self, bytes: Range<u64>) {
        let unit = |byte: u64| usize::try_from(byte / u64::from(UNIT)).unwrap_or(usize::MAX);
        let end = unit(bytes.end.next_multiple_of(u64::from(UNIT))).min(self.0.len());
        let mut first = unit(bytes.start);
        if first >= end {
            return;
        }
        while first > 0 && self.0[first] == Cell::Rest {
            first -= 1;
        }
        let rest = self.0[end..].iter().take_while(|cell| **cell == Cell::Rest).count();
        self.0[first..end + rest].fill(Cell::Empty);
    }

    /// The cells of a part of the buffer.
    pub(super) fn part(&self, bytes: Range<u64>) -> Self {
        let unit = |byte: u64| {
            usize::try_from(byte / u64::from(UNIT)).unwrap_or(usize::MAX).min(self.0.len())
        };
        Self(self.0[unit(bytes.start)..unit(bytes.end)].to_vec())
    }
}
