//! The list of faults, sorted by name.

use super::Fault;

/// Every fault.
pub const ALL: &[Fault] = &[];
