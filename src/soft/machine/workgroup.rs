//! One workgroup: registers, shared memory, parts, barriers.

use crate::device::Hazard;
use crate::soft::error::SoftError;
use crate::soft::findings::{Party, describe};
use crate::soft::lower::mix;
use crate::soft::observer::{Here, Moment};
use crate::soft::program::{BlockId, End, PlaceId, Scope};
use crate::soft::registers::{Active, Registers};

use super::access::component;
use super::part::{Fuel, Part, State};
use super::{World, builtins, width};

/// How a run of a workgroup ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Done,
    /// It used up its slice; somebody else may have to go first.
    Stalled,
}

pub(crate) struct Workgroup {
    pub(crate) registers: Registers,
    pub(crate) shared: Vec<u8>,
    pub(crate) parts: Vec<Part>,
    pub(crate) here: Here,
    /// Registers for addresses, used by one instruction at a time.
    pub(crate) scratch: Vec<u32>,
    pub(crate) bits: [Vec<u64>; 2],
    /// The place that was executed last, for a hang.
    pub(crate) last: PlaceId,
    /// The block at hand.
    pub(crate) block: BlockId,
    /// Where each invocation last parted from others that it ran with.
    pub(crate) parted: Vec<PlaceId>,
    order: Vec<usize>,
    seat: usize,
}

impl Workgroup {
    pub(super) fn new(world: &World<'_>, here: Here) -> Self {
        let width = width(world.program);
        let mut registers = Registers::new(world.program.slot_count as usize, width);
        for (slot, word) in &world.program.constants {
            registers.get_mut(*slot).fill(*word);
        }
        for pushed in &world.program.pushed {
            let words = component(world.request.push, pushed.scalar, pushed.at);
            for (slot, word) in (pushed.slot..).zip(words).take(pushed.scalar.words() as usize) {
                registers.get_mut(slot).fill(word);
            }
        }
        builtins::fill(&mut registers, world.program, world.request, &here);
        let size = match is_split(world) {
            true => world.request.subgroup_size as usize,
            false => width,
        };
        let count = width.div_ceil(size);
        let parts = (0..count).map(|at| {
            Part::new(at * size..((at + 1) * size).min(width), width, world.by_rank.len())
        });
        let words = width.div_ceil(64);
        Self {
            registers,
            shared: vec![0; world.program.shared_bytes as usize],
            parts: parts.collect(),
            here,
            scratch: vec![0; width],
            bits: [vec![0; words], vec![0; words]],
            last: 0,
            block: 0,
            parted: vec![0; width],
            order: (0..count).collect(),
            seat: here.seat,
        }
    }

    pub(super) fn seat(&self) -> usize {
        self.seat
    }

    pub(super) fn part_count(&self) -> u64 {
        self.parts.len() as u64
    }

    /// Begins another workgroup in the same registers.
    pub(super) fn start(&mut self, world: &mut World<'_>, here: Here) {
        self.here = here;
        builtins::move_to(&mut self.registers, world.program, &here);
        // A NaN that nobody mistakes for a result, and not what another workgroup left there.
        for word in self.shared.chunks_mut(4) {
            word.copy_from_slice(&0xffc0_dead_u32.to_le_bytes()[..word.len()]);
        }
        for variable in world.program.shared.iter().filter(|variable| variable.is_zeroed) {
            let (start, len) = (variable.offset as usize, variable.bytes as usize);
            self.shared[start..start + len].fill(0);
        }
        self.parted.fill(0);
        let first = world.ranks.first().copied().unwrap_or(0);
        for part in &mut self.parts {
            part.start(first);
        }
        if world.request.schedule != 0 {
            let seed = mix(world.request.schedule ^ u64::from(here.linear));
            let salt = |at: usize| mix(seed ^ u64::try_from(at).unwrap_or(0));
            self.order.sort_by_key(|at| salt(*at));
        }
        let program = world.program;
        world.observers.each(|observer| observer.workgroup(program, &here));
    }

    /// Whether nothing but a change of memory can get it on.
    pub(super) fn is_looping(&self) -> bool {
        self.parts.iter().all(|part| part.state != State::Running || part.is_looping())
    }

    /// Runs until all parts are done or the slices are used up.
    pub(super) fn run(
        &mut self,
        world: &mut World<'_>,
        fuel: &mut Fuel,
    ) -> Result<Ended, SoftError> {
        loop {
            let mut is_stalled = false;
            for index in 0..self.order.len() {
                let at = self.order[index];
                if self.parts[at].state == State::Running {
                    fuel.refill();
                    self.run_part(world, at, fuel)?;
                    is_stalled |= self.parts[at].state == State::Running;
                }
            }
            if is_stalled {
                return Ok(Ended::Stalled);
            }
            if self.parts.iter().all(|part| part.state == State::Done) {
                return Ok(Ended::Done);
            }
            self.pass_barrier(world);
        }
    }

    /// Everybody who still runs waits at a barrier: it opens.
    fn pass_barrier(&mut self, world: &mut World<'_>) {
        let mut arrived = vec![0_u64; self.bits[0].len()];
        let mut barriers: Vec<(PlaceId, Scope, u32)> = Vec::new();
        for part in &self.parts {
            if let State::AtBarrier { at, memory, semantics, .. } = part.state {
                arrived.iter_mut().zip(part.active.bits()).for_each(|(all, more)| *all |= more);
                if !barriers.contains(&(at, memory, semantics)) {
                    barriers.push((at, memory, semantics));
                }
            }
        }
        let width = self.here.width;
        let together = Active::new(0..width, &arrived, width);
        let Some((at, memory, semantics)) = barriers.first().copied() else { return };
        if !together.is_full() {
            self.missing(world, at, &together);
        } else if let Some((other, ..)) = barriers.get(1) {
            self.two_barriers(world, at, *other);
        }
        let mut parts = std::mem::take(&mut self.parts);
        let (program, memory_now) = (world.program, &*world.memory);
        for observer in &mut world.observers.0 {
            let mut moment = Moment {
                program,
                at,
                registers: &mut self.registers,
                memory: memory_now,
                active: &together,
                here: self.here,
                findings: world.findings,
            };
            observer.barrier(&mut moment, Scope::Workgroup, memory, semantics);
        }
        for part in &mut parts {
            if let State::AtBarrier { block, next, .. } = part.state {
                part.resume = Some((block, next));
                part.state = State::Running;
            }
        }
        self.parts = parts;
    }

    /// Some invocations don't come to a barrier.
    fn missing(&self, world: &mut World<'_>, at: PlaceId, arrived: &Active) {
        let Some(lane) = (0..self.here.width).find(|lane| !arrived.has(*lane)) else { return };
        let count = self.here.width - arrived.count();
        let is_waiting = self.parts.iter().any(|part| part.where_is(lane).is_some());
        let (what, why) = match is_waiting {
            true => ("goes another way", "is elsewhere"),
            false => ("ends, or goes another way", "has ended"),
        };
        let parted = self.parted[lane];
        let other = (parted != 0).then(|| {
            let invocation = Some((self.here.workgroup, lane));
            describe(world.program, Party { what, at: parted, invocation })
        });
        let width = self.here.width;
        let party = Party {
            what: "waits at a barrier",
            at,
            invocation: arrived.first().map(|lane| (self.here.workgroup, lane)),
        };
        let workgroup = self.here.workgroup;
        world.findings.report(world.program, Hazard::DivergentBarrier, party, other, None, || {
            format!(
                "{count} of {width} invocations don't reach this barrier: invocation {lane} of \
                 workgroup {workgroup:?} {why}"
            )
        });
    }

    fn two_barriers(&self, world: &mut World<'_>, at: PlaceId, other: PlaceId) {
        let party = |at, what| Party { what, at, invocation: None };
        let other = describe(world.program, party(other, "waits at another barrier"));
        let act = party(at, "waits at a barrier");
        world.findings.report(
            world.program,
            Hazard::DivergentBarrier,
            act,
            Some(other),
            None,
            || "invocations of a workgroup wait at different barriers".to_owned(),
        );
    }

    /// Where the workgroup is while it doesn't get on: the line of a loop if there is one.
    pub(super) fn loops_at(&self, world: &World<'_>) -> PlaceId {
        let has_line =
            |at: PlaceId| world.program.places.get(at as usize).is_some_and(|place| place.line > 0);
        let waiting = self.parts.iter().filter(|part| part.state == State::Running);
        let mut blocks = waiting.filter_map(|part| part.first_waiting()).map(|(rank, _)| rank);
        let mut pending: Vec<BlockId> = blocks
            .next()
            .and_then(|rank| world.by_rank.get(rank as usize).copied())
            .into_iter()
            .collect();
        let mut seen = vec![false; world.program.blocks.len()];
        // The first line from there on: the head of a loop may have none.
        let mut at = None;
        while let (None, Some(block)) = (at, pending.pop()) {
            if std::mem::replace(&mut seen[block as usize], true) {
                continue;
            }
            let block = &world.program.blocks[block as usize];
            let places = block.instrs.iter().map(|instr| instr.at).chain([block.end_place]);
            at = places.into_iter().find(|at| has_line(*at));
            match &block.end {
                End::Jump(to) => pending.push(*to),
                End::Branch { yes, no, .. } => pending.extend([*no, *yes]),
                End::Switch { default, .. } => pending.push(*default),
                End::Return | End::Unreachable => {}
            }
        }
        at.unwrap_or(self.last)
    }
}

/// Whether subgroups run for themselves: where one may wait for another, and in some schedules, so
/// that their order varies.
fn is_split(world: &World<'_>) -> bool {
    world.program.has.waiting
        || (world.request.schedule != 0 && mix(world.request.schedule) & 4 == 4)
}
