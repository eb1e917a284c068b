//! What can be wrong with a script, and where in it.

use thiserror::Error;

use crate::kernel_file::Place;

/// Why a script can't be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AmberError {
    /// The script says something that isn't so or can't be.
    #[error("{place}: {message}{}", place.excerpt())]
    Wrong {
        /// Where it says so.
        place: Box<Place>,
        /// What is wrong with it.
        message: String,
    },
    /// The script, or a file that it names, can't be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file as it was asked for.
        path: String,
        /// What the system said.
        reason: String,
    },
}

/// What a script asks for that the lab doesn't do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The line, counted from 1.
    pub line: u32,
    /// What it asks for.
    pub what: String,
}

/// Why reading ends before the script does.
#[derive(Debug)]
pub(super) enum Stop {
    /// It says something that can't be.
    Wrong(Box<AmberError>),
    /// It asks for what the lab doesn't do, so the rest doesn't matter.
    Unsupported(Unsupported),
}

pub(super) type Read<T> = Result<T, Stop>;

/// The error at a byte offset of a text.
pub(super) fn wrong(file: &str, text: &str, at: usize, message: impl Into<String>) -> AmberError {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let place = Place {
        file: file.to_owned(),
        line: count(before.matches('\n').count() + 1),
        column: count(text[start..at].chars().count() + 1),
        text: text[start..].lines().next().unwrap_or_default().to_owned(),
    };
    AmberError::Wrong { place: Box::new(place), message: message.into() }
}
