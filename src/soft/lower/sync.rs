//! Barriers, atomics and subgroup operations.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{GroupOperation, Op};

use crate::soft::program::{Access, Atomic, Code, Group, GroupKind, Scope, Slot};
use crate::soft::scalar::Scalar;
use crate::soft::{atomics, groups};
use crate::spirv::SpirvError;
use crate::spirv::module::{id, malformed, result_type};

use super::access::Place;
use super::{Lower, own};

/// Device scope or wider.
const SCOPES: [Scope; 7] = [
    Scope::Device,     // CrossDevice
    Scope::Device,     // Device
    Scope::Workgroup,  // Workgroup
    Scope::Subgroup,   // Subgroup
    Scope::Invocation, // Invocation
    Scope::Device,     // QueueFamily
    Scope::Device,     // ShaderCallKHR
];

impl Lower<'_> {
    fn scope(&self, instruction: &Instruction, at: usize) -> Result<Scope, SpirvError> {
        let number = self.number_of(instruction, at)? as usize;
        let scope = SCOPES.get(number).copied();
        scope.ok_or_else(|| SpirvError::malformed(format!("scope {number}")))
    }

    /// A scope or memory semantics: the value of a constant.
    fn number_of(&self, instruction: &Instruction, at: usize) -> Result<u32, SpirvError> {
        match instruction.operands.get(at) {
            Some(Operand::IdScope(id) | Operand::IdMemorySemantics(id) | Operand::IdRef(id)) => {
                self.constants.word(*id)
            }
            _ => Err(malformed(instruction, at)),
        }
    }

    pub(super) fn barrier(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        if instruction.class.opcode == Op::MemoryBarrier {
            let scope = self.scope(instruction, 0)?;
            let semantics = self.number_of(instruction, 1)?;
            self.program.has.device_sync |= scope == Scope::Device;
            return self.emit(Code::Fence { scope, semantics });
        }
        let execution = self.scope(instruction, 0)?;
        let memory = self.scope(instruction, 1)?;
        let semantics = self.number_of(instruction, 2)?;
        self.emit(Code::Barrier { execution, memory, semantics })
    }

    pub(super) fn atomic(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let op = instruction.class.opcode;
        let pointer = self.pointer(id(instruction, 0)?)?;
        let scalar = match op {
            // A flag is a 32-bit integer.
            Op::AtomicFlagTestAndSet | Op::AtomicFlagClear => Scalar::I32,
            _ => self.types.scalar(pointer.to)?,
        };
        if !atomics::supports(op, scalar) {
            self.problem(format!("Op{op:?} of {scalar:?}"));
        }
        let scope = self.scope(instruction, 1)?;
        let mut semantics = self.number_of(instruction, 2)?;
        let (value_at, compare_at) = match op {
            Op::AtomicLoad
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicFlagTestAndSet
            | Op::AtomicFlagClear => (None, None),
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                semantics |= self.number_of(instruction, 3)?;
                (Some(4), Some(5))
            }
            _ => (Some(3), None),
        };
        let slot = |lower: &mut Self, at: Option<usize>| -> Result<Option<Slot>, SpirvError> {
            at.map(|at| lower.slot_of(id(instruction, at)?)).transpose()
        };
        let value = match slot(self, value_at)? {
            Some(value) => value,
            None => self.constant(0, Some(0))?,
        };
        let compare = slot(self, compare_at)?;
        let Place::Memory { region, base, offset } = pointer.place else {
            return Err(SpirvError::malformed(
                "an atomic operation on a variable of one invocation",
            ));
        };
        let manner = pointer.manner;
        let alignment = 1;
        let access = Access { region, offset, base, scalar, value, alignment, manner };
        let dst = match (instruction.result_id, instruction.result_type) {
            (Some(_), Some(ty)) => {
                let words = self.types.scalar(ty)?.words();
                Some(self.slots(words)?)
            }
            _ => None,
        };
        self.program.has.device_sync |= scope == Scope::Device && semantics & 0xe != 0;
        self.emit(Code::Atomic(Atomic { op, access, dst, compare, scope, semantics }))?;
        match (instruction.result_id, dst) {
            (Some(own), Some(dst)) => self.bind(own, vec![dst].into()),
            _ => Ok(()),
        }
    }

    pub(super) fn group(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let op = instruction.class.opcode;
        let (own, ty) = (own(instruction)?, result_type(instruction)?);
        let mut operands: Vec<u32> = Vec::new();
        let mut kind = None;
        for operand in &instruction.operands {
            match operand {
                Operand::IdScope(scope) => {
                    if self.constants.word(*scope)? != 3 {
                        self.problem(format!("Op{op:?} of another scope than the subgroup"));
                    }
                }
                Operand::IdRef(id) => operands.push(*id),
                Operand::GroupOperation(operation) => kind = Some(*operation),
                _ => return Err(malformed(instruction, 0)),
            }
        }
        let kind = match kind {
            None => GroupKind::None,
            Some(GroupOperation::Reduce) => GroupKind::Reduce,
            Some(GroupOperation::InclusiveScan) => GroupKind::InclusiveScan,
            Some(GroupOperation::ExclusiveScan) => GroupKind::ExclusiveScan,
            Some(GroupOperation::ClusteredReduce) => {
                let size = operands.pop().ok_or_else(|| malformed(instruction, 3))?;
                GroupKind::Clustered(self.constants.word(size)?)
            }
            Some(other) => {
                self.problem(format!("group operation {other:?}"));
                GroupKind::None
            }
        };
        let kind = match op {
            // The cluster's size is there or isn't.
            Op::GroupNonUniformRotateKHR if operands.len() == 3 => {
                let size = operands.pop().unwrap_or_default();
                GroupKind::Clustered(self.constants.word(size)?)
            }
            _ => kind,
        };
        let result = self.types.flat(ty)?;
        let first = operands.first().copied();
        let scalar = match first {
            Some(first) => self.types.scalar(self.type_of(first)?)?,
            None => Scalar::Bool,
        };
        if !groups::supports(op, kind, scalar) {
            self.problem(format!("Op{op:?} of {scalar:?}"));
            let slots = self.fresh(ty)?;
            return self.bind(own, slots);
        }
        let mut sources = Vec::new();
        for operand in &operands {
            sources.push(self.slots_of(*operand)?);
        }
        // Ballots are one value of four words, in and out.
        let is_ballot_in = matches!(
            op,
            Op::GroupNonUniformInverseBallot
                | Op::GroupNonUniformBallotBitExtract
                | Op::GroupNonUniformBallotBitCount
                | Op::GroupNonUniformBallotFindLSB
                | Op::GroupNonUniformBallotFindMSB
        );
        let is_ballot_out = matches!(op, Op::GroupNonUniformBallot | Op::SubgroupBallotKHR);
        if is_ballot_in || is_ballot_out {
            let slots = self.fresh(ty)?;
            let mut group = Group { op, kind, scalar, dst: [0; 4], src: [0; 5] };
            group.dst.iter_mut().zip(slots.iter()).for_each(|(to, from)| *to = *from);
            let all: Vec<Slot> = sources.iter().flat_map(|source| source.iter().copied()).collect();
            group.src.iter_mut().zip(&all).for_each(|(to, from)| *to = *from);
            self.emit(Code::Group(group))?;
            return self.bind(own, slots);
        }
        let is_vote = op == Op::GroupNonUniformAllEqual || op == Op::SubgroupAllEqualKHR;
        let count = if is_vote { sources.first().map_or(1, |s| s.len()) } else { result.len() };
        let mut slots = Vec::with_capacity(count);
        for at in 0..count {
            let words = if is_vote { 1 } else { result[at].words() };
            let dst = self.slots(words)?;
            let mut group = Group { op, kind, scalar, dst: [dst, 0, 0, 0], src: [0; 5] };
            for (index, source) in sources.iter().enumerate().take(group.src.len()) {
                let slot = if index == 0 { source.get(at) } else { source.first() };
                group.src[index] = *slot.ok_or_else(|| malformed(instruction, index))?;
            }
            self.emit(Code::Group(group))?;
            slots.push(dst);
        }
        if is_vote {
            let mut all = *slots.first().ok_or_else(|| malformed(instruction, 1))?;
            for slot in slots.iter().skip(1) {
                let and = crate::soft::program::What::Core(Op::LogicalAnd);
                all = self.pure2(and, Scalar::Bool, Scalar::Bool, all, *slot)?;
            }
            slots = vec![all];
        }
        self.bind(own, slots.into())
    }
}
