//! Floats and their arithmetic. 16-bit ones are computed in f32 and rounded: f32 has more than
//! twice their digits, so that the second rounding of a sum, product, quotient or root is harmless.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use half::{bf16, f16};
use rspirv::spirv::Op;

use super::halves;
use super::lane::Lane;
use super::wide::{one, three, two};
use crate::soft::program::Kernel;

/// What floats are computed in.
pub(super) trait Number:
    Copy
    + PartialOrd
    + From<f32>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Neg<Output = Self>
{
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn sqrt(self) -> Self;
    fn is_nan(self) -> bool;
    fn to_f64(self) -> f64;
    /// In f32 with the last bit set where that isn't exact, to be rounded further.
    fn to_odd_f32(self) -> f32;
    fn to_u64(self) -> u64;
    fn to_i64(self) -> i64;

    /// Towards zero, within bounds that 32 bits hold; 0 for NaN.
    #[inline(always)]
    fn to_word(self, least: f64, largest: f64) -> u32 {
        let whole = self.to_f64().trunc().larger(least).smaller(largest);
        if self.is_nan() { 0 } else { halves::low_word(whole) }
    }

    /// The other one if one is NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        if other < self || self.is_nan() { other } else { self }
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if other > self || self.is_nan() { other } else { self }
    }
}

macro_rules! number {
    ($n:ty, $to_odd_f32:expr) => {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, towards zero"
        )]
        impl Number for $n {
            #[inline(always)]
            fn floor(self) -> Self {
                self.floor()
            }

            #[inline(always)]
            fn ceil(self) -> Self {
                self.ceil()
            }

            #[inline(always)]
            fn trunc(self) -> Self {
                self.trunc()
            }

            #[inline(always)]
            fn round_ties_even(self) -> Self {
                self.round_ties_even()
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn to_odd_f32(self) -> f32 {
                $to_odd_f32(self)
            }

            #[inline(always)]
            fn to_u64(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }
        }
    };
}

number!(f32, std::convert::identity);
number!(f64, halves::f64_to_odd_f32);

pub(super) trait Float: Lane {
    type Work: Number;

    fn work(self) -> Self::Work;
    fn round(value: Self::Work) -> Self;
    fn from_number(value: impl Number) -> Self;
    fn from_u32(value: u32) -> Self;
    fn from_i32(value: i32) -> Self;
    fn from_u64(value: u64) -> Self;
    fn from_i64(value: i64) -> Self;
    fn fma(self, b: Self, c: Self) -> Self;
    /// Sign operations touch nothing else, not even of a NaN.
    fn negated(self) -> Self;
    fn magnitude(self) -> Self;
    fn infinity() -> Self::Work;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self::from_number(value)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.work().to_f64()
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.work().is_nan()
    }

    #[inline(always)]
    fn is_infinite(self) -> bool {
        self.magnitude().work() == Self::infinity()
    }
}

/// f32 and f64: what they are computed in is what they are.
macro_rules! full {
    ($f:ty, |$double:ident| $from_f64:expr) => {
        impl Float for $f {
            type Work = $f;

            #[inline(always)]
            fn work(self) -> $f {
                self
            }

            #[inline(always)]
            fn round(value: $f) -> Self {
                value
            }

            #[inline(always)]
            fn from_number(value: impl Number) -> Self {
                let $double = value.to_f64();
                $from_f64
            }

            #[inline(always)]
            fn from_u32(value: u32) -> Self {
                value as $f
            }

            #[inline(always)]
            fn from_i32(value: i32) -> Self {
                value as $f
            }

            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                value as $f
            }

            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                value as $f
            }

            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }

            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn infinity() -> $f {
                <$f>::INFINITY
            }
        }
    };
}

full!(f32, |value| halves::f64_to_f32(value));
full!(f64, |value| value);

/// 16-bit floats. An integer that f32 has to round is beyond what f16 holds, or, to be rounded to
/// bf16, goes by way of f64.
macro_rules! short {
    ($f:ty, $widen:path, $narrow:path, |$int:ident| $from_int:expr,
     |$product:ident, $c:ident| $sum:expr) => {
        impl Float for $f {
            type Work = f32;

            #[inline(always)]
            fn work(self) -> f32 {
                $widen(self.to_bits())
            }

            #[inline(always)]
            fn round(value: f32) -> Self {
                Self::from_bits($narrow(value))
            }

            #[inline(always)]
            fn from_number(value: impl Number) -> Self {
                Self::round(value.to_odd_f32())
            }

            #[inline(always)]
            fn from_u32($int: u32) -> Self {
                $from_int
            }

            #[inline(always)]
            fn from_i32($int: i32) -> Self {
                $from_int
            }

            #[inline(always)]
            fn from_u64($int: u64) -> Self {
                $from_int
            }

            #[inline(always)]
            fn from_i64($int: i64) -> Self {
                $from_int
            }

            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                let ($product, $c) = ((self.work(), b.work()), c.work());
                $sum
            }

            #[inline(always)]
            fn negated(self) -> Self {
                Self::from_bits(self.to_bits() ^ 0x8000)
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                Self::from_bits(self.to_bits() & 0x7fff)
            }

            #[inline(always)]
            fn infinity() -> f32 {
                f32::INFINITY
            }
        }
    };
}

// The product of two f16 is exact in f32; that of two bf16 may be beyond its exponents.
short!(f16, halves::f16_to_f32, halves::f32_to_f16, |int| Self::round(int as f32), |ab, c| {
    Self::round(halves::odd_sum(ab.0 * ab.1, c))
});
short!(
    bf16,
    halves::bf16_to_f32,
    halves::f32_to_bf16,
    |int| Float::from_f64(int as f64),
    |ab, c| Float::from_f64(f64::from(ab.0) * f64::from(ab.1) + f64::from(c))
);

pub(super) fn core<T: Float>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::FNegate => one!(T => T, |a| a.negated()),
        Op::FAdd => two!(T, T => T, |a, b| T::round(a.work() + b.work())),
        Op::FSub => two!(T, T => T, |a, b| T::round(a.work() - b.work())),
        Op::FMul => two!(T, T => T, |a, b| T::round(a.work() * b.work())),
        Op::FDiv => two!(T, T => T, |a, b| T::round(a.work() / b.work())),
        Op::FRem => two!(T, T => T, |a, b| T::round(a.work() % b.work())),
        Op::FMod => two!(T, T => T, |a, b| T::round(modulo(a.work(), b.work()))),
        Op::FmaKHR => three!(T, T, T => T, |a, b, c| a.fma(b, c)),
        _ => return None,
    })
}

/// The remainder of the divisor's sign.
#[inline(always)]
fn modulo<N: Number>(a: N, b: N) -> N {
    let rest = a % b;
    let zero = N::from(0.0);
    let wrong = (rest < zero && b > zero) || (rest > zero && b < zero);
    if wrong { rest + b } else { rest }
}
