//! Words to numbers and back.

use std::ops::{Add, Mul};

use half::{bf16, f16};

/// The low and the high word of a 64-bit value.
pub(super) const fn split(value: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// The reverse of [`split`].
pub(super) const fn join([low, high]: [u32; 2]) -> u64 {
    let [a, b, c, d] = low.to_le_bytes();
    let [e, f, g, h] = high.to_le_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// The low half of a word.
const fn half_word(value: u64) -> u16 {
    let [a, b, ..] = value.to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// The lowest `bits` bits set.
pub(super) const fn low_bits(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// An integer of `bits` bits, with its sign.
pub(super) const fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    (value << shift).cast_signed() >> shift
}

/// A floating-point type, whose bits lie in the low bits of 64. Sums and products are rounded to
/// nearest, ties to even; those of 16-bit types go through f32, which doesn't change them.
pub(super) trait Float: Copy + PartialOrd + Add<Output = Self> + Mul<Output = Self> {
    const ZERO: Self;
    const ONE: Self;
    const INFINITY: Self;
    const NEG_INFINITY: Self;

    fn from_word(bits: u64) -> Self;
    fn to_word(self) -> u64;

    /// The lesser; a number is less than a NaN, and the first of two equal ones is taken.
    fn lesser(self, other: Self) -> Self {
        if other < self || self.is_unordered() { other } else { self }
    }

    /// The greater; a number is greater than a NaN, and the first of two equal ones is taken.
    fn greater(self, other: Self) -> Self {
        if other > self || self.is_unordered() { other } else { self }
    }

    fn is_unordered(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
}

impl Float for f16 {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;

    fn from_word(bits: u64) -> Self {
        Self::from_bits(half_word(bits))
    }

    fn to_word(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Float for bf16 {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;

    fn from_word(bits: u64) -> Self {
        Self::from_bits(half_word(bits))
    }

    fn to_word(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Float for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;

    fn from_word(bits: u64) -> Self {
        Self::from_bits(split(bits)[0])
    }

    fn to_word(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Float for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const INFINITY: Self = Self::INFINITY;
    const NEG_INFINITY: Self = Self::NEG_INFINITY;

    fn from_word(bits: u64) -> Self {
        Self::from_bits(bits)
    }

    fn to_word(self) -> u64 {
        self.to_bits()
    }
}
