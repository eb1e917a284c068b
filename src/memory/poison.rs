//! What a buffer holds before anybody wrote it, and how to recognise it afterwards.

use serde::{Deserialize, Serialize};

use super::findings::ElementRanges;
use crate::tensor::Dtype;

/// Which value stands for "nobody wrote this" in a float buffer. `max` and comparisons hide a NaN
/// and sums hide nothing of it; with 2^100 it is the other way round, so both are worth a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Poison {
    /// A quiet NaN whose payload names the buffer.
    #[default]
    Nan,
    /// 2^100 in f32, bf16 and (nearly) f64, 2^15 in f16 and in the scales of quantised types.
    Huge,
}

/// The 32-bit word that fills a buffer of `dtype` in `slot`. Narrower elements stand in it several
/// times, and it stands twice in wider ones.
///
/// Integers get `index`: a wrong index, but inside the range that the caller knows, so that a
/// kernel which reads it goes astray without leaving its buffers. Where it doesn't fit, the largest
/// number that does takes its place; 64 bits hold it in both halves, so that only 0 is inside any range.
/// Quantised types get f16 words, whose NaN makes the whole block NaN.
#[must_use]
pub fn poison_word(dtype: Dtype, poison: Poison, slot: u32, index: u32) -> u32 {
    match (dtype, poison) {
        (Dtype::F32, Poison::Nan) => QUIET_F32 | payload(slot, 22),
        (Dtype::F32, Poison::Huge) => (127 + 100) << 23,
        (Dtype::F64, Poison::Nan) => QUIET_F64 | payload(slot, 19),
        (Dtype::F64, Poison::Huge) => (1023 + 100) << 20,
        (Dtype::BF16, Poison::Nan) => twice(0x7FC0 | payload(slot, 6)),
        (Dtype::BF16, Poison::Huge) => twice((127 + 100) << 7),
        (Dtype::I8, _) => twice(0x101 * index.min(0x7F)),
        (Dtype::U8, _) => twice(0x101 * index.min(0xFF)),
        (Dtype::I16, _) => twice(index.min(0x7FFF)),
        (Dtype::U16, _) => twice(index.min(0xFFFF)),
        (Dtype::I32 | Dtype::U32 | Dtype::I64 | Dtype::U64, _) => index,
        (Dtype::F16, Poison::Nan) => twice(0x7E00 | payload(slot, 9)),
        (Dtype::F16, Poison::Huge) => twice((15 + 15) << 10),
        (_, poison) => poison_word(Dtype::F16, poison, slot, index),
    }
}

const QUIET_F32: u32 = 0x7FC0_0000;
/// The upper half of a quiet f64.
const QUIET_F64: u32 = 0x7FF8_0000;

/// All payloads but zero and all ones, which are what hardware makes of 0/0.
fn payload(slot: u32, bits: u32) -> u32 {
    1 + slot % ((1 << bits) - 2)
}

fn twice(half: u32) -> u32 {
    half << 16 | half
}

/// The slot that a NaN may name; the sign doesn't count, since a kernel may have negated it. Sixteen
/// bits hold too few names to accuse anybody.
pub(super) fn named_slot(dtype: Dtype, element: &[u8]) -> Option<u32> {
    let (upper, quiet, bits) = match (dtype, element) {
        (Dtype::F32, [a, b, c, d]) => ([*a, *b, *c, *d], QUIET_F32, 22),
        (Dtype::F64, [a, b, c, d, lower @ ..]) => {
            let upper = [lower[0], lower[1], lower[2], lower[3]];
            if unsigned(upper) != u32::from_le_bytes([*a, *b, *c, *d]) {
                return None;
            }
            (upper, QUIET_F64, 19)
        }
        _ => return None,
    };
    let payload = unsigned(upper) ^ quiet;
    (payload > 0 && payload < (1 << bits) - 1).then(|| payload - 1)
}

fn unsigned(word: [u8; 4]) -> u32 {
    u32::from_le_bytes(word) & 0x7FFF_FFFF
}

/// A buffer's poison, to look for in what came back from the device.
///
/// A value that happens to equal the poison can't be told from it: choose an index that no correct
/// kernel stores, and compare with the reference where a kernel may pass on any pattern of 8 or 16
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoisonPattern {
    pub(super) dtype: Dtype,
    pub(super) word: u32,
}

impl PoisonPattern {
    /// The word that fills the buffer.
    #[must_use]
    pub fn word(&self) -> u32 {
        self.word
    }

    /// The bytes of one poisoned element; of a block if the type is quantised.
    #[must_use]
    pub fn element(&self) -> Vec<u8> {
        self.word.to_le_bytes().into_iter().cycle().take(self.dtype.block_bytes()).collect()
    }

    /// The elements of `data` that still hold the poison. Of a quantised type these are the blocks in
    /// which a field does: a scale, say, without which its integers mean nothing.
    #[must_use]
    pub fn unwritten(&self, data: &[u8]) -> ElementRanges {
        let poison = self.element();
        blocks(self.dtype, data, |block| {
            let mut start = 0;
            self.dtype.field_ends().iter().any(|end| {
                let field = start..*end;
                start = *end;
                block[field.clone()] == poison[field]
            })
        })
    }

    /// The elements of a guard that hold something else. `first` is the guard's first byte, counted
    /// from the first byte of the data.
    pub(super) fn overwritten(&self, first: i64, guard: &[u8]) -> ElementRanges {
        let poison = self.word.to_le_bytes();
        let size = i64::try_from(self.dtype.block_bytes()).unwrap_or(i64::MAX);
        let phase = usize::try_from(first.rem_euclid(4)).unwrap_or(0);
        let wrong = (first..)
            .zip(guard.iter().zip(poison.into_iter().cycle().skip(phase)))
            .filter(|(_, (byte, poison))| *byte != poison);
        let mut last = None;
        let touched = wrong.filter_map(|(at, _)| {
            let block = at.div_euclid(size);
            (last.replace(block) != Some(block)).then_some((block, ()))
        });
        ElementRanges::of(touched, |()| true).times(self.dtype.block_len())
    }
}

/// The elements of all blocks in `bytes` that answer to `concerned`; without quantisation every
/// element is a block.
pub(super) fn blocks(
    dtype: Dtype,
    bytes: &[u8],
    concerned: impl Fn(&[u8]) -> bool,
) -> ElementRanges {
    let blocks = bytes.chunks_exact(dtype.block_bytes());
    ElementRanges::of((0..).zip(blocks), concerned).times(dtype.block_len())
}

#[cfg(test)]
mod tests {
    use super::{Poison, PoisonPattern, named_slot, poison_word};
    use crate::tensor::Dtype;

    #[test]
    fn nan_poison_is_quiet_and_names_its_slot() {
        for slot in [0, 1, 77, 4_000_000] {
            let word = poison_word(Dtype::F32, Poison::Nan, slot, 0);
            assert!(f32::from_bits(word).is_nan());
            assert_ne!(word, f32::NAN.to_bits(), "the NaN of 0/0 is nobody's poison");
            assert_eq!(named_slot(Dtype::F32, &word.to_le_bytes()), Some(slot));
            let negated = word | 1 << 31;
            assert_eq!(named_slot(Dtype::F32, &negated.to_le_bytes()), Some(slot));
        }
        for bits in [f32::NAN.to_bits(), 0x7FFF_FFFF, f32::INFINITY.to_bits(), 1.5_f32.to_bits()] {
            assert_eq!(named_slot(Dtype::F32, &bits.to_le_bytes()), None);
        }
    }

    #[test]
    fn a_repeated_word_is_a_double_that_names_its_slot() {
        for slot in [0, 77, 400_000] {
            let word = poison_word(Dtype::F64, Poison::Nan, slot, 0);
            let bits = u64::from(word) << 32 | u64::from(word);
            assert!(f64::from_bits(bits).is_nan());
            assert_eq!(named_slot(Dtype::F64, &bits.to_le_bytes()), Some(slot));
            assert_eq!(named_slot(Dtype::F64, &(bits | 1 << 63).to_le_bytes()), Some(slot));
            assert_eq!(named_slot(Dtype::F64, &(bits ^ 1).to_le_bytes()), None);
        }
        for number in [f64::NAN, f64::INFINITY, 1.5] {
            assert_eq!(named_slot(Dtype::F64, &number.to_le_bytes()), None);
        }
    }

    #[test]
    fn half_poison_stands_twice_in_a_word() {
        for dtype in [Dtype::F16, Dtype::BF16] {
            let word = poison_word(dtype, Poison::Nan, 900, 0);
            assert_eq!(word >> 16, word & 0xFFFF);
            let both = dtype.decode(&word.to_le_bytes());
            assert!(both.iter().all(|value| value.is_nan()));
        }
    }

    #[test]
    fn huge_poison_is_the_hundredth_power_of_two_where_that_fits() {
        let huge = 100.0_f64.exp2();
        for (dtype, value) in
            [(Dtype::F32, huge), (Dtype::BF16, huge), (Dtype::F64, huge), (Dtype::F16, 32_768.0)]
        {
            let word = poison_word(dtype, Poison::Huge, 3, 0).to_le_bytes();
            let found = dtype.decode(&[word, word].concat());
            assert!(found.iter().all(|v| (v / value - 1.0).abs() < 1e-5), "{dtype} {found:?}");
        }
    }

    #[test]
    fn integers_get_the_index_that_the_caller_chose_as_far_as_it_fits() {
        for (dtype, index, value) in [
            (Dtype::I32, 5, 5.0),
            (Dtype::U32, 70_000, 70_000.0),
            (Dtype::U16, 70_000, 65_535.0),
            (Dtype::I16, 70_000, 32_767.0),
            (Dtype::U8, 200, 200.0),
            (Dtype::I8, 200, 127.0),
            (Dtype::I64, 1, 4_294_967_297.0),
        ] {
            let word = poison_word(dtype, Poison::Nan, 9, index).to_le_bytes();
            let found = dtype.decode(&[word, word].concat());
            assert!(found.iter().all(|v| *v == value), "{dtype} {found:?}");
        }
    }

    #[test]
    fn the_scales_of_poisoned_blocks_are_no_numbers() {
        for dtype in Dtype::ALL.into_iter().filter(|dtype| dtype.is_quantised()) {
            let word = poison_word(dtype, Poison::Nan, 900, 0).to_le_bytes();
            let values = dtype.decode(&word.repeat(144));
            assert!(values.iter().all(|value| value.is_nan()), "{dtype}");
        }
    }

    /// Every type, with either poison.
    fn patterns() -> impl Iterator<Item = PoisonPattern> {
        Dtype::ALL.into_iter().flat_map(|dtype| {
            [Poison::Nan, Poison::Huge]
                .map(|poison| PoisonPattern { dtype, word: poison_word(dtype, poison, 900, 6) })
        })
    }

    #[test]
    fn every_poisoned_element_is_found_and_no_zero_is() {
        for pattern in patterns() {
            let len = pattern.dtype.block_len() * 5;
            let size = pattern.dtype.block_bytes();
            let mut data = pattern.element().repeat(5);
            assert_eq!(pattern.unwritten(&data).count, len as u64, "{pattern:?}");
            data[size..4 * size].fill(0);
            let zeros = pattern.dtype.encode(&vec![0.0; len * 3 / 5]);
            let found = pattern.unwritten(&data);
            assert_eq!(found.count, 2 * pattern.dtype.block_len() as u64, "{pattern:?}");
            data[size..4 * size].copy_from_slice(&zeros);
            assert_eq!(pattern.unwritten(&data), found, "{pattern:?}");
        }
    }

    #[test]
    fn a_block_with_a_single_unwritten_field_is_found() {
        for pattern in patterns().filter(|pattern| pattern.dtype.is_quantised()) {
            let mut start = 0;
            for end in pattern.dtype.field_ends() {
                let mut block = vec![0; pattern.dtype.block_bytes()];
                block[start..*end].copy_from_slice(&pattern.element()[start..*end]);
                assert_eq!(pattern.unwritten(&block).count, pattern.dtype.block_len() as u64);
                start = *end;
            }
        }
    }

    #[test]
    fn unwritten_elements_come_as_ranges() {
        let pattern = PoisonPattern { dtype: Dtype::U32, word: 7 };
        let data = Dtype::U32.encode(&[7.0, 7.0, 1.0, 7.0]);
        let found = pattern.unwritten(&data);
        assert_eq!((found.count, found.to_string()), (3, "0..2, 3".to_owned()));
    }

    #[test]
    fn a_guard_is_measured_in_whole_elements_on_both_sides_of_the_data() {
        for pattern in patterns() {
            let (size, len) = (pattern.dtype.block_bytes(), pattern.dtype.block_len() as i64);
            // 80 bytes end where the data begins; its last byte belongs to the block before.
            let mut guard = pattern.word.to_le_bytes().repeat(20);
            assert!(pattern.overwritten(-80, &guard).is_empty(), "{pattern:?}");
            guard[79] ^= 1;
            let hit = pattern.overwritten(-80, &guard);
            assert_eq!((hit.ranges[0].start, hit.ranges[0].end), (-len, 0), "{pattern:?}");
            // Behind three blocks, inside of a word.
            let behind = 3 * size as i64;
            let mut guard: Vec<u8> = pattern.element().repeat(4)[3 * size % 4..].to_vec();
            guard[0] ^= 1;
            let hit = pattern.overwritten(behind, &guard);
            assert_eq!((hit.ranges[0].start, hit.count), (3 * len, len as u64), "{pattern:?}");
        }
    }
}
