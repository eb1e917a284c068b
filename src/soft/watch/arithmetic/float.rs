//! The encodings of floating-point types, as bits: what isn't finite, and a NaN's payload.

use std::ops::Range;

use super::super::column;
use crate::soft::program::Slot;
use crate::soft::registers::{Active, Registers};
use crate::soft::scalar::Scalar;

/// How a type encodes infinities and NaNs.
#[derive(Clone, Copy, Debug)]
struct Encoding {
    /// All bits but the sign.
    magnitude: u64,
    infinity: u64,
    /// A quiet NaN whose payload is 0 but for what marks it as one of ours.
    tagged: u64,
    /// The bits of the payload that hold a number.
    number: u64,
}

/// None for what isn't a float. The wide types mark their payload, so that a NaN that a module holds
/// as a constant isn't taken for one that an instruction made; the narrow ones have no room for it.
const fn encoding(scalar: Scalar) -> Option<Encoding> {
    let (magnitude, infinity, tagged, number) = match scalar {
        Scalar::F16 => (0x7fff, 0x7c00, 0x7e00, 0x1ff),
        Scalar::Bf16 => (0x7fff, 0x7f80, 0x7fc0, 0x3f),
        Scalar::F32 => (0x7fff_ffff, 0x7f80_0000, 0x7fd5_0000, 0xffff),
        Scalar::F64 => (u64::MAX >> 1, 0x7ff0_0000_0000_0000, 0x7ffa_5a5a_0000_0000, 0xffff),
        _ => return None,
    };
    Some(Encoding { magnitude, infinity, tagged, number })
}

pub(super) fn is_nan(scalar: Scalar, bits: u64) -> bool {
    encoding(scalar).is_some_and(|float| bits & float.magnitude > float.infinity)
}

pub(super) fn is_infinite(scalar: Scalar, bits: u64) -> bool {
    encoding(scalar).is_some_and(|float| bits & float.magnitude == float.infinity)
}

/// A NaN that carries a number from 1; none where it has no room for it.
pub(super) fn tag(scalar: Scalar, number: u32) -> Option<u64> {
    let float = encoding(scalar)?;
    let number = u64::from(number);
    (number <= float.number).then_some(float.tagged | number)
}

/// The number that a NaN carries.
pub(super) fn tag_of(scalar: Scalar, bits: u64) -> Option<u32> {
    let float = encoding(scalar)?;
    let ours = bits & float.magnitude & !float.number == float.tagged;
    let number = u32::try_from(bits & float.number).ok()?;
    (ours && number != 0).then_some(number)
}

/// Whether an active invocation has an infinity or a NaN. The high word alone says so.
pub(super) fn any_special(
    registers: &Registers,
    slot: Slot,
    scalar: Scalar,
    active: &Active,
) -> bool {
    let (slot, mask, limit) = match scalar {
        Scalar::F16 => (slot, 0x7fff, 0x7c00),
        Scalar::Bf16 => (slot, 0x7fff, 0x7f80),
        Scalar::F32 => (slot, 0x7fff_ffff, 0x7f80_0000),
        Scalar::F64 => (slot + 1, 0x7fff_ffff, 0x7ff0_0000),
        _ => return false,
    };
    column::any_reaches(registers.get(slot), active, mask, limit)
}

/// One invocation's value, as bits.
pub(super) fn read(registers: &Registers, slots: Range<Slot>, lane: usize) -> u64 {
    slots
        .zip([0, 32])
        .fold(0, |bits, (slot, shift)| bits | u64::from(registers.get(slot)[lane]) << shift)
}

/// The reverse.
pub(super) fn write(registers: &mut Registers, slots: Range<Slot>, lane: usize, bits: u64) {
    for (slot, shift) in slots.zip([0, 32]) {
        let word = bits >> shift & u64::from(u32::MAX);
        registers.get_mut(slot)[lane] = u32::try_from(word).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_nan_that_tells_its_number() {
        for scalar in [Scalar::F16, Scalar::Bf16, Scalar::F32, Scalar::F64] {
            let tagged = tag(scalar, 63).expect("room");
            assert!(is_nan(scalar, tagged) && !is_infinite(scalar, tagged));
            assert_eq!(tag_of(scalar, tagged), Some(63));
        }
        assert!(f32::from_bits(0x7fd5_0001).is_nan());
        assert_eq!(tag(Scalar::Bf16, 64), None);
        assert_eq!(tag_of(Scalar::F32, 0x7fc0_0001), None, "a constant of the module");
        assert_eq!(tag_of(Scalar::F32, 0xffd5_0007), Some(7), "a negated one");
        assert!(is_infinite(Scalar::F16, 0xfc00) && !is_nan(Scalar::F16, 0xfc00));
    }
}
