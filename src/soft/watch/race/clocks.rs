//! Release and acquire: what an invocation knows to have happened in others.
//!
//! An invocation releases by a fence, and publishes at its next atomic write what it had
//! released: its own accesses before the fence, those of its workgroup before the last barrier
//! that covers the memory, and what it knew of others. An invocation whose atomic reads from that
//! location acquires this at its next fence; its workgroup knows it from the next barrier on.
//! Execution is sequential, so every later atomic on a location reads what was published, or
//! something later in the same release sequence.

use std::collections::HashMap;
use std::sync::Arc;

/// A run of a workgroup, and one invocation of it or all.
type Agent = (u32, u32);

/// The invocation that stands for all.
const ALL: u32 = u32::MAX;

/// For every agent the point before which its accesses are known.
pub(super) type Clock = HashMap<Agent, u32>;

type Known = Option<Arc<Clock>>;

/// A word, in the buffer of this number or in the shared memory of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// What releases and acquires do at one scope to one class of memory.
#[derive(Debug, Default)]
pub(super) struct Domain {
    /// Something was released in this era; until then there is nothing to acquire.
    busy: bool,
    locations: HashMap<Location, Arc<Clock>>,
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
        self.busy = false;
        self.locations.clear();
        self.seats.clear();
    }

    pub(super) fn start_workgroup(&mut self, seat: usize, visit: u32, width: usize) {
        if self.seats.len() <= seat {
            self.seats.resize(seat + 1, Group::default());
        }
        if !self.is_quiet() {
            self.locations.retain(|location, _| !matches!(location, Location::Shared(at, _) if *at == seat));
        }
        let group = &mut self.seats[seat];
        if group.lanes.len() == width && !self.busy {
            group.visit = visit;
            return;
        }
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
        if sides.release {
            self.busy = true;
        }
        if self.is_quiet() {
            return;
        }
        let group = &mut self.seats[seat];
        let pending = group.pending.clone();
        let Some(own) = group.lanes.get_mut(lane) else { return };
        if sides.acquire {
            join(&mut own.knows, own.pending.take().as_ref());
            join(&mut own.knows, pending.as_ref());
        }
        if sides.release {
            let mut knows = own.knows.clone();
            join(&mut knows, group.knows.as_ref());
            own.release = Some(Release { at: point, group_at: covered, knows });
        }
    }

    /// An atomic read of a location.
    pub(super) fn observe(&mut self, seat: usize, lane: usize, location: Location) {
        if self.is_quiet() {
            return;
        }
        if let Some(published) = self.locations.get(&location)
            && let Some(own) = self.seats[seat].lanes.get_mut(lane)
        {
            join(&mut own.pending, Some(published));
        }
    }

    /// An atomic write of a location.
    pub(super) fn publish(&mut self, seat: usize, lane: usize, location: Location) {
        if self.is_quiet() {
            return;
        }
        let group = &self.seats[seat];
        let release = group.lanes.get(lane).and_then(|own| own.release.as_ref());
        if release.is_none() && group.released == 0 {
            return;
        }
        let mut published = self.locations.remove(&location);
        join(&mut published, release.and_then(|release| release.knows.as_ref()));
        let clock = Arc::make_mut(published.get_or_insert_default());
        let mut raise = |agent: Agent, point: u32| {
            let known = clock.entry(agent).or_insert(0);
            *known = point.max(*known);
        };
        let lane = u32::try_from(lane).unwrap_or(ALL);
        if let Some(release) = release {
            raise((group.visit, lane), release.at);
        }
        let group_at = release.map_or(0, |release| release.group_at).max(group.released);
        if group_at > 0 {
            raise((group.visit, ALL), group_at);
        }
        if let Some(published) = published {
            self.locations.insert(location, published);
        }
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
    pub(super) fn knows(&self, seat: usize, lane: u32, agent: Agent, point: u32) -> bool {
        if self.is_quiet() {
            return false;
        }
        let Some(group) = self.seats.get(seat) else { return false };
        let own = group.lanes.get(lane as usize).and_then(|own| own.knows.as_ref());
        own.into_iter().chain(group.knows.as_ref()).any(|clock| {
            [agent, (agent.0, ALL)]
                .iter()
                .any(|agent| clock.get(agent).is_some_and(|known| *known > point))
        })
    }
}

/// Adds what another clock says. Clocks are shared as long as nobody learns anything.
fn join(own: &mut Known, other: Option<&Arc<Clock>>) {
    let Some(other) = other else { return };
    let Some(mine) = own else {
        *own = Some(Arc::clone(other));
        return;
    };
    if Arc::ptr_eq(mine, other) || includes(mine, other) {
        return;
    }
    if includes(other, mine) {
        *mine = Arc::clone(other);
        return;
    }
    let mine = Arc::make_mut(mine);
    for (agent, point) in other.iter() {
        let known = mine.entry(*agent).or_insert(0);
        *known = (*point).max(*known);
    }
}

fn includes(mine: &Clock, other: &Clock) -> bool {
    mine.len() >= other.len()
        && other.iter().all(|(agent, point)| mine.get(agent).is_some_and(|known| known >= point))
}
