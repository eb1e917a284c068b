//! Cooperative matrices: each component of an invocation is an element of the matrix, so loads and
//! stores are those of single elements, and arithmetic is componentwise.

use std::rc::Rc;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, MemoryAccess, Op};

use crate::soft::matrix::{self, Matrix};
use crate::soft::program::{Access, Code, Index, Manner, NOWHERE, OUTSIDE, Region, Slot, What};
use crate::soft::scalar::Scalar;
use crate::spirv::SpirvError;
use crate::spirv::module::{id, malformed, number, result_type};

use super::access::{Place, Pointer};
use super::types::Type;
use super::{Lower, own};

/// Rows, columns, components of an invocation, component type.
#[derive(Clone, Copy)]
struct Shape {
    rows: u32,
    cols: u32,
    components: u32,
    scalar: Scalar,
}

impl Lower<'_> {
    fn matrix_shape(&self, ty: u32) -> Result<Shape, SpirvError> {
        match *self.types.get(ty)? {
            Type::Cooperative { scalar, rows, cols, components, .. } => {
                Ok(Shape { rows, cols, components, scalar })
            }
            _ => Err(SpirvError::malformed("no cooperative matrix")),
        }
    }

    pub(super) fn cooperative(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        match instruction.class.opcode {
            Op::CooperativeMatrixLengthKHR => {
                let shape = self.matrix_shape(id(instruction, 0)?)?;
                let slot = self.word(shape.components)?;
                self.bind(own(instruction)?, vec![slot].into())
            }
            Op::CooperativeMatrixLoadKHR => {
                let ty = result_type(instruction)?;
                let (shape, slots) = (self.matrix_shape(ty)?, self.fresh(ty)?);
                let pointer = self.pointer(id(instruction, 0)?)?;
                let manner = matrix_manner(instruction, 3);
                let stride = self.optional(instruction, 2)?;
                let layout = id(instruction, 1)?;
                for (access, _) in self.elements(&pointer, shape, layout, stride, &slots, manner)? {
                    self.emit(Code::Load(access))?;
                }
                self.bind(own(instruction)?, slots)
            }
            Op::CooperativeMatrixStoreKHR => {
                let object = id(instruction, 1)?;
                let shape = self.matrix_shape(self.type_of(object)?)?;
                let pointer = self.pointer(id(instruction, 0)?)?;
                let slots = self.slots_of(object)?;
                let manner = matrix_manner(instruction, 4);
                let stride = self.optional(instruction, 3)?;
                let layout = id(instruction, 2)?;
                for (access, _) in self.elements(&pointer, shape, layout, stride, &slots, manner)? {
                    self.emit(Code::Store(access))?;
                }
                Ok(())
            }
            _ => self.multiply(instruction),
        }
    }

    /// An operand that may be left out.
    fn optional(
        &mut self,
        instruction: &Instruction,
        at: usize,
    ) -> Result<Option<u32>, SpirvError> {
        Ok(match instruction.operands.get(at) {
            Some(Operand::IdRef(id)) => Some(*id),
            _ => None,
        })
    }

    /// One access for each component. The pointer is to the first element, of any type; the stride
    /// counts in elements of that type.
    fn elements(
        &mut self,
        pointer: &Rc<Pointer>,
        shape: Shape,
        layout: u32,
        stride: Option<u32>,
        slots: &[Slot],
        manner: Manner,
    ) -> Result<Vec<(Access, u32)>, SpirvError> {
        let Place::Memory { region, base, offset } = pointer.place else {
            return Err(SpirvError::unsupported("a cooperative matrix in a variable"));
        };
        if region == Region::Physical {
            self.problem("a cooperative matrix at a physical address");
        }
        // 0 is row-major, 1 column-major.
        let is_row_major = match self.constants.word(layout)? {
            0 => true,
            1 => false,
            other => {
                self.problem(format!("cooperative matrix layout {other}"));
                true
            }
        };
        let unit = self.types.flat(pointer.to)?.iter().map(|scalar| scalar.bytes()).sum::<u32>();
        let lane = self.lane_in_subgroup()?;
        let i32 = Scalar::I32;
        let cols = self.word(shape.cols.max(1))?;
        let stride = match stride {
            Some(stride) => self.slot_of(stride)?,
            None => self.word(if is_row_major { shape.cols } else { shape.rows })?,
        };
        let (unit_slot, own_bytes) = (self.word(unit)?, shape.scalar.bytes());
        let line_bytes = self.pure2(What::Core(Op::IMul), i32, i32, stride, unit_slot)?;
        let mut found = Vec::new();
        for (component, value) in (0..shape.components).zip(slots) {
            let first = self.word(component * self.subgroup_size)?;
            let element = self.pure2(What::Core(Op::IAdd), i32, i32, lane, first)?;
            let row = self.pure2(What::Core(Op::UDiv), i32, i32, element, cols)?;
            let col = self.pure2(What::Core(Op::UMod), i32, i32, element, cols)?;
            let (line, along) = if is_row_major { (row, col) } else { (col, row) };
            let line = self.pure2(What::Core(Op::IMul), i32, i32, line, line_bytes)?;
            // Elements beyond the last are padding, and lie nowhere.
            let count = shape.rows.saturating_mul(shape.cols);
            let mut before = offset;
            if component * self.subgroup_size + self.subgroup_size > count {
                let dst = self.slots(1)?;
                let (index, stride, limit, beyond) = (element, 0, count, NOWHERE);
                let wide = false;
                self.emit(Code::Index(Index { dst, before, index, wide, stride, limit, beyond }))?;
                before = Some(dst);
            }
            let dst = self.slots(1)?;
            let (wide, beyond) = (false, OUTSIDE);
            let (index, stride, limit) = (line, 1, NOWHERE - 1);
            self.emit(Code::Index(Index { dst, before, index, wide, stride, limit, beyond }))?;
            let next = self.slots(1)?;
            let (index, stride, limit) = (along, own_bytes, (NOWHERE - 1) / own_bytes);
            let (before, dst) = (Some(dst), next);
            self.emit(Code::Index(Index { dst, before, index, wide, stride, limit, beyond }))?;
            let (scalar, value, alignment) = (shape.scalar, *value, 1);
            let offset = Some(next);
            found.push((
                Access { region, offset, base, scalar, value, alignment, manner },
                component,
            ));
        }
        Ok(found)
    }

    fn lane_in_subgroup(&mut self) -> Result<Slot, SpirvError> {
        let builtin = BuiltIn::SubgroupLocalInvocationId;
        if let Some((_, slots)) = self.program.builtins.iter().find(|(b, _)| *b == builtin)
            && let Some(slot) = slots.first()
        {
            return Ok(*slot);
        }
        let slot = self.slots(1)?;
        self.program.builtins.push((builtin, vec![slot]));
        Ok(slot)
    }

    fn multiply(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let ty = result_type(instruction)?;
        let dst = self.fresh(ty)?;
        let mut parts = Vec::new();
        for index in 0..3 {
            let operand = id(instruction, index)?;
            let shape = self.matrix_shape(self.type_of(operand)?)?;
            parts.push((shape, self.slots_of(operand)?.to_vec()));
        }
        let (Some((c, c_slots)), Some((b, b_slots)), Some((a, a_slots))) =
            (parts.pop(), parts.pop(), parts.pop())
        else {
            return Err(malformed(instruction, 0));
        };
        let to = self.matrix_shape(ty)?;
        let fits = a.cols == b.rows
            && (a.rows, b.cols) == (c.rows, c.cols)
            && (to.rows, to.cols) == (c.rows, c.cols);
        if !fits {
            return Err(SpirvError::malformed("cooperative matrices of shapes that don't fit"));
        }
        if !matrix::supports([a.scalar, b.scalar, c.scalar, to.scalar]) {
            self.problem(format!("cooperative matrices of {:?}", a.scalar));
        }
        let operands = match instruction.operands.get(3) {
            Some(Operand::CooperativeMatrixOperands(operands)) => operands.bits(),
            Some(Operand::LiteralBit32(_)) => number(instruction, 3)?,
            _ => 0,
        };
        self.emit(Code::Matrix(Box::new(Matrix {
            m: a.rows,
            n: b.cols,
            k: a.cols,
            dst: dst.to_vec(),
            a: (a.scalar, a_slots),
            b: (b.scalar, b_slots),
            c: (c.scalar, c_slots),
            to: to.scalar,
            operands,
        })))?;
        self.bind(own(instruction)?, dst)
    }
}

/// What a matrix access says about other invocations.
fn matrix_manner(instruction: &Instruction, from: usize) -> Manner {
    let mut manner = Manner::default();
    for operand in instruction.operands.iter().skip(from) {
        if let Operand::MemoryAccess(flags) = operand {
            manner.coherent |= flags.contains(MemoryAccess::NON_PRIVATE_POINTER);
            manner.volatile |= flags.contains(MemoryAccess::VOLATILE);
        }
    }
    manner
}
