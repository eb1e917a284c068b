//! The sanitizers: observers that each keep a shadow of their own.

pub(crate) mod arithmetic;
mod column;
pub(crate) mod defined;
#[cfg(test)]
mod stage;

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::program::{Program, Pure, Region, What};

/// Registers that an operand takes. [`Pure::from`] speaks of the first one (of the second one, for
/// a select); those that differ from it take one.
fn operand_words(pure: &Pure, operand: usize) -> u32 {
    let differs = match pure.what {
        What::Core(Op::Select) => operand == 0,
        What::Core(
            Op::ShiftLeftLogical
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::BitFieldUExtract
            | Op::BitFieldSExtract,
        )
        | What::Extended(Extended::Ldexp) => operand > 0,
        _ => false,
    };
    if differs { 1 } else { pure.from.words() }
}

/// The name of what lies at a byte of a variable, and the first byte of that variable.
fn memory_name(program: &Program, region: Region, offset: u32) -> (String, u32) {
    let found = match region {
        Region::Buffer(at) => {
            program.buffers.get(at as usize).map(|buffer| (buffer.name.clone(), 0))
        }
        Region::Shared => program
            .shared
            .iter()
            .find(|shared| (shared.offset..shared.offset + shared.bytes).contains(&offset))
            .map(|shared| (shared.name.clone(), shared.offset)),
        Region::Push => Some(("push constants".to_owned(), 0)),
        Region::Physical => Some(("memory at a physical address".to_owned(), 0)),
    };
    found.unwrap_or_else(|| ("shared memory".to_owned(), 0))
}
