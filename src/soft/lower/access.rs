//! Pointers, access chains, loads and stores.
//!
//! A logical pointer is known while lowering but for its dynamic indices, which become an offset in
//! a register. Every index is held against its own array, so that one outside of it shows even
//! where it stays inside the buffer.

use std::rc::Rc;

use rspirv::dr::Instruction;
use rspirv::spirv::{Op, StorageClass};

use crate::soft::alu;
use crate::soft::program::{
    Code, Inactive, Index, Manner, NOWHERE, OUTSIDE, Pure, Region, Slot, What,
};
use crate::soft::scalar::Scalar;
use crate::spirv::SpirvError;
use crate::spirv::module::id;

use super::types::{Layout, MatrixLayout, Type};
use super::{Lower, Value, own};

#[derive(Clone, Debug)]
pub(super) struct Pointer {
    /// The type that it points to.
    pub(super) to: u32,
    pub(super) place: Place,
    pub(super) layout: Layout,
    pub(super) matrix: Option<MatrixLayout>,
    /// Distance between the components of the vector that it points to, in a matrix by rows.
    pub(super) component_stride: Option<u32>,
    pub(super) manner: Manner,
    /// Nobody writes through it, so that a load needs no copy.
    pub(super) constant: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Place {
    Registers {
        /// All components at offset 0.
        slots: Rc<[Slot]>,
        /// Registers to go on by.
        offset: Option<Slot>,
    },
    Memory {
        region: Region,
        base: u32,
        offset: Option<Slot>,
    },
}

impl Pointer {
    pub(super) fn registers(to: u32, slots: Rc<[Slot]>) -> Self {
        Self::new(to, Place::Registers { slots, offset: None }, Layout::Natural)
    }

    pub(super) fn memory(to: u32, region: Region, base: u32, layout: Layout) -> Self {
        Self::new(to, Place::Memory { region, base, offset: None }, layout)
    }

    const fn new(to: u32, place: Place, layout: Layout) -> Self {
        let manner = Manner { coherent: false, volatile: false };
        let (matrix, component_stride) = (None, None);
        Self { to, place, layout, matrix, component_stride, manner, constant: false }
    }
}

impl Lower<'_> {
    pub(super) fn is_physical(&self, ty: u32) -> Result<bool, SpirvError> {
        Ok(matches!(
            self.types.get(ty)?,
            Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. }
        ))
    }

    /// The pointer that an id stands for; one of two registers where it is a physical one.
    pub(super) fn pointer(&mut self, id: u32) -> Result<Rc<Pointer>, SpirvError> {
        match self.value(id)? {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Slots(slots) => {
                let ty = self.type_of(id)?;
                let Type::Pointer { class: StorageClass::PhysicalStorageBuffer, to } =
                    *self.types.get(ty)?
                else {
                    return Err(SpirvError::malformed(format!("id {id} is no pointer")));
                };
                let mut pointer = Pointer::memory(to, Region::Physical, 0, Layout::Explicit);
                let offset = slots.first().copied();
                pointer.place = Place::Memory { region: Region::Physical, base: 0, offset };
                Ok(Rc::new(pointer))
            }
        }
    }

    /// The two registers of a physical pointer.
    pub(super) fn address(&mut self, pointer: &Pointer) -> Result<Rc<[Slot]>, SpirvError> {
        let Place::Memory { region: Region::Physical, base, offset: Some(offset) } = pointer.place
        else {
            return Err(SpirvError::unsupported("a logical pointer as a value"));
        };
        if base == 0 {
            return Ok(vec![offset].into());
        }
        let base = self.constant(base, Some(0))?;
        Ok(vec![self.pure2(What::Core(Op::IAdd), Scalar::I64, Scalar::I64, offset, base)?].into())
    }

    /// A pure operation of two operands into a new register.
    pub(super) fn pure2(
        &mut self,
        what: What,
        from: Scalar,
        to: Scalar,
        first: Slot,
        second: Slot,
    ) -> Result<Slot, SpirvError> {
        self.pure(what, from, to, &[first, second])
    }

    /// A pure operation into a new register.
    pub(super) fn pure(
        &mut self,
        what: What,
        from: Scalar,
        to: Scalar,
        operands: &[Slot],
    ) -> Result<Slot, SpirvError> {
        let dst = self.slots(to.words())?;
        let Some(kernel) = alu::resolve(what, from, to) else {
            self.problem(format!("{what:?} of {from:?} to {to:?}"));
            return Ok(dst);
        };
        let mut src = [0; 4];
        for (to, from) in src.iter_mut().zip(operands) {
            *to = *from;
        }
        let arity = u8::try_from(operands.len()).unwrap_or(u8::MAX);
        let guard = alu::guard(what, from, to);
        self.emit(Code::Pure(Pure { what, from, to, kernel, guard, dst, src, arity }))?;
        Ok(dst)
    }

    pub(super) fn access_chain(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let mut pointer = Pointer::clone(&*self.pointer(id(instruction, 0)?)?);
        let mut first = 1;
        if matches!(instruction.class.opcode, Op::PtrAccessChain | Op::InBoundsPtrAccessChain) {
            // The first index steps over whole objects.
            let ty = self.type_of(id(instruction, 0)?)?;
            let stride = self.module.decoration(ty, rspirv::spirv::Decoration::ArrayStride);
            let stride = stride
                .ok_or_else(|| SpirvError::malformed("a pointer without a stride, stepped over"))?;
            self.step(&mut pointer, id(instruction, 1)?, stride, None)?;
            first = 2;
        }
        for index in first..instruction.operands.len() {
            self.inner(&mut pointer, id(instruction, index)?)?;
        }
        self.bind_pointer(own(instruction)?, pointer)
    }

    pub(super) fn bind_pointer(
        &mut self,
        own: u32,
        mut pointer: Pointer,
    ) -> Result<(), SpirvError> {
        let is_physical = matches!(pointer.place, Place::Memory { region: Region::Physical, .. });
        if self.escaping.contains(&own)
            && let Place::Registers { offset: Some(offset), .. }
            | Place::Memory { offset: Some(offset), .. } = &mut pointer.place
        {
            let words = if is_physical { 2 } else { 1 };
            let kept = self.slots(words)?;
            for word in 0..words {
                let (dst, src) = (kept + word, *offset + word);
                self.emit(Code::Copy { dst, src, inactive: Inactive::Keep })?;
            }
            *offset = kept;
        }
        self.values.insert(own, Value::Pointer(Rc::new(pointer)));
        Ok(())
    }

    /// One index into what the pointer points to.
    fn inner(&mut self, pointer: &mut Pointer, index: u32) -> Result<(), SpirvError> {
        match self.types.get(pointer.to)?.clone() {
            Type::Struct { members } => {
                let at = self.constants.word(index)? as usize;
                let member = members.get(at);
                let member = member.ok_or_else(|| SpirvError::malformed("no such member"))?;
                match &mut pointer.place {
                    Place::Registers { slots, .. } => {
                        let before: Result<usize, SpirvError> =
                            members[..at].iter().map(|m| Ok(self.types.flat(m.of)?.len())).sum();
                        let (before, len) = (before?, self.types.flat(member.of)?.len());
                        *slots = part(slots, before, len)?;
                    }
                    Place::Memory { base, .. } => {
                        let offset = self.types.member_offset(pointer.to, at, pointer.layout)?;
                        *base = sum(*base, offset)?;
                    }
                }
                pointer.to = member.of;
                pointer.matrix = member.matrix.or(pointer.matrix);
                pointer.manner.coherent |= member.coherent;
                pointer.manner.volatile |= member.volatile;
            }
            Type::Array { of, len, .. } => self.element(pointer, index, of, Some(len))?,
            Type::Runtime { of, .. } => self.element(pointer, index, of, None)?,
            Type::Matrix { of, len } => match (&pointer.place, pointer.matrix, pointer.layout) {
                (Place::Memory { .. }, Some(matrix), Layout::Explicit) => {
                    let rows = self.types.scalar(pointer.to)?.bytes();
                    let stride = if matrix.row_major { rows } else { matrix.stride };
                    self.step(pointer, index, stride, Some(len))?;
                    pointer.component_stride = matrix.row_major.then_some(matrix.stride);
                    pointer.matrix = None;
                    pointer.to = of;
                }
                _ => self.element(pointer, index, of, Some(len))?,
            },
            Type::Vector { of, len } => match (&pointer.place, pointer.component_stride) {
                (Place::Memory { .. }, Some(stride)) => {
                    self.step(pointer, index, stride, Some(len))?;
                    pointer.component_stride = None;
                    pointer.to = of;
                }
                _ => self.element(pointer, index, of, Some(len))?,
            },
            Type::Cooperative { of, components, .. } => {
                self.element(pointer, index, of, Some(components))?;
            }
            _ => return Err(SpirvError::malformed("an index into what has no parts")),
        }
        Ok(())
    }

    fn element(
        &mut self,
        pointer: &mut Pointer,
        index: u32,
        of: u32,
        len: Option<u32>,
    ) -> Result<(), SpirvError> {
        match &mut pointer.place {
            Place::Registers { slots, .. } => {
                let one = self.types.flat(of)?;
                let constant = self.constants.word(index).ok();
                if let (Some(at), Some(len)) = (constant, len)
                    && at < len
                {
                    *slots = part(slots, at as usize * one.len(), one.len())?;
                } else {
                    // An array of no elements has none to start from; nothing reaches it.
                    *slots = match part(slots, 0, one.len()) {
                        Ok(first) => first,
                        Err(_) => self.fresh(of)?,
                    };
                    let stride = self.types.words(of)?;
                    self.step(pointer, index, stride, len)?;
                }
            }
            Place::Memory { .. } => {
                let stride = self.types.stride(pointer.to, pointer.layout)?;
                self.step(pointer, index, stride, len)?;
            }
        }
        pointer.to = of;
        Ok(())
    }

    /// Goes on by an index times a distance in bytes, or in registers.
    fn step(
        &mut self,
        pointer: &mut Pointer,
        index: u32,
        stride: u32,
        len: Option<u32>,
    ) -> Result<(), SpirvError> {
        let scalar = self.types.scalar(self.type_of(index)?)?;
        if let Place::Memory { region: Region::Physical, offset: Some(offset), .. } = pointer.place
        {
            let moved = self.physical_step(offset, index, scalar, stride)?;
            let Place::Memory { offset, .. } = &mut pointer.place else { return Ok(()) };
            *offset = Some(moved);
            return Ok(());
        }
        // The index 0xffffffff times 1 would be OUTSIDE by itself.
        let most = (NOWHERE - 1) / stride.max(1);
        let limit = len.unwrap_or(u32::MAX).min(most);
        if let (Ok(at), Place::Memory { base, .. }) =
            (self.constants.word(index), &mut pointer.place)
            && at < limit
        {
            let moved = u64::from(*base) + u64::from(at) * u64::from(stride);
            if let Ok(moved) = u32::try_from(moved) {
                *base = moved;
                return Ok(());
            }
        }
        let mut index = self.slot_of(index)?;
        if scalar.bytes() < 4 {
            // Indices are signed; a negative one is beyond every limit.
            index = self.pure(What::Core(Op::SConvert), scalar, Scalar::I32, &[index])?;
        }
        let wide = scalar.words() == 2;
        let dst = self.slots(1)?;
        let (Place::Registers { offset, .. } | Place::Memory { offset, .. }) = &mut pointer.place;
        let before = offset.replace(dst);
        let beyond = OUTSIDE;
        self.emit(Code::Index(Index { dst, before, index, wide, stride, limit, beyond }))
    }

    fn physical_step(
        &mut self,
        offset: Slot,
        index: u32,
        scalar: Scalar,
        stride: u32,
    ) -> Result<Slot, SpirvError> {
        let mut index = self.slot_of(index)?;
        if scalar != Scalar::I64 {
            index = self.pure(What::Core(Op::SConvert), scalar, Scalar::I64, &[index])?;
        }
        let stride = self.constant(stride, Some(0))?;
        let i64 = Scalar::I64;
        let product = self.pure2(What::Core(Op::IMul), i64, i64, index, stride)?;
        self.pure2(What::Core(Op::IAdd), i64, i64, offset, product)
    }
}

pub(super) fn sum(base: u32, more: u32) -> Result<u32, SpirvError> {
    let sum = base.checked_add(more);
    sum.ok_or_else(|| SpirvError::unsupported("an object beyond 4 GiB"))
}

fn part(slots: &Rc<[Slot]>, at: usize, len: usize) -> Result<Rc<[Slot]>, SpirvError> {
    let part = slots.get(at..at + len);
    part.map(Rc::from).ok_or_else(|| SpirvError::malformed("a part that isn't there"))
}
