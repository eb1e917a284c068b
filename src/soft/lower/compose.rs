//! Composites and matrices: which register becomes which component costs nothing at run time.

use rspirv::dr::Instruction;
use rspirv::spirv::Op;

use std::rc::Rc;

use crate::soft::program::{Code, Inactive, Index, OUTSIDE, Slot, What};
use crate::soft::scalar::Scalar;
use crate::spirv::SpirvError;
use crate::spirv::module::{id, malformed, number, result_type};

use super::types::Type;
use super::{Lower, own};

impl Lower<'_> {
    pub(super) fn compose(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let ty = result_type(instruction)?;
        let slots: Rc<[Slot]> = match instruction.class.opcode {
            Op::CompositeConstruct => {
                let mut slots = Vec::new();
                for index in 0..instruction.operands.len() {
                    slots.extend_from_slice(&self.slots_of(id(instruction, index)?)?);
                }
                let wanted = self.types.flat(ty)?.len();
                if let (Type::Cooperative { .. }, [one]) = (self.types.get(ty)?, &slots[..]) {
                    slots = vec![*one; wanted];
                }
                if slots.len() != wanted {
                    return Err(SpirvError::malformed("a composite of the wrong size"));
                }
                slots.into()
            }
            Op::CompositeExtract => {
                let composite = id(instruction, 0)?;
                let slots = self.slots_of(composite)?;
                let of = self.type_of(composite)?;
                let (at, len) = self.path(instruction, 1, of)?;
                slots.get(at..at + len).ok_or_else(|| malformed(instruction, 1))?.into()
            }
            Op::CompositeInsert => {
                let object = self.slots_of(id(instruction, 0)?)?;
                let composite = id(instruction, 1)?;
                let mut slots = self.slots_of(composite)?.to_vec();
                let of = self.type_of(composite)?;
                let (at, len) = self.path(instruction, 2, of)?;
                let target =
                    slots.get_mut(at..at + len).filter(|target| target.len() == object.len());
                target.ok_or_else(|| malformed(instruction, 2))?.copy_from_slice(&object);
                slots.into()
            }
            Op::VectorShuffle => {
                let first = self.slots_of(id(instruction, 0)?)?;
                let second = self.slots_of(id(instruction, 1)?)?;
                let both: Vec<Slot> = first.iter().chain(second.iter()).copied().collect();
                let mut slots = Vec::new();
                for index in 2..instruction.operands.len() {
                    let from = number(instruction, index)?;
                    // Nobody asks for this component; anything will do.
                    let from = if from == u32::MAX { 0 } else { from as usize };
                    slots.push(*both.get(from).ok_or_else(|| malformed(instruction, index))?);
                }
                slots.into()
            }
            Op::VectorExtractDynamic => {
                let vector = self.slots_of(id(instruction, 0)?)?;
                let scalar = self.types.scalar(ty)?;
                let (held, offset) = self.held(&vector, scalar, id(instruction, 1)?)?;
                let dst = self.slots(scalar.words())?;
                for word in 0..scalar.words() {
                    let (dst, base) = (dst + word, held + word);
                    self.emit(Code::LoadIndexed { dst, base, offset })?;
                }
                vec![dst].into()
            }
            Op::VectorInsertDynamic => {
                let vector = self.slots_of(id(instruction, 0)?)?;
                let component = self.slot_of(id(instruction, 1)?)?;
                let scalar = self.types.scalar(ty)?;
                let (held, offset) = self.held(&vector, scalar, id(instruction, 2)?)?;
                for word in 0..scalar.words() {
                    let (base, src) = (held + word, component + word);
                    self.emit(Code::StoreIndexed { base, offset, src })?;
                }
                let len = u32::try_from(vector.len()).unwrap_or(u32::MAX);
                (0..len).map(|at| held + at * scalar.words()).collect()
            }
            _ => {
                // Transpose.
                let matrix = id(instruction, 0)?;
                let slots = self.slots_of(matrix)?;
                let (cols, rows) = self.shape(self.type_of(matrix)?)?;
                let at = |row: usize, col: usize| slots[col * rows + row];
                (0..rows)
                    .flat_map(|row| (0..cols).map(move |col| (row, col)))
                    .map(|(row, col)| at(row, col))
                    .collect()
            }
        };
        self.bind(own(instruction)?, slots)
    }

    /// Where a part of a composite starts, and how many components it has.
    fn path(
        &self,
        instruction: &Instruction,
        first: usize,
        of: u32,
    ) -> Result<(usize, usize), SpirvError> {
        let (mut at, mut of) = (0, of);
        for index in first..instruction.operands.len() {
            let (before, inner) = self.types.part(of, number(instruction, index)?)?;
            at += before;
            of = inner;
        }
        Ok((at, self.types.flat(of)?.len()))
    }

    /// A vector in consecutive registers with the offset of an element that is known only at run
    /// time.
    fn held(
        &mut self,
        vector: &[Slot],
        scalar: Scalar,
        index: u32,
    ) -> Result<(Slot, Slot), SpirvError> {
        let len = u32::try_from(vector.len()).unwrap_or(u32::MAX);
        let held = self.slots(len * scalar.words())?;
        for (at, from) in (0..).zip(vector) {
            for word in 0..scalar.words() {
                let (dst, src) = (held + at * scalar.words() + word, from + word);
                self.emit(Code::Copy { dst, src, inactive: Inactive::Clobber })?;
            }
        }
        let wide = self.types.scalar(self.type_of(index)?)?.words() == 2;
        let index = self.slot_of(index)?;
        let (dst, stride) = (self.slots(1)?, scalar.words());
        let (before, beyond, limit) = (None, OUTSIDE, len);
        self.emit(Code::Index(Index { dst, before, index, wide, stride, limit, beyond }))?;
        Ok((held, dst))
    }

    /// Columns and rows; a vector is one column.
    fn shape(&self, ty: u32) -> Result<(usize, usize), SpirvError> {
        match self.types.get(ty)? {
            Type::Matrix { of, len } => {
                let rows = self.types.flat(*of)?.len();
                Ok((*len as usize, rows))
            }
            Type::Vector { len, .. } => Ok((1, *len as usize)),
            Type::Scalar(_) => Ok((1, 1)),
            _ => Err(SpirvError::malformed("a product of what is no matrix")),
        }
    }

    pub(super) fn product(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let op = instruction.class.opcode;
        let ty = result_type(instruction)?;
        let first = id(instruction, 0)?;
        let a = self.slots_of(first)?;
        let a_type = self.type_of(first)?;
        if let Op::Any | Op::All = op {
            let join = if op == Op::Any { Op::LogicalOr } else { Op::LogicalAnd };
            let mut all = *a.first().ok_or_else(|| malformed(instruction, 0))?;
            for slot in a.iter().skip(1) {
                all = self.pure2(What::Core(join), Scalar::Bool, Scalar::Bool, all, *slot)?;
            }
            return self.bind(own(instruction)?, vec![all].into());
        }
        let second = id(instruction, 1)?;
        let b = self.slots_of(second)?;
        let b_type = self.type_of(second)?;
        let scalar = self.types.scalar(a_type)?;
        let slots: Rc<[Slot]> = match op {
            Op::VectorTimesScalar | Op::MatrixTimesScalar => {
                let factor = *b.first().ok_or_else(|| malformed(instruction, 1))?;
                let mut slots = Vec::new();
                for slot in a.iter() {
                    slots.push(self.pure2(What::Core(Op::FMul), scalar, scalar, *slot, factor)?);
                }
                slots.into()
            }
            Op::Dot => vec![self.sum_of_products(scalar, &a, &b)?].into(),
            Op::OuterProduct => {
                let mut slots = Vec::new();
                for b in b.iter() {
                    for a in a.iter() {
                        slots.push(self.pure2(What::Core(Op::FMul), scalar, scalar, *a, *b)?);
                    }
                }
                slots.into()
            }
            _ => {
                // A vector before a matrix is a row.
                let (a_cols, a_rows) = match op {
                    Op::VectorTimesMatrix => (a.len(), 1),
                    _ => self.shape(a_type)?,
                };
                let (b_cols, b_rows) = self.shape(b_type)?;
                if a_cols != b_rows {
                    return Err(SpirvError::malformed("a product of shapes that don't fit"));
                }
                let mut slots = Vec::new();
                for col in 0..b_cols {
                    for row in 0..a_rows {
                        let left: Vec<Slot> = (0..a_cols).map(|k| a[k * a_rows + row]).collect();
                        let right: Vec<Slot> = (0..b_rows).map(|k| b[col * b_rows + k]).collect();
                        slots.push(self.sum_of_products(scalar, &left, &right)?);
                    }
                }
                slots.into()
            }
        };
        if slots.len() != self.types.flat(ty)?.len() {
            return Err(SpirvError::malformed("a product of the wrong size"));
        }
        self.bind(own(instruction)?, slots)
    }

    pub(super) fn sum_of_products(
        &mut self,
        scalar: Scalar,
        a: &[Slot],
        b: &[Slot],
    ) -> Result<Slot, SpirvError> {
        let mut sum = None;
        for (a, b) in a.iter().zip(b) {
            let product = self.pure2(What::Core(Op::FMul), scalar, scalar, *a, *b)?;
            sum = Some(match sum {
                None => product,
                Some(sum) => self.pure2(What::Core(Op::FAdd), scalar, scalar, sum, product)?,
            });
        }
        sum.ok_or_else(|| SpirvError::malformed("a product of nothing"))
    }
}
