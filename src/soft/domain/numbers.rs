//! Numbers in registers, as f64.

use half::{bf16, f16};

use crate::soft::program::Slot;
use crate::soft::registers::Registers;
use crate::soft::scalar::Scalar;
use crate::soft::words::{Float, join};

/// The number that an invocation has in a register.
pub(super) fn number(registers: &Registers, slot: Slot, scalar: Scalar, lane: usize) -> f64 {
    let low = registers.get(slot)[lane];
    match scalar {
        Scalar::F16 => f16::from_word(low.into()).to_f64(),
        Scalar::Bf16 => bf16::from_word(low.into()).to_f64(),
        Scalar::F32 => f32::from_bits(low).into(),
        Scalar::F64 => f64::from_bits(join([low, registers.get(slot + 1)[lane]])),
        Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::I64 => low.into(),
        Scalar::I32 => low.cast_signed().into(),
    }
}
