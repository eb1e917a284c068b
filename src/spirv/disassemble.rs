//! A module as text.

use rspirv::binary::Disassemble;

use super::SpirvError;
use super::module::Module;

/// One instruction a line.
///
/// # Errors
/// Words that are no module.
pub fn disassemble(words: &[u32]) -> Result<String, SpirvError> {
    let module = Module::new(words)?;
    let lines = module.instructions.iter().map(|instruction| instruction.disassemble() + "\n");
    Ok(lines.collect())
}
