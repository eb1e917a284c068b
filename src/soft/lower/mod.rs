//! From a module to a program.

use crate::device::Kernel;

use super::error::SoftError;
use super::program::Program;

/// Lowers a kernel for a subgroup size.
pub(crate) fn lower(kernel: &Kernel, _subgroup_size: u32) -> Result<Program, SoftError> {
    let what = vec!["everything".to_owned()];
    Err(SoftError::Unsupported { kernel: kernel.name.clone(), what })
}
