//! The sanitizers: observers that each keep a shadow of their own.

pub(crate) mod arithmetic;
mod column;
pub(crate) mod defined;
pub(crate) mod race;
#[cfg(test)]
mod stage;

use super::program::{Program, Region};

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
