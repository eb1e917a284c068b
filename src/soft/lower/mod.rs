//! From a module to bytecode: refuse what isn't known, all of it; lay out memory; inline calls;
//! scalarise; order the blocks.

mod access;
mod arity;
mod borrow;
mod compose;
mod constants;
mod cooperative;
mod escape;
mod extended;
mod function;
mod globals;
mod guards;
mod instruction;
mod memory;
mod order;
mod refuse;
mod source_text;
mod sync;
mod types;
mod verify;

use std::collections::HashMap;
use std::rc::Rc;

use rspirv::dr::Instruction;

use crate::device::Kernel;
use crate::spirv::SpirvError;
use crate::spirv::module::{Module, result_type};

use super::error::SoftError;
use super::program::{
    Block, BlockId, Code, End, Inactive, Instr, Place, PlaceId, Program, Pushed, Slot, SourceFile,
};
use super::scalar::Scalar;

use access::Pointer;
use constants::Constants;
use types::Types;

pub(super) use guards::guards;
pub(super) use order::{mix, order};

/// More code than this after inlining is no kernel's.
const LIMIT_INSTRUCTIONS: usize = 1 << 21;

/// Registers, each a column of a workgroup.
const LIMIT_SLOTS: u32 = 1 << 20;

/// Lowers a kernel's module with names and lines, in which nothing was moved or merged, for a
/// subgroup size, which decides the size of cooperative matrices.
pub(crate) fn lower(kernel: &Kernel, subgroup_size: u32) -> Result<Program, SoftError> {
    let unheard = refuse::unheard(&kernel.debug);
    if !unheard.is_empty() {
        return Err(SoftError::Unsupported { kernel: kernel.name.clone(), what: unheard });
    }
    let module = Module::new(&kernel.debug)?;
    let unknown = refuse::unknown(&module);
    if !unknown.is_empty() {
        return Err(SoftError::Unsupported { kernel: kernel.name.clone(), what: unknown });
    }
    let mut lower = Lower {
        module: &module,
        types: Types::default(),
        constants: Constants::default(),
        program: Program { name: kernel.name.clone(), ..Program::default() },
        values: HashMap::new(),
        functions: HashMap::new(),
        words: HashMap::new(),
        places: HashMap::new(),
        sources: Sources::default(),
        escaping: Rc::default(),
        borrowed: Rc::default(),
        pushed: HashMap::new(),
        at: 0,
        current: 0,
        instruction_count: 0,
        subgroup_size,
        problems: Vec::new(),
    };
    lower.module_of(kernel)?;
    let Lower { program, mut problems, .. } = lower;
    if !problems.is_empty() {
        problems.sort_unstable();
        problems.dedup();
        return Err(SoftError::Unsupported { kernel: kernel.name.clone(), what: problems });
    }
    if let Some(what) = verify::too_large(&program, subgroup_size) {
        return Err(SoftError::TooLarge { kernel: kernel.name.clone(), what });
    }
    verify::verify(&program)?;
    Ok(program)
}

/// What an id stands for.
#[derive(Clone, Debug)]
enum Value {
    /// The registers of all components in order, each the first of its words.
    Slots(Rc<[Slot]>),
    Pointer(Rc<Pointer>),
}

struct Lower<'m> {
    module: &'m Module,
    types: Types,
    constants: Constants,
    program: Program,
    values: HashMap<u32, Value>,
    /// Where a function's instructions lie in the module.
    functions: HashMap<u32, std::ops::Range<usize>>,
    /// Registers of constants by their words.
    words: HashMap<(u32, Option<u32>), Slot>,
    places: HashMap<Place, PlaceId>,
    sources: Sources,
    /// Ids of the function at hand that are used outside the loop that defines them.
    escaping: Rc<std::collections::HashSet<u32>>,
    /// Loads of the function at hand whose result is the variable's registers.
    borrowed: Rc<std::collections::HashSet<u32>>,
    /// Registers of push constants by their place in the block.
    pushed: HashMap<(u32, Scalar), Slot>,
    at: PlaceId,
    current: BlockId,
    instruction_count: usize,
    subgroup_size: u32,
    problems: Vec<String>,
}

/// `OpString` ids and the files made of them.
#[derive(Debug, Default)]
struct Sources {
    files: HashMap<u32, u32>,
}

impl Lower<'_> {
    fn block(&mut self) -> Result<BlockId, SpirvError> {
        let id = u32::try_from(self.program.blocks.len()).unwrap_or(u32::MAX);
        self.grow()?;
        self.program.blocks.push(Block {
            instrs: Vec::new(),
            end: End::Unreachable,
            end_place: self.at,
            merge: None,
            next: None,
        });
        Ok(id)
    }

    fn grow(&mut self) -> Result<(), SpirvError> {
        self.instruction_count += 1;
        if self.instruction_count > LIMIT_INSTRUCTIONS {
            return Err(SpirvError::unsupported("more than 2,097,152 instructions once inlined"));
        }
        Ok(())
    }

    fn emit(&mut self, code: Code) -> Result<(), SpirvError> {
        self.grow()?;
        let at = self.at;
        self.program.blocks[self.current as usize].instrs.push(Instr { at, code });
        Ok(())
    }

    /// Ends the current block.
    fn end(&mut self, end: End) {
        let block = &mut self.program.blocks[self.current as usize];
        block.end = end;
        block.end_place = self.at;
    }

    /// New consecutive registers.
    fn slots(&mut self, words: u32) -> Result<Slot, SpirvError> {
        let first = self.program.slot_count;
        let end = first.checked_add(words).filter(|end| *end <= LIMIT_SLOTS);
        let end = end.ok_or_else(|| SpirvError::unsupported("more than 1,048,576 registers"))?;
        self.program.slot_count = end;
        Ok(first)
    }

    /// New registers for a value of a type, one for each component.
    fn fresh(&mut self, ty: u32) -> Result<Rc<[Slot]>, SpirvError> {
        let flat = self.types.flat(ty)?;
        flat.iter().map(|scalar| self.slots(scalar.words())).collect()
    }

    /// The register that holds a word in every invocation.
    fn word(&mut self, word: u32) -> Result<Slot, SpirvError> {
        self.constant(word, None)
    }

    fn constant(&mut self, low: u32, high: Option<u32>) -> Result<Slot, SpirvError> {
        if let Some(slot) = self.words.get(&(low, high)) {
            return Ok(*slot);
        }
        let slot = self.slots(if high.is_some() { 2 } else { 1 })?;
        self.program.constants.push((slot, low));
        if let Some(high) = high {
            self.program.constants.push((slot + 1, high));
        }
        self.words.insert((low, high), slot);
        Ok(slot)
    }

    /// The register of a push constant, filled before the first workgroup like a constant's; none
    /// where it isn't inside the block.
    fn pushed(&mut self, at: u32, scalar: Scalar) -> Result<Option<Slot>, SpirvError> {
        if at.checked_add(scalar.bytes()).is_none_or(|end| end > self.program.push_bytes) {
            return Ok(None);
        }
        if let Some(slot) = self.pushed.get(&(at, scalar)) {
            return Ok(Some(*slot));
        }
        let slot = self.slots(scalar.words())?;
        self.program.pushed.push(Pushed { slot, at, scalar });
        self.pushed.insert((at, scalar), slot);
        Ok(Some(slot))
    }

    /// The registers of a constant's components.
    fn constant_slots(&mut self, id: u32, ty: u32) -> Result<Option<Rc<[Slot]>>, SpirvError> {
        let Some(words) = self.constants.get(id) else { return Ok(None) };
        let words = words.to_vec();
        let flat = self.types.flat(ty)?;
        let mut at = 0;
        let mut slots = Vec::with_capacity(flat.len());
        for scalar in flat.iter() {
            let (low, high) = (words.get(at), words.get(at + 1));
            let missing = || SpirvError::malformed("a constant of the wrong size");
            let low = *low.ok_or_else(missing)?;
            let high = if scalar.words() == 2 { Some(*high.ok_or_else(missing)?) } else { None };
            slots.push(self.constant(low, high)?);
            at += scalar.words() as usize;
        }
        Ok(Some(slots.into()))
    }

    /// What an id stands for.
    fn value(&mut self, id: u32) -> Result<Value, SpirvError> {
        if let Some(value) = self.values.get(&id) {
            return Ok(value.clone());
        }
        let ty = self.type_of(id)?;
        if let Some(slots) = self.constant_slots(id, ty)? {
            self.values.insert(id, Value::Slots(Rc::clone(&slots)));
            return Ok(Value::Slots(slots));
        }
        Err(SpirvError::malformed(format!("id {id} is used before it is defined")))
    }

    fn slots_of(&mut self, id: u32) -> Result<Rc<[Slot]>, SpirvError> {
        match self.value(id)? {
            Value::Slots(slots) => Ok(slots),
            Value::Pointer(pointer) => self.address(&pointer),
        }
    }

    /// The one register of a scalar.
    fn slot_of(&mut self, id: u32) -> Result<Slot, SpirvError> {
        let slots = self.slots_of(id)?;
        let first = slots.first().copied();
        first.ok_or_else(|| SpirvError::malformed(format!("id {id} has no components")))
    }

    fn type_of(&self, id: u32) -> Result<u32, SpirvError> {
        result_type(self.module.definition(id)?)
    }

    /// Binds an id to registers. What is used outside the loop that defines it is copied where
    /// active, since the next turn of the loop computes it anew for everyone.
    fn bind(&mut self, id: u32, slots: Rc<[Slot]>) -> Result<(), SpirvError> {
        let slots = if self.escaping.contains(&id) {
            let ty = self.type_of(id)?;
            self.kept(&slots, ty)?
        } else {
            slots
        };
        self.values.insert(id, Value::Slots(slots));
        Ok(())
    }

    fn kept(&mut self, slots: &[Slot], ty: u32) -> Result<Rc<[Slot]>, SpirvError> {
        let to = self.fresh(ty)?;
        let flat = self.types.flat(ty)?;
        self.copy_all(&to, slots, &flat, Inactive::Keep)?;
        Ok(to)
    }

    /// Copies components word by word.
    fn copy_all(
        &mut self,
        to: &[Slot],
        from: &[Slot],
        flat: &[Scalar],
        inactive: Inactive,
    ) -> Result<(), SpirvError> {
        for ((to, from), scalar) in to.iter().zip(from).zip(flat) {
            for word in 0..scalar.words() {
                self.emit(Code::Copy { dst: to + word, src: from + word, inactive })?;
            }
        }
        Ok(())
    }

    fn place(&mut self, place: Place) -> PlaceId {
        let next = u32::try_from(self.program.places.len()).unwrap_or(u32::MAX);
        let known = *self.places.entry(place).or_insert(next);
        if known == next {
            self.program.places.push(place);
        }
        known
    }

    fn file(&mut self, string: u32) -> u32 {
        if let Some(file) = self.sources.files.get(&string) {
            return *file;
        }
        let name = match self.module.definition(string).map(|i| i.operands.first().cloned()) {
            Ok(Some(rspirv::dr::Operand::LiteralString(name))) => name,
            _ => String::new(),
        };
        let file = u32::try_from(self.program.files.len()).unwrap_or(u32::MAX);
        self.program.files.push(SourceFile { name, text: String::new() });
        self.sources.files.insert(string, file);
        file
    }

    /// Says what the module uses and this doesn't know; the rest is looked at all the same.
    fn problem(&mut self, what: impl Into<String>) {
        self.problems.push(what.into());
    }
}

/// The id of an instruction's result.
fn own(instruction: &Instruction) -> Result<u32, SpirvError> {
    crate::spirv::module::result(instruction)
}
