//! What the host did wrong. It stops at once, with both call sites.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::events::{Event, Site};
use crate::device::DeviceError;
use crate::tensor::Dtype;

/// Which rule was broken. The two sites of a [`HostMisuse`] are, in order, those in each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MisuseKind {
    /// Freed; freed again.
    DoubleFree,
    /// Freed; used.
    StaleHandle,
    /// Freed; submitted by a recording made before.
    ReplayAfterFree,
    /// Submitted; freed or submitted again before the fence.
    InFlight,
    /// Submitted; written or freed before the fence.
    StagingInFlight,
    /// Submitted; rewritten or freed before the fence.
    BindingsInFlight,
    /// Rewritten; submitted by a recording made before.
    BindingsRewritten,
    /// Retired; used later in the same recording.
    Retired,
    /// Ledger made; given a handle, recording or submission of another ledger.
    ForeignHandle,
}

impl MisuseKind {
    /// The sentence in four parts: what it is, what happened first, what is wrong with the second.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::DoubleFree => ("double free", "freed", "freed again"),
            Self::StaleHandle => ("stale handle", "freed", "used"),
            Self::ReplayAfterFree => ("replay after free", "freed", "submitted"),
            Self::InFlight => ("in use before its fence", "submitted", "taken"),
            Self::StagingInFlight => {
                ("staging buffer reused before its fence", "submitted", "reused")
            }
            Self::BindingsInFlight => {
                ("descriptor changed before its fence", "submitted", "changed")
            }
            Self::BindingsRewritten => {
                ("descriptor changed after it was recorded", "rewritten", "submitted")
            }
            Self::Retired => ("use of a retired buffer", "retired", "used"),
            Self::ForeignHandle => {
                ("belongs to another ledger", "this ledger was made", "given to it")
            }
        }
    }
}

/// A broken rule with the places that broke it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostMisuse {
    /// Which rule.
    pub what: MisuseKind,
    /// The name of the buffer or staging buffer.
    pub buffer: String,
    /// The call that was right.
    pub first: Site,
    /// The call that, after it, was wrong.
    pub second: Site,
    /// Where the use was recorded, if that is a third place.
    pub recorded: Option<Site>,
    /// The buffer's last events, oldest first.
    pub events: Vec<Event>,
}

impl fmt::Display for HostMisuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, did_first, did_second) = self.what.words();
        write!(f, "{title}: `{}`: {did_first} at {}, ", self.buffer, self.first)?;
        if let Some(recorded) = &self.recorded {
            write!(f, "recorded at {recorded}, ")?;
        }
        write!(f, "{did_second} at {}", self.second)?;
        for event in &self.events {
            write!(f, "\n  {event}")?;
        }
        Ok(())
    }
}

impl std::error::Error for HostMisuse {}

/// Why the ledger didn't do what was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The host broke a rule.
    #[error("{0}")]
    Misuse(#[from] Box<HostMisuse>),
    /// The device couldn't.
    #[error("{0}")]
    Device(#[from] DeviceError),
    /// The device can't hold or bind this much: unsupported, not wrong.
    #[error("buffer `{buffer}`: {needed} bytes, but {limit} is at most {limit_bytes}")]
    TooLarge {
        /// Which buffer.
        buffer: String,
        /// Bytes with guards; `u64::MAX` if the number doesn't fit.
        needed: u64,
        /// The limit's name.
        limit: &'static str,
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// An offset in front of the data that the device can't bind.
    #[error("buffer `{buffer}`: offset {offset_bytes} is no multiple of {alignment}")]
    Misaligned {
        /// Which buffer.
        buffer: String,
        /// What was asked for.
        offset_bytes: u64,
        /// What the device asks for.
        alignment: u64,
    },
    /// A length that no number of blocks has.
    #[error(
        "buffer `{buffer}`: {len} elements don't fill blocks of {} as {dtype} has them",
        dtype.block_len()
    )]
    PartialBlock {
        /// Which buffer.
        buffer: String,
        /// How it is stored.
        dtype: Dtype,
        /// Elements asked for.
        len: usize,
    },
    /// Host bytes that don't fit where they should go.
    #[error("`{buffer}`: {given} bytes given at {site}, {expected} needed")]
    WrongLength {
        /// The buffer or staging buffer.
        buffer: String,
        /// Bytes given.
        given: usize,
        /// Bytes it takes.
        expected: usize,
        /// Who gave them.
        site: Site,
    },
    /// An input to be checked whose contents the recording doesn't know.
    #[error("buffer `{buffer}`: not uploaded in full before {site} asks that it stay unchanged")]
    NothingToCompare {
        /// Which buffer.
        buffer: String,
        /// Who asked.
        site: Site,
    },
    /// A descriptor that the table doesn't have.
    #[error("descriptor {index} of {len} at {site}")]
    NoSuchDescriptor {
        /// Which one.
        index: usize,
        /// How many there are.
        len: usize,
        /// Who asked.
        site: Site,
    },
}

impl MemoryError {
    /// The broken rule, if that is what it is.
    #[must_use]
    pub fn misuse(&self) -> Option<&HostMisuse> {
        match self {
            Self::Misuse(misuse) => Some(misuse),
            _ => None,
        }
    }
}
