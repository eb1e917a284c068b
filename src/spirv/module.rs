//! A module's instructions, indexed by what reflection asks for.

use std::collections::HashMap;

use rspirv::binary::{Consumer, ParseAction, parse_words};
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use rspirv::spirv::{Decoration, Op};

use super::SpirvError;

/// Collects every instruction in order. rspirv's own loader sorts them into sections, and refuses
/// `OpExecutionModeId`, by which SPIR-V 1.6 modules give their workgroup size.
#[derive(Default)]
struct Collector {
    instructions: Vec<Instruction>,
}

impl Consumer for Collector {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, _header: ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        self.instructions.push(instruction);
        ParseAction::Continue
    }
}

/// The member of a type, or the id as a whole.
type Target = (u32, Option<u32>);

pub(crate) struct Module {
    pub(crate) instructions: Vec<Instruction>,
    definitions: HashMap<u32, usize>,
    names: HashMap<Target, String>,
    /// Every decoration with its first literal, 0 where it has none.
    decorations: HashMap<Target, Vec<(Decoration, u32)>>,
}

impl Module {
    pub(crate) fn new(words: &[u32]) -> Result<Self, SpirvError> {
        check_words(words)?;
        let mut collector = Collector::default();
        parse_words(words, &mut collector)
            .map_err(|state| SpirvError::Parse { reason: state.to_string() })?;
        let instructions = collector.instructions;
        check_functions(&instructions)?;
        let mut module = Self {
            definitions: HashMap::new(),
            names: HashMap::new(),
            decorations: HashMap::new(),
            instructions: Vec::new(),
        };
        for (index, instruction) in instructions.iter().enumerate() {
            module.index(index, instruction)?;
        }
        module.instructions = instructions;
        Ok(module)
    }

    fn index(&mut self, index: usize, instruction: &Instruction) -> Result<(), SpirvError> {
        if let Some(id) = instruction.result_id
            && self.definitions.insert(id, index).is_some()
        {
            return Err(SpirvError::malformed(format!("id {id} is defined twice")));
        }
        let member = match instruction.class.opcode {
            Op::Name | Op::Decorate | Op::DecorateId => None,
            Op::MemberName | Op::MemberDecorate => Some(number(instruction, 1)?),
            _ => return Ok(()),
        };
        let target = (id(instruction, 0)?, member);
        let rest = if member.is_some() { 2 } else { 1 };
        match instruction.operands.get(rest) {
            Some(Operand::LiteralString(name)) => {
                self.names.insert(target, name.clone());
            }
            Some(Operand::Decoration(decoration)) => {
                // Only decorations with a literal are ever asked for their value.
                let value = match instruction.operands.get(rest + 1) {
                    Some(Operand::LiteralBit32(value)) => *value,
                    Some(Operand::BuiltIn(builtin)) => *builtin as u32,
                    _ => 0,
                };
                let of_target = self.decorations.entry(target).or_default();
                of_target.push((*decoration, value));
            }
            _ => return Err(malformed(instruction, rest)),
        }
        Ok(())
    }

    pub(crate) fn definition(&self, id: u32) -> Result<&Instruction, SpirvError> {
        let index = self.definitions.get(&id);
        index
            .and_then(|index| self.instructions.get(*index))
            .ok_or_else(|| SpirvError::malformed(format!("id {id} is not defined")))
    }

    pub(crate) fn name(&self, id: u32) -> &str {
        self.names.get(&(id, None)).map_or("", String::as_str)
    }

    pub(crate) fn member_name(&self, id: u32, member: u32) -> &str {
        let name = self.names.get(&(id, Some(member)));
        name.map_or("", String::as_str)
    }

    /// The decoration's first literal, 0 where it has none; none where it isn't there.
    pub(crate) fn decoration(&self, id: u32, decoration: Decoration) -> Option<u32> {
        self.decorated((id, None), decoration)
    }

    pub(crate) fn member_decoration(
        &self,
        id: u32,
        member: u32,
        decoration: Decoration,
    ) -> Option<u32> {
        self.decorated((id, Some(member)), decoration)
    }

    fn decorated(&self, target: Target, decoration: Decoration) -> Option<u32> {
        let of_target = self.decorations.get(&target)?;
        let found = of_target.iter().find(|(other, _)| *other == decoration);
        found.map(|(_, value)| *value)
    }
}

/// Magic, version, generator, bound, schema.
const HEADER_LEN: usize = 5;

/// Refuses what rspirv's parser takes for granted and would panic at: that an instruction ends
/// within the module, and that a constant expression is not one of the few operations whose
/// operands can't be read without their type.
fn check_words(words: &[u32]) -> Result<(), SpirvError> {
    let mut at = HEADER_LEN;
    while let Some(first) = words.get(at) {
        let (len, opcode) = (*first >> 16, *first & 0xffff);
        let wrong = |what: &str| SpirvError::Parse { reason: format!("word {at}: {what}") };
        // Zero is the parser's own error.
        let len = usize::try_from(len.max(1)).unwrap_or(usize::MAX);
        let end = at.saturating_add(len);
        let Some(instruction) = words.get(at..end) else {
            return Err(wrong("an instruction that goes on beyond the end"));
        };
        let nested = (opcode == Op::SpecConstantOp as u32).then(|| instruction.get(3));
        if let Some(Some(nested)) = nested
            && UNREADABLE.iter().any(|op| *op as u32 == *nested)
        {
            return Err(wrong("an operation that constants can't have"));
        }
        at = end;
    }
    Ok(())
}

const UNREADABLE: [Op; 4] = [Op::Constant, Op::SpecConstant, Op::SpecConstantOp, Op::Switch];

/// A module that is cut short still parses, up to a function without an end.
fn check_functions(instructions: &[Instruction]) -> Result<(), SpirvError> {
    let mut open = false;
    for instruction in instructions {
        let expected = match instruction.class.opcode {
            Op::Function => false,
            Op::FunctionEnd => true,
            _ => continue,
        };
        if open != expected {
            return Err(SpirvError::malformed("a function inside a function"));
        }
        open = !open;
    }
    if open {
        return Err(SpirvError::malformed("a function without an end"));
    }
    Ok(())
}

/// The operand as an id.
pub(crate) fn id(instruction: &Instruction, index: usize) -> Result<u32, SpirvError> {
    match instruction.operands.get(index) {
        Some(Operand::IdRef(id)) => Ok(*id),
        _ => Err(malformed(instruction, index)),
    }
}

/// The operand as a number of at most 32 bits.
pub(crate) fn number(instruction: &Instruction, index: usize) -> Result<u32, SpirvError> {
    match instruction.operands.get(index) {
        Some(Operand::LiteralBit32(value)) => Ok(*value),
        _ => Err(malformed(instruction, index)),
    }
}

/// The id of what an instruction defines.
pub(crate) fn result(instruction: &Instruction) -> Result<u32, SpirvError> {
    let name = instruction.class.opname;
    let missing = || SpirvError::malformed(format!("Op{name} without a result"));
    instruction.result_id.ok_or_else(missing)
}

/// The id of an instruction's type.
pub(crate) fn result_type(instruction: &Instruction) -> Result<u32, SpirvError> {
    let name = instruction.class.opname;
    let missing = || SpirvError::malformed(format!("Op{name} without a type"));
    instruction.result_type.ok_or_else(missing)
}

pub(crate) fn malformed(instruction: &Instruction, index: usize) -> SpirvError {
    let name = instruction.class.opname;
    SpirvError::malformed(format!("Op{name}: operand {index} is missing or of another kind"))
}
