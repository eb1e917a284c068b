//! Values and operations in words.

use half::{bf16, f16};
use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::float;
use crate::soft::program::{Pure, What};
use crate::soft::registers::Registers;
use crate::soft::scalar::Scalar;

/// The operands of one invocation, as bits.
pub(super) fn operands(registers: &Registers, pure: &Pure, lane: usize) -> Vec<u64> {
    (0..usize::from(pure.arity))
        .map(|at| {
            let slots = pure.src[at]..pure.src[at] + pure.operand_words(at);
            float::read(registers, slots, lane)
        })
        .collect()
}

/// Says what an operation without a defined result does.
pub(super) fn undefined(pure: &Pure, operands: Vec<u64>) -> String {
    let signed = |at: usize| signed(pure.from, operands.get(at).copied().unwrap_or(0));
    let unsigned = |at: usize| operands.get(at).copied().unwrap_or(0);
    let bits = 8 * pure.from.bytes();
    let What::Core(op) = pure.what else {
        return format!("{} has no defined result", call(pure, &operands));
    };
    match op {
        Op::UDiv | Op::UMod => format!("divides by zero: {} {} 0", unsigned(0), sign(op)),
        Op::SDiv | Op::SRem | Op::SMod if unsigned(1) == 0 => {
            format!("divides by zero: {} {} 0", signed(0), sign(op))
        }
        Op::SDiv | Op::SRem | Op::SMod => {
            format!("overflows: {} {} {}", signed(0), sign(op), signed(1))
        }
        Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
            format!("shifts a {bits}-bit value by {}", unsigned(1))
        }
        Op::BitFieldUExtract | Op::BitFieldSExtract => {
            format!("takes {} bits from bit {} of a {bits}-bit value", unsigned(2), unsigned(1))
        }
        Op::ConvertFToU | Op::ConvertFToS => {
            let kind = if op == Op::ConvertFToU { "unsigned" } else { "signed" };
            let value = number(pure.from, unsigned(0));
            let bits = 8 * pure.to.bytes();
            format!("converts {value} to a {bits}-bit {kind} integer, which can't hold it")
        }
        _ => format!("{} has no defined result", call(pure, &operands)),
    }
}

/// An operation with its operands, as one would write it: `0 / 0`, `sqrt(-1)`.
pub(super) fn call(pure: &Pure, operands: &[u64]) -> String {
    let numbers: Vec<String> = operands.iter().map(|bits| number(pure.from, *bits)).collect();
    if let (What::Core(op), [a, b]) = (pure.what, numbers.as_slice())
        && !sign(op).is_empty()
    {
        return format!("{a} {} {b}", sign(op));
    }
    let name = match pure.what {
        What::Core(op) | What::Second(op) => format!("{op:?}"),
        What::Extended(op) | What::SecondExtended(op) => extended(op),
    };
    format!("{name}({})", numbers.join(", "))
}

/// GLSL's name of a function of the extended set.
fn extended(op: Extended) -> String {
    match op {
        Extended::Log => "log".to_owned(),
        Extended::FMin | Extended::NMin => "min".to_owned(),
        Extended::FMax | Extended::NMax => "max".to_owned(),
        Extended::FClamp | Extended::NClamp => "clamp".to_owned(),
        Extended::FMix => "mix".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

const fn sign(op: Op) -> &'static str {
    match op {
        Op::FAdd | Op::IAdd => "+",
        Op::FSub | Op::ISub => "-",
        Op::FMul | Op::IMul => "*",
        Op::FDiv | Op::UDiv | Op::SDiv => "/",
        Op::UMod | Op::SMod | Op::SRem | Op::FMod | Op::FRem => "%",
        _ => "",
    }
}

/// Integers have their sign in the operation: here they have none.
fn number(scalar: Scalar, bits: u64) -> String {
    let half = u16::try_from(bits & 0xffff).unwrap_or(0);
    match scalar {
        Scalar::F16 => f16::from_bits(half).to_string(),
        Scalar::Bf16 => bf16::from_bits(half).to_string(),
        Scalar::F32 => {
            let value = f32::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or(0));
            short(f64::from(value), format!("{value}"), format!("{value:e}"))
        }
        Scalar::F64 => {
            let value = f64::from_bits(bits);
            short(value, format!("{value}"), format!("{value:e}"))
        }
        _ => bits.to_string(),
    }
}

fn short(value: f64, plain: String, scientific: String) -> String {
    let magnitude = value.abs();
    let far = value.is_finite() && magnitude != 0.0 && !(1e-5..1e9).contains(&magnitude);
    if far { scientific } else { plain }
}

/// A value of two's complement.
fn signed(scalar: Scalar, bits: u64) -> i64 {
    let unused = 64 - 8 * scalar.bytes();
    (bits << unused).cast_signed() >> unused
}
