//! Runs: everything that one invocation learned, as JSON Lines.

mod file;
mod plan;

pub use file::{Line, RunError, RunFile, VERSION};
pub use plan::{Shard, Targets, TargetsError, tasks};
