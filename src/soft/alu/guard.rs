//! Where an operation has no defined result.

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::floats::Float;
use super::ints::Int;
use super::wide::{for_float, for_int, mark_one, mark_two};
use crate::soft::program::{Guard, What};
use crate::soft::scalar::Scalar;

/// A guard that looks at one operand, or at two, by their places.
macro_rules! undefined {
    ([$at:literal] $a:ty, |$x:ident| $holds:expr) => {
        |out, src| {
            mark_one::<$a>(
                out,
                src[$at],
                #[inline(always)]
                |$x| $holds,
            )
        }
    };
    ([$at:literal, $bt:literal] $a:ty, $b:ty, |$x:ident, $y:ident| $holds:expr) => {
        |out, src| {
            mark_two::<$a, $b>(
                out,
                [src[$at], src[$bt]],
                #[inline(always)]
                |$x, $y| $holds,
            )
        }
    };
}

/// When an operation has no defined result; none where it always has.
pub(crate) fn guard(what: What, from: Scalar, to: Scalar) -> Option<Guard> {
    match what {
        What::Core(op @ (Op::ConvertFToS | Op::ConvertFToU)) => {
            for_float!(from, F => for_int!(to, I => conversions::<F, I>(op)))
        }
        What::Core(op) => for_int!(from, T => integers::<T>(op)),
        What::Extended(op) => {
            for_int!(from, T => clamps::<T>(op)).or_else(|| for_float!(from, T => floats::<T>(op)))
        }
        What::Second(_) | What::SecondExtended(_) => None,
    }
}

fn integers<T: Int>(op: Op) -> Option<Guard> {
    Some(match op {
        Op::UDiv | Op::UMod => undefined!([1] T, |b| b == T::from_u64(0)),
        Op::SDiv => undefined!([0, 1] T, T, |a, b| {
            (b == T::from_u64(0)) | ((b == !T::from_u64(0)) & is_least(a))
        }),
        // Vulkan defines remainders of numbers that aren't negative only.
        Op::SRem | Op::SMod => undefined!([0, 1] T, T, |a, b| {
            (b == T::from_u64(0)) | (a | b).is_negative()
        }),
        Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
            undefined!([1] u32, |amount| amount >= T::BITS)
        }
        Op::BitFieldUExtract | Op::BitFieldSExtract => {
            undefined!([1, 2] u32, u32, |offset, count| ends_beyond(offset, count, T::BITS))
        }
        Op::BitFieldInsert => {
            undefined!([2, 3] u32, u32, |offset, count| ends_beyond(offset, count, T::BITS))
        }
        _ => return None,
    })
}

#[inline(always)]
fn is_least<T: Int>(a: T) -> bool {
    a.to_u64() == (T::LARGEST >> 1) + 1
}

#[inline(always)]
fn ends_beyond(offset: u32, count: u32, bits: u32) -> bool {
    (offset > bits) | (count > bits) | (offset.wrapping_add(count) > bits)
}

/// NaN is in no range. The bounds are powers of two and exact in every type but, for f16, beyond
/// its numbers: f64 holds them all.
fn conversions<F: Float, I: Int>(op: Op) -> Option<Guard> {
    Some(match op {
        Op::ConvertFToU => undefined!([0] F, |a| {
            let whole = a.to_f64().trunc();
            !((whole >= 0.0) & (whole < power_of_two(I::BITS)))
        }),
        _ => undefined!([0] F, |a| {
            let whole = a.to_f64().trunc();
            let limit = power_of_two(I::BITS - 1);
            !((whole >= -limit) & (whole < limit))
        }),
    })
}

#[inline(always)]
fn power_of_two(exponent: u32) -> f64 {
    f64::from_bits(u64::from(1023 + exponent) << 52)
}

fn clamps<T: Int>(op: Extended) -> Option<Guard> {
    Some(match op {
        Extended::UClamp => undefined!([1, 2] T, T, |low, high| low > high),
        Extended::SClamp => undefined!([1, 2] T::Signed, T::Signed, |low, high| low > high),
        _ => return None,
    })
}

/// Comparisons are written so that a NaN operand isn't a fault of this operation.
fn floats<T: Float>(op: Extended) -> Option<Guard> {
    Some(match op {
        Extended::Asin | Extended::Acos => {
            undefined!([0] T, |a| a.magnitude().work() > T::Work::from(1.0))
        }
        Extended::Acosh => undefined!([0] T, |a| a.work() < T::Work::from(1.0)),
        Extended::Atanh => undefined!([0] T, |a| a.magnitude().work() >= T::Work::from(1.0)),
        Extended::Atan2 => undefined!([0, 1] T, T, |a, b| is_zero(a) & is_zero(b)),
        Extended::Pow => undefined!([0, 1] T, T, |a, b| {
            is_negative(a) | (is_zero(a) & (b.work() <= T::Work::from(0.0)))
        }),
        // Of 0, too, a logarithm or inverse root is undefined; but kernels rely on the infinity
        // that every device gives.
        Extended::Log | Extended::Log2 | Extended::Sqrt | Extended::InverseSqrt => {
            undefined!([0] T, |a| is_negative(a))
        }
        Extended::FClamp | Extended::NClamp => {
            undefined!([1, 2] T, T, |low, high| low.work() > high.work())
        }
        Extended::SmoothStep => undefined!([0, 1] T, T, |low, high| low.work() >= high.work()),
        _ => return None,
    })
}

#[inline(always)]
fn is_zero<T: Float>(a: T) -> bool {
    a.work() == T::Work::from(0.0)
}

#[inline(always)]
fn is_negative<T: Float>(a: T) -> bool {
    a.work() < T::Work::from(0.0)
}
