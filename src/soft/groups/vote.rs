//! Votes: `OpGroupNonUniformElect`, `All`, `Any`, `AllEqual`, `QuadAllKHR`, `QuadAnyKHR`.
//!
//! Floating-point values are equal as `OpFOrdEqual` has it: zeros of both signs are, NaNs never.

use std::ops::Range;

use half::{bf16, f16};
use rspirv::spirv::Op;

use super::super::program::Group;
use super::super::registers::Registers;
use super::super::scalar::Scalar;
use super::super::words::Float;
use super::{Output, Shape, Source};

/// The invocations of a quad are consecutive.
const QUAD: usize = 4;

pub(super) fn run(group: &Group, registers: &mut Registers, shape: &Shape<'_>) {
    let mut out = Output::take(registers, group, Scalar::Bool);
    let value = group.src[0];
    match group.op {
        Op::GroupNonUniformElect => {
            for part in shape.subgroups() {
                out.low[part.clone()].fill(0);
                if let Some(first) = shape.first(&part) {
                    out.low[first] = 1;
                }
            }
        }
        Op::GroupNonUniformAllEqual | Op::SubgroupAllEqualKHR => {
            let source = Source::new(registers, value, group.scalar);
            for part in shape.subgroups() {
                let equal = all_equal(group.scalar, source, shape, &part);
                out.low[part].fill(u32::from(equal));
            }
        }
        Op::GroupNonUniformQuadAllKHR | Op::GroupNonUniformQuadAnyKHR => {
            poll(group.op, registers.get(value), shape, QUAD, &mut out.low);
        }
        _ => poll(group.op, registers.get(value), shape, shape.size, &mut out.low),
    }
    out.put(registers);
}

fn poll(op: Op, votes: &[u32], shape: &Shape<'_>, size: usize, out: &mut [u32]) {
    let all =
        matches!(op, Op::GroupNonUniformAll | Op::GroupNonUniformQuadAllKHR | Op::SubgroupAllKHR);
    for part in shape.parts(size) {
        let voters = votes[part.clone()].iter().zip(shape.words(&part));
        // Without branches, so that a compiler can take many at a time.
        let outcome = if all {
            voters.fold(1, |sum, (vote, on)| sum & (u32::from(*vote != 0) | (!on & 1)))
        } else {
            voters.fold(0, |sum, (vote, on)| sum | (u32::from(*vote != 0) & on))
        };
        out[part].fill(outcome);
    }
}

fn all_equal(scalar: Scalar, source: Source<'_>, shape: &Shape<'_>, part: &Range<usize>) -> bool {
    let Some(first) = shape.first(part) else { return true };
    let same: fn(u64, u64) -> bool = match scalar {
        Scalar::F16 => equal::<f16>,
        Scalar::Bf16 => equal::<bf16>,
        Scalar::F32 => equal::<f32>,
        Scalar::F64 => equal::<f64>,
        Scalar::Bool => |a, b| (a != 0) == (b != 0),
        _ => |a, b| a == b,
    };
    let reference = source.get(first);
    let mut active = part.clone().zip(shape.words(part)).filter(|(_, on)| **on != 0);
    active.all(|(lane, _)| same(source.get(lane), reference))
}

fn equal<T: Float>(a: u64, b: u64) -> bool {
    T::from_word(a) == T::from_word(b)
}
