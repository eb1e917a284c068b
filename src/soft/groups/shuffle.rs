//! Reads from other invocations of the subgroup: broadcasts, shuffles, rotations and quads.
//!
//! `Broadcast` and `QuadBroadcast` want an index that is the same in all; here every invocation
//! follows its own.

use rspirv::spirv::Op;

use super::super::program::{Group, GroupKind};
use super::super::registers::Registers;
use super::{ABSENT, InactiveRead, Output, Shape, Source};

pub(super) fn run(
    group: &Group,
    registers: &mut Registers,
    shape: &Shape<'_>,
    inactive_read: InactiveRead<'_>,
) {
    let mut out = Output::take(registers, group, group.scalar);
    let value = Source::new(registers, group.src[0], group.scalar);
    if matches!(group.op, Op::GroupNonUniformBroadcastFirst | Op::SubgroupFirstInvocationKHR) {
        for part in shape.subgroups() {
            let Some(first) = shape.first(&part) else { continue };
            out.low[part.clone()].fill(value.low[first]);
            if !value.high.is_empty() {
                out.high[part].fill(value.high[first]);
            }
        }
        return out.put(registers);
    }
    let cluster = match group.kind {
        GroupKind::Clustered(cluster) => (cluster as usize).clamp(1, shape.size),
        _ => shape.size,
    };
    let reads = Reads { shape, value, operands: registers.get(group.src[1]), out: &mut out };
    match group.op {
        Op::GroupNonUniformShuffleXor => reads.each(inactive_read, |me, mask| Some(me ^ mask)),
        Op::GroupNonUniformShuffleUp => {
            reads.each(inactive_read, |me, delta| me.checked_sub(delta));
        }
        Op::GroupNonUniformShuffleDown => {
            reads.each(inactive_read, |me, delta| me.checked_add(delta));
        }
        Op::GroupNonUniformRotateKHR => reads.each(inactive_read, |me, delta| {
            // A cluster's size is a power of two.
            Some((me & !(cluster - 1)) + ((me + delta) & (cluster - 1)))
        }),
        Op::GroupNonUniformQuadBroadcast => {
            reads.each(inactive_read, |me, index| (index < QUAD).then_some(me - me % QUAD + index))
        }
        // Horizontal, vertical and diagonal are 0, 1 and 2.
        Op::GroupNonUniformQuadSwap => reads.each(inactive_read, |me, direction| {
            (direction < QUAD - 1).then_some(me ^ (direction + 1))
        }),
        _ => reads.each(inactive_read, |_, index| Some(index)),
    }
    out.put(registers);
}

/// The invocations of a quad are consecutive.
const QUAD: usize = 4;

struct Reads<'a> {
    shape: &'a Shape<'a>,
    value: Source<'a>,
    operands: &'a [u32],
    out: &'a mut Output,
}

impl Reads<'_> {
    /// `source` says which invocation of the subgroup another one reads from, if any, given its
    /// operand.
    fn each(self, inactive_read: InactiveRead<'_>, source: impl Fn(usize, usize) -> Option<usize>) {
        let Self { shape, value, operands, out } = self;
        for part in shape.subgroups() {
            let on = shape.words(&part);
            let low = &value.low[part.clone()];
            for (me, (operand, is_on)) in operands[part.clone()].iter().zip(on).enumerate() {
                if *is_on == 0 {
                    continue;
                }
                let lane = part.start + me;
                // What lies beyond the workgroup is as absent as what lies beyond the subgroup.
                let from = source(me, *operand as usize).filter(|from| *from < on.len());
                let from = from.filter(|from| on[*from] != 0).or_else(|| {
                    inactive_read(lane, from.map_or(ABSENT, |from| part.start + from));
                    None
                });
                out.low[lane] = from.map_or(0, |from| low[from]);
                if !value.high.is_empty() {
                    out.high[lane] = from.map_or(0, |from| value.high[part.start + from]);
                }
            }
        }
    }
}
