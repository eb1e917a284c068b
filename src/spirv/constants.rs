//! Integer constants, specialized or not, and the expressions over them.

use std::cell::Cell;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, Op};

use super::SpirvError;
use super::module::{Module, id, malformed, number, result};

/// Types and expressions nest as deep as the source's; beyond this the ids run in a circle.
pub(super) const LIMIT_DEPTH: u32 = 64;

/// Types and constants visited in all. A module of a few hundred words can ask for more than
/// there is time for, by parts that use the part before them twice.
const LIMIT_STEPS: u32 = 1 << 20;

/// The module with values for its specialization constants.
pub(super) struct Values<'a> {
    pub(super) module: &'a Module,
    /// Id and bits; constants that aren't listed keep their defaults.
    pub(super) specialized: &'a [(u32, u32)],
    steps_left: Cell<u32>,
}

impl<'a> Values<'a> {
    pub(super) fn new(module: &'a Module, specialized: &'a [(u32, u32)]) -> Self {
        Self { module, specialized, steps_left: Cell::new(LIMIT_STEPS) }
    }

    /// One level down; an error below the last.
    pub(super) fn deeper(&self, depth: u32) -> Result<u32, SpirvError> {
        let steps = self.steps_left.get();
        match (depth.checked_sub(1), steps.checked_sub(1)) {
            (Some(depth), Some(steps)) => {
                self.steps_left.set(steps);
                Ok(depth)
            }
            (None, _) => Err(SpirvError::malformed("a type or constant that contains itself")),
            (_, None) => Err(SpirvError::unsupported("types or constants of endless nesting")),
        }
    }

    /// The value of an integer or boolean constant of at most 32 bits, as its bits.
    pub(super) fn bits(&self, id: u32) -> Result<u32, SpirvError> {
        self.nested(id, LIMIT_DEPTH)
    }

    fn nested(&self, constant: u32, depth: u32) -> Result<u32, SpirvError> {
        let depth = self.deeper(depth)?;
        let instruction = self.module.definition(constant)?;
        let spec = match instruction.class.opcode {
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                self.module.decoration(constant, Decoration::SpecId)
            }
            _ => None,
        };
        if let Some((_, bits)) = self.specialized.iter().find(|(id, _)| Some(*id) == spec) {
            return Ok(*bits);
        }
        match instruction.class.opcode {
            Op::SpecConstantOp => self.expression(instruction, depth),
            _ => default_bits(instruction),
        }
    }

    fn expression(&self, instruction: &Instruction, depth: u32) -> Result<u32, SpirvError> {
        let Some(Operand::LiteralSpecConstantOpInteger(op)) = instruction.operands.first() else {
            return Err(malformed(instruction, 0));
        };
        if *op == Op::CompositeExtract {
            // What `gl_WorkGroupSize.x` becomes in the size of an array.
            let composite = self.module.definition(id(instruction, 1)?)?;
            let index = usize::try_from(number(instruction, 2)?).unwrap_or(usize::MAX);
            return self.nested(id(composite, index)?, depth);
        }
        let operand = |index| self.nested(id(instruction, index)?, depth);
        let first = operand(1)?;
        let unary = match op {
            Op::Not => Some(!first),
            Op::SNegate => Some(first.wrapping_neg()),
            Op::LogicalNot => Some(u32::from(first == 0)),
            Op::UConvert | Op::SConvert => Some(first),
            Op::Select => Some(operand(if first == 0 { 3 } else { 2 })?),
            _ => None,
        };
        if let Some(value) = unary {
            return Ok(value);
        }
        let second = operand(2)?;
        arithmetic(*op, first, second).or_else(|| comparison(*op, first, second)).ok_or_else(|| {
            let id = instruction.result_id.unwrap_or_default();
            SpirvError::unsupported(format!("constant {id} by {op:?} of {first} and {second}"))
        })
    }
}

/// The value of a constant without specialization: its bits, 0 or 1 for booleans.
pub(super) fn default_bits(instruction: &Instruction) -> Result<u32, SpirvError> {
    match instruction.class.opcode {
        Op::ConstantTrue | Op::SpecConstantTrue => Ok(1),
        Op::ConstantFalse | Op::SpecConstantFalse | Op::ConstantNull => Ok(0),
        Op::Constant | Op::SpecConstant => match instruction.operands.first() {
            Some(Operand::LiteralBit64(_)) => {
                let id = result(instruction)?;
                Err(SpirvError::unsupported(format!("constant {id} has 64 bits")))
            }
            _ => number(instruction, 0),
        },
        _ => {
            let name = instruction.class.opname;
            Err(SpirvError::malformed(format!("Op{name} where a scalar constant is expected")))
        }
    }
}

/// None for another operator and for a division by zero.
fn arithmetic(op: Op, a: u32, b: u32) -> Option<u32> {
    let signed = (a.cast_signed(), b.cast_signed());
    match op {
        Op::IAdd => Some(a.wrapping_add(b)),
        Op::ISub => Some(a.wrapping_sub(b)),
        Op::IMul => Some(a.wrapping_mul(b)),
        Op::UDiv => a.checked_div(b),
        Op::UMod => a.checked_rem(b),
        Op::SDiv => signed.0.checked_div(signed.1).map(i32::cast_unsigned),
        Op::SRem => signed.0.checked_rem(signed.1).map(i32::cast_unsigned),
        Op::SMod => {
            let rest = signed.0.checked_rem(signed.1)?;
            // SMod takes the sign of the divisor, the remainder that of the dividend.
            let other_sign = rest != 0 && (rest < 0) != (signed.1 < 0);
            Some((if other_sign { rest + signed.1 } else { rest }).cast_unsigned())
        }
        Op::ShiftLeftLogical => a.checked_shl(b),
        Op::ShiftRightLogical => a.checked_shr(b),
        Op::ShiftRightArithmetic => signed.0.checked_shr(b).map(i32::cast_unsigned),
        Op::BitwiseAnd => Some(a & b),
        Op::BitwiseOr => Some(a | b),
        Op::BitwiseXor => Some(a ^ b),
        _ => None,
    }
}

fn comparison(op: Op, a: u32, b: u32) -> Option<u32> {
    let signed = (a.cast_signed(), b.cast_signed());
    let holds = match op {
        Op::IEqual | Op::LogicalEqual => a == b,
        Op::INotEqual | Op::LogicalNotEqual => a != b,
        Op::ULessThan => a < b,
        Op::ULessThanEqual => a <= b,
        Op::UGreaterThan => a > b,
        Op::UGreaterThanEqual => a >= b,
        Op::SLessThan => signed.0 < signed.1,
        Op::SLessThanEqual => signed.0 <= signed.1,
        Op::SGreaterThan => signed.0 > signed.1,
        Op::SGreaterThanEqual => signed.0 >= signed.1,
        Op::LogicalAnd => a != 0 && b != 0,
        Op::LogicalOr => a != 0 || b != 0,
        _ => return None,
    };
    Some(u32::from(holds))
}

#[cfg(test)]
mod tests {
    use rspirv::spirv::Op;

    use super::arithmetic;

    fn signed(op: Op, a: i32, b: i32) -> Option<i32> {
        arithmetic(op, a.cast_unsigned(), b.cast_unsigned()).map(u32::cast_signed)
    }

    #[test]
    fn remainders_take_the_sign_that_the_specification_gives() {
        assert_eq!(signed(Op::SRem, -7, 3), Some(-1));
        assert_eq!(signed(Op::SMod, -7, 3), Some(2));
        assert_eq!(signed(Op::SMod, 7, -3), Some(-2));
        assert_eq!(signed(Op::SMod, 6, -3), Some(0));
    }

    #[test]
    fn what_has_no_value_is_none() {
        assert_eq!(arithmetic(Op::UDiv, 1, 0), None);
        assert_eq!(signed(Op::SDiv, i32::MIN, -1), None);
        assert_eq!(arithmetic(Op::ShiftLeftLogical, 1, 32), None);
    }
}
