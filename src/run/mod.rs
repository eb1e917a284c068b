//! Runs: everything that one invocation learned, as JSON Lines.

mod campaign;
mod file;
mod files;
mod plan;
mod read;

pub use campaign::{Answer, Campaign, FailedTwin, Row};
pub use file::{Line, RunError, RunFile, VERSION};
pub use files::{FilesError, MOST_BUILDS, Matrices};
pub use plan::{Shard, Targets, TargetsError, tasks};
pub use read::{ReadError, read};
