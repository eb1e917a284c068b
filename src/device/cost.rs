//! What source lines cost.

use serde::Serialize;

/// What one line of a kernel's source cost in a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineCost {
    /// The source file; empty where the module doesn't say.
    pub file: String,
    /// The line, counted from 1; 0 for what belongs to none.
    pub line: u32,
    /// Instructions of the interpreter, each counted once for every invocation that executed it.
    pub lane_instructions: u64,
    /// The line, trimmed.
    pub text: String,
}
