//! The expectations file: known findings, one a line.
//!
//! `fail|flaky|skip  device  check  "message"  # reason`, the columns separated by blanks.

mod parse;
#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glob::Pattern;
use thiserror::Error;

use crate::check::{Check, Mark};
use crate::device::DeviceInfo;
use crate::ops::suggested;
use crate::worker::selects;

/// Where the file is unless told otherwise.
pub const DEFAULT_EXPECTATIONS: &str = "tests/expectations.txt";

/// A line of the file.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// What it says.
    pub mark: Mark,
    /// `*`, or as on the command line.
    pub device: String,
    /// As written: `TARGET/CHECK` or `CHECK`.
    pub scope: String,
    /// Part of a finding's `KIND: message`; matches any if empty.
    pub message: String,
    /// Why it is so.
    pub reason: String,
    /// Its number, counted from 1.
    pub line: usize,
    /// Every target if there is none.
    pub(super) target: Option<Pattern>,
    /// Every check if there is none.
    pub(super) check: Option<Check>,
    /// Character at which the scope begins, counted from 1.
    pub(super) scope_column: usize,
    /// The line itself.
    text: String,
}

/// An expectations file.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    path: PathBuf,
    lines: Vec<Expectation>,
    /// Comments and blank lines, each with the index of the expectation below it.
    comments: Vec<(usize, String)>,
}

/// Why an expectations file can't be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExpectationsError {
    /// No such file, no permission, no text.
    #[error("failed to read the expectations file {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A file or its folder that can't be written.
    #[error("failed to write the expectations file {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A line that is none.
    #[error("{path}:{line}:{column}: {reason}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// A line that belongs further up.
    #[error("{path}:{line}:1: not sorted: this line belongs above line {above} (LC_ALL=C sort)")]
    Unsorted {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// A line that should stand below it.
        above: usize,
    },
    /// Two lines about the same.
    #[error("{path}:{line}:1: line {first} has the same device, check and message")]
    Twice {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The other one.
        first: usize,
    },
    /// A line about nothing that exists.
    #[error("{path}:{line}:{column}: `{scope}` matches no target that has this check{}",
        suggested(.nearest))]
    Unmatched {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// As written.
        scope: String,
        /// What comes close.
        nearest: Vec<String>,
    },
}

impl Expectations {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that can't be read, that has a line which is none, or that isn't sorted.
    pub fn load(path: &Path) -> Result<Self, ExpectationsError> {
        let text = fs::read_to_string(path)
            .map_err(|source| ExpectationsError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// The same; a file that doesn't exist expects nothing.
    ///
    /// # Errors
    /// As [`Expectations::load`].
    pub fn load_or_empty(path: &Path) -> Result<Self, ExpectationsError> {
        match Self::load(path) {
            Err(ExpectationsError::Read { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Ok(Self { path: path.to_owned(), ..Self::default() })
            }
            read => read,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its lines, comments left out.
    #[must_use]
    pub fn lines(&self) -> &[Expectation] {
        &self.lines
    }

    /// Whether nothing at all is in it.
    #[must_use]
    pub(super) fn is_blank(&self) -> bool {
        self.lines.is_empty() && self.comments.is_empty()
    }

    /// The file with some of its lines and with new ones, sorted. Comments at its head stay there,
    /// others stay above the line that they stand on, or above the next one that is kept.
    #[must_use]
    pub(super) fn with(
        &self,
        is_kept: impl Fn(&Expectation) -> bool,
        mut fresh: Vec<String>,
    ) -> String {
        fresh.sort();
        let mut text = String::new();
        let mut say = |line: &str| {
            // Writing to a String can't fail.
            let _ = writeln!(text, "{line}");
        };
        let mut comments = self.comments.iter().peekable();
        while let Some((_, comment)) = comments.next_if(|(below, _)| *below == 0) {
            say(comment);
        }
        let mut fresh = fresh.into_iter().peekable();
        for (at, kept) in self.lines.iter().enumerate().filter(|(_, line)| is_kept(line)) {
            while let Some(new) = fresh.next_if(|new| *new < kept.text) {
                say(&new);
            }
            while let Some((_, comment)) = comments.next_if(|(below, _)| *below <= at) {
                say(comment);
            }
            say(&kept.text);
        }
        fresh.for_each(|new| say(&new));
        comments.for_each(|(_, comment)| say(comment));
        text
    }

    /// Writes a text in the file's place.
    ///
    /// # Errors
    /// What the system has against it.
    pub fn replace(&self, text: &str) -> Result<(), ExpectationsError> {
        fs::write(&self.path, text)
            .map_err(|source| ExpectationsError::Write { path: self.path.clone(), source })
    }

    /// Makes sure that the file can be written, before any work is done.
    ///
    /// # Errors
    /// What the system has against it.
    pub fn prepare(&self) -> Result<(), ExpectationsError> {
        let folder = self.path.parent().map_or(Ok(()), fs::create_dir_all);
        let open = || fs::OpenOptions::new().append(true).create(true).open(&self.path);
        folder
            .and_then(|()| open())
            .map(drop)
            .map_err(|source| ExpectationsError::Write { path: self.path.clone(), source })
    }
}

impl Expectation {
    /// Whether it speaks of a device of a run.
    #[must_use]
    pub fn is_about(&self, info: &DeviceInfo, among: &[DeviceInfo]) -> bool {
        self.device == "*" || selects(&self.device, info, among)
    }

    /// Whether it speaks of a check of a target, which has two names: its op and `op.variant`, or
    /// twice the path of a kernel file.
    #[must_use]
    pub fn covers(&self, names: [&str; 2], check: Check) -> bool {
        let is_match = |glob: &Pattern| names.iter().any(|name| glob.matches(plain(name)));
        self.check.is_none_or(|own| own == check) && self.target.as_ref().is_none_or(is_match)
    }
}

/// `./a.toml` is `a.toml`.
pub(super) fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// A line that expects a failure.
pub(super) fn fail_line(
    device: &str,
    target: &str,
    check: Check,
    kind: &str,
    reason: &str,
) -> String {
    let device = word(&format!("vk:{device}"));
    let scope = word(&format!("{}/{check}", Pattern::escape(plain(target))));
    format!("{}  {device}  {scope}  \"{kind}\"  # {reason}", Mark::Fail.name())
}

/// A column, in quotes where it would not be one without.
fn word(text: &str) -> String {
    let needs = text.is_empty() || text.starts_with(['"', '#']);
    if !needs && !text.contains(char::is_whitespace) {
        return text.to_owned();
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
