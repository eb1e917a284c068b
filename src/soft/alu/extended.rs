//! `GLSL.std.450` on floats: what vectors compute well. The rest is in [`super::libm`].

use std::f64::consts::PI;

use rspirv::spirv::GlslStd450Op as Extended;

use super::floats::{Float, Number};
use super::wide::{one, three, two};
use crate::soft::program::Kernel;

pub(super) fn one<T: Float>(op: Extended) -> Option<Kernel> {
    Some(match op {
        // Which way Round takes a tie is the implementation's choice.
        Extended::Round | Extended::RoundEven => {
            one!(T => T, |a| T::round(a.work().round_ties_even()))
        }
        Extended::Trunc => one!(T => T, |a| T::round(a.work().trunc())),
        Extended::Floor => one!(T => T, |a| T::round(a.work().floor())),
        Extended::Ceil => one!(T => T, |a| T::round(a.work().ceil())),
        Extended::Fract => one!(T => T, |a| T::round(a.work() - a.work().floor())),
        Extended::FAbs => one!(T => T, |a| a.magnitude()),
        Extended::FSign => one!(T => T, |a| T::round(sign(a.work()))),
        Extended::Radians => one!(T => T, |a| T::from_f64(a.to_f64() * (PI / 180.0))),
        Extended::Degrees => one!(T => T, |a| T::from_f64(a.to_f64() * (180.0 / PI))),
        Extended::Sqrt => one!(T => T, |a| T::round(a.work().sqrt())),
        Extended::InverseSqrt => one!(T => T, |a| T::from_f64(1.0 / a.to_f64().sqrt())),
        _ => return None,
    })
}

pub(super) fn more<T: Float>(op: Extended) -> Option<Kernel> {
    Some(match op {
        Extended::FMin | Extended::NMin => {
            two!(T, T => T, |a, b| T::round(a.work().smaller(b.work())))
        }
        Extended::FMax | Extended::NMax => {
            two!(T, T => T, |a, b| T::round(a.work().larger(b.work())))
        }
        Extended::FClamp | Extended::NClamp => three!(T, T, T => T, |a, low, high| {
            T::round(a.work().larger(low.work()).smaller(high.work()))
        }),
        Extended::FMix => three!(T, T, T => T, |a, b, t| {
            T::round(mix(a.work(), b.work(), t.work()))
        }),
        Extended::Step => two!(T, T => T, |edge, a| {
            T::round(T::Work::from(if a.work() < edge.work() { 0.0 } else { 1.0 }))
        }),
        Extended::SmoothStep => three!(T, T, T => T, |low, high, a| {
            T::round(smooth_step(low.work(), high.work(), a.work()))
        }),
        Extended::Fma => three!(T, T, T => T, |a, b, c| a.fma(b, c)),
        _ => return None,
    })
}

/// A zero keeps its sign.
#[inline(always)]
fn sign<N: Number>(a: N) -> N {
    let zero = N::from(0.0);
    let positive = if a > zero { N::from(1.0) } else { a };
    if a < zero { N::from(-1.0) } else { positive }
}

#[inline(always)]
fn mix<N: Number>(a: N, b: N, t: N) -> N {
    a * (N::from(1.0) - t) + b * t
}

#[inline(always)]
fn smooth_step<N: Number>(low: N, high: N, a: N) -> N {
    let t = ((a - low) / (high - low)).larger(N::from(0.0)).smaller(N::from(1.0));
    t * t * (N::from(3.0) - N::from(2.0) * t)
}
