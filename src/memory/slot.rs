//! Slots, their generations, and who lived in them.

use std::collections::{BTreeSet, VecDeque};

use super::events::{EventRing, Site};
use super::poison::PoisonPattern;
use super::request::Layout;
use crate::device::BufferId;

/// Names a buffer of one ledger for as long as it lives, and is recognised afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle {
    pub(super) ledger: u64,
    pub(super) slot: u32,
    pub(super) generation: u32,
}

/// Each handle once. A recording names few buffers many times, so they go in one by one: `collect`
/// would first gather and sort all of them.
pub(super) fn distinct(handles: impl Iterator<Item = Handle>) -> BTreeSet<Handle> {
    let mut found = BTreeSet::new();
    found.extend(handles);
    found
}

/// One buffer's life.
#[derive(Debug)]
pub(super) struct Tenant {
    pub(super) generation: u32,
    pub(super) name: String,
    pub(super) requested: Site,
    pub(super) len: usize,
    pub(super) layout: Layout,
    pub(super) pattern: PoisonPattern,
    /// Whether the poison is a NaN with this slot's number.
    pub(super) named: bool,
    pub(super) buffer: BufferId,
    pub(super) capacity: u64,
    pub(super) events: EventRing,
    /// How many allocations and submissions the ledger had made before.
    pub(super) serial: u64,
    pub(super) submissions_before: u64,
    /// The submission that uses it until its fence.
    pub(super) held_by: Option<u64>,
    pub(super) freed: Option<Site>,
}

impl Tenant {
    /// Bytes of the data on the host.
    pub(super) fn data_bytes(&self) -> usize {
        usize::try_from(self.layout.data).unwrap_or(usize::MAX)
    }

    /// Fills the last word up with guard, so that writing the data leaves the guard whole.
    pub(super) fn pad(&self, data: &[u8]) -> Vec<u8> {
        let mut padded = data.to_vec();
        if !data.len().is_multiple_of(4) {
            padded.extend_from_slice(&self.pattern.word.to_le_bytes()[data.len() % 4..]);
        }
        padded
    }
}

/// A place for one buffer at a time.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) tenant: Tenant,
    past: VecDeque<Tenant>,
}

impl Slot {
    /// Earlier tenants remembered, to say where they were freed.
    const REMEMBERED: usize = 4;

    pub(super) fn new(tenant: Tenant) -> Self {
        Self { tenant, past: VecDeque::new() }
    }

    pub(super) fn move_in(&mut self, tenant: Tenant) {
        let gone = std::mem::replace(&mut self.tenant, tenant);
        if self.past.len() == Self::REMEMBERED {
            self.past.pop_front();
        }
        self.past.push_back(gone);
    }

    /// The tenant of a generation; of one long forgotten, its oldest known successor.
    pub(super) fn tenant_of(&self, generation: u32) -> &Tenant {
        self.past.iter().find(|past| past.generation >= generation).unwrap_or(&self.tenant)
    }
}
