//! Executes a program, workgroup by workgroup.
//!
//! A workgroup is one or more parts that run together: all of it, or each subgroup for itself. A
//! part always runs the first block that any of its invocations waits at ([`super::lower::order`]),
//! with those that wait there. A part that waits for others too long gives way, first to other
//! parts, then to other workgroups; when nobody gets on, the kernel hangs.

mod access;
mod addresses;
mod atomic;
mod builtins;
mod exec;
mod part;
mod refused;
mod workgroup;

use super::error::SoftError;
use super::findings::{Findings, describe};
use super::lower::{mix, order};
use super::memory::{Memory, View};
use super::observer::Here;
use super::observers::Observers;
use super::program::{PlaceId, Program};

use part::Fuel;
use workgroup::{Ended, Workgroup};

/// What is run, and on what.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request<'a> {
    pub(crate) groups: [u32; 3],
    /// One for each of the program's buffers.
    pub(crate) views: Vec<View>,
    pub(crate) push: &'a [u8],
    /// Chooses the order of workgroups, subgroups and arms; 0 is the plain one.
    pub(crate) schedule: u64,
    pub(crate) subgroup_size: u32,
    /// Dispatches before this one in the recording.
    pub(crate) dispatch: u32,
    /// Barriers before it.
    pub(crate) era: u32,
    /// Instructions that a workgroup may execute, each for a whole part at a time.
    pub(crate) fuel: u64,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executed {
    pub(crate) lane_instructions: u64,
}

/// Workgroups that may wait for each other at a time.
const LIMIT_SEATS: usize = 64;

/// What their registers may take together.
const LIMIT_SEAT_BYTES: u64 = 1 << 30;

/// How many workgroups there is room for: two at least, since one may wait for another.
fn seats(program: &Program) -> usize {
    let lanes = u64::try_from(width(program)).unwrap_or(u64::MAX);
    let bytes = lanes.saturating_mul(4).saturating_mul(u64::from(program.slot_count));
    let fit = LIMIT_SEAT_BYTES / bytes.max(1);
    usize::try_from(fit).unwrap_or(usize::MAX).clamp(2, LIMIT_SEATS)
}

/// Everything that a workgroup needs from outside while it runs.
pub(crate) struct World<'a> {
    pub(crate) program: &'a Program,
    pub(crate) request: &'a Request<'a>,
    /// Ranks of blocks and blocks by rank.
    pub(crate) ranks: Vec<u32>,
    pub(crate) by_rank: Vec<u32>,
    pub(crate) memory: &'a mut Memory,
    pub(crate) observers: &'a mut Observers,
    pub(crate) findings: &'a mut Findings,
    pub(crate) follows_values: bool,
    pub(crate) lane_instructions: u64,
    /// Goes up whenever memory may have changed.
    pub(crate) changes: u64,
    /// Invocations that executed each block, for costs by line.
    pub(crate) profile: Option<Vec<u64>>,
}

/// Runs a dispatch; with a profile, counts the invocations that execute each block.
pub(crate) fn run(
    program: &Program,
    request: &Request<'_>,
    memory: &mut Memory,
    observers: &mut Observers,
    findings: &mut Findings,
    profile: &mut Option<Vec<u64>>,
) -> Result<Executed, SoftError> {
    check(program, request)?;
    let ranks = order(program, request.schedule);
    let mut by_rank = vec![0; ranks.iter().filter(|rank| **rank != u32::MAX).count()];
    for (block, rank) in (0..).zip(&ranks) {
        if let Some(place) = by_rank.get_mut(*rank as usize) {
            *place = block;
        }
    }
    let here = Here {
        dispatch: request.dispatch,
        era: request.era,
        subgroup_size: request.subgroup_size as usize,
        width: width(program),
        ..Here::default()
    };
    observers.each(|observer| observer.dispatch(program, &here));
    let follows_values = observers.0.iter().any(|observer| observer.follows_values());
    let mut world = World {
        program,
        request,
        ranks,
        by_rank,
        memory,
        observers,
        findings,
        follows_values,
        lane_instructions: 0,
        changes: 0,
        profile: profile.take(),
    };
    let ended = all(&mut world, here);
    *profile = world.profile.take();
    ended?;
    Ok(Executed { lane_instructions: world.lane_instructions })
}

fn width(program: &Program) -> usize {
    program.local_size.iter().map(|n| *n as usize).product()
}

/// Runs every workgroup; those that wait for another are kept until it has run.
fn all(world: &mut World<'_>, here: Here) -> Result<(), SoftError> {
    let order = GroupOrder::new(world.request);
    let seats = seats(world.program);
    let mut waiting: Vec<(Workgroup, Fuel)> = Vec::new();
    // Those that have ended, with their seats, and how many seats were ever taken.
    let (mut spare, mut taken): (Vec<Workgroup>, usize) = (Vec::new(), 0);
    let mut next = 0;
    loop {
        if next < order.count && waiting.len() < seats {
            let (workgroup, linear) = order.at(next);
            next += 1;
            let mut group = match spare.pop() {
                Some(spare) => spare,
                None => {
                    taken += 1;
                    Workgroup::new(world, Here { seat: taken - 1, ..here })
                }
            };
            let seat = group.seat();
            group.start(world, Here { workgroup, linear, seat, ..here });
            // Parts execute each for themselves what a whole workgroup executes once.
            let mut fuel = Fuel::new(world.request.fuel.saturating_mul(group.part_count()));
            match group.run(world, &mut fuel)? {
                Ended::Done => spare.push(group),
                Ended::Stalled => waiting.push((group, fuel)),
            }
            continue;
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let mut is_stuck = true;
        let before = world.changes;
        let mut at = 0;
        while at < waiting.len() {
            let (group, fuel) = &mut waiting[at];
            match group.run(world, fuel)? {
                Ended::Done => {
                    let (group, _) = waiting.remove(at);
                    spare.push(group);
                    is_stuck = false;
                }
                Ended::Stalled => {
                    is_stuck &= fuel.is_empty() || group.is_looping();
                    at += 1;
                }
            }
        }
        if is_stuck && world.changes == before {
            let (group, fuel) = &waiting[0];
            return Err(hang(world, group.loops_at(world), fuel.used()));
        }
    }
}

fn hang(world: &World<'_>, at: PlaceId, instructions: u64) -> SoftError {
    let party = super::findings::Party { what: "loops", at, invocation: None };
    let act = describe(world.program, party);
    let (file, line, text) = (act.file, act.line, act.text);
    SoftError::Hang { kernel: world.program.name.clone(), instructions, file, line, text }
}

fn check(program: &Program, request: &Request<'_>) -> Result<(), SoftError> {
    let wrong = |what: String| SoftError::Dispatch { kernel: program.name.clone(), what };
    if request.groups.contains(&0) {
        return Err(wrong(format!("a dispatch of {:?} workgroups", request.groups)));
    }
    if request.views.len() != program.buffers.len() {
        let (bound, declared) = (request.views.len(), program.buffers.len());
        return Err(wrong(format!("{bound} buffers are bound, {declared} declared")));
    }
    if request.push.len() < program.push_bytes as usize {
        let (given, needed) = (request.push.len(), program.push_bytes);
        return Err(wrong(format!("{given} bytes of push constants, {needed} needed")));
    }
    if !(1..=128).contains(&request.subgroup_size) || !request.subgroup_size.is_power_of_two() {
        return Err(wrong(format!("subgroups of {}", request.subgroup_size)));
    }
    Ok(())
}

/// A permutation of the workgroups that needs no table: steps of a number without a common factor.
struct GroupOrder {
    groups: [u32; 3],
    count: u64,
    start: u64,
    step: u64,
}

impl GroupOrder {
    fn new(request: &Request<'_>) -> Self {
        let groups = request.groups;
        let product = groups.iter().try_fold(1_u64, |n, axis| n.checked_mul(u64::from(*axis)));
        let count = product.unwrap_or(u64::MAX);
        if request.schedule == 0 {
            return Self { groups, count, start: 0, step: 1 };
        }
        let random = mix(request.schedule);
        let mut step = (random >> 32) % count.max(1);
        while gcd(step, count) != 1 {
            step += 1;
        }
        Self { groups, count, start: (random & 0xffff_ffff) % count.max(1), step }
    }

    fn at(&self, index: u64) -> ([u32; 3], u32) {
        let wide = u128::from(self.start) + u128::from(index) * u128::from(self.step);
        let linear = u64::try_from(wide % u128::from(self.count)).unwrap_or(0);
        let [x, y, _] = self.groups.map(u64::from);
        let axis = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        ([axis(linear % x), axis(linear / x % y), axis(linear / (x * y))], axis(linear))
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
