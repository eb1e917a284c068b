//! How a component lies in the words of a register.

use half::{bf16, f16};

/// The columns of a component's words; the second is empty where it takes one.
pub(super) type Words<'a> = [&'a [u32]; 2];

/// A type that a register holds.
pub(super) trait Lane: Copy {
    /// Whether it takes two words.
    const WIDE: bool;

    fn from_words(low: u32, high: u32) -> Self;

    fn words(self) -> [u32; 2];

    /// Makes the lengths known to the compiler, so that no access in the loop is checked.
    #[inline(always)]
    fn cut(words: Words<'_>, len: usize) -> Words<'_> {
        [&words[0][..len], &words[1][..if Self::WIDE { len } else { 0 }]]
    }

    #[inline(always)]
    fn at(words: Words<'_>, i: usize) -> Self {
        Self::from_words(words[0][i], if Self::WIDE { words[1][i] } else { 0 })
    }
}

/// A type of one word or less.
macro_rules! narrow {
    ($lane:ty, |$word:ident| $from:expr, |$value:ident| $to:expr) => {
        impl Lane for $lane {
            const WIDE: bool = false;

            #[inline(always)]
            fn from_words($word: u32, _: u32) -> Self {
                $from
            }

            #[inline(always)]
            fn words(self) -> [u32; 2] {
                let $value = self;
                [$to, 0]
            }
        }
    };
}

narrow!(u8, |word| (word & 0xff) as Self, |value| Self::into(value));
narrow!(u16, |word| (word & 0xffff) as Self, |value| Self::into(value));
narrow!(u32, |word| word, |value| value);
narrow!(i8, |word| ((word & 0xff) as u8).cast_signed(), |value| value.cast_unsigned().into());
narrow!(i16, |word| ((word & 0xffff) as u16).cast_signed(), |value| value.cast_unsigned().into());
narrow!(i32, |word| word.cast_signed(), |value| value.cast_unsigned());
narrow!(bool, |word| word != 0, |value| Self::into(value));
narrow!(f16, |word| Self::from_bits((word & 0xffff) as u16), |value| value.to_bits().into());
narrow!(bf16, |word| Self::from_bits((word & 0xffff) as u16), |value| value.to_bits().into());
narrow!(f32, |word| Self::from_bits(word), |value| value.to_bits());

/// A type of two words.
macro_rules! wide {
    ($lane:ty, |$bits:ident| $from:expr, |$value:ident| $to:expr) => {
        impl Lane for $lane {
            const WIDE: bool = true;

            #[inline(always)]
            fn from_words(low: u32, high: u32) -> Self {
                let $bits = u64::from(high) << 32 | u64::from(low);
                $from
            }

            #[inline(always)]
            fn words(self) -> [u32; 2] {
                let $value = self;
                let bits: u64 = $to;
                [(bits & 0xffff_ffff) as u32, (bits >> 32) as u32]
            }
        }
    };
}

wide!(u64, |bits| bits, |value| value);
wide!(i64, |bits| bits.cast_signed(), |value| value.cast_unsigned());
wide!(f64, |bits| Self::from_bits(bits), |value| value.to_bits());
