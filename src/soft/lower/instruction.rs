//! One instruction of a block.

use std::rc::Rc;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use crate::soft::groups;
use crate::soft::program::{Code, Inactive, Slot, What};
use crate::soft::scalar::Scalar;
use crate::spirv::SpirvError;
use crate::spirv::module::{id, malformed, result_type};
use crate::spirv::uses::is_atomic;

use super::types::Type;
use super::{Lower, Value, own};

impl Lower<'_> {
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        match instruction.class.opcode {
            Op::Nop
            | Op::Name
            | Op::MemberName
            | Op::AssumeTrueKHR
            | Op::LifetimeStart
            | Op::LifetimeStop => Ok(()),
            Op::Variable => self.variable(instruction),
            Op::Load => self.load(instruction),
            Op::Store => self.store(instruction),
            Op::CopyMemory => self.copy_memory(instruction),
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain => self.access_chain(instruction),
            Op::ArrayLength => self.array_length(instruction),
            Op::Undef => {
                let slots = self.undefined(result_type(instruction)?)?;
                self.bind(own(instruction)?, slots)
            }
            Op::CopyObject | Op::CopyLogical | Op::ExpectKHR => self.same(instruction),
            Op::Bitcast => self.bitcast(instruction),
            Op::ConvertUToPtr | Op::ConvertPtrToU => self.bitcast(instruction),
            Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::VectorShuffle
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic
            | Op::Transpose => self.compose(instruction),
            Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::OuterProduct
            | Op::Dot
            | Op::Any
            | Op::All => self.product(instruction),
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => {
                self.extended_product(instruction)
            }
            Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => {
                self.integer_dot(instruction)
            }
            Op::ExtInst => self.extended(instruction),
            Op::ControlBarrier | Op::MemoryBarrier => self.barrier(instruction),
            op if is_atomic(op) => self.atomic(instruction),
            op if groups::knows(op) => self.group(instruction),
            Op::CooperativeMatrixLoadKHR
            | Op::CooperativeMatrixStoreKHR
            | Op::CooperativeMatrixMulAddKHR
            | Op::CooperativeMatrixLengthKHR => self.cooperative(instruction),
            _ => self.componentwise(instruction),
        }
    }

    /// The result is the operand, under another name or type.
    fn same(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        match self.value(id(instruction, 0)?)? {
            Value::Slots(slots) => self.bind(own(instruction)?, slots),
            Value::Pointer(pointer) => self.bind_pointer(own(instruction)?, (*pointer).clone()),
        }
    }

    /// An operation that treats all components alike.
    fn componentwise(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let op = instruction.class.opcode;
        let (Some(own), Some(ty)) = (instruction.result_id, instruction.result_type) else {
            self.problem(format!("Op{op:?}"));
            return Ok(());
        };
        let mut operands = Vec::new();
        for index in 0..instruction.operands.len() {
            operands.push(id(instruction, index)?);
        }
        let slots = self.each(What::Core(op), ty, &operands)?;
        self.bind(own, slots)
    }

    /// Applies an operation to the components of its operands; a scalar among vectors counts for
    /// all of them.
    pub(super) fn each(
        &mut self,
        what: What,
        ty: u32,
        operands: &[u32],
    ) -> Result<Rc<[Slot]>, SpirvError> {
        let flat = self.types.flat(ty)?;
        let typed = if what == What::Core(Op::Select) { 1 } else { 0 };
        let Some(typed) = operands.get(typed) else {
            return Err(SpirvError::malformed(format!("{what:?} without operands")));
        };
        let from = self.types.flat(self.type_of(*typed)?)?;
        let mut sources = Vec::new();
        for operand in operands {
            sources.push(self.slots_of(*operand)?);
        }
        let mut slots = Vec::with_capacity(flat.len());
        for (at, to) in flat.iter().enumerate() {
            let mut src = Vec::with_capacity(sources.len());
            for source in &sources {
                let slot = if source.len() == 1 { source.first() } else { source.get(at) };
                let missing = || SpirvError::malformed(format!("{what:?} of vectors of two sizes"));
                src.push(*slot.ok_or_else(missing)?);
            }
            let from = *from.get(at).or(from.first()).unwrap_or(to);
            slots.push(if src.len() > 4 {
                self.problem(format!("{what:?} with {} operands", src.len()));
                self.slots(to.words())?
            } else {
                self.pure(what, from, *to, &src)?
            });
        }
        Ok(slots.into())
    }

    /// The same bits as another type: components may be cut up or put together.
    fn bitcast(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let (own, ty) = (own(instruction)?, result_type(instruction)?);
        let operand = id(instruction, 0)?;
        let slots = self.slots_of(operand)?;
        let from = self.types.flat(self.type_of(operand)?)?;
        let to = self.types.flat(ty)?;
        let (Some(narrow_from), Some(narrow_to)) = (from.first(), to.first()) else {
            return Err(malformed(instruction, 0));
        };
        let (from_bytes, to_bytes) = (narrow_from.bytes(), narrow_to.bytes());
        if from_bytes == to_bytes {
            return self.bind(own, slots);
        }
        let bits = self.bytes_of(&slots, *narrow_from)?;
        let mut found = Vec::new();
        for (at, scalar) in to.iter().enumerate() {
            let size = scalar.bytes() as usize;
            let part = bits.get(at * size..(at + 1) * size);
            let part = part.ok_or_else(|| SpirvError::malformed("a bit cast to another size"))?;
            found.push(self.assembled(part, *scalar)?);
        }
        self.bind(own, found.into())
    }

    /// Each byte in the low bits of a register: a register and how far to shift it.
    fn bytes_of(&mut self, slots: &[Slot], scalar: Scalar) -> Result<Vec<(Slot, u32)>, SpirvError> {
        let mut bytes = Vec::new();
        for slot in slots {
            for byte in 0..scalar.bytes() {
                bytes.push((slot + byte / 4, byte % 4 * 8));
            }
        }
        Ok(bytes)
    }

    /// Puts a component together from bytes; whole words are copied.
    fn assembled(&mut self, bytes: &[(Slot, u32)], scalar: Scalar) -> Result<Slot, SpirvError> {
        let dst = self.slots(scalar.words())?;
        for (word, bytes) in bytes.chunks(4).enumerate() {
            let mut all: Option<Slot> = None;
            let mut at = 0;
            while let Some((slot, shift)) = bytes.get(at).copied() {
                // As many bytes as follow each other in the same register.
                let run = (1..bytes.len() - at)
                    .take_while(|next| {
                        let step = u32::try_from(*next).unwrap_or(0) * 8;
                        bytes[at + next] == (slot, shift + step)
                    })
                    .count()
                    + 1;
                let piece = self.piece(slot, shift, u32::try_from(run).unwrap_or(4) * 8)?;
                let target = u32::try_from(at).unwrap_or(0) * 8;
                let placed = if target == 0 { piece } else { self.shifted(piece, target)? };
                all = Some(match all {
                    None => placed,
                    Some(all) => self.pure2(
                        What::Core(Op::BitwiseOr),
                        Scalar::I32,
                        Scalar::I32,
                        all,
                        placed,
                    )?,
                });
                at += run;
            }
            if let Some(src) = all {
                let dst = dst + u32::try_from(word).unwrap_or(0);
                let inactive = Inactive::Clobber;
                self.emit(Code::Copy { dst, src, inactive })?;
            }
        }
        Ok(dst)
    }

    fn piece(&mut self, slot: Slot, shift: u32, bits: u32) -> Result<Slot, SpirvError> {
        if shift == 0 && bits == 32 {
            return Ok(slot);
        }
        let (at, count) = (self.word(shift)?, self.word(bits)?);
        let i32 = Scalar::I32;
        self.pure(What::Core(Op::BitFieldUExtract), i32, i32, &[slot, at, count])
    }

    fn shifted(&mut self, slot: Slot, by: u32) -> Result<Slot, SpirvError> {
        let by = self.word(by)?;
        self.pure2(What::Core(Op::ShiftLeftLogical), Scalar::I32, Scalar::I32, slot, by)
    }

    /// Operations with two results: the low word with the high one, a sum with its carry.
    fn extended_product(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let op = instruction.class.opcode;
        let ty = result_type(instruction)?;
        let Type::Struct { members } = self.types.get(ty)? else {
            return Err(SpirvError::malformed("two results that are no struct"));
        };
        let Some(part) = members.first().map(|member| member.of) else {
            return Err(SpirvError::malformed("two results that are none"));
        };
        let first = match op {
            Op::IAddCarry => Op::IAdd,
            Op::ISubBorrow => Op::ISub,
            _ => Op::IMul,
        };
        let operands = [id(instruction, 0)?, id(instruction, 1)?];
        let low = self.each(What::Core(first), part, &operands)?;
        let high = self.each(What::Second(op), part, &operands)?;
        let both: Vec<Slot> = low.iter().chain(high.iter()).copied().collect();
        self.bind(own(instruction)?, both.into())
    }

    /// Dot products of integers: packed words as one operation, vectors as sums.
    fn integer_dot(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let op = instruction.class.opcode;
        let ty = result_type(instruction)?;
        let to = self.types.scalar(ty)?;
        let operand = |index| id(instruction, index);
        let (first, second) = (operand(0)?, operand(1)?);
        let from = self.types.scalar(self.type_of(first)?)?;
        let has_sum = matches!(op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
        let is_packed = instruction
            .operands
            .iter()
            .any(|operand| matches!(operand, Operand::PackedVectorFormat(_)));
        if is_packed {
            let mut src = vec![self.slot_of(first)?, self.slot_of(second)?];
            if has_sum {
                src.push(self.slot_of(operand(2)?)?);
            }
            let dst = self.pure(What::Core(op), from, to, &src)?;
            return self.bind(own(instruction)?, vec![dst].into());
        }
        if has_sum {
            self.problem(format!("Op{op:?} of vectors"));
            let slots = self.fresh(ty)?;
            return self.bind(own(instruction)?, slots);
        }
        let (a, b) = (self.slots_of(first)?, self.slots_of(second)?);
        let (widen_a, widen_b) = match op {
            Op::SDot => (Op::SConvert, Op::SConvert),
            Op::UDot => (Op::UConvert, Op::UConvert),
            _ => (Op::SConvert, Op::UConvert),
        };
        let mut sum = None;
        for (a, b) in a.iter().zip(b.iter()) {
            let widen = |lower: &mut Self, op, slot| {
                if from == to { Ok(slot) } else { lower.pure(What::Core(op), from, to, &[slot]) }
            };
            let (a, b) = (widen(self, widen_a, *a)?, widen(self, widen_b, *b)?);
            let product = self.pure2(What::Core(Op::IMul), to, to, a, b)?;
            sum = Some(match sum {
                None => product,
                Some(sum) => self.pure2(What::Core(Op::IAdd), to, to, sum, product)?,
            });
        }
        let sum = sum.ok_or_else(|| malformed(instruction, 0))?;
        self.bind(own(instruction)?, vec![sum].into())
    }
}
