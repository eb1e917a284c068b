//! Reading run files back.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::file::{Line, VERSION};

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
/// same.
///
/// # Errors
/// A file that can't be read or isn't a run file of a version that this lab knows.
pub fn read(path: &Path) -> Result<Vec<Line>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut lines = Vec::new();
    for (index, text) in BufReader::new(File::open(path).map_err(io)?).lines().enumerate() {
        let line = serde_json::from_str(&text.map_err(io)?).map_err(|error| ReadError::Line {
            path: path.to_owned(),
            number: index + 1,
            reason: error.to_string(),
        })?;
        if let Line::Run { version: found, .. } = line
            && found > VERSION
        {
            return Err(ReadError::Version { path: path.to_owned(), found });
        }
        lines.push(line);
    }
    Ok(lines)
}
