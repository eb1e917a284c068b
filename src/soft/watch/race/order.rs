//! Happens-before: whether one access is ordered before another.

use crate::soft::observer::Here;
use crate::soft::program::Scope;

use super::cells::{Plural, Trace};
use super::clocks::{Agent, Domain, Location, Sides};
use super::stamps::{Deed, Recent, Stamp, Stamps};

/// Which memory a barrier or fence speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Buffers,
    Shared,
}

/// Bits of memory semantics.
const ACQUIRES: u32 = 0x2 | 0x8 | 0x10;
const RELEASES: u32 = 0x4 | 0x8 | 0x10;
const UNIFORM: u32 = 0x40;
const WORKGROUP: u32 = 0x100;
const CROSS_WORKGROUP: u32 = 0x200;

impl Class {
    pub(super) const ALL: [Self; 2] = [Self::Buffers, Self::Shared];

    /// Whether the semantics order accesses to this memory.
    const fn is_in(self, semantics: u32) -> bool {
        let storage = match self {
            Self::Buffers => UNIFORM | CROSS_WORKGROUP,
            Self::Shared => WORKGROUP,
        };
        semantics & storage != 0 && semantics & (ACQUIRES | RELEASES) != 0
    }
}

pub(super) const fn sides(semantics: u32) -> Sides {
    Sides { acquire: semantics & ACQUIRES != 0, release: semantics & RELEASES != 0 }
}

/// What would have ordered two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// A barrier in the workgroup.
    Barrier,
    /// There was one, but it doesn't speak of this memory.
    Visibility,
    /// Release and acquire between two workgroups.
    DeviceSync,
    /// There was that, but one of the two isn't coherent.
    Coherence,
    /// A barrier recorded between two dispatches.
    RecordedBarrier,
    /// Both are atomic, but one at too narrow a scope.
    Scope,
    /// Two invocations do it in one instruction.
    Lockstep,
}

/// In which sense two accesses meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// The later one may see what the earlier one wrote, or replaces it: it must be visible.
    AfterWrite,
    /// The later one replaces what the earlier one read: it need only be later.
    AfterRead,
}

/// The access that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) seat: usize,
    pub(super) class: Class,
    pub(super) number: u32,
    pub(super) stamp: Stamp,
    pub(super) subgroup_size: u32,
}

/// How an earlier access stands to all invocations of a workgroup, without regard to what single
/// ones did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Ordered,
    /// The same workgroup did it since its last barrier.
    Mine,
    Other,
}

/// The barriers of a subgroup or workgroup: after which point they left the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Barriers {
    any: u32,
    covering: [u32; 2],
}

/// A workgroup under way.
#[derive(Debug, Default)]
struct Seat {
    visit: u32,
    point: u32,
    barriers: Barriers,
    subgroups: Vec<Barriers>,
    /// For every invocation its last fence, by class.
    fenced: [Vec<u32>; 2],
    /// The same as it was at the last barrier.
    fenced_before: [Vec<u32>; 2],
    fenced_since: bool,
    shared: Stamps,
    /// The first stamp of shared memory since a barrier that covers it.
    shared_floor: u32,
    recent: [Recent; 2],
}

/// A run of a workgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) dispatch: u32,
    pub(super) workgroup: [u32; 3],
    /// An index into the programs known to the reporter.
    pub(super) program: usize,
}

/// Numbers that cells hold are used anew: cells of this memory must be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forget;

/// All that orders accesses.
#[derive(Debug, Default)]
pub(super) struct Order {
    tick: u32,
    buffers: Stamps,
    visits: Vec<Visit>,
    seats: Vec<Seat>,
    /// For shared memory, for buffers within a workgroup, for buffers.
    domains: [Domain; 3],
}

const SHARED: usize = 0;
const WITHIN: usize = 1;
const ACROSS: usize = 2;

impl Order {
    /// Nothing from before has to do with what comes.
    pub(super) fn start_era(&mut self) -> Option<Forget> {
        self.visits.clear();
        self.tick = 0;
        self.domains.iter_mut().for_each(Domain::start_era);
        self.seats.iter_mut().flat_map(|seat| &mut seat.recent).for_each(Recent::forget);
        self.buffers.forget().then_some(Forget)
    }

    pub(super) fn start_workgroup(&mut self, here: &Here, program: usize) -> Option<Forget> {
        let visit = u32::try_from(self.visits.len()).unwrap_or(u32::MAX);
        self.visits.push(Visit { dispatch: here.dispatch, workgroup: here.workgroup, program });
        if self.seats.len() <= here.seat {
            self.seats.resize_with(here.seat + 1, Seat::default);
        }
        for domain in &mut self.domains {
            domain.start_workgroup(here.seat, visit, here.width);
        }
        self.tick += 1;
        let seat = &mut self.seats[here.seat];
        seat.visit = visit;
        seat.point = self.tick;
        seat.barriers = Barriers::default();
        seat.subgroups.clear();
        seat.subgroups.resize(here.width.div_ceil(here.subgroup_size.max(1)), Barriers::default());
        seat.fenced_since = false;
        for fences in seat.fenced.iter_mut().chain(&mut seat.fenced_before) {
            fences.clear();
            fences.resize(here.width, 0);
        }
        let forget = seat.shared.forget().then_some(Forget);
        seat.shared_floor = seat.shared.first();
        forget
    }

    /// Stamps an access. The point and the visit of `stamp` are filled in.
    pub(super) fn stamp(&mut self, here: &Here, class: Class, mut stamp: Stamp) -> Now {
        let seat = &mut self.seats[here.seat];
        stamp.visit = seat.visit;
        stamp.point = seat.point;
        let stamps = match class {
            Class::Buffers => &mut self.buffers,
            Class::Shared => &mut seat.shared,
        };
        let number = seat.recent[class as usize].number(stamp, stamps);
        let subgroup_size = u32::try_from(here.subgroup_size.max(1)).unwrap_or(u32::MAX);
        Now { seat: here.seat, class, number, stamp, subgroup_size }
    }

    fn stamps(&self, now: &Now) -> &Stamps {
        match now.class {
            Class::Buffers => &self.buffers,
            Class::Shared => &self.seats[now.seat].shared,
        }
    }

    /// Accesses with stamps before this one are ordered before everything that comes.
    pub(super) fn floor(&self, now: &Now) -> u32 {
        match now.class {
            Class::Buffers => self.buffers.first(),
            Class::Shared => self.seats[now.seat].shared_floor,
        }
    }

    pub(super) fn known(&self, now: &Now, number: u32) -> Option<&Stamp> {
        self.stamps(now).get(number)
    }

    pub(super) fn visit(&self, number: u32) -> Option<&Visit> {
        self.visits.get(number as usize)
    }

    /// Whether an invocation may know of another by release and acquire.
    pub(super) fn is_synchronised(&self, class: Class) -> bool {
        match class {
            Class::Buffers => !self.domains[WITHIN].is_quiet() || !self.domains[ACROSS].is_quiet(),
            Class::Shared => !self.domains[SHARED].is_quiet(),
        }
    }

    /// Whether an atomic of these semantics can release or acquire anything.
    pub(super) fn may_synchronise(&self, semantics: u32) -> bool {
        sides(semantics).release || Class::ALL.iter().any(|class| self.is_synchronised(*class))
    }

    pub(super) fn standing(&self, now: &Now, number: u32, meeting: Meeting) -> Standing {
        let Some(stamp) = self.known(now, number) else { return Standing::Ordered };
        if stamp.visit != now.stamp.visit {
            return Standing::Other;
        }
        let barriers = &self.seats[now.seat].barriers;
        let last = match meeting {
            Meeting::AfterWrite => barriers.covering[now.class as usize],
            Meeting::AfterRead => barriers.any,
        };
        if stamp.point < last { Standing::Ordered } else { Standing::Mine }
    }

    /// What is missing for the access of `lane` to be ordered after an earlier one.
    pub(super) fn missing(
        &self,
        now: &Now,
        lane: u32,
        earlier: Trace,
        meeting: Meeting,
    ) -> Option<Missing> {
        let stamp = self.known(now, earlier.stamp)?;
        // With release and acquire in play only the last of several is looked at: the others may
        // have been ordered before it one by one.
        let synchronised = self.is_synchronised(now.class);
        let plural = match earlier.who.plural() {
            Plural::Several if synchronised => Plural::One,
            plural => plural,
        };
        let here = stamp.visit == now.stamp.visit && plural != Plural::Several;
        if here && plural == Plural::One && earlier.who.lane() == lane {
            return None;
        }
        let together = plural <= Plural::Subgroup
            && here
            && earlier.who.lane() / now.subgroup_size == lane / now.subgroup_size;
        if stamp.deed.is_atomic() && now.stamp.deed.is_atomic() {
            let needed = match (together, here) {
                (true, _) => Scope::Subgroup,
                (_, true) => Scope::Workgroup,
                _ => Scope::Device,
            };
            return (stamp.scope.min(now.stamp.scope) < needed).then_some(Missing::Scope);
        }
        if here {
            self.missing_within(now, lane, (stamp, earlier), meeting, together)
        } else {
            self.missing_across(now, lane, (stamp, earlier), meeting)
        }
    }

    fn missing_within(
        &self,
        now: &Now,
        lane: u32,
        (stamp, earlier): (&Stamp, Trace),
        meeting: Meeting,
        together: bool,
    ) -> Option<Missing> {
        let seat = &self.seats[now.seat];
        let class = now.class as usize;
        let point = stamp.point;
        let mut met = point < seat.barriers.any;
        let mut last = seat.barriers;
        if together && let Some(own) = seat.subgroups.get((lane / now.subgroup_size) as usize) {
            met |= point < own.any;
            last.any = last.any.max(own.any);
            last.covering[class] = last.covering[class].max(own.covering[class]);
        }
        if point < last.covering[class] || met && meeting == Meeting::AfterRead {
            return None;
        }
        // A fence of the one before the barrier or of the other after it does the same.
        let fence = |fences: &[Vec<u32>; 2], lane: u32| {
            fences[class].get(lane as usize).copied().unwrap_or(0)
        };
        let fenced = point < fence(&seat.fenced_before, earlier.who.lane())
            || last.any < fence(&seat.fenced, lane);
        if met && fenced {
            return None;
        }
        let domain = match now.class {
            Class::Shared => SHARED,
            Class::Buffers => WITHIN,
        };
        let agent = Agent { visit: stamp.visit, lane: earlier.who.lane() };
        if self.domains[domain].knows(now.seat, lane, agent, point) {
            return None;
        }
        if met {
            return Some(Missing::Visibility);
        }
        let same = stamp.place == now.stamp.place && stamp.deed == now.stamp.deed;
        Some(if same && stamp.deed.writes() { Missing::Lockstep } else { Missing::Barrier })
    }

    fn missing_across(
        &self,
        now: &Now,
        lane: u32,
        (stamp, earlier): (&Stamp, Trace),
        meeting: Meeting,
    ) -> Option<Missing> {
        let agent = Agent { visit: stamp.visit, lane: earlier.who.lane() };
        if self.domains[ACROSS].knows(now.seat, lane, agent, stamp.point) {
            let coherent = meeting == Meeting::AfterRead
                || (stamp.coherent || stamp.deed.is_atomic())
                    && (now.stamp.coherent || now.stamp.deed.is_atomic());
            return (!coherent).then_some(Missing::Coherence);
        }
        let dispatch = |visit: u32| self.visit(visit).map(|visit| visit.dispatch);
        if dispatch(stamp.visit) == dispatch(now.stamp.visit) {
            Some(Missing::DeviceSync)
        } else {
            Some(Missing::RecordedBarrier)
        }
    }

    /// The workgroup's time goes on.
    fn pass(&mut self, seat: usize) -> u32 {
        self.tick += 1;
        self.seats[seat].point = self.tick;
        self.tick
    }

    /// Invocations have met at a barrier.
    pub(super) fn barrier(
        &mut self,
        here: &Here,
        lanes: impl Iterator<Item = usize> + Clone,
        (execution, memory): (Scope, Scope),
        semantics: u32,
    ) {
        if execution == Scope::Invocation {
            return self.fence(here, lanes, memory, semantics);
        }
        if memory == Scope::Device && Class::Buffers.is_in(semantics) {
            self.fence(here, lanes.clone(), memory, semantics);
        }
        let point = self.pass(here.seat);
        let seat = &mut self.seats[here.seat];
        let meet = |barriers: &mut Barriers| {
            barriers.any = point;
            for class in Class::ALL {
                if class.is_in(semantics) && memory >= execution.min(Scope::Workgroup) {
                    barriers.covering[class as usize] = point;
                }
            }
        };
        if execution == Scope::Subgroup {
            let mut last = None;
            for subgroup in lanes.map(|lane| lane / here.subgroup_size.max(1)) {
                if last != Some(subgroup) {
                    last = Some(subgroup);
                    seat.subgroups.get_mut(subgroup).map(meet);
                }
            }
            return;
        }
        meet(&mut seat.barriers);
        if seat.barriers.covering[Class::Shared as usize] == point {
            seat.shared_floor = seat.shared.next();
        }
        if seat.fenced_since {
            seat.fenced_since = false;
            for (before, now) in seat.fenced_before.iter_mut().zip(&seat.fenced) {
                before.copy_from_slice(now);
            }
        }
        for domain in &mut self.domains {
            domain.barrier(here.seat, lanes.clone());
        }
        if memory == Scope::Device && Class::Buffers.is_in(semantics) {
            self.fence(here, lanes, memory, semantics);
        }
    }

    /// Invocations execute a fence.
    pub(super) fn fence(
        &mut self,
        here: &Here,
        lanes: impl Iterator<Item = usize> + Clone,
        scope: Scope,
        semantics: u32,
    ) {
        let point = self.pass(here.seat);
        let seat = &mut self.seats[here.seat];
        for class in Class::ALL {
            if !class.is_in(semantics) || scope < Scope::Workgroup {
                continue;
            }
            seat.fenced_since = true;
            for lane in lanes.clone() {
                if let Some(fence) = seat.fenced[class as usize].get_mut(lane) {
                    *fence = point;
                }
            }
            for domain in domains(class, scope) {
                let covered = seat.barriers.covering[class as usize];
                for lane in lanes.clone() {
                    let domain = &mut self.domains[domain];
                    domain.fence(here.seat, lane, sides(semantics), point, covered);
                }
            }
        }
    }

    /// One invocation's turn at an atomic: what its semantics and its fences publish and acquire.
    pub(super) fn atomic(
        &mut self,
        here: &Here,
        lane: usize,
        (scope, semantics): (Scope, u32),
        location: Location,
        deed: Turn,
    ) {
        let sides = sides(semantics);
        let point = if sides.release { self.pass(here.seat) } else { 0 };
        for class in Class::ALL {
            let covered = self.seats[here.seat].barriers.covering[class as usize];
            for domain in domains(class, scope) {
                let domain = &mut self.domains[domain];
                let fences = class.is_in(semantics);
                let half = |acquire, release| Sides { acquire, release };
                if fences && sides.release {
                    domain.fence(here.seat, lane, half(false, true), point, covered);
                }
                if deed.reads {
                    domain.observe(here.seat, lane, location);
                }
                if deed.writes {
                    domain.publish(here.seat, lane, location);
                }
                if fences && sides.acquire {
                    domain.fence(here.seat, lane, half(true, false), point, covered);
                }
            }
        }
    }
}

/// What an atomic does to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

impl Turn {
    pub(super) const fn deed(self) -> Deed {
        if self.writes { Deed::AtomicWrite } else { Deed::AtomicRead }
    }
}

/// The domains in which a fence or atomic of this scope counts.
fn domains(class: Class, scope: Scope) -> impl Iterator<Item = usize> {
    let reaches = move |domain: &usize| match *domain {
        SHARED => class == Class::Shared && scope >= Scope::Workgroup,
        WITHIN => class == Class::Buffers && scope >= Scope::Workgroup,
        _ => class == Class::Buffers && scope == Scope::Device,
    };
    (0..3).filter(reaches)
}
