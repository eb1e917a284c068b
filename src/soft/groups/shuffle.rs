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
    let operand = registers.get(group.src[1]);
    for lane in shape.active.iter() {
        let (me, base) = shape.place(lane);
        let source = source(group.op, me, operand[lane] as usize, cluster)
            .filter(|source| *source < shape.size && base + source < shape.width)
            .map(|source| base + source);
        let from = source.filter(|source| shape.active.has(*source));
        if from.is_none() {
            inactive_read(lane, source.unwrap_or(ABSENT));
        }
        out.low[lane] = from.map_or(0, |from| value.low[from]);
        if !value.high.is_empty() {
            out.high[lane] = from.map_or(0, |from| value.high[from]);
        }
    }
    out.put(registers);
}

/// Which invocation of the subgroup `me` reads from; none below the first one.
fn source(op: Op, me: usize, operand: usize, cluster: usize) -> Option<usize> {
    const QUAD: usize = 4;
    match op {
        Op::GroupNonUniformShuffleXor => Some(me ^ operand),
        Op::GroupNonUniformShuffleUp => me.checked_sub(operand),
        Op::GroupNonUniformShuffleDown => me.checked_add(operand),
        // A rotation goes around, whatever the delta: only its low bits count.
        Op::GroupNonUniformRotateKHR => Some(me - me % cluster + (me + operand) % cluster),
        Op::GroupNonUniformQuadBroadcast => (operand < QUAD).then(|| me - me % QUAD + operand),
        // Horizontal, vertical and diagonal are 0, 1 and 2.
        Op::GroupNonUniformQuadSwap => (operand < QUAD - 1).then_some(me ^ (operand + 1)),
        _ => Some(operand),
    }
}
