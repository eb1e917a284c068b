//! Why a module can't be read.

use thiserror::Error;

/// What is wrong with a SPIR-V module.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpirvError {
    /// The words aren't SPIR-V.
    #[error("not a SPIR-V module: {reason}")]
    Parse {
        /// Which word and why.
        reason: String,
    },
    /// The words are instructions that don't fit together.
    #[error("malformed SPIR-V: {reason}")]
    Malformed {
        /// Which id and why.
        reason: String,
    },
    /// A module for other stages of a pipeline.
    #[error("unsupported SPIR-V: no compute entry point")]
    OtherStage,
    /// Legal SPIR-V that the lab doesn't handle.
    #[error("unsupported SPIR-V: {reason}")]
    Unsupported {
        /// What.
        reason: String,
    },
}

impl SpirvError {
    pub(crate) fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed { reason: reason.into() }
    }

    pub(crate) fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported { reason: reason.into() }
    }
}
