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
    let asked = Asked { group, registers, shape };
    match group.op {
        Op::GroupNonUniformInverseBallot => asked.each(&mut out, |bits, me, _| bit(bits, me)),
        Op::GroupNonUniformBallotBitExtract => {
            asked.each(&mut out, |bits, _, index| bit(bits, index));
        }
        Op::GroupNonUniformBallotFindLSB => asked
            .each(&mut out, |bits, _, _| if bits == 0 { u32::MAX } else { bits.trailing_zeros() }),
        Op::GroupNonUniformBallotFindMSB => {
            asked.each(&mut out, |bits, _, _| bits.checked_ilog2().unwrap_or(u32::MAX));
        }
        _ => match group.kind {
            GroupKind::InclusiveScan => asked.each(&mut out, |bits, me, _| count(bits, me + 1)),
            GroupKind::ExclusiveScan => asked.each(&mut out, |bits, me, _| count(bits, me)),
            _ => asked.each(&mut out, |bits, _, _| count(bits, 128)),
        },
    }
    out.put(registers);
}

/// An operation that takes a ballot from every invocation.
struct Asked<'a> {
    group: &'a Group,
    registers: &'a Registers,
    shape: &'a Shape<'a>,
}

impl Asked<'_> {
    /// `answer` gets the ballot's bits, the invocation's number in its subgroup, and the index.
    fn each(&self, out: &mut Output, answer: impl Fn(u128, usize, usize) -> u32) {
        let [a, b, c, d, index] = self.group.src.map(|slot| self.registers.get(slot));
        let whole = below(self.shape.size);
        for part in self.shape.subgroups() {
            for ((me, lane), on) in part.clone().enumerate().zip(self.shape.words(&part)) {
                if *on != 0 {
                    let words = [d[lane], c[lane], b[lane], a[lane]];
                    let bits = words.iter().fold(0, |bits, word| bits << 32 | u128::from(*word));
                    out.low[lane] = answer(bits & whole, me, index[lane] as usize);
                }
            }
        }
    }
}

fn cast(group: &Group, registers: &mut Registers, shape: &Shape<'_>) {
    let votes = registers.get(group.src[0]);
    let ballots: Vec<_> = shape
        .subgroups()
        .map(|part| {
            let votes = votes[part.clone()].chunks(32);
            let mut ballot = [0; 4];
            for (word, (votes, on)) in
                ballot.iter_mut().zip(votes.zip(shape.words(&part).chunks(32)))
            {
                let last_first = votes.iter().zip(on).rev();
                *word =
                    last_first.fold(0, |bits, (vote, on)| bits << 1 | (u32::from(*vote != 0) & on));
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
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

/// How many of the first `among` bits are set.
fn count(ballot: u128, among: usize) -> u32 {
    let bits = ballot & below(among);
    // Few subgroups are larger than 64, and a processor may lack an instruction for this.
    match u64::try_from(bits) {
        Ok(low) => low.count_ones(),
        Err(_) => bits.count_ones(),
    }
}

fn bit(ballot: u128, index: usize) -> u32 {
    u32::from(index < 128 && ballot >> index & 1 == 1)
}
