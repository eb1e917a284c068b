//! Runs: everything that one invocation learned, as JSON Lines, and what was expected of it.

mod campaign;
mod expectations;
mod expected;
mod file;
mod files;
mod in_order;
mod look;
mod place;
mod plan;
mod read;
mod rewrite;

pub use campaign::{Answer, Campaign, FailedTwin, Row};
pub use expectations::{DEFAULT_EXPECTATIONS, Expectation, Expectations, ExpectationsError};
pub use expected::{Coverage, Judge, Learned, MatchError, Passed, Standing, UnexpectedPass};
pub use file::{Line, Refusal, RunError, RunFile, VERSION};
pub use files::{FileTarget, FilesError, MOST_BUILDS, Matrices};
pub use in_order::{Gaps, InOrder, Said};
pub use look::{
    Assignment, BUFFER_FORM, BufferOption, DEFINE_FORM, GROUPS_FORM, Groups, Look, LookError,
    PUSH_FORM, SHAPE_FORM, SPEC_FORM,
};
pub use plan::{Shard, Targets, TargetsError, tasks};
pub use read::{PastRun, ReadError, read};
pub use rewrite::Rewritten;
