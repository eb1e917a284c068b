//! Races: two accesses of which one writes, and nothing orders them.
//!
//! What counts is what happens before what, never which values were seen: the machine may run a
//! workgroup in lockstep and workgroups one after another, and that orders nothing.
//!
//! - Eras, which recorded barriers divide, are ordered; dispatches of one era are not.
//! - In a workgroup a control barrier orders what its semantics speak of. GLSL's `barrier()` speaks
//!   of shared memory only. Around it a buffer may be overwritten after it was read, since a read
//!   that is done needs nothing made visible; but what was written must not be read or overwritten
//!   unless the writer executed a buffer fence before the barrier, or the other one after it.
//! - In a subgroup only control barriers of subgroup scope order, neither lockstep nor a fence.
//! - Atomics race with atomics only where a scope is too narrow.
//! - Workgroups are ordered by release and acquire at device scope ([`clocks`]), and then both
//!   accesses have to be coherent, unless the earlier one reads.
//!
//! A cell remembers one writer and one reader, exactly; other readers since the last write are
//! remembered by how far they spread. Thus a word whose bytes several invocations write shows races
//! with the last of them only.

mod cells;
mod clocks;
mod column;
mod order;
mod report;
mod stamps;

#[cfg(test)]
mod tests;

use crate::device::Hazard;
use crate::soft::memory::Memory;
use crate::soft::observer::{Here, Moment, Observer, Reach, Target};
use crate::soft::program::{Access, Atomic, OUTSIDE, Program, Scope};
use crate::soft::registers::{Active, Registers};
use rspirv::spirv::Op;

use cells::Shadow;
use clocks::Location;
use column::{Clash, Column, Lanes, Motion};
use order::{Class, Now, Order, Turn};
use report::Accessor;
use stamps::{Deed, Stamp};

/// The observer of races.
#[derive(Debug, Default)]
pub(crate) struct Races {
    order: Order,
    /// By the buffer's number.
    buffers: Vec<Option<Shadow>>,
    /// By seat.
    shared: Vec<Option<Shadow>>,
    /// What messages need of the programs that ran.
    programs: Vec<Program>,
    program: usize,
    era: u32,
    dispatch: Option<u32>,
    clashes: Vec<Clash>,
}

impl Races {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Looks at an access and says what it clashes with.
    fn look(
        &mut self,
        moment: &Moment<'_>,
        access: &Access,
        reach: &Reach<'_>,
        stamp: Stamp,
    ) -> Now {
        let class = match reach.target {
            Target::Shared => Class::Shared,
            _ => Class::Buffers,
        };
        let now = self.order.stamp(&moment.here, class, stamp);
        let place = match reach.target {
            Target::Buffer(at) => slot(&mut self.buffers, at),
            _ => slot(&mut self.shared, moment.here.seat),
        };
        let shadow = place.get_or_insert_with(|| {
            Shadow::new(match reach.target {
                Target::Buffer(at) => buffer(moment.memory, at).map_or(0, |it| it.bytes.len()),
                _ => moment.program.shared_bytes as usize,
            })
        });
        let motion = if stamp.deed.writes() { Motion::Write } else { Motion::Read };
        let mut column = Column::new(&self.order, now, &mut self.clashes);
        let bytes = access.scalar.bytes();
        let lanes = moment.active.lanes();
        let lane = u32::try_from(lanes.start).unwrap_or(u32::MAX);
        if moment.active.is_full() {
            let bytes_at = &reach.bytes_at[lanes];
            column.sweep(shadow, motion, Lanes { lane, bytes_at, bytes });
        } else {
            for lane in moment.active.iter() {
                let at = reach.bytes_at[lane];
                let lane = u32::try_from(lane).unwrap_or(u32::MAX);
                column.touch(shadow, motion, lane, (at, bytes));
            }
        }
        now
    }

    /// Tells of the clashes, of each kind once for the whole column.
    fn tell(&mut self, moment: &mut Moment<'_>, access: &Access, reach: &Reach<'_>, now: Now) {
        let mut told = Vec::new();
        for clash in std::mem::take(&mut self.clashes) {
            let Some(stamp) = self.order.known(&now, clash.earlier.stamp).copied() else {
                continue;
            };
            let hazard = if stamp.deed == Deed::Write
                && now.stamp.deed == Deed::Write
                && is_same_value(moment, access, reach, &clash, now.number)
            {
                Hazard::SameValueRace
            } else {
                Hazard::Race
            };
            let kind = (clash.earlier.stamp, clash.missing, hazard);
            if told.contains(&kind) {
                continue;
            }
            told.push(kind);
            let Some(visit) = self.order.visit(stamp.visit) else { continue };
            let Some(program) = self.programs.get(visit.program) else { continue };
            let earlier = Accessor {
                program,
                stamp,
                workgroup: visit.workgroup,
                lane: clash.earlier.who.lane(),
            };
            let later = Accessor {
                program: moment.program,
                stamp: now.stamp,
                workgroup: moment.here.workgroup,
                lane: clash.lane,
            };
            let name = match reach.target {
                Target::Buffer(at) => buffer(moment.memory, at).map_or("", |it| it.name.as_str()),
                _ => "",
            };
            let byte = reach.bytes_at[clash.lane as usize];
            let spot = report::spot(moment.program, access, reach, name, byte);
            report::tell(moment.findings, hazard, (later, earlier), spot, clash.missing);
        }
    }

    fn start_era(&mut self, era: u32) {
        self.era = era;
        if self.order.start_era().is_some() {
            self.buffers.iter_mut().flatten().for_each(Shadow::clear);
        }
    }
}

impl Observer for Races {
    fn follows_values(&self) -> bool {
        false
    }

    fn free(&mut self, buffer: usize) {
        if let Some(shadow) = self.buffers.get_mut(buffer) {
            *shadow = None;
        }
    }

    fn dispatch(&mut self, program: &Program, here: &Here) {
        // Dispatches are counted anew in every recording, and recordings are ordered.
        if here.era != self.era || self.dispatch.is_none_or(|last| here.dispatch <= last) {
            self.start_era(here.era);
        }
        self.dispatch = Some(here.dispatch);
        self.shared.clear();
        let known = |it: &Program| {
            it.name == program.name
                && it.local_size == program.local_size
                && it.places == program.places
                && it.files == program.files
        };
        self.program = self.programs.iter().position(known).unwrap_or_else(|| {
            self.programs.push(Program {
                name: program.name.clone(),
                local_size: program.local_size,
                places: program.places.clone(),
                files: program.files.clone(),
                ..Program::default()
            });
            self.programs.len() - 1
        });
    }

    fn workgroup(&mut self, _program: &Program, here: &Here) {
        if self.order.start_workgroup(here, self.program).is_some()
            && let Some(Some(shadow)) = self.shared.get_mut(here.seat)
        {
            shadow.clear();
        }
    }

    fn load(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        if reach.target != Target::Push {
            let now = self.look(moment, access, &reach, stamp(moment, access, Deed::Read));
            self.tell(moment, access, &reach, now);
        }
    }

    fn store(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        if reach.target != Target::Push {
            let now = self.look(moment, access, &reach, stamp(moment, access, Deed::Write));
            self.tell(moment, access, &reach, now);
        }
    }

    fn atomic(
        &mut self,
        moment: &mut Moment<'_>,
        atomic: &Atomic,
        reach: Reach<'_>,
        order: &[usize],
    ) {
        let turn =
            Turn { reads: atomic.op != Op::AtomicStore, writes: atomic.op != Op::AtomicLoad };
        let access = &atomic.access;
        let stamp = Stamp { scope: atomic.scope, ..stamp(moment, access, turn.deed()) };
        let now = self.look(moment, access, &reach, stamp);
        self.tell(moment, access, &reach, now);
        if !self.order.may_synchronise(atomic.semantics) {
            return;
        }
        for lane in order {
            let word = match reach.bytes_at[*lane] {
                OUTSIDE => continue,
                byte => byte / 4,
            };
            let location = match reach.target {
                Target::Buffer(at) => Location::Buffer(at, word),
                _ => Location::Shared(moment.here.seat, word),
            };
            let reach = (atomic.scope, atomic.semantics);
            self.order.atomic(&moment.here, *lane, reach, location, turn);
        }
    }

    fn barrier(
        &mut self,
        moment: &mut Moment<'_>,
        execution: Scope,
        memory: Scope,
        semantics: u32,
    ) {
        let lanes = lanes(moment.active);
        self.order.barrier(&moment.here, lanes, (execution, memory), semantics);
    }

    fn fence(&mut self, moment: &mut Moment<'_>, scope: Scope, semantics: u32) {
        self.order.fence(&moment.here, lanes(moment.active), scope, semantics);
    }
}

fn slot(shadows: &mut Vec<Option<Shadow>>, at: usize) -> &mut Option<Shadow> {
    if shadows.len() <= at {
        shadows.resize_with(at + 1, || None);
    }
    &mut shadows[at]
}

fn buffer(memory: &Memory, at: usize) -> Option<&crate::soft::memory::Buffer> {
    memory.buffers.get(at)?.as_ref()
}

fn lanes(active: &Active) -> impl Iterator<Item = usize> + Clone + use<'_> {
    active.lanes().filter(|lane| active.has(*lane))
}

fn stamp(moment: &Moment<'_>, access: &Access, deed: Deed) -> Stamp {
    Stamp {
        place: moment.at,
        visit: 0,
        point: 0,
        deed,
        scope: Scope::Invocation,
        coherent: access.manner.coherent || access.manner.volatile,
    }
}

/// Whether a store writes what an earlier one of the same instruction writes, or what is there.
fn is_same_value(
    moment: &Moment<'_>,
    access: &Access,
    reach: &Reach<'_>,
    clash: &Clash,
    number: u32,
) -> bool {
    let (me, other) = (clash.lane as usize, clash.earlier.who.lane() as usize);
    let together = clash.earlier.stamp == number
        && other < me
        && moment.active.has(other)
        && reach.bytes_at[other] == reach.bytes_at[me];
    let new = value(moment.registers, access, me);
    if together {
        return value(moment.registers, access, other) == new;
    }
    let Target::Buffer(at) = reach.target else { return false };
    let from = reach.bytes_at[me] as usize;
    let len = access.scalar.bytes() as usize;
    buffer(moment.memory, at)
        .and_then(|buffer| buffer.bytes.get(from..from + len))
        .is_some_and(|old| old == &new[..len])
}

/// The bytes that an invocation stores.
fn value(registers: &Registers, access: &Access, lane: usize) -> [u8; 8] {
    let mut bytes = [0; 8];
    for word in 0..access.scalar.words() {
        let at = word as usize * 4;
        let value = registers.get(access.value + word)[lane];
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    bytes
}
