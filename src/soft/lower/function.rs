//! Functions: their blocks, phis, and calls, which are inlined.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use crate::soft::program::{BlockId, Code, End, Inactive, Place, Slot};
use crate::spirv::SpirvError;
use crate::spirv::module::{id, malformed, number, result, result_type};

use super::access::Pointer;
use super::types::Type;
use super::{Lower, Value, borrow, escape};

/// Calls that nest deeper recurse, which SPIR-V forbids.
const LIMIT_CALLS: u32 = 64;

/// A function's blocks as the module has them.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub(super) list: Vec<SourceBlock>,
    pub(super) by_label: HashMap<u32, usize>,
}

#[derive(Debug)]
pub(super) struct SourceBlock {
    pub(super) label: u32,
    /// Its instructions, without the label.
    pub(super) range: Range<usize>,
    pub(super) merge: Option<u32>,
    /// The continue target of a loop.
    pub(super) next: Option<u32>,
    pub(super) targets: Vec<u32>,
}

impl Blocks {
    pub(super) fn of(instructions: &[Instruction]) -> Result<Self, SpirvError> {
        let mut blocks = Self::default();
        let mut open: Option<SourceBlock> = None;
        for (at, instruction) in instructions.iter().enumerate() {
            match instruction.class.opcode {
                Op::Label if open.is_some() => {
                    return Err(SpirvError::malformed("a block without an end"));
                }
                Op::Label => {
                    let label = result(instruction)?;
                    let range = at + 1..at + 1;
                    let (merge, next, targets) = (None, None, Vec::new());
                    open = Some(SourceBlock { label, range, merge, next, targets });
                }
                _ => {
                    let Some(mut block) = open.take() else { continue };
                    block.range.end = at + 1;
                    match instruction.class.opcode {
                        Op::SelectionMerge => block.merge = Some(id(instruction, 0)?),
                        Op::LoopMerge => {
                            block.merge = Some(id(instruction, 0)?);
                            block.next = Some(id(instruction, 1)?);
                        }
                        _ => {}
                    }
                    if is_end(instruction.class.opcode) {
                        block.targets = targets(instruction)?;
                        blocks.by_label.insert(block.label, blocks.list.len());
                        blocks.list.push(block);
                    } else {
                        open = Some(block);
                    }
                }
            }
        }
        Ok(blocks)
    }
}

fn is_end(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::TerminateInvocation
            | Op::Unreachable
    )
}

fn targets(end: &Instruction) -> Result<Vec<u32>, SpirvError> {
    Ok(match end.class.opcode {
        Op::Branch => vec![id(end, 0)?],
        Op::BranchConditional => vec![id(end, 1)?, id(end, 2)?],
        Op::Switch => {
            let labels = end.operands.iter().skip(1);
            labels
                .filter_map(|operand| match operand {
                    Operand::IdRef(label) => Some(*label),
                    _ => None,
                })
                .collect()
        }
        _ => Vec::new(),
    })
}

/// A call at hand: where its blocks are, and where its returns go.
struct Frame {
    blocks: HashMap<u32, BlockId>,
    /// The last block that a source block was lowered to: calls split it.
    tails: HashMap<u32, BlockId>,
    phis: Vec<Phi>,
    exit: Option<BlockId>,
    returned: Option<(Rc<[Slot]>, u32)>,
}

struct Phi {
    slots: Rc<[Slot]>,
    ty: u32,
    /// Value and the label of the block that it comes from.
    sources: Vec<(u32, u32)>,
    label: u32,
}

impl Lower<'_> {
    /// Lowers a function into blocks of its own and returns the first. Returns go to `exit`; with
    /// none, the invocation ends.
    pub(super) fn inline(
        &mut self,
        function: u32,
        arguments: &[Value],
        exit: Option<BlockId>,
        returned: Option<(Rc<[Slot]>, u32)>,
        depth: u32,
    ) -> Result<BlockId, SpirvError> {
        if depth > LIMIT_CALLS {
            return Err(SpirvError::malformed("a function that calls itself"));
        }
        let range = self.functions.get(&function).cloned();
        let range = range.ok_or_else(|| SpirvError::malformed("a call of no function"))?;
        let module = self.module;
        let instructions = &module.instructions[range];
        let source = Blocks::of(instructions)?;
        if source.list.is_empty() {
            return Err(SpirvError::unsupported("a function without a body"));
        }
        let mut given = arguments.iter();
        for instruction in instructions {
            if instruction.class.opcode == Op::FunctionParameter {
                let value = given.next();
                let value = value.ok_or_else(|| SpirvError::malformed("an argument is missing"))?;
                self.values.insert(result(instruction)?, value.clone());
            }
        }
        let escaping = Rc::new(escape::escaping(instructions, &source));
        let outer = std::mem::replace(&mut self.escaping, escaping);
        let borrowed = Rc::new(borrow::borrowed(instructions, &source));
        let lender = std::mem::replace(&mut self.borrowed, borrowed);

        let (blocks, tails) = (HashMap::new(), HashMap::new());
        let mut frame = Frame { blocks, tails, phis: Vec::new(), exit, returned };
        for block in &source.list {
            let id = self.block()?;
            frame.blocks.insert(block.label, id);
        }
        // A phi may name what is defined further down.
        for block in &source.list {
            for instruction in &instructions[block.range.clone()] {
                if instruction.class.opcode == Op::Phi {
                    self.phi(instruction, block.label, &mut frame)?;
                }
            }
        }
        for block in &source.list {
            self.source_block(instructions, block, &mut frame, depth)?;
        }
        self.edges(&source, &frame)?;
        self.escaping = outer;
        self.borrowed = lender;
        let first = frame.blocks.get(&source.list[0].label).copied();
        first.ok_or_else(|| SpirvError::malformed("a function without a first block"))
    }

    fn phi(
        &mut self,
        instruction: &Instruction,
        label: u32,
        frame: &mut Frame,
    ) -> Result<(), SpirvError> {
        let (own, ty) = (result(instruction)?, result_type(instruction)?);
        if let Type::Pointer { .. } = self.types.get(ty)?
            && !self.is_physical(ty)?
        {
            self.problem("a phi of pointers");
            return Ok(());
        }
        let slots = self.fresh(ty)?;
        let mut sources = Vec::new();
        for pair in instruction.operands.chunks(2) {
            let [Operand::IdRef(value), Operand::IdRef(from)] = pair else {
                return Err(malformed(instruction, 0));
            };
            sources.push((*value, *from));
        }
        self.values.insert(own, Value::Slots(Rc::clone(&slots)));
        frame.phis.push(Phi { slots, ty, sources, label });
        Ok(())
    }

    fn source_block(
        &mut self,
        instructions: &[Instruction],
        block: &SourceBlock,
        frame: &mut Frame,
        depth: u32,
    ) -> Result<(), SpirvError> {
        let find = |frame: &Frame, label: u32| {
            let block = frame.blocks.get(&label).copied();
            block.ok_or_else(|| SpirvError::malformed(format!("no block {label} in the function")))
        };
        self.current = find(frame, block.label)?;
        self.at = self.place(Place::default());
        for instruction in &instructions[block.range.clone()] {
            match instruction.class.opcode {
                Op::Line => {
                    let file = self.file(id(instruction, 0)?);
                    self.at = self.place(Place { file, line: number(instruction, 1)? });
                }
                Op::NoLine => self.at = self.place(Place::default()),
                Op::Phi => {
                    let own = result(instruction)?;
                    // Copied again where it leaves its loop; its own registers change on the edge.
                    if let Some(Value::Slots(slots)) = self.values.get(&own).cloned()
                        && self.escaping.contains(&own)
                    {
                        let kept = self.kept(&slots, result_type(instruction)?)?;
                        self.values.insert(own, Value::Slots(kept));
                    }
                }
                Op::SelectionMerge | Op::LoopMerge => {
                    let merge = find(frame, id(instruction, 0)?)?;
                    let next = match block.next {
                        Some(next) => Some(find(frame, next)?),
                        None => None,
                    };
                    let current = &mut self.program.blocks[self.current as usize];
                    current.merge = Some(merge);
                    current.next = next;
                }
                Op::FunctionCall => self.call(instruction, depth)?,
                Op::Return | Op::ReturnValue => {
                    if let (Op::ReturnValue, Some((slots, ty))) =
                        (instruction.class.opcode, frame.returned.clone())
                    {
                        let value = self.slots_of(id(instruction, 0)?)?;
                        let flat = self.types.flat(ty)?;
                        self.copy_all(&slots, &value, &flat, Inactive::Keep)?;
                    }
                    self.end(frame.exit.map_or(End::Return, End::Jump));
                }
                Op::Kill | Op::TerminateInvocation => self.end(End::Return),
                Op::Unreachable => self.end(End::Unreachable),
                Op::Branch => self.end(End::Jump(find(frame, id(instruction, 0)?)?)),
                Op::BranchConditional => {
                    let condition = self.slot_of(id(instruction, 0)?)?;
                    let yes = find(frame, id(instruction, 1)?)?;
                    let no = find(frame, id(instruction, 2)?)?;
                    self.end(End::Branch { condition, yes, no });
                }
                Op::Switch => {
                    let end = self.switch(instruction, |label| find(frame, label))?;
                    self.end(end);
                }
                _ => self.instruction(instruction)?,
            }
        }
        frame.tails.insert(block.label, self.current);
        Ok(())
    }

    fn switch(
        &mut self,
        instruction: &Instruction,
        find: impl Fn(u32) -> Result<BlockId, SpirvError>,
    ) -> Result<End, SpirvError> {
        let selector = id(instruction, 0)?;
        let scalar = self.types.scalar(self.type_of(selector)?)?;
        let selector = self.slot_of(selector)?;
        let default = find(id(instruction, 1)?)?;
        let mut cases = Vec::new();
        for pair in instruction.operands.get(2..).unwrap_or_default().chunks(2) {
            let value = match pair.first() {
                Some(Operand::LiteralBit32(value)) => u64::from(*value),
                Some(Operand::LiteralBit64(value)) => *value,
                _ => return Err(malformed(instruction, 2)),
            };
            let Some(Operand::IdRef(label)) = pair.get(1) else {
                return Err(malformed(instruction, 3));
            };
            let value = match scalar.bytes() {
                1 => value & 0xff,
                2 => value & 0xffff,
                4 => value & 0xffff_ffff,
                _ => value,
            };
            cases.push((value, find(*label)?));
        }
        Ok(End::Switch { selector, wide: scalar.words() == 2, cases, default })
    }

    /// A call becomes the callee's blocks between the two halves of the block at hand.
    fn call(&mut self, instruction: &Instruction, depth: u32) -> Result<(), SpirvError> {
        let callee = id(instruction, 0)?;
        let mut arguments = Vec::new();
        for index in 1..instruction.operands.len() {
            arguments.push(self.value(id(instruction, index)?)?);
        }
        let ty = result_type(instruction)?;
        let returned = match self.types.get(ty)? {
            Type::Void => None,
            Type::Pointer { .. } if !self.is_physical(ty)? => {
                return Err(SpirvError::unsupported("a function that returns a pointer"));
            }
            _ => Some((self.fresh(ty)?, ty)),
        };
        let after = self.block()?;
        let (before, at) = (self.current, self.at);
        // An unset result, where no return was reached, is nobody's value.
        let entry = self.inline(callee, &arguments, Some(after), returned.clone(), depth + 1)?;
        (self.current, self.at) = (before, at);
        self.end(End::Jump(entry));
        self.program.blocks[before as usize].merge = Some(after);
        self.current = after;
        if let Some((slots, _)) = returned {
            self.bind(result(instruction)?, slots)?;
        }
        Ok(())
    }

    /// Puts the copies of phis on the edges that lead to them.
    fn edges(&mut self, source: &Blocks, frame: &Frame) -> Result<(), SpirvError> {
        let mut by_label: HashMap<u32, Vec<&Phi>> = HashMap::new();
        for phi in &frame.phis {
            by_label.entry(phi.label).or_default().push(phi);
        }
        for block in &source.list {
            let Some(tail) = frame.tails.get(&block.label).copied() else { continue };
            let mut targets = block.targets.clone();
            targets.sort_unstable();
            targets.dedup();
            for target in targets {
                let Some(phis) = by_label.get(&target) else { continue };
                let Some(to) = frame.blocks.get(&target).copied() else { continue };
                let is_only = matches!(self.program.blocks[tail as usize].end, End::Jump(_));
                self.at = self.program.blocks[tail as usize].end_place;
                self.current = if is_only { tail } else { self.block()? };
                let edge = self.current;
                self.parallel(phis, block.label)?;
                if !is_only {
                    self.end(End::Jump(to));
                    self.retarget(tail, to, edge);
                }
            }
        }
        Ok(())
    }

    /// All phis of a block change at once: where one reads another's register, through registers
    /// of their own.
    fn parallel(&mut self, phis: &[&Phi], from: u32) -> Result<(), SpirvError> {
        let mut copies: Vec<(Slot, Slot)> = Vec::new();
        for phi in phis {
            let source = phi.sources.iter().find(|(_, label)| *label == from);
            let Some((value, _)) = source else {
                return Err(SpirvError::malformed("a phi without a value for a block before it"));
            };
            let value = self.slots_of(*value)?;
            let flat = self.types.flat(phi.ty)?;
            for ((to, from), scalar) in phi.slots.iter().zip(value.iter()).zip(flat.iter()) {
                copies.extend((0..scalar.words()).map(|word| (to + word, from + word)));
            }
        }
        let written: std::collections::HashSet<Slot> = copies.iter().map(|(to, _)| *to).collect();
        let mut late = Vec::new();
        for (to, from) in copies {
            if from != to && written.contains(&from) {
                let held = self.slots(1)?;
                self.emit(Code::Copy { dst: held, src: from, inactive: Inactive::Clobber })?;
                late.push((to, held));
            } else {
                late.push((to, from));
            }
        }
        for (dst, src) in late {
            if dst != src {
                self.emit(Code::Copy { dst, src, inactive: Inactive::Keep })?;
            }
        }
        Ok(())
    }

    fn retarget(&mut self, block: BlockId, from: BlockId, to: BlockId) {
        let change = |target: &mut BlockId| {
            if *target == from {
                *target = to;
            }
        };
        match &mut self.program.blocks[block as usize].end {
            End::Jump(target) => change(target),
            End::Branch { yes, no, .. } => {
                change(yes);
                change(no);
            }
            End::Switch { cases, default, .. } => {
                cases.iter_mut().for_each(|(_, target)| change(target));
                change(default);
            }
            End::Return | End::Unreachable => {}
        }
    }

    /// Registers of a function's own variable; it holds nothing until somebody writes it.
    pub(super) fn variable(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let (own, ty) = (result(instruction)?, result_type(instruction)?);
        let Type::Pointer { to, .. } = *self.types.get(ty)? else {
            return Err(SpirvError::malformed("a variable that is no pointer"));
        };
        let slots = self.fresh(to)?;
        let flat = self.types.flat(to)?;
        for (slot, scalar) in slots.iter().zip(flat.iter()) {
            self.program.variables.extend((0..scalar.words()).map(|word| slot + word));
        }
        if let Some(Operand::IdRef(initial)) = instruction.operands.get(1) {
            let value = self.slots_of(*initial)?;
            self.copy_all(&slots, &value, &flat, Inactive::Keep)?;
        } else {
            for (slot, scalar) in slots.iter().zip(flat.iter()) {
                for word in 0..scalar.words() {
                    self.emit(Code::Undefine { dst: slot + word })?;
                }
            }
        }
        let pointer = Pointer::registers(to, slots);
        self.values.insert(own, Value::Pointer(Rc::new(pointer)));
        Ok(())
    }
}
