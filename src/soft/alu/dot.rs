//! Dot products of four packed 8-bit integers.

use rspirv::spirv::Op;

use super::ints::Int;
use super::wide::{three, two};
use crate::soft::program::Kernel;

/// Two packed words, and with `AccSat` an accumulator of the result's type, which bounds the sum.
pub(super) fn core<R: Int>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::SDot => two!(u32, u32 => R, |a, b| R::from_u64(dot(signed, signed, a, b))),
        Op::UDot => two!(u32, u32 => R, |a, b| R::from_u64(dot(unsigned, unsigned, a, b))),
        Op::SUDot => two!(u32, u32 => R, |a, b| R::from_u64(dot(signed, unsigned, a, b))),
        Op::SDotAccSat => {
            three!(u32, u32, R => R, |a, b, sum| bounded(dot(signed, signed, a, b), sum))
        }
        Op::SUDotAccSat => {
            three!(u32, u32, R => R, |a, b, sum| bounded(dot(signed, unsigned, a, b), sum))
        }
        Op::UDotAccSat => three!(u32, u32, R => R, |a, b, sum| {
            let total = dot(unsigned, unsigned, a, b).saturating_add(sum.to_u64());
            R::from_u64(total.min(R::LARGEST))
        }),
        _ => return None,
    })
}

#[inline(always)]
fn signed(byte: u8) -> i32 {
    byte.cast_signed().into()
}

#[inline(always)]
fn unsigned(byte: u8) -> i32 {
    byte.into()
}

/// As 64 bits, with its sign.
#[inline(always)]
fn dot(left: impl Fn(u8) -> i32, right: impl Fn(u8) -> i32, a: u32, b: u32) -> u64 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    let sum: i32 = (0..4).map(|i| left(a[i]) * right(b[i])).sum();
    i64::from(sum).cast_unsigned()
}

#[inline(always)]
fn bounded<R: Int>(dot: u64, sum: R) -> R {
    let largest = (R::LARGEST >> 1).cast_signed();
    let total = dot.cast_signed().saturating_add(sum.to_i64());
    R::from_u64(total.clamp(-largest - 1, largest).cast_unsigned())
}
