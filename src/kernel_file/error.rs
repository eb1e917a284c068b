//! What can be wrong with a kernel file, and where in it.

use std::fmt;

use thiserror::Error;

/// How much of a line an excerpt shows.
const EXCERPT_CHARS: usize = 90;

/// A place in a kernel file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as it was asked for.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// In characters, counted from 1.
    pub column: u32,
    /// The line's text.
    pub text: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Place {
    /// The part of the line around the column, with a mark below it.
    pub(crate) fn excerpt(&self) -> String {
        let column = (self.column as usize).saturating_sub(1);
        let first = column.saturating_sub(EXCERPT_CHARS / 2);
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let shown: String =
            self.text.chars().skip(first).take(EXCERPT_CHARS).map(printable).collect();
        let indent = shown.len() - shown.trim_start().len();
        let shown = shown.trim();
        if shown.is_empty() {
            return String::new();
        }
        let mark = " ".repeat((column - first).saturating_sub(indent));
        format!("\n    {shown}\n    {mark}^")
    }
}

/// Why a kernel file or one of its cases can't be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelFileError {
    /// The file says something that isn't so or can't be.
    #[error("{place}: {message}{}", place.excerpt())]
    Wrong {
        /// Where it says so.
        place: Box<Place>,
        /// What is wrong with it.
        message: String,
    },
    /// A path starts with an environment variable that isn't set; the file can't be run here.
    #[error("{place}: the environment variable {name} is not set{}", place.excerpt())]
    Unset {
        /// The path.
        place: Box<Place>,
        /// The variable.
        name: String,
    },
    /// The kernel file itself can't be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file as it was asked for.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// A case's id names nothing in the file.
    #[error("{file}: no case `{id}`: {reason}")]
    Case {
        /// The file as it was asked for.
        file: String,
        /// The id as given.
        id: String,
        /// Which part of it fits nothing.
        reason: String,
    },
}

/// The text of a kernel file, which turns offsets into places.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// The path as it was asked for.
    pub(super) shown: String,
    /// What the file holds.
    pub(super) body: String,
}

impl Text {
    /// The line and column of a byte offset.
    pub(super) fn place(&self, at: usize) -> Place {
        let mut at = at.min(self.body.len());
        while !self.body.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.body[..at];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place {
            file: self.shown.clone(),
            line: count(before.matches('\n').count() + 1),
            column: count(self.body[start..at].chars().count() + 1),
            text: self.body[start..].lines().next().unwrap_or_default().to_owned(),
        }
    }

    /// The error for what stands at a byte offset.
    pub(super) fn wrong(&self, at: usize, message: impl Into<String>) -> KernelFileError {
        KernelFileError::Wrong { place: Box::new(self.place(at)), message: message.into() }
    }
}
