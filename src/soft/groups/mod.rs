//! Subgroup operations: SPIR-V, "Non-Uniform Instructions", at subgroup scope.
//!
//! A subgroup is `size` consecutive invocations of the workgroup; the last one may be partial.
//! Only active invocations take part. Where the specification leaves a result undefined the
//! choice is fixed: reading from an invocation that isn't active gives 0 and is told; the lowest
//! or highest bit of an empty ballot is all ones.

mod arithmetic;
mod ballot;
mod shuffle;
#[cfg(test)]
mod tests;
mod vote;

use std::ops::Range;

use rspirv::spirv::Op;

use super::program::{Group, GroupKind, Slot};
use super::registers::{Active, Registers};
use super::scalar::Scalar;
use super::words::join;

/// The source of a read that goes beyond the subgroup.
pub(crate) const ABSENT: usize = usize::MAX;

/// Told of a read from an invocation that isn't active: the reader and the source, as invocations
/// of the workgroup; the source is [`ABSENT`] where the subgroup has no such invocation.
pub(crate) type InactiveRead<'a> = &'a mut dyn FnMut(usize, usize);

/// The families of operations, each a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Vote,
    Ballot,
    Shuffle,
    Arithmetic,
}

fn family(op: Op) -> Option<Family> {
    Some(match op {
        Op::GroupNonUniformElect
        | Op::GroupNonUniformAll
        | Op::GroupNonUniformAny
        | Op::GroupNonUniformAllEqual
        | Op::GroupNonUniformQuadAllKHR
        | Op::GroupNonUniformQuadAnyKHR
        | Op::SubgroupAllKHR
        | Op::SubgroupAnyKHR
        | Op::SubgroupAllEqualKHR => Family::Vote,
        Op::GroupNonUniformBallot
        | Op::GroupNonUniformInverseBallot
        | Op::GroupNonUniformBallotBitExtract
        | Op::GroupNonUniformBallotBitCount
        | Op::GroupNonUniformBallotFindLSB
        | Op::GroupNonUniformBallotFindMSB
        | Op::SubgroupBallotKHR => Family::Ballot,
        Op::GroupNonUniformBroadcast
        | Op::GroupNonUniformBroadcastFirst
        | Op::GroupNonUniformShuffle
        | Op::GroupNonUniformShuffleXor
        | Op::GroupNonUniformShuffleUp
        | Op::GroupNonUniformShuffleDown
        | Op::GroupNonUniformRotateKHR
        | Op::GroupNonUniformQuadBroadcast
        | Op::GroupNonUniformQuadSwap
        | Op::SubgroupReadInvocationKHR
        | Op::SubgroupFirstInvocationKHR => Family::Shuffle,
        _ if arithmetic::domain(op).is_some() => Family::Arithmetic,
        _ => return None,
    })
}

/// Whether it is a subgroup operation at all.
pub(crate) fn knows(op: Op) -> bool {
    family(op).is_some()
}

/// Whether [`run`] knows the operation. Lowering refuses all others.
pub(crate) fn supports(op: Op, kind: GroupKind, scalar: Scalar) -> bool {
    let counts = op == Op::GroupNonUniformBallotBitCount;
    let rotates = op == Op::GroupNonUniformRotateKHR;
    let is_arithmetic = family(op) == Some(Family::Arithmetic);
    let fits = match kind {
        GroupKind::None => !is_arithmetic && !counts,
        GroupKind::Reduce | GroupKind::InclusiveScan | GroupKind::ExclusiveScan => {
            is_arithmetic || counts
        }
        GroupKind::Clustered(cluster) => (is_arithmetic || rotates) && cluster.is_power_of_two(),
    };
    fits && match family(op) {
        Some(Family::Arithmetic) => {
            arithmetic::domain(op).is_some_and(|domain| domain.contains(scalar))
        }
        Some(_) => true,
        None => false,
    }
}

/// Executes an operation for the active invocations of all subgroups of `size` that run together.
///
/// # Panics
/// On an operation that [`supports`] denies.
pub(crate) fn run(
    group: &Group,
    registers: &mut Registers,
    active: &Active,
    size: usize,
    inactive_read: InactiveRead<'_>,
) {
    let shape = Shape { active, size };
    match family(group.op) {
        Some(Family::Vote) => vote::run(group, registers, &shape),
        Some(Family::Ballot) => ballot::run(group, registers, &shape),
        Some(Family::Shuffle) => shuffle::run(group, registers, &shape, inactive_read),
        Some(Family::Arithmetic) => arithmetic::run(group, registers, &shape),
        None => unreachable!("{:?} is refused when a module is lowered", group.op),
    }
}

/// How the workgroup is divided, and who takes part.
#[derive(Clone, Copy)]
struct Shape<'a> {
    active: &'a Active,
    size: usize,
}

impl Shape<'_> {
    /// The subgroups that run together.
    fn subgroups(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        self.parts(self.size)
    }

    /// Runs of `size` invocations, a divisor of the subgroup's size.
    fn parts(&self, size: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let lanes = self.active.lanes();
        debug_assert_eq!(lanes.start % self.size, 0, "subgroups run as a whole");
        lanes.clone().step_by(size).map(move |start| start..(start + size).min(lanes.end))
    }

    /// All ones for those of the invocations that are active, zeros for the others.
    fn words(&self, part: &Range<usize>) -> &[u32] {
        let start = self.active.lanes().start;
        &self.active.words()[part.start - start..part.end - start]
    }

    /// The first active one of some invocations.
    fn first(&self, part: &Range<usize>) -> Option<usize> {
        let at = self.words(part).iter().position(|word| *word != 0)?;
        Some(part.start + at)
    }
}

/// The columns of a component; the second is empty where it takes one word.
#[derive(Clone, Copy)]
struct Source<'a> {
    low: &'a [u32],
    high: &'a [u32],
}

impl<'a> Source<'a> {
    fn new(registers: &'a Registers, slot: Slot, scalar: Scalar) -> Self {
        let high = if scalar.words() == 2 { registers.get(slot + 1) } else { &[] };
        Self { low: registers.get(slot), high }
    }

    fn get(&self, lane: usize) -> u64 {
        join([self.low[lane], self.high.get(lane).copied().unwrap_or(0)])
    }
}

/// The columns that an operation writes, taken out of the registers.
struct Output {
    first: Slot,
    low: Vec<u32>,
    high: Vec<u32>,
}

impl Output {
    /// A register may be source and destination at once, so that a copy of it stays behind.
    fn take(registers: &mut Registers, group: &Group, scalar: Scalar) -> Self {
        let first = group.dst[0];
        let mut take = |slot| {
            let wide = group.scalar.words() == 2;
            let is_read = group.src.iter().any(|src| *src == slot || wide && src + 1 == slot);
            if is_read { registers.get(slot).to_vec() } else { registers.take(slot) }
        };
        let low = take(first);
        let high = if scalar.words() == 2 { take(first + 1) } else { Vec::new() };
        Self { first, low, high }
    }

    fn put(self, registers: &mut Registers) {
        if !self.high.is_empty() {
            registers.put(self.first + 1, self.high);
        }
        registers.put(self.first, self.low);
    }
}
