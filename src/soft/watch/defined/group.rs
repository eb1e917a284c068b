//! Subgroup operations: whose undefined bits come to whom.

use std::ops::Range;

use rspirv::spirv::Op;

use super::origins::Cause;
use super::shades::{Shades, Trace};
use super::transfer::all_bits;
use super::{Definedness, number, whole};
use crate::soft::matrix::Matrix;
use crate::soft::observer::{Here, Moment};
use crate::soft::program::{Group, GroupKind, Slot};
use crate::soft::scalar::Scalar;

impl Definedness {
    pub(super) fn see_group(&mut self, moment: &mut Moment<'_>, group: &Group) {
        self.scratch.clear();
        match group.op {
            Op::GroupNonUniformElect => self.settle(moment, group.dst[0]..group.dst[0] + 1),
            Op::GroupNonUniformBallot | Op::SubgroupBallotKHR => self.ballot(moment, group),
            Op::GroupNonUniformShuffle
            | Op::GroupNonUniformShuffleXor
            | Op::GroupNonUniformShuffleUp
            | Op::GroupNonUniformShuffleDown
            | Op::GroupNonUniformBroadcast
            | Op::GroupNonUniformBroadcastFirst
            | Op::GroupNonUniformQuadBroadcast
            | Op::GroupNonUniformQuadSwap
            | Op::GroupNonUniformRotateKHR
            | Op::SubgroupReadInvocationKHR
            | Op::SubgroupFirstInvocationKHR => self.shuffle(moment, group),
            Op::GroupNonUniformInverseBallot
            | Op::GroupNonUniformBallotBitExtract
            | Op::GroupNonUniformBallotBitCount
            | Op::GroupNonUniformBallotFindLSB
            | Op::GroupNonUniformBallotFindMSB => self.of_ballot(moment, group),
            _ => self.together(moment, group),
        }
    }

    /// Each invocation takes the value of another one.
    fn shuffle(&mut self, moment: &mut Moment<'_>, group: &Group) {
        let values = group.src[0]..group.src[0] + group.scalar.words();
        let index = group.src[1];
        let shades = &self.seats[moment.here.seat].shades;
        let first =
            matches!(group.op, Op::GroupNonUniformBroadcastFirst | Op::SubgroupFirstInvocationKHR);
        let mut firsts = Vec::new();
        if first {
            firsts = first_active(moment);
        }
        for lane in moment.active.iter() {
            if !first && shades.mask(index, lane) != 0 {
                let trace = self.origins.resolve(shades.trace(index, lane), moment.at, lane);
                self.scratch.push((lane, all_bits(group.scalar), trace));
                continue;
            }
            let size = moment.here.subgroup_size.max(1);
            let source = if first {
                firsts.get(lane / size).copied().flatten()
            } else {
                let by = moment.registers.get(index)[lane] as usize;
                source(group, lane % size, by, size).map(|at| lane / size * size + at)
            };
            let there = source.filter(|at| *at < moment.here.width && moment.active.has(*at));
            let Some(source) = there else {
                let origin = self.origins.intern(moment.at, Cause::Absent);
                let trace = Trace { origin, offset: 0, lane: number(lane) };
                self.scratch.push((lane, all_bits(group.scalar), trace));
                continue;
            };
            if let Some((mask, trace)) = undefined(shades, values.clone(), source) {
                let trace = self.origins.resolve(trace, moment.at, lane);
                self.scratch.push((lane, mask, trace));
            }
        }
        self.settle(moment, group.dst[0]..group.dst[0] + group.scalar.words());
    }

    /// Bit `i` of the result is the predicate of invocation `i`.
    fn ballot(&mut self, moment: &mut Moment<'_>, group: &Group) {
        let shades = &self.seats[moment.here.seat].shades;
        if !shades.is_live(group.src[0], moment.active) {
            for dst in group.dst {
                self.settle(moment, dst..dst + 1);
            }
            return;
        }
        let size = moment.here.subgroup_size.max(1);
        for (word, dst) in group.dst.into_iter().enumerate() {
            let shades = &self.seats[moment.here.seat].shades;
            for lane in moment.active.iter() {
                let start = lane / size * size + 32 * word;
                let end = (start + 32).min(lane / size * size + size).min(moment.here.width);
                let unsure = |from: &usize| {
                    moment.active.has(*from) && shades.mask(group.src[0], *from) & 1 != 0
                };
                let unsure: Vec<usize> = (start..end.max(start)).filter(unsure).collect();
                let Some(blamed) = unsure.first() else { continue };
                let mask = unsure.iter().fold(0, |mask, from| mask | 1 << (from - start));
                let trace = shades.trace(group.src[0], *blamed);
                let trace = self.origins.resolve(trace, moment.at, *blamed);
                self.scratch.push((lane, mask, trace));
            }
            self.settle(moment, dst..dst + 1);
        }
    }

    /// What each invocation learns of a ballot that it holds.
    fn of_ballot(&mut self, moment: &mut Moment<'_>, group: &Group) {
        let shades = &self.seats[moment.here.seat].shades;
        let index = group.op == Op::GroupNonUniformBallotBitExtract;
        let count = if index { 5 } else { 4 };
        for lane in moment.active.iter() {
            let slots = &group.src[..count];
            if let Some(slot) = slots.iter().find(|slot| shades.mask(**slot, lane) != 0) {
                let trace = self.origins.resolve(shades.trace(*slot, lane), moment.at, lane);
                self.scratch.push((lane, u64::from(u32::MAX), trace));
            }
        }
        self.settle(moment, group.dst[0]..group.dst[0] + 1);
    }

    /// Reductions, scans and votes: undefined where any value that goes into them is.
    fn together(&mut self, moment: &mut Moment<'_>, group: &Group) {
        let values = group.src[0]..group.src[0] + group.scalar.words();
        let vote = matches!(
            group.op,
            Op::GroupNonUniformAll | Op::GroupNonUniformAny | Op::GroupNonUniformAllEqual
        );
        let to = if vote { Scalar::Bool } else { group.scalar };
        let shades = &self.seats[moment.here.seat].shades;
        if values.clone().any(|slot| shades.is_live(slot, moment.active)) {
            for lane in moment.active.iter() {
                let mut from = operands(group.kind, lane, &moment.here);
                let found = from.find_map(|from| {
                    let there = moment.active.has(from);
                    let found = there.then(|| undefined(shades, values.clone(), from));
                    found.flatten().map(|(_, trace)| (from, trace))
                });
                if let Some((from, trace)) = found {
                    let trace = self.origins.resolve(trace, moment.at, from);
                    self.scratch.push((lane, all_bits(to), trace));
                }
            }
        }
        self.settle(moment, group.dst[0]..group.dst[0] + to.words());
    }

    /// A product takes from all of both factors; only the addend keeps to its element.
    pub(super) fn see_matrix(&mut self, moment: &mut Moment<'_>, matrix: &Matrix) {
        let size = moment.here.subgroup_size.max(1);
        let mut blamed: Vec<Option<Trace>> = vec![None; moment.here.width.div_ceil(size)];
        for (scalar, slots) in [&matrix.a, &matrix.b] {
            for slot in slots.iter().flat_map(|slot| *slot..*slot + scalar.words()) {
                let shades = &self.seats[moment.here.seat].shades;
                if !shades.is_live(slot, moment.active) {
                    continue;
                }
                for lane in moment.active.iter().filter(|lane| shades.mask(slot, *lane) != 0) {
                    let trace = shades.trace(slot, lane);
                    let trace = self.origins.resolve(trace, moment.at, lane);
                    blamed[lane / size].get_or_insert(trace);
                }
            }
        }
        let (scalar, addends) = &matrix.c;
        for (dst, addend) in matrix.dst.iter().zip(addends) {
            self.scratch.clear();
            for lane in moment.active.iter() {
                let shades = &self.seats[moment.here.seat].shades;
                let addend = undefined(shades, *addend..*addend + scalar.words(), lane);
                if let Some(trace) = blamed[lane / size].or(addend.map(|(_, trace)| trace)) {
                    let trace = self.origins.resolve(trace, moment.at, lane);
                    self.scratch.push((lane, all_bits(matrix.to), trace));
                }
            }
            self.settle(moment, *dst..*dst + matrix.to.words());
        }
    }
}

fn undefined(shades: &Shades, slots: Range<Slot>, lane: usize) -> Option<(u64, Trace)> {
    let mask = whole(slots.clone().map(|slot| shades.mask(slot, lane)));
    let blamed = slots.into_iter().find(|slot| shades.mask(*slot, lane) != 0)?;
    Some((mask, shades.trace(blamed, lane)))
}

/// The first active invocation of each subgroup.
fn first_active(moment: &Moment<'_>) -> Vec<Option<usize>> {
    let size = moment.here.subgroup_size.max(1);
    let mut firsts = vec![None; moment.here.width.div_ceil(size)];
    for lane in moment.active.iter() {
        firsts[lane / size].get_or_insert(lane);
    }
    firsts
}

/// The invocation in the subgroup whose value one takes.
fn source(group: &Group, lane: usize, by: usize, size: usize) -> Option<usize> {
    let from = match group.op {
        Op::GroupNonUniformShuffleXor => lane ^ by,
        Op::GroupNonUniformShuffleUp => lane.checked_sub(by)?,
        Op::GroupNonUniformShuffleDown => lane.checked_add(by)?,
        Op::GroupNonUniformQuadBroadcast => (by < 4).then_some(lane & !3 | by)?,
        Op::GroupNonUniformQuadSwap => (by < 3).then_some(lane ^ (by + 1))?,
        Op::GroupNonUniformRotateKHR => {
            let cluster = match group.kind {
                GroupKind::Clustered(cluster) => (cluster as usize).clamp(1, size),
                _ => size,
            };
            lane / cluster * cluster + (lane + by) % cluster
        }
        _ => by,
    };
    (from < size).then_some(from)
}

/// The invocations that go into the result of one.
fn operands(kind: GroupKind, lane: usize, here: &Here) -> Range<usize> {
    let size = here.subgroup_size.max(1);
    let start = lane / size * size;
    let end = (start + size).min(here.width);
    match kind {
        GroupKind::None | GroupKind::Reduce => start..end,
        GroupKind::InclusiveScan => start..lane + 1,
        GroupKind::ExclusiveScan => start..lane,
        GroupKind::Clustered(cluster) => {
            let cluster = (cluster as usize).max(1);
            let start = start + (lane - start) / cluster * cluster;
            start..(start + cluster).min(end)
        }
    }
}
