//! Which bits of a result are undefined, given those of the operands.

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use crate::soft::program::{Pure, What};
use crate::soft::scalar::Scalar;

/// One invocation's operands: undefined bits and values; what isn't there is 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operands {
    pub(super) masks: [u64; 4],
    pub(super) values: [u64; 4],
}

/// The bits that a value of this type has.
pub(super) const fn all_bits(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Bool => 1,
        Scalar::I8 => 0xff,
        Scalar::I16 | Scalar::F16 | Scalar::Bf16 => 0xffff,
        Scalar::I32 | Scalar::F32 => 0xffff_ffff,
        Scalar::I64 | Scalar::F64 => u64::MAX,
    }
}

/// The operand that a result takes its undefined bits from, for its trace.
pub(super) fn blamed(pure: &Pure, operands: &Operands) -> usize {
    let [condition, yes, ..] = operands.masks;
    if pure.what == What::Core(Op::Select) && condition == 0 {
        return if operands.values[0] == 0 || yes == 0 { 2 } else { 1 };
    }
    operands.masks.iter().position(|mask| *mask != 0).unwrap_or(0)
}

/// The undefined bits of a result. Exact for what moves bits about, and for `and` and `or`, whose
/// defined operand may decide; sums are undefined from the lowest undefined bit on. All else is
/// undefined where any operand is, products with zero included: what makes them zero is seldom
/// meant to hide garbage.
pub(super) fn undefined_bits(pure: &Pure, operands: &Operands) -> u64 {
    let from = all_bits(pure.from);
    let to = all_bits(pure.to);
    let Operands { masks: [a, b, c, d], values: [x, y, z, w] } = *operands;
    let any = if a | b | c | d == 0 { 0 } else { to };
    let found = match pure.what {
        What::Core(op) => match op {
            Op::BitwiseAnd | Op::LogicalAnd => (a & (b | y)) | (b & (a | x)),
            Op::BitwiseOr | Op::LogicalOr => (a & (b | !y)) | (b & (a | !x)),
            Op::BitwiseXor | Op::LogicalNotEqual | Op::LogicalEqual => a | b,
            Op::BitFieldInsert if c | d == 0 => {
                let count = u32::try_from(w.min(64)).unwrap_or(64);
                let low = if count == 64 { u64::MAX } else { (1 << count) - 1 };
                let at = u32::try_from(z.min(63)).unwrap_or(63);
                (a & !(low << at)) | ((b & low) << at)
            }
            Op::Not | Op::LogicalNot | Op::CopyObject | Op::Bitcast | Op::UConvert => a & from,
            Op::SConvert => extend(a & from, from),
            Op::IEqual | Op::INotEqual if (x ^ y) & from & !(a | b) != 0 => 0,
            Op::IAdd | Op::ISub | Op::IMul => upward((a | b) & from),
            Op::SNegate => upward(a & from),
            Op::Select if a & 1 != 0 => b | c | (y ^ z),
            Op::Select => [c, b][usize::from(x & 1 != 0)],
            Op::ShiftLeftLogical if b == 0 => shifted(y, from, |by| a << by),
            Op::ShiftRightLogical if b == 0 => shifted(y, from, |by| (a & from) >> by),
            Op::ShiftRightArithmetic if b == 0 => {
                shifted(y, from, |by| extend((a & from) >> by, from >> by))
            }
            Op::BitReverse => (a & from).reverse_bits() >> (64 - from.count_ones()),
            Op::BitFieldUExtract if b | c == 0 => shifted(y, from, |by| (a >> by) & low(z)),
            Op::BitFieldSExtract if b | c == 0 => {
                shifted(y, from, |by| extend((a >> by) & low(z), low(z)))
            }
            _ => any,
        },
        What::Extended(Extended::PackHalf2x16) => half(a, 0) | half(b, 16),
        What::Extended(Extended::UnpackHalf2x16) => if_any(a & 0xffff, to),
        What::SecondExtended(Extended::UnpackHalf2x16) => if_any(a >> 16, to),
        _ => any,
    };
    found & to
}

const fn if_any(mask: u64, all: u64) -> u64 {
    if mask == 0 { 0 } else { all }
}

const fn half(mask: u64, at: u32) -> u64 {
    if_any(mask, 0xffff << at)
}

/// All bits from the lowest one on: a carry may come from there.
const fn upward(mask: u64) -> u64 {
    mask | mask.wrapping_neg()
}

/// A mask of some bits whose top one stands for all above it.
const fn extend(mask: u64, all: u64) -> u64 {
    let top = all ^ (all >> 1);
    if mask & top == 0 { mask } else { mask | !all }
}

/// The lowest bits.
fn low(count: u64) -> u64 {
    u32::try_from(count)
        .ok()
        .and_then(|count| 1_u64.checked_shl(count))
        .map_or(u64::MAX, |one| one - 1)
}

/// Shifts by a defined amount; one that is too wide is told of as undefined arithmetic.
fn shifted(by: u64, all: u64, shift: impl Fn(u32) -> u64) -> u64 {
    match u32::try_from(by) {
        Ok(by) if by < all.count_ones() => shift(by),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::watch::stage::pure;

    fn bits(op: Op, from: Scalar, to: Scalar, masks: [u64; 3], values: [u64; 3]) -> u64 {
        let four = |[a, b, c]: [u64; 3]| [a, b, c, 0];
        let (masks, values) = (four(masks), four(values));
        undefined_bits(&pure(What::Core(op), from, to), &Operands { masks, values })
    }

    #[test]
    fn a_defined_operand_may_decide_a_bit() {
        let both = |op, masks, values| bits(op, Scalar::I32, Scalar::I32, masks, values);
        assert_eq!(both(Op::BitwiseAnd, [0xff, 0, 0], [0, 0xf0f, 0]), 0x0f);
        assert_eq!(both(Op::BitwiseAnd, [0xff, 0xf, 0], [0, 0, 0]), 0x0f);
        assert_eq!(both(Op::BitwiseOr, [0xff, 0, 0], [0, 0xf0f, 0]), 0xf0);
        assert_eq!(both(Op::BitwiseXor, [0xff, 0xf00, 0], [0, 0, 0]), 0xfff);
    }

    #[test]
    fn shifts_move_undefined_bits() {
        let shift = |op, mask, by| bits(op, Scalar::I32, Scalar::I32, [mask, 0, 0], [0, by, 0]);
        assert_eq!(shift(Op::ShiftLeftLogical, 0xff00_00ff, 8), 0xff00);
        assert_eq!(shift(Op::ShiftRightLogical, 0xff00_00ff, 8), 0x00ff_0000);
        assert_eq!(shift(Op::ShiftRightArithmetic, 0x8000_0000, 4), 0xf800_0000);
        assert_eq!(shift(Op::ShiftRightArithmetic, 0x4000_0000, 4), 0x0400_0000);
        let by_undefined = [0, 1, 0];
        assert_eq!(
            bits(Op::ShiftLeftLogical, Scalar::I32, Scalar::I32, by_undefined, [1, 0, 0]),
            0xffff_ffff
        );
    }

    #[test]
    fn a_field_of_a_word_has_its_own_bits() {
        let field = |op, at| bits(op, Scalar::I32, Scalar::I32, [0xff00_0000, 0, 0], [0, at, 8]);
        assert_eq!(field(Op::BitFieldUExtract, 16), 0);
        assert_eq!(field(Op::BitFieldUExtract, 24), 0xff);
        assert_eq!(field(Op::BitFieldSExtract, 24), 0xffff_ffff);
        assert_eq!(field(Op::BitFieldUExtract, 20), 0xf0);
    }

    #[test]
    fn conversions_keep_or_stretch_the_sign() {
        let convert = |op, from, to, mask| bits(op, from, to, [mask, 0, 0], [0; 3]);
        assert_eq!(convert(Op::UConvert, Scalar::I8, Scalar::I32, 0xff), 0xff);
        assert_eq!(convert(Op::SConvert, Scalar::I8, Scalar::I32, 0x80), 0xffff_ff80);
        assert_eq!(convert(Op::SConvert, Scalar::I8, Scalar::I32, 0x7f), 0x7f);
        assert_eq!(convert(Op::UConvert, Scalar::I64, Scalar::I32, 1 << 40), 0);
        assert_eq!(convert(Op::FConvert, Scalar::F32, Scalar::F16, 1), 0xffff);
        assert_eq!(convert(Op::BitReverse, Scalar::I32, Scalar::I32, 1), 0x8000_0000);
    }

    #[test]
    fn a_select_takes_the_bits_of_its_choice() {
        let select = |masks, values| bits(Op::Select, Scalar::I32, Scalar::I32, masks, values);
        assert_eq!(select([0, 0xf, 0xf0], [1, 0, 0]), 0xf);
        assert_eq!(select([0, 0xf, 0xf0], [0, 0, 0]), 0xf0);
        assert_eq!(select([1, 0, 0], [0, 0b1100, 0b1010]), 0b0110);
    }

    #[test]
    fn a_carry_goes_up_and_a_comparison_may_be_decided() {
        let sum = |op, masks| bits(op, Scalar::I32, Scalar::I32, masks, [0; 3]);
        assert_eq!(sum(Op::IAdd, [0, 0x100, 0]), 0xffff_ff00);
        let equal =
            |mask, values| bits(Op::IEqual, Scalar::I32, Scalar::Bool, [mask, 0, 0], values);
        assert_eq!(equal(0xff, [0x100, 0x200, 0]), 0);
        assert_eq!(equal(0xff, [0x200, 0x200, 0]), 1);
    }
}
