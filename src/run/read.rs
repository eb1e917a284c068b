//! Reading run files back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::check::Verdict;
use crate::device::DeviceInfo;
use crate::memory::{Counters, MemoryFinding};
use crate::ops::Cases;

use super::expected::UnexpectedPass;
use super::file::{Line, Refusal, VERSION};

/// Why a run file could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No such file, no permission, no text.
    #[error("failed to read the run file {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A line that is none of a run file.
    #[error("{path}:{number}: no line of a run file: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        number: usize,
        /// The parser's words.
        reason: String,
    },
    /// No run, or several.
    #[error("{path} doesn't hold one run: {reason}")]
    NotOneRun {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file that a later version of the lab wrote.
    #[error("{path} has version {found} of the format; this lab reads up to {VERSION}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

/// All lines of a run file. A run that was ended early has no [`Line::End`] and is read all the
/// same, but for a last line that was torn.
///
/// # Errors
/// A file that can't be read or isn't a run file of a version that this lab knows.
pub fn read(path: &Path) -> Result<Vec<Line>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let bytes = fs::read(path).map_err(io)?;
    let mut lines = Vec::new();
    for (index, text) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let line = match serde_json::from_slice(text) {
            Ok(line) => line,
            // A whole line ends in a line feed; a file that is one torn line could be anything.
            Err(_) if index > 0 && !text.ends_with(b"\n") => break,
            Err(error) => {
                let (path, reason) = (path.to_owned(), error.to_string());
                return Err(ReadError::Line { path, number: index + 1, reason });
            }
        };
        if let Line::Run { version: found, .. } = line
            && found > VERSION
        {
            return Err(ReadError::Version { path: path.to_owned(), found });
        }
        lines.push(line);
    }
    Ok(lines)
}

/// A run as its file tells it.
#[derive(Clone, Debug)]
pub struct PastRun {
    /// The file.
    pub path: PathBuf,
    /// Version of the lab that ran.
    pub lab: String,
    /// Seed of all cases.
    pub seed: u64,
    /// Which cases.
    pub cases: Cases,
    /// Devices that opened.
    pub devices: Vec<DeviceInfo>,
    /// Verdicts, in the order of the run.
    pub verdicts: Vec<Verdict>,
    /// Counters by device.
    pub ledgers: Vec<(String, Counters)>,
    /// Leaks by device.
    pub leaks: Vec<(String, MemoryFinding)>,
    /// What could not be asked.
    pub refused: Vec<Refusal>,
    /// Lines of the expectations file that should go.
    pub passes: Vec<UnexpectedPass>,
    /// Verdicts that the last line speaks of; none where the run was ended early.
    pub promised: Option<usize>,
}

impl PastRun {
    /// Reads a run file.
    ///
    /// # Errors
    /// A file that can't be read or doesn't hold one run.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let not_one = |reason| ReadError::NotOneRun { path: path.to_owned(), reason };
        let mut lines = read(path)?.into_iter();
        let Some(Line::Run { lab, seed, cases, .. }) = lines.next() else {
            return Err(not_one("its first line is not that of a run"));
        };
        let mut run = Self {
            path: path.to_owned(),
            lab,
            seed,
            cases,
            devices: Vec::new(),
            verdicts: Vec::new(),
            ledgers: Vec::new(),
            leaks: Vec::new(),
            refused: Vec::new(),
            passes: Vec::new(),
            promised: None,
        };
        for line in lines {
            match line {
                Line::Run { .. } => return Err(not_one("a second run begins in it")),
                Line::Device { info, .. } => run.devices.push(*info),
                Line::Verdict(verdict) => run.verdicts.push(*verdict),
                Line::Ledger { device, counters } => run.ledgers.push((device, counters)),
                Line::Leak { device, leak } => run.leaks.push((device, *leak)),
                Line::Refused(refusal) => run.refused.push(refusal),
                Line::UnexpectedPass { pass } => run.passes.push(*pass),
                Line::End { verdicts } => run.promised = Some(verdicts),
            }
        }
        Ok(run)
    }

    /// Whether every verdict of the run is here.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.promised == Some(self.verdicts.len())
    }
}
