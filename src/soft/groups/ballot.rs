//! Ballots: four words, of which bit `i` belongs to invocation `i` of the subgroup.
//!
//! Operations that take a ballot look at the bits of the subgroup's size alone ("only the bits
//! required to represent all bits of the group").

use rspirv::spirv::Op;

use super::super::program::{Group, GroupKind};
use super::super::registers::Registers;
use super::super::scalar::Scalar;
use super::{Output, Shape};

pub(super) fn run(group: &Group, registers: &mut Registers, shape: &Shape<'_>) {
    if matches!(group.op, Op::GroupNonUniformBallot | Op::SubgroupBallotKHR) {
        return cast(group, registers, shape);
    }
    let mut out = Output::take(registers, group, Scalar::I32);
    let [a, b, c, d, index] = group.src;
    let words = [a, b, c, d].map(|slot| registers.get(slot));
    let whole = below(shape.size);
    for lane in shape.active.iter() {
        let ballot =
            words.iter().rev().fold(0, |ballot, word| ballot << 32 | u128::from(word[lane]));
        let (me, _) = shape.place(lane);
        let bits = ballot & whole;
        out.low[lane] = match group.op {
            Op::GroupNonUniformInverseBallot => bit(ballot, me),
            Op::GroupNonUniformBallotBitExtract => bit(bits, registers.get(index)[lane] as usize),
            Op::GroupNonUniformBallotFindLSB if bits == 0 => u32::MAX,
            Op::GroupNonUniformBallotFindLSB => bits.trailing_zeros(),
            Op::GroupNonUniformBallotFindMSB if bits == 0 => u32::MAX,
            Op::GroupNonUniformBallotFindMSB => bits.ilog2(),
            _ => match group.kind {
                GroupKind::InclusiveScan => (bits & below(me + 1)).count_ones(),
                GroupKind::ExclusiveScan => (bits & below(me)).count_ones(),
                _ => bits.count_ones(),
            },
        };
    }
    out.put(registers);
}

fn cast(group: &Group, registers: &mut Registers, shape: &Shape<'_>) {
    let votes = registers.get(group.src[0]);
    let ballots: Vec<_> = shape
        .subgroups()
        .map(|part| {
            let mut ballot = [0; 4];
            for (at, (vote, on)) in votes[part.clone()].iter().zip(shape.words(&part)).enumerate() {
                ballot[at / 32] |= (u32::from(*vote != 0) & on) << (at % 32);
            }
            (part, ballot)
        })
        .collect();
    for (at, slot) in group.dst.into_iter().enumerate() {
        let column = registers.get_mut(slot);
        for (part, ballot) in &ballots {
            column[part.clone()].fill(ballot[at]);
        }
    }
}

/// The bits of the first `count` invocations.
fn below(count: usize) -> u128 {
    u32::try_from(count)
        .ok()
        .and_then(|count| 1_u128.checked_shl(count))
        .map_or(u128::MAX, |one| one - 1)
}

fn bit(ballot: u128, index: usize) -> u32 {
    u32::from(index < 128 && ballot >> index & 1 == 1)
}
