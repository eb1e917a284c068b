//! A finished recording, with everything that has to be checked again when it is submitted.

use super::events::{Action, Site};
use super::slot::Handle;
use super::staging::Staging;
use super::table::Bindings;
use crate::device::Recording;

/// Somebody's use of a handle.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) handle: Handle,
    pub(super) action: Action,
    pub(super) site: Site,
    /// Index of the command in the recording.
    pub(super) command: usize,
}

#[derive(Clone, Debug)]
pub(super) struct StagedUpload {
    pub(super) staging: Staging,
    pub(super) command: usize,
    pub(super) site: Site,
}

#[derive(Clone, Debug)]
pub(super) struct TableUse {
    pub(super) bindings: Bindings,
    pub(super) version: u64,
    pub(super) site: Site,
}

/// A recording with the handle, the generation and the place of every use. It can be submitted any
/// number of times, as long as what it uses lives.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub(super) ledger: u64,
    pub(super) recording: Recording,
    pub(super) uses: Vec<Use>,
    pub(super) staged: Vec<StagedUpload>,
    pub(super) tables: Vec<TableUse>,
    /// Which buffer each of the caller's downloads shows.
    pub(super) downloads: Vec<Handle>,
    /// Buffers whose every element must be written by the end.
    pub(super) written: Vec<Handle>,
    /// Buffers that must end as the upload at this command left them.
    pub(super) unchanged: Vec<(Handle, usize)>,
}

impl Recorded {
    pub(super) fn new(ledger: u64) -> Self {
        Self {
            ledger,
            recording: Recording::default(),
            uses: Vec::new(),
            staged: Vec::new(),
            tables: Vec::new(),
            downloads: Vec::new(),
            written: Vec::new(),
            unchanged: Vec::new(),
        }
    }

    /// The commands as the caller gave them, without the ledger's poison and inspections.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }
}
