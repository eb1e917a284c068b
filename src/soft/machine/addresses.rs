//! Columns of addresses. Most go to one place, or to places in a row.

use crate::soft::alu::widest;
use crate::soft::program::OUTSIDE;

/// How the addresses of invocations that run together follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// All are the same.
    Same,
    /// Each lies four bytes behind the one before.
    Row,
    Scattered,
}

/// Writes `first` plus the offset for every invocation, `OUTSIDE` where that is beyond `last`, and
/// says whether an active one is.
pub(super) fn place(
    to: &mut [u32],
    offsets: &[u32],
    active: &[u32],
    first: u32,
    last: u32,
) -> (Shape, bool) {
    let start = offsets.first().copied().unwrap_or(0);
    widest(
        #[inline(always)]
        || {
            let (mut outside, mut wrong, mut apart, mut uneven) = (0, 0, 0, 0);
            let mut next = start;
            for ((to, offset), active) in to.iter_mut().zip(offsets).zip(active) {
                let beyond = if *offset <= last { 0 } else { u32::MAX };
                *to = first.wrapping_add(*offset) & !beyond | OUTSIDE & beyond;
                outside |= beyond;
                wrong |= beyond & active;
                apart |= offset ^ start;
                uneven |= offset ^ next;
                next = next.wrapping_add(4);
            }
            let shape = match (apart, uneven, outside) {
                (0, ..) => Shape::Same,
                (_, 0, 0) => Shape::Row,
                _ => Shape::Scattered,
            };
            (shape, wrong != 0)
        },
    )
}

/// All bits of the addresses of active invocations.
pub(super) fn union(addresses: &[u32], active: &[u32]) -> u32 {
    widest(
        #[inline(always)]
        || addresses.iter().zip(active).fold(0, |all, (at, active)| all | (at & active)),
    )
}

/// Reads words in a row; false where they aren't all there.
pub(super) fn read_row(out: &mut [u32], bytes: &[u8], first: u32) -> bool {
    let first = first as usize;
    let Some(row) = bytes.get(first..first.saturating_add(out.len() * 4)) else { return false };
    for (out, word) in out.iter_mut().zip(row.as_chunks().0) {
        *out = u32::from_le_bytes(*word);
    }
    true
}

/// The reverse of [`read_row`].
pub(super) fn write_row(bytes: &mut [u8], first: u32, words: &[u32]) -> bool {
    let first = first as usize;
    let end = first.saturating_add(words.len() * 4);
    let Some(row) = bytes.get_mut(first..end) else { return false };
    for (place, word) in row.as_chunks_mut().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_shape_and_end_at_the_last() {
        let on = [u32::MAX; 4];
        let mut to = [0; 4];
        let mut at = |offsets: [u32; 4], active: &[u32; 4]| {
            let found = place(&mut to, &offsets, active, 100, 20);
            (found, to)
        };
        assert_eq!(at([8; 4], &on), ((Shape::Same, false), [108; 4]));
        assert_eq!(at([8, 12, 16, 20], &on), ((Shape::Row, false), [108, 112, 116, 120]));
        assert_eq!(at([8, 4, 0, 4], &on), ((Shape::Scattered, false), [108, 104, 100, 104]));
        let cut = [112, 116, 120, OUTSIDE];
        assert_eq!(at([12, 16, 20, 24], &on), ((Shape::Scattered, true), cut));
        assert_eq!(at([12, 16, 20, 24], &[1, 1, 1, 0]), ((Shape::Scattered, false), cut));
        assert_eq!(at([OUTSIDE; 4], &on), ((Shape::Same, true), [OUTSIDE; 4]));
    }

    #[test]
    fn rows_are_read_and_written_whole_or_not_at_all() {
        let mut bytes: Vec<u8> = (0..12).collect();
        let mut row = [0; 2];
        assert!(read_row(&mut row, &bytes, 3));
        assert_eq!(row, [0x0605_0403, 0x0a09_0807]);
        assert!(!read_row(&mut row, &bytes, 8) && !read_row(&mut row, &bytes, OUTSIDE));
        assert!(write_row(&mut bytes, 4, &[0x0101_0101, 2]));
        assert_eq!(bytes, [0, 1, 2, 3, 1, 1, 1, 1, 2, 0, 0, 0]);
        assert!(!write_row(&mut bytes, 8, &[1, 2]));
    }
}
