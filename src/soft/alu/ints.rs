//! Integers. SPIR-V has the sign in the operation, so an unsigned type stands for both.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::floats::{Float, Number};
use super::halves;
use super::lane::Lane;
use super::wide::{one, three, two};
use crate::soft::program::Kernel;

pub(super) trait Int:
    Lane
    + Ord
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    type Signed: Lane + Ord;
    const BITS: u32;
    /// The largest without a sign.
    const LARGEST: u64;

    fn signed(self) -> Self::Signed;
    fn to_u64(self) -> u64;
    /// With its sign.
    fn to_i64(self) -> i64;
    /// The low bits.
    fn from_u64(value: u64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The high half of a product.
    fn mul_high(self, other: Self) -> Self;
    fn mul_high_signed(self, other: Self) -> Self;
    /// 0 if the divisor is.
    fn div(self, other: Self) -> Self;
    fn reversed(self) -> Self;
    fn ones(self) -> u32;
    /// From the width on, nothing is left.
    fn left(self, amount: u32) -> Self;
    fn right(self, amount: u32) -> Self;
    fn right_signed(self, amount: u32) -> Self;
    /// Towards zero, to the nearest that there is.
    fn from_float(value: impl Number) -> Self;
    fn from_float_signed(value: impl Number) -> Self;
    fn to_float<F: Float>(self) -> F;
    fn to_float_signed<F: Float>(self) -> F;

    #[inline(always)]
    fn negated(self) -> Self {
        Self::from_u64(0).sub(self)
    }

    #[inline(always)]
    fn is_negative(self) -> bool {
        self.signed() < Self::from_u64(0).signed()
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        if self.is_negative() { self.negated() } else { self }
    }

    /// The smallest negative number by -1 is itself.
    #[inline(always)]
    fn div_signed(self, other: Self) -> Self {
        let quotient = self.magnitude().div(other.magnitude());
        if (self ^ other).is_negative() { quotient.negated() } else { quotient }
    }

    /// Of the dividend's sign; 0 if the divisor is.
    #[inline(always)]
    fn rem_signed(self, other: Self) -> Self {
        let rest = self.magnitude().rem(other.magnitude());
        if self.is_negative() { rest.negated() } else { rest }
    }

    #[inline(always)]
    fn rem(self, other: Self) -> Self {
        let zero = Self::from_u64(0);
        if other == zero { zero } else { self.sub(self.div(other).mul(other)) }
    }

    /// Of the divisor's sign.
    #[inline(always)]
    fn mod_signed(self, other: Self) -> Self {
        let rest = self.rem_signed(other);
        let wrong = rest != Self::from_u64(0) && (rest ^ other).is_negative();
        if wrong { rest.add(other) } else { rest }
    }
}

/// A quotient of integers of 32 bits or less. A double's 53 bits hold it well enough that rounding
/// never reaches the next integer, and doubles divide in vectors.
#[inline(always)]
fn quotient(a: u32, b: u32) -> u32 {
    let whole = (f64::from(a) / f64::from(b)).trunc();
    if b == 0 { 0 } else { halves::low_word(whole) }
}

/// The methods that have the same text for each width.
macro_rules! int {
    ($u:ty, $s:ty, $mask:literal, $double:ty, $double_signed:ty) => {
        type Signed = $s;
        const BITS: u32 = <$u>::BITS;
        const LARGEST: u64 = $mask;

        #[inline(always)]
        fn signed(self) -> $s {
            self.cast_signed()
        }

        #[inline(always)]
        fn to_u64(self) -> u64 {
            self.into()
        }

        #[inline(always)]
        fn to_i64(self) -> i64 {
            self.cast_signed().into()
        }

        #[inline(always)]
        fn from_u64(value: u64) -> Self {
            (value & $mask) as $u
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            self.wrapping_add(other)
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            self.wrapping_sub(other)
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            self.wrapping_mul(other)
        }

        #[inline(always)]
        fn mul_high(self, other: Self) -> Self {
            let product = <$double>::from(self) * <$double>::from(other);
            ((product >> <$u>::BITS) & $mask) as $u
        }

        #[inline(always)]
        fn mul_high_signed(self, other: Self) -> Self {
            let (a, b) = (self.cast_signed(), other.cast_signed());
            let product = <$double_signed>::from(a) * <$double_signed>::from(b);
            ((product.cast_unsigned() >> <$u>::BITS) & $mask) as $u
        }

        #[inline(always)]
        fn reversed(self) -> Self {
            self.reverse_bits()
        }

        #[inline(always)]
        fn ones(self) -> u32 {
            self.count_ones()
        }

        #[inline(always)]
        fn left(self, amount: u32) -> Self {
            self.checked_shl(amount).unwrap_or(0)
        }

        #[inline(always)]
        fn right(self, amount: u32) -> Self {
            self.checked_shr(amount).unwrap_or(0)
        }

        #[inline(always)]
        fn right_signed(self, amount: u32) -> Self {
            (self.cast_signed() >> amount.min(<$u>::BITS - 1)).cast_unsigned()
        }
    };
}

/// Types whose values fit 32 bits: they divide and come from floats by way of those.
macro_rules! short {
    ($u:ty, $s:ty, $mask:literal) => {
        impl Int for $u {
            int!($u, $s, $mask, u64, i64);

            #[inline(always)]
            fn div(self, other: Self) -> Self {
                (quotient(self.into(), other.into()) & $mask) as $u
            }

            #[inline(always)]
            fn from_float(value: impl Number) -> Self {
                (value.to_word(0.0, f64::from(<$u>::MAX)) & $mask) as $u
            }

            #[inline(always)]
            fn from_float_signed(value: impl Number) -> Self {
                let word = value.to_word(f64::from(<$s>::MIN), f64::from(<$s>::MAX));
                (word & $mask) as $u
            }

            #[inline(always)]
            fn to_float<F: Float>(self) -> F {
                F::from_u32(self.into())
            }

            #[inline(always)]
            fn to_float_signed<F: Float>(self) -> F {
                F::from_i32(self.cast_signed().into())
            }
        }
    };
}

short!(u8, i8, 0xff);
short!(u16, i16, 0xffff);
short!(u32, i32, 0xffff_ffff);

impl Int for u64 {
    int!(u64, i64, 0xffff_ffff_ffff_ffff, u128, i128);

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.checked_div(other).unwrap_or(0)
    }

    #[inline(always)]
    fn from_float(value: impl Number) -> Self {
        value.to_u64()
    }

    #[inline(always)]
    fn from_float_signed(value: impl Number) -> Self {
        value.to_i64().cast_unsigned()
    }

    #[inline(always)]
    fn to_float<F: Float>(self) -> F {
        F::from_u64(self)
    }

    #[inline(always)]
    fn to_float_signed<F: Float>(self) -> F {
        F::from_i64(self.cast_signed())
    }
}

/// Operations of two or one integers that give one of the same type.
pub(super) fn core<T: Int>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::SNegate => one!(T => T, |a| a.negated()),
        Op::IAdd | Op::IAddCarry => two!(T, T => T, |a, b| a.add(b)),
        Op::ISub | Op::ISubBorrow => two!(T, T => T, |a, b| a.sub(b)),
        Op::IMul | Op::UMulExtended | Op::SMulExtended => two!(T, T => T, |a, b| a.mul(b)),
        Op::UDiv => two!(T, T => T, |a, b| a.div(b)),
        Op::SDiv => two!(T, T => T, |a, b| a.div_signed(b)),
        Op::UMod => two!(T, T => T, |a, b| a.rem(b)),
        Op::SRem => two!(T, T => T, |a, b| a.rem_signed(b)),
        Op::SMod => two!(T, T => T, |a, b| a.mod_signed(b)),
        _ => return None,
    })
}

/// The second results.
pub(super) fn second<T: Int>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::UMulExtended => two!(T, T => T, |a, b| a.mul_high(b)),
        Op::SMulExtended => two!(T, T => T, |a, b| a.mul_high_signed(b)),
        Op::IAddCarry => two!(T, T => T, |a, b| T::from_u64((a.add(b) < a).into())),
        Op::ISubBorrow => two!(T, T => T, |a, b| T::from_u64((a < b).into())),
        _ => return None,
    })
}

pub(super) fn extended<T: Int>(op: Extended) -> Option<Kernel> {
    Some(match op {
        Extended::SAbs => one!(T => T, |a| a.magnitude()),
        Extended::SSign => one!(T => T, |a| sign(a)),
        Extended::UMin => two!(T, T => T, |a, b| a.min(b)),
        Extended::UMax => two!(T, T => T, |a, b| a.max(b)),
        Extended::SMin => two!(T::Signed, T::Signed => T::Signed, |a, b| a.min(b)),
        Extended::SMax => two!(T::Signed, T::Signed => T::Signed, |a, b| a.max(b)),
        Extended::UClamp => three!(T, T, T => T, |a, low, high| a.max(low).min(high)),
        Extended::SClamp => three!(T::Signed, T::Signed, T::Signed => T::Signed,
            |a, low, high| a.max(low).min(high)),
        _ => return None,
    })
}

#[inline(always)]
fn sign<T: Int>(a: T) -> T {
    let one = T::from_u64((a != T::from_u64(0)).into());
    if a.is_negative() { one.negated() } else { one }
}
