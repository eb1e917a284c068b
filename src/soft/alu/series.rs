//! Exponentials, logarithms and what is made of them, for types up to f32: computed in f64 without
//! branches, so that loops over them become vectors. Relative errors are below 2^-42. Nothing is
//! fused, so that results are the same on every machine.

use std::f64::consts::{LN_2, LOG2_E};

use rspirv::spirv::GlslStd450Op as Extended;

use super::floats::{Float, Number};
use super::wide::{one, two};
use crate::soft::program::Kernel;

pub(super) fn kernel<T: Float>(op: Extended) -> Option<Kernel> {
    if T::WIDE {
        return None;
    }
    Some(match op {
        Extended::Exp => one!(T => T, |a| T::from_f64(exp2(a.to_f64() * LOG2_E))),
        Extended::Exp2 => one!(T => T, |a| T::from_f64(exp2(a.to_f64()))),
        Extended::Log => one!(T => T, |a| T::from_f64(log2(a.to_f64()) * LN_2)),
        Extended::Log2 => one!(T => T, |a| T::from_f64(log2(a.to_f64()))),
        Extended::Tanh => one!(T => T, |a| T::from_f64(tanh(a.to_f64()))),
        Extended::Pow => two!(T, T => T, |a, b| T::from_f64(pow(a.to_f64(), b.to_f64()))),
        _ => return None,
    })
}

/// Horner's rule, the highest power first.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    coefficients.iter().fold(0.0, |sum, next| sum * x + next)
}

/// 1/n!, from n = 11 down.
const EXP: [f64; 12] = [
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// A power of two by the exponent times one between 1/sqrt(2) and sqrt(2) by its series.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    // Beyond what f32 holds, but within what the exponent of a double does.
    let bounded = x.larger(-1000.0).smaller(1000.0);
    let whole = bounded.round_ties_even();
    let rest = polynomial((bounded - whole) * LN_2, &EXP);
    // The low bits of the sum are the integer, and all others are shifted out.
    let exponent = (whole + 6_755_399_441_055_744.0).to_bits().wrapping_add(1023);
    let power = f64::from_bits(exponent << 52) * rest;
    if x.is_nan() { x } else { power }
}

const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const FRACTION: u64 = 0x000f_ffff_ffff_ffff;

/// 2 log2(e) / n, from n = 19 down, of the odd ones.
const LOG: [f64; 10] = [
    2.0 * LOG2_E / 19.0,
    2.0 * LOG2_E / 17.0,
    2.0 * LOG2_E / 15.0,
    2.0 * LOG2_E / 13.0,
    2.0 * LOG2_E / 11.0,
    2.0 * LOG2_E / 9.0,
    2.0 * LOG2_E / 7.0,
    2.0 * LOG2_E / 5.0,
    2.0 * LOG2_E / 3.0,
    2.0 * LOG2_E,
];

/// The exponent, and by the series of the inverse hyperbolic tangent the logarithm of what is left,
/// between 1/sqrt(2) and sqrt(2).
#[inline(always)]
fn log2(x: f64) -> f64 {
    let shifted = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - SQRT_HALF);
    let exponent = f64::from_bits(0x4330_0000_0000_0000 | shifted >> 52) - 4_503_599_627_371_519.0;
    let m = f64::from_bits((shifted & FRACTION).wrapping_add(SQRT_HALF));
    let s = (m - 1.0) / (m + 1.0);
    let finite = exponent + s * polynomial(s * s, &LOG);
    let special = if x < 0.0 { f64::NAN } else { x };
    let special = if x == 0.0 { f64::NEG_INFINITY } else { special };
    if (x > 0.0) & (x < f64::INFINITY) { finite } else { special }
}

/// NaN for a negative base.
#[inline(always)]
fn pow(base: f64, exponent: f64) -> f64 {
    let power = exp2(exponent * log2(base));
    if (exponent == 0.0) | (base == 1.0) { 1.0 } else { power }
}

/// Of its own series near 0, where the other form cancels.
const TANH: [f64; 7] = [
    21844.0 / 6_081_075.0,
    -1382.0 / 155_925.0,
    62.0 / 2835.0,
    -17.0 / 315.0,
    2.0 / 15.0,
    -1.0 / 3.0,
    1.0,
];

#[inline(always)]
fn tanh(x: f64) -> f64 {
    let near = x * polynomial(x * x, &TANH);
    let far = (1.0 - 2.0 / (exp2(x.abs() * (2.0 * LOG2_E)) + 1.0)).copysign(x);
    if x.abs() < 0.125 { near } else { far }
}
