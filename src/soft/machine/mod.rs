//! The machine that executes programs.

use super::error::SoftError;
use super::findings::Findings;
use super::memory::{Memory, View};
use super::observers::Observers;
use super::program::Program;

pub(crate) struct Request<'a> {
    pub(crate) groups: [u32; 3],
    /// One for each of [`Program::buffers`].
    pub(crate) views: Vec<View>,
    pub(crate) push: &'a [u8],
    pub(crate) schedule: u64,
    pub(crate) subgroup_size: u32,
    pub(crate) dispatch: u32,
    pub(crate) era: u32,
    pub(crate) fuel: u64,
}

pub(crate) struct Executed {
    pub(crate) lane_instructions: u64,
}

/// Executes a dispatch.
pub(crate) fn dispatch(
    program: &Program,
    _request: &Request<'_>,
    _memory: &mut Memory,
    _observers: &mut Observers,
    _findings: &mut Findings,
) -> Result<Executed, SoftError> {
    let what = vec!["everything".to_owned()];
    Err(SoftError::Unsupported { kernel: program.name.clone(), what })
}
