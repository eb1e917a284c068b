//! The source lines that touch a kernel's buffers.

use std::collections::{BTreeSet, HashMap};

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, Op};

use super::SpirvError;
use super::module::{Module, id};
use super::uses::is_atomic;

/// What an instruction does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Touch {
    /// It reads.
    Load,
    /// It writes, an atomic operation included.
    Store,
}

/// An instruction that reaches a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Descriptor set.
    pub set: u32,
    /// Binding in it.
    pub binding: u32,
    /// What it does there.
    pub touch: Touch,
    /// The file as `#line` directives name it: of the line itself, so an include's where it
    /// stands in one.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

/// Every load from and store into a bound buffer that a module with debug information places in
/// its source, in the module's order. An optimised module has none.
///
/// # Errors
/// Words that are no module.
pub fn touched(words: &[u32]) -> Result<Vec<Touched>, SpirvError> {
    let module = Module::new(words)?;
    let mut pointers = Pointers::default();
    // An argument of a function that stands above its caller is known only after the call was seen.
    while pointers.follow(&module)? {}
    let mut found = Vec::new();
    let mut line = None;
    for instruction in &module.instructions {
        match instruction.class.opcode {
            Op::Line => line = source_line(&module, instruction),
            Op::NoLine => line = None,
            // A line holds to the end of its block at most.
            opcode if ends_block(opcode) => line = None,
            _ => {}
        }
        let Some((file, line)) = line else { continue };
        for (operand, touch) in touches(instruction) {
            for variable in pointers.of(id(instruction, operand)?) {
                let at = |decoration| module.decoration(variable, decoration);
                if let (Some(set), Some(binding)) =
                    (at(Decoration::DescriptorSet), at(Decoration::Binding))
                {
                    let file = file.to_owned();
                    found.push(Touched { set, binding, touch, file, line });
                }
            }
        }
    }
    Ok(found)
}

/// The operands of an instruction that are pointers which it reads or writes through.
fn touches(instruction: &Instruction) -> Vec<(usize, Touch)> {
    match instruction.class.opcode {
        Op::Load | Op::AtomicLoad | Op::CooperativeMatrixLoadKHR => vec![(0, Touch::Load)],
        Op::Store | Op::CooperativeMatrixStoreKHR => vec![(0, Touch::Store)],
        Op::CopyMemory | Op::CopyMemorySized => vec![(0, Touch::Store), (1, Touch::Load)],
        opcode if is_atomic(opcode) => vec![(0, Touch::Store)],
        _ => Vec::new(),
    }
}

fn ends_block(opcode: Op) -> bool {
    matches!(
        opcode,
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

fn source_line<'m>(module: &'m Module, line: &Instruction) -> Option<(&'m str, u32)> {
    let [Operand::IdRef(file), Operand::LiteralBit32(number), ..] = line.operands[..] else {
        return None;
    };
    match module.definition(file).ok()?.operands.first()? {
        Operand::LiteralString(file) => Some((file, number)),
        _ => None,
    }
}

/// The variables that pointers lead back to. A parameter has one for each call.
#[derive(Default)]
struct Pointers(HashMap<u32, BTreeSet<u32>>);

impl Pointers {
    fn of(&self, pointer: u32) -> BTreeSet<u32> {
        self.0.get(&pointer).cloned().unwrap_or_else(|| BTreeSet::from([pointer]))
    }

    /// Goes through the module once; says whether there was anything new.
    fn follow(&mut self, module: &Module) -> Result<bool, SpirvError> {
        let parameters = parameters(module);
        let mut is_new = false;
        for instruction in &module.instructions {
            match (instruction.class.opcode, instruction.result_id) {
                (
                    Op::AccessChain
                    | Op::InBoundsAccessChain
                    | Op::PtrAccessChain
                    | Op::InBoundsPtrAccessChain
                    | Op::CopyObject,
                    Some(result),
                ) => is_new |= self.lead(result, id(instruction, 0)?),
                (Op::FunctionCall, _) => {
                    let called = parameters.get(&id(instruction, 0)?);
                    for (at, parameter) in called.into_iter().flatten().enumerate() {
                        is_new |= self.lead(*parameter, id(instruction, at + 1)?);
                    }
                }
                _ => {}
            }
        }
        Ok(is_new)
    }

    fn lead(&mut self, pointer: u32, to: u32) -> bool {
        let roots = self.of(to);
        let known = self.0.entry(pointer).or_default();
        let before = known.len();
        known.extend(roots);
        known.len() > before
    }
}

/// The parameters of every function.
fn parameters(module: &Module) -> HashMap<u32, Vec<u32>> {
    let mut found = HashMap::<u32, Vec<u32>>::new();
    let mut function = None;
    for instruction in &module.instructions {
        match instruction.class.opcode {
            Op::Function => function = instruction.result_id,
            Op::FunctionParameter => {
                let of_function = function.map(|function| found.entry(function).or_default());
                if let (Some(list), Some(parameter)) = (of_function, instruction.result_id) {
                    list.push(parameter);
                }
            }
            _ => {}
        }
    }
    found
}
