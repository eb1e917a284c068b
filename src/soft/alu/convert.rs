//! Conversions between types.

use rspirv::spirv::Op;

use super::floats::Float;
use super::halves;
use super::ints::Int;
use super::wide::{for_float, for_int, one};
use crate::soft::program::{Kernel, Wide};
use crate::soft::scalar::Scalar;

pub(super) fn core(op: Op, from: Scalar, to: Scalar) -> Option<Kernel> {
    match op {
        Op::Bitcast => bitcast(from, to),
        Op::FConvert => between_floats(from, to),
        Op::QuantizeToF16 if (from, to) == (Scalar::F32, Scalar::F32) => {
            Some(one!(f32 => f32, |a| quantize(a)))
        }
        Op::ConvertFToU | Op::ConvertFToS => {
            for_float!(from, F => for_int!(to, I => from_float::<F, I>(op)))
        }
        Op::ConvertUToF | Op::ConvertSToF => {
            for_int!(from, I => for_float!(to, F => to_float::<I, F>(op)))
        }
        Op::UConvert | Op::SConvert | Op::SatConvertSToU | Op::SatConvertUToS => {
            for_int!(from, A => for_int!(to, B => between_ints::<A, B>(op)))
        }
        _ => None,
    }
}

/// Between types of one size. Vectors that are regrouped are the lowering's business.
fn bitcast(from: Scalar, to: Scalar) -> Option<Kernel> {
    if from.bytes() != to.bytes() || from == Scalar::Bool || to == Scalar::Bool {
        return None;
    }
    Some(if from.words() == 2 {
        Kernel::Wide(|Wide { out: [low, high], src }| {
            low.copy_from_slice(src[0][0]);
            high.copy_from_slice(src[0][1]);
        })
    } else {
        Kernel::One(<[u32]>::copy_from_slice)
    })
}

fn between_floats(from: Scalar, to: Scalar) -> Option<Kernel> {
    if from == to {
        return None;
    }
    for_float!(from, A => for_float!(to, B => Some(one!(A => B, |a| B::from_number(a.work())))))
}

/// What f16 would hold, without its subnormals.
#[inline(always)]
fn quantize(a: f32) -> f32 {
    let half = halves::f16_to_f32(halves::f32_to_f16(a));
    let smallest = f32::from_bits(0x3880_0000);
    if half.abs() < smallest { 0f32.copysign(a) } else { half }
}

/// Out of range gives the nearest that there is, NaN 0.
fn from_float<F: Float, I: Int>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::ConvertFToU => one!(F => I, |a| I::from_float(a.work())),
        _ => one!(F => I, |a| I::from_float_signed(a.work())),
    })
}

fn to_float<I: Int, F: Float>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::ConvertUToF => one!(I => F, |a| a.to_float()),
        _ => one!(I => F, |a| a.to_float_signed()),
    })
}

fn between_ints<A: Int, B: Int>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::UConvert => one!(A => B, |a| B::from_u64(a.to_u64())),
        Op::SConvert => one!(A => B, |a| B::from_u64(a.to_i64().cast_unsigned())),
        Op::SatConvertSToU => one!(A => B, |a| {
            B::from_u64(a.to_i64().max(0).cast_unsigned().min(B::LARGEST))
        }),
        _ => one!(A => B, |a| B::from_u64(a.to_u64().min(B::LARGEST >> 1))),
    })
}
