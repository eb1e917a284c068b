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
    /// 2^100 in f32, 2^15 in f16.
    Huge,
}

/// The 32-bit word that fills a buffer of `dtype` in `slot`. Floats of 16 bits stand in it twice.
/// Integers get `index`: a wrong index, but inside the range that the caller knows, so that a
/// kernel which reads it goes astray without leaving its buffers.
#[must_use]
pub fn poison_word(dtype: Dtype, poison: Poison, slot: u32, index: u32) -> u32 {
    match (dtype, poison) {
        (Dtype::F32, Poison::Nan) => QUIET_F32 | payload(slot, 22),
        (Dtype::F32, Poison::Huge) => (127 + 100) << 23,
        (Dtype::F16, Poison::Nan) => twice(0x7E00 | payload(slot, 9)),
        (Dtype::F16, Poison::Huge) => twice((15 + 15) << 10),
        (Dtype::U32 | Dtype::I32, _) => index,
    }
}

const QUIET_F32: u32 = 0x7FC0_0000;

/// All payloads but zero and all ones, which are what hardware makes of 0/0.
fn payload(slot: u32, bits: u32) -> u32 {
    1 + slot % ((1 << bits) - 2)
}

fn twice(half: u32) -> u32 {
    half << 16 | half
}

/// The slot that an f32 NaN may name; the sign doesn't count, since a kernel may have negated it.
pub(super) fn named_slot(bits: u32) -> Option<u32> {
    let unsigned = bits & 0x7FFF_FFFF;
    let payload = unsigned ^ QUIET_F32;
    (payload > 0 && payload < 0x003F_FFFF).then(|| payload - 1)
}

/// A buffer's poison, to look for in what came back from the device.
///
/// A value that happens to equal the poison can't be told from it: choose an index that no correct
/// kernel stores, and compare with the reference where a kernel may pass on any 16-bit pattern.
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

    /// The bits of one poisoned element; 16-bit elements in the low half.
    #[must_use]
    pub fn element_bits(&self) -> u32 {
        match self.dtype {
            Dtype::F16 => self.word & 0xFFFF,
            Dtype::F32 | Dtype::U32 | Dtype::I32 => self.word,
        }
    }

    /// The elements of `data` that still hold the poison.
    #[must_use]
    pub fn unwritten(&self, data: &[u8]) -> ElementRanges {
        let poison = self.element_bits();
        ElementRanges::of((0..).zip(elements(self.dtype, data)), |bits| bits == poison)
    }

    /// The elements of a guard that hold something else. `first` is the guard's first element,
    /// counted from the first element of the data.
    pub(super) fn overwritten(&self, first: i64, guard: &[u8]) -> ElementRanges {
        let poison = self.element_bits();
        ElementRanges::of((first..).zip(elements(self.dtype, guard)), |bits| bits != poison)
    }
}

/// The bits of each element, zero-extended.
pub(super) fn elements(dtype: Dtype, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes
        .chunks_exact(dtype.size_bytes())
        .map(|element| element.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::{Poison, PoisonPattern, elements, named_slot, poison_word};
    use crate::tensor::Dtype;

    #[test]
    fn nan_poison_is_quiet_and_names_its_slot() {
        for slot in [0, 1, 77, 4_000_000] {
            let word = poison_word(Dtype::F32, Poison::Nan, slot, 0);
            assert!(f32::from_bits(word).is_nan());
            assert_ne!(word, f32::NAN.to_bits(), "the NaN of 0/0 is nobody's poison");
            assert_eq!(named_slot(word), Some(slot));
            assert_eq!(named_slot(word | 1 << 31), Some(slot));
        }
        assert_eq!(named_slot(f32::NAN.to_bits()), None);
        assert_eq!(named_slot(0x7FFF_FFFF), None);
        assert_eq!(named_slot(f32::INFINITY.to_bits()), None);
        assert_eq!(named_slot(1.5_f32.to_bits()), None);
    }

    #[test]
    fn half_poison_stands_twice_in_a_word() {
        let word = poison_word(Dtype::F16, Poison::Nan, 900, 0);
        assert_eq!(word >> 16, word & 0xFFFF);
        let both = Dtype::F16.decode(&word.to_le_bytes());
        assert!(both.iter().all(|value| value.is_nan()));
        let huge = poison_word(Dtype::F16, Poison::Huge, 0, 0);
        assert_eq!(Dtype::F16.decode(&huge.to_le_bytes()), [32768.0, 32768.0]);
    }

    #[test]
    fn huge_poison_is_the_hundredth_power_of_two() {
        let word = poison_word(Dtype::F32, Poison::Huge, 3, 0);
        assert_eq!(f64::from(f32::from_bits(word)), 100.0_f64.exp2());
    }

    #[test]
    fn integers_get_the_index_that_the_caller_chose() {
        assert_eq!(poison_word(Dtype::I32, Poison::Nan, 9, 5), 5);
        assert_eq!(poison_word(Dtype::U32, Poison::Huge, 9, 6), 6);
    }

    #[test]
    fn unwritten_elements_come_as_ranges() {
        let pattern = PoisonPattern { dtype: Dtype::U32, word: 7 };
        let data = Dtype::U32.encode(&[7.0, 7.0, 1.0, 7.0]);
        let found = pattern.unwritten(&data);
        assert_eq!((found.count, found.to_string()), (3, "0..2, 3".to_owned()));
    }

    #[test]
    fn elements_are_little_endian() {
        let halves: Vec<u32> = elements(Dtype::F16, &[1, 2, 3, 4]).collect();
        assert_eq!(halves, [0x0201, 0x0403]);
    }
}
