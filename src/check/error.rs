//! Why a check could not be carried out.

use thiserror::Error;

use crate::device::DeviceError;
use crate::glsl::GlslError;
use crate::kernel_file::KernelFileError;
use crate::memory::MemoryError;
use crate::ops::{CaseError, Unsupported};
use crate::spirv::SpirvError;

/// We could not do it; nothing is said about the kernel.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The device or the plan lacks something: a verdict, not a failure of the run.
    #[error("{0}")]
    Unsupported(String),
    /// A kernel that doesn't compile.
    #[error(transparent)]
    Glsl(#[from] GlslError),
    /// A kernel file that can't be used.
    #[error(transparent)]
    File(#[from] KernelFileError),
    /// The id of a case that an op doesn't have.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// A module that can't be read.
    #[error("{kernel}: {source}")]
    Spirv {
        /// Which kernel.
        kernel: String,
        /// What is wrong with it.
        source: SpirvError,
    },
    /// A kernel whose interface differs from the record or the plan.
    #[error("{kernel}: {what}")]
    Interface {
        /// Which kernel.
        kernel: String,
        /// Which binding, push constant or specialization constant, and what was expected.
        what: String,
    },
    /// Host misuse of memory or the device's refusal.
    #[error(transparent)]
    Memory(MemoryError),
    /// The device's refusal.
    #[error(transparent)]
    Device(DeviceError),
    /// A builtin that breaks the specification, found by calibration.
    #[error(
        "{device}: {builtin} is off by {fraction:.3} times what the Vulkan specification allows, at x = {x:e}"
    )]
    Calibration {
        /// Which device.
        device: String,
        /// GLSL name of the function.
        builtin: &'static str,
        /// Error as a fraction of the allowed one.
        fraction: f64,
        /// Where.
        x: f64,
    },
}

impl CheckError {
    /// The device's own error, where it is one.
    #[must_use]
    pub const fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Device(error) | Self::Memory(MemoryError::Device(error)) => Some(error),
            _ => None,
        }
    }

    /// Whether the device is not to be used any more.
    #[must_use]
    pub const fn is_of_device(&self) -> bool {
        match self.of_device() {
            Some(error) => !error.leaves_device(),
            None => false,
        }
    }
}

impl From<Unsupported> for CheckError {
    fn from(reason: Unsupported) -> Self {
        Self::Unsupported(reason.0)
    }
}

impl From<DeviceError> for CheckError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::Unsupported { .. } => Self::Unsupported(error.to_string()),
            other => Self::Device(other),
        }
    }
}

impl From<MemoryError> for CheckError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Device(inner) => inner.into(),
            MemoryError::TooLarge { .. } => Self::Unsupported(error.to_string()),
            other => Self::Memory(other),
        }
    }
}
