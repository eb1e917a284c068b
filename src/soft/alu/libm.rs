//! `GLSL.std.450` by the `libm` crate, whose results have the same last digit on every machine. All
//! is computed in f64, so that narrower types get the nearest value but for one in millions. What
//! kernels use most is in [`super::series`] for them.

use libm as m;
use rspirv::spirv::GlslStd450Op as Extended;

use super::floats::Float;
use super::ints::Int;
use super::wide::{one, two};
use crate::soft::program::Kernel;

pub(super) fn one<T: Float>(op: Extended) -> Option<Kernel> {
    Some(match op {
        Extended::Sin => one!(T => T, |a| T::from_f64(m::sin(a.to_f64()))),
        Extended::Cos => one!(T => T, |a| T::from_f64(m::cos(a.to_f64()))),
        Extended::Tan => one!(T => T, |a| T::from_f64(m::tan(a.to_f64()))),
        Extended::Asin => one!(T => T, |a| T::from_f64(m::asin(a.to_f64()))),
        Extended::Acos => one!(T => T, |a| T::from_f64(m::acos(a.to_f64()))),
        Extended::Atan => one!(T => T, |a| T::from_f64(m::atan(a.to_f64()))),
        Extended::Sinh => one!(T => T, |a| T::from_f64(m::sinh(a.to_f64()))),
        Extended::Cosh => one!(T => T, |a| T::from_f64(m::cosh(a.to_f64()))),
        Extended::Tanh => one!(T => T, |a| T::from_f64(m::tanh(a.to_f64()))),
        Extended::Asinh => one!(T => T, |a| T::from_f64(m::asinh(a.to_f64()))),
        Extended::Acosh => one!(T => T, |a| T::from_f64(acosh(a.to_f64()))),
        Extended::Atanh => one!(T => T, |a| T::from_f64(m::atanh(a.to_f64()))),
        Extended::Exp => one!(T => T, |a| T::from_f64(m::exp(a.to_f64()))),
        Extended::Exp2 => one!(T => T, |a| T::from_f64(m::exp2(a.to_f64()))),
        Extended::Log => one!(T => T, |a| T::from_f64(m::log(a.to_f64()))),
        Extended::Log2 => one!(T => T, |a| T::from_f64(m::log2(a.to_f64()))),
        Extended::Modf | Extended::ModfStruct => {
            one!(T => T, |a| T::from_f64(m::modf(a.to_f64()).0))
        }
        Extended::Frexp | Extended::FrexpStruct => {
            one!(T => T, |a| T::from_f64(m::frexp(a.to_f64()).0))
        }
        _ => return None,
    })
}

pub(super) fn two<T: Float>(op: Extended) -> Option<Kernel> {
    Some(match op {
        Extended::Pow => two!(T, T => T, |a, b| T::from_f64(m::pow(a.to_f64(), b.to_f64()))),
        Extended::Atan2 => two!(T, T => T, |a, b| T::from_f64(m::atan2(a.to_f64(), b.to_f64()))),
        // The exponent is an integer of 32 bits.
        Extended::Ldexp => two!(T, i32 => T, |a, e| T::from_f64(m::ldexp(a.to_f64(), e))),
        _ => return None,
    })
}

/// The whole part of `modf`.
pub(super) fn whole<T: Float>(op: Extended) -> Option<Kernel> {
    Some(match op {
        Extended::Modf | Extended::ModfStruct => {
            one!(T => T, |a| T::from_f64(m::modf(a.to_f64()).1))
        }
        _ => return None,
    })
}

/// The exponent of `frexp`.
pub(super) fn exponent<T: Float, R: Int>(op: Extended) -> Option<Kernel> {
    Some(match op {
        Extended::Frexp | Extended::FrexpStruct => one!(T => R, |a| {
            R::from_u64(i64::from(m::frexp(a.to_f64()).1).cast_unsigned())
        }),
        _ => return None,
    })
}

/// `libm` gives large negative numbers some number.
fn acosh(a: f64) -> f64 {
    if a < 1.0 { f64::NAN } else { m::acosh(a) }
}
