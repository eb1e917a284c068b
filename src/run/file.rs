//! The run file: one JSON object a line, the unit that reports merge.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::check::{Check, Verdict};
use crate::device::DeviceInfo;
use crate::memory::{Counters, MemoryFinding};
use crate::numeric::ErrorModel;
use crate::ops::Cases;

use super::expected::UnexpectedPass;

/// Version of the format; readers refuse a later one.
pub const VERSION: u32 = 1;

/// One line of a run file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "lowercase")]
pub enum Line {
    /// The first line.
    Run {
        /// [`VERSION`].
        version: u32,
        /// Version of the lab.
        lab: String,
        /// Seed of all cases.
        seed: u64,
        /// Which cases.
        cases: Cases,
    },
    /// A device with the calibration that its bounds were made with.
    Device {
        /// What it is.
        info: Box<DeviceInfo>,
        /// Worst errors of its builtins as fractions of the specification's.
        calibration: Box<ErrorModel>,
    },
    /// A verdict. A bad one that a line of the expectations file fits keeps its outcome and has
    /// `expected`: the line's mark, number and reason. Without it, it is a finding.
    Verdict(Box<Verdict>),
    /// Counters of a device's ledgers together.
    Ledger {
        /// The device's name.
        device: String,
        /// Added up over its workers.
        counters: Counters,
    },
    /// A buffer that a device's ledger never got back.
    Leak {
        /// The device's name.
        device: String,
        /// The buffer and its history.
        leak: Box<MemoryFinding>,
    },
    /// What could not be asked.
    Refused(Refusal),
    /// A line of the expectations file that should go; a finding too.
    #[serde(rename = "unexpected-pass")]
    UnexpectedPass {
        /// The line, its file and what passed.
        pass: Box<UnexpectedPass>,
    },
    /// The last line of a run that came to its end.
    End {
        /// Verdicts in the file.
        verdicts: usize,
    },
}

/// What could not be asked, by the lab's own fault or that of its input. It is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The device's name.
    pub device: String,
    /// `op.variant`, or the kernel file's path.
    pub target: String,
    /// Check.
    pub check: Check,
    /// The case; all that have no verdict if there is none.
    pub case: Option<String>,
    /// The error's text.
    pub message: String,
}

/// Why a run file could not be written.
#[derive(Debug, Error)]
#[error("failed to write the run file {path}: {source}")]
pub struct RunError {
    path: PathBuf,
    source: std::io::Error,
}

/// A run file being written.
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    out: BufWriter<File>,
}

impl RunFile {
    /// Creates the file, before any work is done.
    ///
    /// # Errors
    /// A folder that doesn't exist, no permission.
    pub fn create(path: &Path) -> Result<Self, RunError> {
        let file =
            File::create(path).map_err(|source| RunError { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), out: BufWriter::new(file) })
    }

    /// Writes a line and hands it to the system, so that a killed run leaves whole lines.
    ///
    /// # Errors
    /// A full disk.
    pub fn write(&mut self, line: &Line) -> Result<(), RunError> {
        let written = serde_json::to_string(line)
            .map_err(std::io::Error::other)
            .and_then(|text| writeln!(self.out, "{text}"))
            .and_then(|()| self.out.flush());
        written.map_err(|source| RunError { path: self.path.clone(), source })
    }
}
