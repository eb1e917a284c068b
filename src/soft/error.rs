//! Why a kernel can't be run here, or wasn't run to its end.

use thiserror::Error;

use crate::spirv::SpirvError;

/// What keeps the interpreter from running a kernel.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SoftError {
    /// Words that are no valid module.
    #[error(transparent)]
    Module(#[from] SpirvError),
    /// What the module uses and the interpreter doesn't know, all of it.
    #[error("`{kernel}` uses what the interpreter doesn't know: {}", .what.join(", "))]
    Unsupported {
        /// The kernel's name.
        kernel: String,
        /// Capabilities, instructions and types, each once.
        what: Vec<String>,
    },
    /// A kernel that needs more registers or code than there is room for.
    #[error("`{kernel}` is too large to interpret: {what}")]
    TooLarge {
        /// The kernel's name.
        kernel: String,
        /// What there is too much of, with the limit.
        what: String,
    },
    /// A dispatch that the kernel's interface doesn't fit.
    #[error("`{kernel}`: {what}")]
    Dispatch {
        /// The kernel's name.
        kernel: String,
        /// What doesn't fit.
        what: String,
    },
    /// A kernel that never ends.
    #[error("`{kernel}` doesn't end: after {instructions} instructions it loops at {file}:{line}: {text}")]
    Hang {
        /// The kernel's name.
        kernel: String,
        /// Executed in all, each for a whole workgroup or subgroup.
        instructions: u64,
        /// The file in which it loops, and the line; 0 where the module has no lines.
        file: String,
        /// Counted from 1.
        line: u32,
        /// What the line says.
        text: String,
    },
}
