//! Loads and stores through pointers, component by component.

use std::rc::Rc;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::MemoryAccess;

use crate::soft::program::{Access, Code, Inactive, Manner, Region, Slot};
use crate::soft::scalar::Scalar;
use crate::spirv::SpirvError;
use crate::spirv::module::{id, malformed, number, result_type};

use super::access::{Place, Pointer, sum};
use super::types::{Layout, MatrixLayout, Type};
use super::{Lower, Value, own};

impl Lower<'_> {
    /// Where the components of what a pointer points to lie, from its base.
    fn leaves(&self, pointer: &Pointer) -> Result<Vec<(Scalar, u32)>, SpirvError> {
        // What is too large to be a value ends here, before memory does.
        self.types.flat(pointer.to)?;
        let mut found = Vec::new();
        self.leaves_of(
            pointer.to,
            pointer.layout,
            (pointer.matrix, pointer.component_stride),
            0,
            &mut found,
        )?;
        Ok(found)
    }

    fn leaves_of(
        &self,
        ty: u32,
        layout: Layout,
        (matrix, component_stride): (Option<MatrixLayout>, Option<u32>),
        at: u32,
        found: &mut Vec<(Scalar, u32)>,
    ) -> Result<(), SpirvError> {
        let step = |index: u32, stride: u32| {
            let offset = u64::from(at) + u64::from(index) * u64::from(stride);
            u32::try_from(offset).map_err(|_| SpirvError::unsupported("an object beyond 4 GiB"))
        };
        match self.types.get(ty)? {
            Type::Scalar(scalar) => found.push((*scalar, at)),
            Type::Pointer { .. } => found.push((Scalar::I64, at)),
            Type::Vector { of, len } => {
                let stride = match component_stride {
                    Some(stride) => stride,
                    None => self.types.stride(ty, layout)?,
                };
                for index in 0..*len {
                    self.leaves_of(*of, layout, (None, None), step(index, stride)?, found)?;
                }
            }
            Type::Matrix { of, len } => {
                let bytes = self.types.scalar(ty)?.bytes();
                let (stride, inner) = match (matrix, layout) {
                    (Some(matrix), Layout::Explicit) if matrix.row_major => {
                        (bytes, Some(matrix.stride))
                    }
                    (Some(matrix), Layout::Explicit) => (matrix.stride, None),
                    _ => (self.types.stride(ty, layout)?, None),
                };
                for index in 0..*len {
                    self.leaves_of(*of, layout, (None, inner), step(index, stride)?, found)?;
                }
            }
            Type::Array { of, len, .. } => {
                let stride = self.types.stride(ty, layout)?;
                for index in 0..*len {
                    self.leaves_of(*of, layout, (matrix, None), step(index, stride)?, found)?;
                }
            }
            Type::Struct { members } => {
                for (index, member) in members.iter().enumerate() {
                    let offset = self.types.member_offset(ty, index, layout)?;
                    let layouts = (member.matrix, None);
                    self.leaves_of(member.of, layout, layouts, step(1, offset)?, found)?;
                }
            }
            _ => return Err(SpirvError::malformed("a load of what has no values")),
        }
        Ok(())
    }

    pub(super) fn load(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let (own, ty) = (own(instruction)?, result_type(instruction)?);
        let pointer = self.pointer(id(instruction, 0)?)?;
        if !self.is_physical(ty)? && matches!(self.types.get(ty)?, Type::Pointer { .. }) {
            self.problem("a pointer in a variable");
            return Ok(());
        }
        if let Place::Registers { slots, offset: None } = &pointer.place
            && self.borrowed.contains(&own)
        {
            return self.bind(own, Rc::clone(slots));
        }
        let (manner, alignment) = self.operands(instruction, 1)?;
        let slots = self.loaded(&pointer, manner, alignment)?;
        self.bind(own, slots)
    }

    /// The value behind a pointer.
    pub(super) fn loaded(
        &mut self,
        pointer: &Pointer,
        manner: Manner,
        alignment: u32,
    ) -> Result<Rc<[Slot]>, SpirvError> {
        match &pointer.place {
            Place::Registers { slots, offset: None } if pointer.constant => Ok(Rc::clone(slots)),
            Place::Registers { slots, offset } => {
                let to = self.fresh(pointer.to)?;
                let flat = self.types.flat(pointer.to)?;
                let Some(offset) = *offset else {
                    self.copy_all(&to, slots, &flat, Inactive::Clobber)?;
                    return Ok(to);
                };
                for ((dst, base), scalar) in to.iter().zip(slots.iter()).zip(flat.iter()) {
                    for word in 0..scalar.words() {
                        let (dst, base) = (dst + word, base + word);
                        self.emit(Code::LoadIndexed { dst, base, offset })?;
                    }
                }
                Ok(to)
            }
            Place::Memory { region: Region::Push, base, offset: None } => {
                let mut to = Vec::new();
                for (scalar, at) in self.leaves(pointer)? {
                    let base = sum(*base, at)?;
                    let outside = || SpirvError::malformed("a push constant beyond its block");
                    to.push(self.pushed(base, scalar)?.ok_or_else(outside)?);
                }
                Ok(to.into())
            }
            Place::Memory { region, base, offset } => {
                let to = self.fresh(pointer.to)?;
                let manner = both(pointer.manner, manner);
                for ((scalar, at), value) in self.leaves(pointer)?.into_iter().zip(to.iter()) {
                    let base = sum(*base, at)?;
                    let (region, offset, value) = (*region, *offset, *value);
                    let alignment = if at == 0 { alignment } else { 1 };
                    let access = Access { region, offset, base, scalar, value, alignment, manner };
                    self.emit(Code::Load(access))?;
                }
                Ok(to)
            }
        }
    }

    pub(super) fn store(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let pointer = self.pointer(id(instruction, 0)?)?;
        let object = id(instruction, 1)?;
        let value = match self.value(object)? {
            Value::Slots(slots) => slots,
            Value::Pointer(inner)
                if matches!(inner.place, Place::Memory { region: Region::Physical, .. }) =>
            {
                self.address(&inner)?
            }
            Value::Pointer(_) => {
                self.problem("a pointer in a variable");
                return Ok(());
            }
        };
        let (manner, alignment) = self.operands(instruction, 2)?;
        self.stored(&pointer, &value, manner, alignment)
    }

    pub(super) fn stored(
        &mut self,
        pointer: &Pointer,
        value: &[Slot],
        manner: Manner,
        alignment: u32,
    ) -> Result<(), SpirvError> {
        match &pointer.place {
            Place::Registers { slots, offset } => {
                let flat = self.types.flat(pointer.to)?;
                let Some(offset) = *offset else {
                    return self.copy_all(slots, value, &flat, Inactive::Keep);
                };
                for ((base, src), scalar) in slots.iter().zip(value).zip(flat.iter()) {
                    for word in 0..scalar.words() {
                        let (base, src) = (base + word, src + word);
                        self.emit(Code::StoreIndexed { base, offset, src })?;
                    }
                }
                Ok(())
            }
            Place::Memory { region, base, offset } => {
                let manner = both(pointer.manner, manner);
                for ((scalar, at), value) in self.leaves(pointer)?.into_iter().zip(value) {
                    let base = sum(*base, at)?;
                    let (region, offset, value) = (*region, *offset, *value);
                    let alignment = if at == 0 { alignment } else { 1 };
                    let access = Access { region, offset, base, scalar, value, alignment, manner };
                    self.emit(Code::Store(access))?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn copy_memory(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let to = self.pointer(id(instruction, 0)?)?;
        let from = self.pointer(id(instruction, 1)?)?;
        let value = self.loaded(&from, Manner::default(), 1)?;
        self.stored(&to, &value, Manner::default(), 1)
    }

    /// What the memory operands of a load or store say.
    fn operands(&self, instruction: &Instruction, at: usize) -> Result<(Manner, u32), SpirvError> {
        let Some(Operand::MemoryAccess(flags)) = instruction.operands.get(at) else {
            return Ok((Manner::default(), 1));
        };
        let alignment =
            if flags.contains(MemoryAccess::ALIGNED) { number(instruction, at + 1)? } else { 1 };
        let shared = MemoryAccess::MAKE_POINTER_AVAILABLE
            | MemoryAccess::MAKE_POINTER_VISIBLE
            | MemoryAccess::NON_PRIVATE_POINTER;
        let manner = Manner {
            coherent: flags.intersects(shared),
            volatile: flags.contains(MemoryAccess::VOLATILE),
        };
        Ok((manner, alignment.max(1)))
    }

    pub(super) fn array_length(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let pointer = self.pointer(id(instruction, 0)?)?;
        let member = number(instruction, 1)? as usize;
        let Place::Memory { region: Region::Buffer(buffer), base, .. } = pointer.place else {
            return Err(SpirvError::unsupported("the length of an array in no bound buffer"));
        };
        let offset = self.types.member_offset(pointer.to, member, Layout::Explicit)?;
        let Type::Struct { members } = self.types.get(pointer.to)? else {
            return Err(malformed(instruction, 0));
        };
        let array = members.get(member).ok_or_else(|| malformed(instruction, 1))?.of;
        let stride = self.types.stride(array, Layout::Explicit)?;
        let before = sum(base, offset)?;
        let dst = self.slots(1)?;
        self.emit(Code::Length { dst, buffer, before, stride })?;
        self.bind(own(instruction)?, vec![dst].into())
    }
}

const fn both(a: Manner, b: Manner) -> Manner {
    Manner { coherent: a.coherent || b.coherent, volatile: a.volatile || b.volatile }
}
