//! Observers that look for faults.

pub(crate) mod race;
