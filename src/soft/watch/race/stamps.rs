//! Stamps: what a cell remembers of an access, interned so that it takes 32 bits.

use crate::soft::program::{PlaceId, Scope};

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Deed {
    #[default]
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
}

impl Deed {
    pub(super) const fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite)
    }

    pub(super) const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite)
    }

    /// In the words of reports.
    pub(super) const fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::AtomicRead => "atomically reads",
            Self::AtomicWrite => "atomically changes",
        }
    }

    pub(super) const fn participle(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "wrote",
            Self::AtomicRead => "atomically read",
            Self::AtomicWrite => "atomically changed",
        }
    }
}

/// Everything about an access but the invocation and the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) place: PlaceId,
    /// Which run of which workgroup.
    pub(super) visit: u32,
    /// The workgroup's time, which goes on at its barriers and fences.
    pub(super) point: u32,
    pub(super) deed: Deed,
    pub(super) scope: Scope,
    pub(super) coherent: bool,
}

/// Stamps by number. Numbers grow with time; those before `first` are forgotten, because
/// whatever they stood for is ordered before everything that comes.
#[derive(Debug)]
pub(super) struct Stamps {
    first: u32,
    list: Vec<Stamp>,
}

impl Default for Stamps {
    fn default() -> Self {
        Self { first: 1, list: Vec::new() }
    }
}

impl Stamps {
    pub(super) const fn first(&self) -> u32 {
        self.first
    }

    /// The number that the next new stamp will get.
    pub(super) fn next(&self) -> u32 {
        u32::try_from(self.list.len()).map_or(u32::MAX, |len| self.first.saturating_add(len))
    }

    #[inline]
    pub(super) fn get(&self, stamp: u32) -> Option<&Stamp> {
        self.list.get(stamp.wrapping_sub(self.first) as usize)
    }

    pub(super) fn push(&mut self, stamp: Stamp) -> u32 {
        let number = self.next();
        self.list.push(stamp);
        number
    }

    /// Forgets all stamps. When numbers run short they start again at 1, and cells that hold
    /// stamps must be forgotten too: then this says so.
    #[must_use]
    pub(super) fn forget(&mut self) -> bool {
        let next = self.next();
        self.list.clear();
        let short = next > u32::MAX / 2;
        self.first = if short { 1 } else { next };
        short
    }
}

/// The stamps that a workgroup made last. A miss only costs a stamp.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    entries: Vec<Option<(Stamp, u32)>>,
}

const RECENT: usize = 64;

impl Default for Recent {
    fn default() -> Self {
        Self { entries: vec![None; RECENT] }
    }
}

impl Recent {
    pub(super) fn number(&mut self, stamp: Stamp, stamps: &mut Stamps) -> u32 {
        let slot = (stamp.place as usize * 4 + stamp.deed as usize) % RECENT;
        if let Some((known, number)) = self.entries[slot]
            && known == stamp
        {
            return number;
        }
        let number = stamps.push(stamp);
        self.entries[slot] = Some((stamp, number));
        number
    }

    pub(super) fn forget(&mut self) {
        self.entries.fill(None);
    }
}
