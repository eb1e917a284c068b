//! GLSL.std.450: scalar operations as they are, those on vectors and matrices as sums of them.

use std::rc::Rc;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{GlslStd450Op as Extended, Op};

use crate::soft::alu;
use crate::soft::program::{Code, Pure, Slot, What};
use crate::soft::scalar::Scalar;
use crate::soft::words::split;
use crate::spirv::SpirvError;
use crate::spirv::module::{id, malformed, result_type};

use super::access::Pointer;
use super::types::Type;
use super::{Lower, own};

impl Lower<'_> {
    pub(super) fn extended(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let set = self.module.definition(id(instruction, 0)?)?;
        let is_glsl = matches!(
            set.operands.first(),
            Some(Operand::LiteralString(name)) if name == "GLSL.std.450"
        );
        if !is_glsl {
            return Ok(()); // Non-semantic ones; others were refused.
        }
        let Some(Operand::LiteralExtInstInteger(number)) = instruction.operands.get(1) else {
            return Err(malformed(instruction, 1));
        };
        let Some(op) = Extended::from_u32(*number) else {
            self.problem(format!("extended instruction {number}"));
            return self.unknown(instruction);
        };
        let mut operands = Vec::new();
        for index in 2..instruction.operands.len() {
            operands.push(id(instruction, index)?);
        }
        let ty = result_type(instruction)?;
        let slots = self.extended_value(op, ty, &operands)?;
        self.bind(own(instruction)?, slots)
    }

    fn unknown(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let slots = self.fresh(result_type(instruction)?)?;
        self.bind(own(instruction)?, slots)
    }

    fn extended_value(
        &mut self,
        op: Extended,
        ty: u32,
        operands: &[u32],
    ) -> Result<Rc<[Slot]>, SpirvError> {
        let missing = || SpirvError::malformed(format!("{op:?} without an operand"));
        let operand = |index: usize| operands.get(index).copied().ok_or_else(missing);
        let first = operand(0)?;
        let scalar = self.types.scalar(self.type_of(first)?)?;
        Ok(match op {
            Extended::Length => {
                let x = self.slots_of(first)?;
                vec![self.length(scalar, &x)?].into()
            }
            Extended::Distance => {
                let difference = self.difference(scalar, first, operand(1)?)?;
                vec![self.length(scalar, &difference)?].into()
            }
            Extended::Normalize => {
                let x = self.slots_of(first)?;
                let square = self.sum_of_products(scalar, &x, &x)?;
                let inverse = What::Extended(Extended::InverseSqrt);
                let factor = self.pure(inverse, scalar, scalar, &[square])?;
                self.scaled(scalar, &x, factor)?
            }
            Extended::Cross => {
                let (x, y) = (self.slots_of(first)?, self.slots_of(operand(1)?)?);
                let ([x0, x1, x2], [y0, y1, y2]) = (&x[..], &y[..]) else {
                    return Err(missing());
                };
                let mut slots = Vec::new();
                for (a, b, c, d) in [(x1, y2, y1, x2), (x2, y0, y2, x0), (x0, y1, y0, x1)] {
                    slots.push(self.crossed(scalar, [*a, *b, *c, *d])?);
                }
                slots.into()
            }
            Extended::FaceForward => {
                let n = self.slots_of(first)?;
                let (i, reference) = (self.slots_of(operand(1)?)?, self.slots_of(operand(2)?)?);
                let dot = self.sum_of_products(scalar, &reference, &i)?;
                let zero = self.number(scalar, 0)?;
                let is_less = What::Core(Op::FOrdLessThan);
                let toward = self.pure(is_less, scalar, Scalar::Bool, &[dot, zero])?;
                let mut slots = Vec::new();
                for n in n.iter() {
                    let negated = self.pure(What::Core(Op::FNegate), scalar, scalar, &[*n])?;
                    let select = What::Core(Op::Select);
                    slots.push(self.pure(select, scalar, scalar, &[toward, *n, negated])?);
                }
                slots.into()
            }
            Extended::Reflect => {
                let (i, n) = (self.slots_of(first)?, self.slots_of(operand(1)?)?);
                let dot = self.sum_of_products(scalar, &n, &i)?;
                let twice = self.pure2(What::Core(Op::FAdd), scalar, scalar, dot, dot)?;
                let along = self.scaled(scalar, &n, twice)?;
                let mut slots = Vec::new();
                for (i, along) in i.iter().zip(along.iter()) {
                    let minus = What::Core(Op::FSub);
                    slots.push(self.pure2(minus, scalar, scalar, *i, *along)?);
                }
                slots.into()
            }
            Extended::PackHalf2x16
            | Extended::PackSnorm2x16
            | Extended::PackUnorm2x16
            | Extended::PackSnorm4x8
            | Extended::PackUnorm4x8 => {
                let x = self.slots_of(first)?;
                vec![self.pure(What::Extended(op), Scalar::F32, Scalar::I32, &x)?].into()
            }
            Extended::UnpackHalf2x16
            | Extended::UnpackSnorm2x16
            | Extended::UnpackUnorm2x16
            | Extended::UnpackSnorm4x8
            | Extended::UnpackUnorm4x8 => self.unpacked(op, ty, first)?,
            Extended::PackDouble2x32 | Extended::UnpackDouble2x32 => self.double(op, first)?,
            Extended::ModfStruct | Extended::FrexpStruct => {
                let (fraction, whole) = self.parts(ty)?;
                let low = self.each(What::Extended(op), fraction, &[first])?;
                let high = self.each(What::SecondExtended(op), whole, &[first])?;
                low.iter().chain(high.iter()).copied().collect()
            }
            Extended::Modf | Extended::Frexp => {
                let low = self.each(What::Extended(op), ty, &[first])?;
                let pointer: Rc<Pointer> = self.pointer(operand(1)?)?;
                let high = self.each(What::SecondExtended(op), pointer.to, &[first])?;
                let manner = crate::soft::program::Manner::default();
                self.stored(&pointer, &high, manner, 1)?;
                low
            }
            Extended::Ldexp => {
                let exponents = self.narrow_exponents(operand(1)?)?;
                let x = self.slots_of(first)?;
                let ldexp = What::Extended(op);
                let pairs = x.iter().zip(exponents.iter());
                pairs.map(|(x, by)| self.pure2(ldexp, scalar, scalar, *x, *by)).collect::<Result<
                    Rc<[Slot]>,
                    SpirvError,
                >>(
                )?
            }
            Extended::Determinant => {
                let x = self.slots_of(first)?;
                let order = self.order_of(&x)?;
                let all: Vec<usize> = (0..order).collect();
                vec![self.determinant(scalar, &x, &all, &all)?].into()
            }
            Extended::MatrixInverse => {
                let x = self.slots_of(first)?;
                self.inverse(scalar, &x)?
            }
            Extended::Refract => {
                self.problem(format!("extended instruction {op:?}"));
                self.fresh(ty)?
            }
            _ => self.each(What::Extended(op), ty, operands)?,
        })
    }

    /// Exponents as words, whatever integers they are.
    fn narrow_exponents(&mut self, exponents: u32) -> Result<Rc<[Slot]>, SpirvError> {
        let from = self.types.scalar(self.type_of(exponents)?)?;
        let slots = self.slots_of(exponents)?;
        if from == Scalar::I32 {
            return Ok(slots);
        }
        let mut slots = slots;
        if from == Scalar::I64 {
            // Beyond this every number is nothing or infinite.
            let far = i64::from(i16::MAX);
            let [low, high] = [-far, far].map(|far| far.cast_unsigned());
            let [low, high] = [self.wide(low)?, self.wide(high)?];
            let clamp = What::Extended(Extended::SClamp);
            slots = slots
                .iter()
                .map(|slot| self.pure(clamp, from, from, &[*slot, low, high]))
                .collect::<Result<_, SpirvError>>()?;
        }
        let convert = What::Core(Op::SConvert);
        slots.iter().map(|slot| self.pure(convert, from, Scalar::I32, &[*slot])).collect()
    }

    fn wide(&mut self, value: u64) -> Result<Slot, SpirvError> {
        let [low, high] = split(value);
        self.constant(low, Some(high))
    }

    fn parts(&self, ty: u32) -> Result<(u32, u32), SpirvError> {
        match self.types.get(ty)? {
            Type::Struct { members } if members.len() == 2 => Ok((members[0].of, members[1].of)),
            _ => Err(SpirvError::malformed("two results that are no struct")),
        }
    }

    fn length(&mut self, scalar: Scalar, x: &[Slot]) -> Result<Slot, SpirvError> {
        let square = self.sum_of_products(scalar, x, x)?;
        self.pure(What::Extended(Extended::Sqrt), scalar, scalar, &[square])
    }

    fn difference(&mut self, scalar: Scalar, a: u32, b: u32) -> Result<Vec<Slot>, SpirvError> {
        let (a, b) = (self.slots_of(a)?, self.slots_of(b)?);
        let minus = What::Core(Op::FSub);
        a.iter().zip(b.iter()).map(|(a, b)| self.pure2(minus, scalar, scalar, *a, *b)).collect()
    }

    fn scaled(
        &mut self,
        scalar: Scalar,
        x: &[Slot],
        factor: Slot,
    ) -> Result<Rc<[Slot]>, SpirvError> {
        let times = What::Core(Op::FMul);
        x.iter().map(|x| self.pure2(times, scalar, scalar, *x, factor)).collect()
    }

    /// `a * b - c * d`.
    fn crossed(&mut self, scalar: Scalar, [a, b, c, d]: [Slot; 4]) -> Result<Slot, SpirvError> {
        let times = What::Core(Op::FMul);
        let first = self.pure2(times, scalar, scalar, a, b)?;
        let second = self.pure2(times, scalar, scalar, c, d)?;
        self.pure2(What::Core(Op::FSub), scalar, scalar, first, second)
    }

    /// A whole number below 2 as a float: zero has the same bits everywhere.
    fn number(&mut self, scalar: Scalar, bits: u32) -> Result<Slot, SpirvError> {
        self.constant(bits, (scalar.words() == 2).then_some(0))
    }

    /// Rows of a square matrix.
    fn order_of(&self, x: &[Slot]) -> Result<usize, SpirvError> {
        let order = (1..=4).find(|order| order * order == x.len());
        order.ok_or_else(|| SpirvError::malformed("a matrix that isn't square"))
    }

    /// Laplace's expansion along the first of the columns that are left; element (row, col) of the
    /// whole matrix is component `col * order + row`.
    fn determinant(
        &mut self,
        scalar: Scalar,
        x: &[Slot],
        rows: &[usize],
        cols: &[usize],
    ) -> Result<Slot, SpirvError> {
        let order = self.order_of(x)?;
        let Some((col, cols)) = cols.split_first() else {
            return Err(SpirvError::malformed("the determinant of nothing"));
        };
        let mut sum = None;
        for (at, row) in rows.iter().enumerate() {
            let element = x[col * order + row];
            let rest: Vec<usize> = rows.iter().copied().filter(|other| other != row).collect();
            let term = if cols.is_empty() {
                element
            } else {
                let minor = self.determinant(scalar, x, &rest, cols)?;
                self.pure2(What::Core(Op::FMul), scalar, scalar, element, minor)?
            };
            let join = if at % 2 == 0 { Op::FAdd } else { Op::FSub };
            sum = Some(match sum {
                None => term,
                Some(sum) => self.pure2(What::Core(join), scalar, scalar, sum, term)?,
            });
        }
        sum.ok_or_else(|| SpirvError::malformed("the determinant of nothing"))
    }

    /// The transposed cofactors by the determinant.
    fn inverse(&mut self, scalar: Scalar, x: &[Slot]) -> Result<Rc<[Slot]>, SpirvError> {
        let order = self.order_of(x)?;
        let all: Vec<usize> = (0..order).collect();
        let whole = self.determinant(scalar, x, &all, &all)?;
        let without = |one: usize| -> Vec<usize> { (0..order).filter(|at| *at != one).collect() };
        let mut slots = Vec::with_capacity(x.len());
        for col in 0..order {
            for row in 0..order {
                // Row and column change places.
                let mut cofactor = self.determinant(scalar, x, &without(col), &without(row))?;
                if (row + col) % 2 == 1 {
                    cofactor = self.pure(What::Core(Op::FNegate), scalar, scalar, &[cofactor])?;
                }
                slots.push(self.pure2(What::Core(Op::FDiv), scalar, scalar, cofactor, whole)?);
            }
        }
        Ok(slots.into())
    }

    fn unpacked(&mut self, op: Extended, ty: u32, word: u32) -> Result<Rc<[Slot]>, SpirvError> {
        let src = self.slot_of(word)?;
        let count = u32::try_from(self.types.flat(ty)?.len()).unwrap_or(u32::MAX);
        let (from, to) = (Scalar::I32, Scalar::F32);
        let mut slots = Vec::new();
        for component in 0..count {
            let dst = self.slots(1)?;
            let Some(kernel) = alu::unpack(op, component) else {
                self.problem(format!("{op:?} of {count} components"));
                return self.fresh(ty);
            };
            let what = match component {
                0 => What::Extended(op),
                _ => What::SecondExtended(op),
            };
            let (guard, src, arity) = (None, [src, 0, 0, 0], 1);
            self.emit(Code::Pure(Pure { what, from, to, kernel, guard, dst, src, arity }))?;
            slots.push(dst);
        }
        Ok(slots.into())
    }

    /// Two words are a double, as they are.
    fn double(&mut self, op: Extended, operand: u32) -> Result<Rc<[Slot]>, SpirvError> {
        let slots = self.slots_of(operand)?;
        if op == Extended::UnpackDouble2x32 {
            let first = *slots.first().ok_or_else(|| SpirvError::malformed("no double"))?;
            return Ok(vec![first, first + 1].into());
        }
        let [low, high] = &slots[..] else {
            return Err(SpirvError::malformed("a double of other than two words"));
        };
        let dst = self.slots(2)?;
        let inactive = crate::soft::program::Inactive::Clobber;
        self.emit(Code::Copy { dst, src: *low, inactive })?;
        self.emit(Code::Copy { dst: dst + 1, src: *high, inactive })?;
        Ok(vec![dst].into())
    }
}
