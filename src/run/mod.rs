//! Runs: everything that one invocation learned, as JSON Lines.

mod campaign;
mod file;
mod files;
mod look;
mod plan;
mod read;

pub use campaign::{Answer, Campaign, FailedTwin, Row};
pub use file::{Line, RunError, RunFile, VERSION};
pub use files::{FilesError, MOST_BUILDS, Matrices};
pub use look::{
    Assignment, BUFFER_FORM, BufferOption, DEFINE_FORM, GROUPS_FORM, Groups, Look, LookError,
    PUSH_FORM, SHAPE_FORM, SPEC_FORM,
};
pub use plan::{Shard, Targets, TargetsError, tasks};
pub use read::{ReadError, read};
