//! Release and acquire: what an invocation knows to have happened in others.
//!
//! An invocation releases by a fence, and publishes at its next atomic write what it had
//! released: its own accesses before the fence, those of its workgroup before the last barrier
//! that covers the memory, and what it knew of others. An invocation whose atomic reads from that
//! location acquires this at its next fence; its workgroup knows it from the next barrier on.
//!
//! Execution is sequential, so an atomic reads all that was published at its location before, or
//! something later in the same release sequence. To know something is therefore to know how much of
//! each location's list of publications one has read: a lock that was held 65,536 times is one
//! number. What the publishers knew in turn is looked up when it is asked for.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A word, in the buffer of this number or in the shared memory of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Location {
    Buffer(usize, u32),
    Shared(usize, u32),
}

/// Which half of a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) acquire: bool,
    pub(super) release: bool,
}

/// How many publications of each location were read, of the locations in the order in which they
/// were first published at.
type Heard = BTreeMap<usize, usize>;

/// Shared as long as nobody learns anything.
type Known = Option<Arc<Heard>>;

/// An invocation of a run of a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Agent {
    pub(super) visit: u32,
    pub(super) lane: u32,
}

/// What one invocation made known at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Publication {
    /// Its place in the list of all at this location.
    index: usize,
    lane: u32,
    /// Its accesses before this point.
    at: u32,
    /// Accesses of its workgroup before this point.
    group_at: u32,
}

/// Everything that was published at a location.
#[derive(Clone, Debug, Default)]
struct Board {
    len: usize,
    by_visit: HashMap<u32, Vec<Publication>>,
    /// Publications whose publisher had heard of another location: which of them, and how much.
    links: Vec<(usize, usize, usize)>,
    linked: Heard,
}

/// What releases and acquires do at one scope to one class of memory.
#[derive(Debug, Default)]
pub(super) struct Domain {
    /// Something was released in this era; until then there is nothing to acquire.
    busy: bool,
    numbers: HashMap<Location, usize>,
    boards: Vec<Board>,
    seats: Vec<Group>,
}

/// A workgroup.
#[derive(Clone, Debug, Default)]
struct Group {
    visit: u32,
    lanes: Vec<Lane>,
    knows: Known,
    /// Read by an atomic, but not yet acquired.
    pending: Known,
    /// Every invocation released what it did before this point, and then they met at a barrier.
    released: u32,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    knows: Known,
    pending: Known,
    release: Option<Release>,
}

#[derive(Clone, Debug)]
struct Release {
    at: u32,
    /// What the workgroup did before this point is included.
    group_at: u32,
    knows: Known,
}

impl Domain {
    pub(super) fn is_quiet(&self) -> bool {
        !self.busy
    }

    pub(super) fn start_era(&mut self) {
        *self = Self::default();
    }

    pub(super) fn start_workgroup(&mut self, seat: usize, visit: u32, width: usize) {
        if self.seats.len() <= seat {
            self.seats.resize(seat + 1, Group::default());
        }
        let group = &mut self.seats[seat];
        if !self.busy && group.lanes.len() == width {
            group.visit = visit;
            return;
        }
        self.numbers
            .retain(|location, _| !matches!(location, Location::Shared(at, _) if *at == seat));
        *group = Group { visit, lanes: vec![Lane::default(); width], ..Group::default() };
    }

    /// A fence of an invocation at `point`; `covered` is when its workgroup last met at a barrier
    /// that covers the memory.
    pub(super) fn fence(
        &mut self,
        seat: usize,
        lane: usize,
        sides: Sides,
        point: u32,
        covered: u32,
    ) {
        self.busy |= sides.release;
        if self.is_quiet() {
            return;
        }
        let Group { lanes, knows, pending, .. } = &mut self.seats[seat];
        let Some(own) = lanes.get_mut(lane) else { return };
        if sides.acquire {
            join(&mut own.knows, own.pending.take().as_ref());
            join(&mut own.knows, pending.as_ref());
        }
        if sides.release {
            let mut released = own.knows.clone();
            join(&mut released, knows.as_ref());
            own.release = Some(Release { at: point, group_at: covered, knows: released });
        }
    }

    /// An atomic read of a location.
    pub(super) fn observe(&mut self, seat: usize, lane: usize, location: Location) {
        if self.is_quiet() {
            return;
        }
        if let Some(number) = self.numbers.get(&location)
            && let Some(own) = self.seats[seat].lanes.get_mut(lane)
        {
            hear(&mut own.pending, *number, self.boards[*number].len);
        }
    }

    /// An atomic write of a location.
    pub(super) fn publish(&mut self, seat: usize, lane: usize, location: Location) {
        if self.is_quiet() {
            return;
        }
        let group = &self.seats[seat];
        let release = group.lanes.get(lane).and_then(|own| own.release.as_ref());
        let at = release.map_or(0, |release| release.at);
        let group_at = release.map_or(0, |release| release.group_at).max(group.released);
        if at.max(group_at) == 0 {
            return;
        }
        let number = *self.numbers.entry(location).or_insert_with(|| {
            self.boards.push(Board::default());
            self.boards.len() - 1
        });
        let board = &mut self.boards[number];
        let lane = u32::try_from(lane).unwrap_or(u32::MAX);
        let own = board.by_visit.entry(group.visit).or_default();
        let again = |it: &Publication| it.lane == lane && it.at == at && it.group_at == group_at;
        if own.iter().rev().any(again) {
            return;
        }
        own.push(Publication { index: board.len, lane, at, group_at });
        for (other, len) in release.and_then(|it| it.knows.as_deref()).into_iter().flatten() {
            let linked = board.linked.entry(*other).or_insert(0);
            if *other != number && *linked < *len {
                *linked = *len;
                board.links.push((board.len, *other, *len));
            }
        }
        board.len += 1;
    }

    /// These invocations of a workgroup have met.
    pub(super) fn barrier(&mut self, seat: usize, lanes: impl Iterator<Item = usize>) {
        if self.is_quiet() {
            return;
        }
        let group = &mut self.seats[seat];
        let mut released = u32::MAX;
        for lane in lanes {
            let Some(own) = group.lanes.get_mut(lane) else { continue };
            released = released.min(own.release.as_ref().map_or(0, |release| release.at));
            join(&mut group.knows, own.knows.take().as_ref());
            join(&mut group.pending, own.pending.take().as_ref());
        }
        if released < u32::MAX {
            group.released = group.released.max(released);
        }
    }

    /// Whether an invocation knows what another did at `point`.
    pub(super) fn knows(&self, seat: usize, lane: u32, other: Agent, point: u32) -> bool {
        if self.is_quiet() {
            return false;
        }
        let Some(group) = self.seats.get(seat) else { return false };
        let own = group.lanes.get(lane as usize).and_then(|own| own.knows.as_deref());
        let mut known = Heard::new();
        let mut open: Vec<(usize, usize)> = own
            .into_iter()
            .chain(group.knows.as_deref())
            .flatten()
            .map(|(a, b)| (*a, *b))
            .collect();
        while let Some((number, len)) = open.pop() {
            let before = known.insert(number, len).unwrap_or(0);
            if before >= len {
                known.insert(number, before);
                continue;
            }
            let board = &self.boards[number];
            if board.tells(other, point, len) {
                return true;
            }
            let links = board.links.iter().take_while(|(index, ..)| *index < len);
            open.extend(links.map(|(_, number, len)| (*number, *len)));
        }
        false
    }
}

impl Board {
    /// Whether the first `len` publications say what an invocation did at `point`.
    fn tells(&self, other: Agent, point: u32, len: usize) -> bool {
        self.by_visit.get(&other.visit).is_some_and(|own| {
            own.iter()
                .take_while(|it| it.index < len)
                .any(|it| it.group_at > point || it.lane == other.lane && it.at > point)
        })
    }
}

/// Adds what another knows.
fn join(own: &mut Known, other: Option<&Arc<Heard>>) {
    let Some(other) = other else { return };
    match own {
        None => *own = Some(Arc::clone(other)),
        Some(mine) if Arc::ptr_eq(mine, other) => {}
        Some(_) => other.iter().for_each(|(number, len)| hear(own, *number, *len)),
    }
}

fn hear(own: &mut Known, number: usize, len: usize) {
    if own.as_ref().and_then(|mine| mine.get(&number)).is_some_and(|known| *known >= len) {
        return;
    }
    Arc::make_mut(own.get_or_insert_default()).insert(number, len);
}
