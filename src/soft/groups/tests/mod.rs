//! Every operation against its definition, one invocation at a time, for subgroups of 4 to 128,
//! random masks and workgroups whose last subgroup is partial.

mod arithmetic;
mod ballot;
mod shuffle;
mod vote;

use std::ops::Range;

use rspirv::spirv::Op;

use super::*;
use crate::numeric::Stream;

const VALUE: Slot = 0;
const OPERAND: Slot = 2;
const BALLOT: Slot = 3;
const INDEX: Slot = 7;
const RESULT: Slot = 8;
const UNTOUCHED: u32 = 0xdead_beef;

const INTEGERS: [Scalar; 4] = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];
const FLOATS: [Scalar; 4] = [Scalar::F16, Scalar::Bf16, Scalar::F32, Scalar::F64];

/// A workgroup in the middle of something.
struct Scene {
    size: usize,
    width: usize,
    lanes: Range<usize>,
    on: Vec<bool>,
    registers: Registers,
    stream: Stream,
}

impl Scene {
    /// All sizes, full and partial workgroups, masks of all densities, and subgroups that run
    /// alone.
    fn all(seed: u64) -> Vec<Self> {
        let mut scenes = Vec::new();
        for size in [4, 8, 16, 32, 64, 128] {
            for (at, width) in [size, 256, 200, 37, 3].into_iter().enumerate() {
                for density in [1.0, 0.7, 0.1] {
                    scenes.push(Self::new(seed + at as u64, size, width, 0..width, density));
                }
                let last = (width - 1) / size * size;
                scenes.push(Self::new(seed, size, width, last..width, 0.6));
            }
        }
        scenes
    }

    fn new(seed: u64, size: usize, width: usize, lanes: Range<usize>, density: f64) -> Self {
        let mut stream = Stream::new(seed, &["scene", &format!("{size} {width} {density}")]);
        let on = (0..width).map(|lane| lanes.contains(&lane) && stream.unit() < density).collect();
        let mut registers = Registers::new(12, width);
        for slot in RESULT..12 {
            registers.get_mut(slot).fill(UNTOUCHED);
        }
        Self { size, width, lanes, on, registers, stream }
    }

    fn active(&self) -> Active {
        let mut bits = vec![0; self.width.div_ceil(64)];
        for lane in self.active_lanes() {
            bits[lane / 64] |= 1 << (lane % 64);
        }
        Active::new(self.lanes.clone(), &bits, self.width)
    }

    fn active_lanes(&self) -> Vec<usize> {
        (0..self.width).filter(|lane| self.on[*lane]).collect()
    }

    /// The active invocations of an invocation's subgroup, or of a cluster of it.
    fn members(&self, lane: usize, cluster: usize) -> Vec<usize> {
        let mut lanes = self.active_lanes();
        lanes.retain(|other| other / cluster == lane / cluster);
        lanes
    }

    fn fill(&mut self, slot: Slot, mut word: impl FnMut(&mut Stream) -> u32) {
        for lane in 0..self.width {
            self.registers.get_mut(slot)[lane] = word(&mut self.stream);
        }
    }

    fn fill_values(&mut self, scalar: Scalar, mut value: impl FnMut(&mut Stream) -> u64) {
        for lane in 0..self.width {
            let [low, high] = super::super::words::split(value(&mut self.stream));
            self.registers.get_mut(VALUE)[lane] = low;
            if scalar.words() == 2 {
                self.registers.get_mut(VALUE + 1)[lane] = high;
            }
        }
    }

    fn value(&self, slot: Slot, scalar: Scalar, lane: usize) -> u64 {
        Source::new(&self.registers, slot, scalar).get(lane)
    }

    /// Runs it and gives what was told of inactive reads.
    fn run(&mut self, group: &Group) -> Vec<(usize, usize)> {
        assert!(supports(group.op, group.kind, group.scalar), "{group:?}");
        let active = self.active();
        let mut told = Vec::new();
        run(group, &mut self.registers, &active, self.size, &mut |lane, source| {
            told.push((lane, source));
        });
        for slot in RESULT..12 {
            for lane in (0..self.width).filter(|lane| !self.lanes.contains(lane)) {
                let word = self.registers.get(slot)[lane];
                assert_eq!(word, UNTOUCHED, "{group:?} wrote to another subgroup's {lane}");
            }
        }
        told
    }

    fn title(&self, group: &Group, lane: usize) -> String {
        format!(
            "{:?} {:?} {:?}, invocation {lane} of {}, subgroups of {}",
            group.op, group.kind, group.scalar, self.width, self.size
        )
    }
}

fn group(op: Op, kind: GroupKind, scalar: Scalar) -> Group {
    let dst = [RESULT, RESULT + 1, RESULT + 2, RESULT + 3];
    Group { op, kind, scalar, dst, src: [VALUE, OPERAND, OPERAND, OPERAND, OPERAND] }
}

/// Any bits that the type can have.
fn any_bits(stream: &mut Stream, scalar: Scalar) -> u64 {
    let mut bits = 0;
    for _ in 0..scalar.bytes() {
        bits = bits << 8 | stream.index(256) as u64;
    }
    if scalar == Scalar::Bool { bits & 1 } else { bits }
}

#[test]
fn what_lowering_must_refuse() {
    let refused = [
        (Op::GroupNonUniformIAdd, GroupKind::None, Scalar::I32),
        (Op::GroupNonUniformIAdd, GroupKind::Reduce, Scalar::F32),
        (Op::GroupNonUniformFAdd, GroupKind::Reduce, Scalar::I32),
        (Op::GroupNonUniformIAdd, GroupKind::Clustered(3), Scalar::I32),
        (Op::GroupNonUniformLogicalAnd, GroupKind::Reduce, Scalar::I32),
        (Op::GroupNonUniformBallotBitCount, GroupKind::None, Scalar::I32),
        (Op::GroupNonUniformShuffle, GroupKind::Clustered(4), Scalar::I32),
        (Op::GroupNonUniformPartitionEXT, GroupKind::None, Scalar::I32),
        (Op::IAdd, GroupKind::None, Scalar::I32),
    ];
    for (op, kind, scalar) in refused {
        assert!(!supports(op, kind, scalar), "{op:?} {kind:?} {scalar:?}");
    }
}
