//! Why there is nothing to measure.

use thiserror::Error;

use crate::check::{CheckError, Finding};
use crate::memory::MemoryError;

/// Why a variant was not timed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The variant could not be run; [`CheckError::Unsupported`] where the device or the plan lacks
    /// something.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// It ran and is wrong.
    #[error("not timed, since its result is wrong\n{0}")]
    Wrong(Box<Finding>),
}

impl From<MemoryError> for BenchError {
    fn from(error: MemoryError) -> Self {
        Self::Check(error.into())
    }
}
