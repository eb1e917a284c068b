//! The last things that happened to a buffer, and where in the source they were asked for.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;

use serde::{Deserialize, Serialize};

use super::table::Access;
use crate::device::KernelId;

/// A line of somebody's source, Rust or kernel file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site {
    /// The path as the compiler or the reader of the file saw it.
    pub file: Cow<'static, str>,
    /// Counted from 1.
    pub line: u32,
}

impl Site {
    /// The line that called the function that calls this, through every `#[track_caller]`.
    #[track_caller]
    #[must_use]
    pub fn caller() -> Self {
        let at = Location::caller();
        Self { file: Cow::Borrowed(at.file()), line: at.line() }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What happened to a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum EventKind {
    /// The ledger handed it out.
    Allocated,
    /// Host bytes were copied over all of it.
    Uploaded,
    /// One word was written over all of it.
    Filled,
    /// It was declared unwritten.
    Undefined,
    /// It was bound for reading only.
    Read {
        /// The kernel's name.
        kernel: String,
        /// Which dispatch of the submission, from 0.
        dispatch: usize,
    },
    /// It was bound for writing.
    Written {
        /// The kernel's name.
        kernel: String,
        /// Which dispatch of the submission, from 0.
        dispatch: usize,
    },
    /// It was copied back to the host.
    Downloaded,
    /// The recording said that nobody uses it any more.
    Retired,
    /// Its owner gave it back.
    Freed,
}

/// One entry of a buffer's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
    /// In which submission, counted from 1 since the buffer was allocated, so that the number is
    /// the same whatever ran before; 0 where no submission was involved.
    pub submission: u64,
    /// Where it was recorded or called.
    pub site: Site,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            EventKind::Allocated => f.write_str("allocated")?,
            EventKind::Uploaded => f.write_str("uploaded")?,
            EventKind::Filled => f.write_str("filled")?,
            EventKind::Undefined => f.write_str("declared unwritten")?,
            EventKind::Read { kernel, dispatch } => {
                write!(f, "read by kernel `{kernel}` at dispatch {dispatch}")?;
            }
            EventKind::Written { kernel, dispatch } => {
                write!(f, "written by kernel `{kernel}` at dispatch {dispatch}")?;
            }
            EventKind::Downloaded => f.write_str("downloaded")?,
            EventKind::Retired => f.write_str("retired")?,
            EventKind::Freed => f.write_str("freed")?,
        }
        if self.submission > 0 {
            let kernel = matches!(self.kind, EventKind::Read { .. } | EventKind::Written { .. });
            let of = if kernel { "of" } else { "in" };
            write!(f, " {of} submission {}", self.submission)?;
        }
        write!(f, " at {}", self.site)
    }
}

/// An event before kernels get their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Allocate,
    Upload,
    Fill,
    Undefine,
    Bind { access: Access, kernel: KernelId, dispatch: usize },
    Download,
    Retire,
    Free,
}

impl Action {
    pub(super) fn kind(self, name_of: impl Fn(KernelId) -> String) -> EventKind {
        match self {
            Self::Allocate => EventKind::Allocated,
            Self::Upload => EventKind::Uploaded,
            Self::Fill => EventKind::Filled,
            Self::Undefine => EventKind::Undefined,
            Self::Bind { access: Access::Read, kernel, dispatch } => {
                EventKind::Read { kernel: name_of(kernel), dispatch }
            }
            Self::Bind { kernel, dispatch, .. } => {
                EventKind::Written { kernel: name_of(kernel), dispatch }
            }
            Self::Download => EventKind::Downloaded,
            Self::Retire => EventKind::Retired,
            Self::Free => EventKind::Freed,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) action: Action,
    pub(super) submission: u64,
    pub(super) site: Site,
}

/// The newest entries, oldest first.
#[derive(Debug)]
pub(super) struct EventRing {
    entries: VecDeque<Entry>,
    capacity: usize,
}

impl EventRing {
    pub(super) fn new(capacity: usize) -> Self {
        Self { entries: VecDeque::new(), capacity: capacity.max(1) }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        if self.entries.len() == self.capacity {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }
}
