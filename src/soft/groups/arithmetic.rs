//! Reductions and scans, over a subgroup or over clusters of it.
//!
//! Values are combined in the order of their invocations, one after the other: the specification
//! leaves the order of floating-point sums open. The identity is only what an exclusive scan gives
//! to the first active invocation. A minimum or maximum passes over NaNs.

use half::{bf16, f16};
use rspirv::spirv::Op;

use super::super::program::{Group, GroupKind};
use super::super::registers::Registers;
use super::super::scalar::Scalar;
use super::super::words::{Float, low_bits, signed, split};
use super::{Output, Shape, Source};

/// What an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domain {
    Integer,
    Float,
    Logical,
}

impl Domain {
    pub(super) const fn contains(self, scalar: Scalar) -> bool {
        match self {
            Self::Float => scalar.is_float(),
            Self::Logical => matches!(scalar, Scalar::Bool),
            Self::Integer => !scalar.is_float() && !matches!(scalar, Scalar::Bool),
        }
    }
}

pub(super) const fn domain(op: Op) -> Option<Domain> {
    Some(match op {
        Op::GroupNonUniformIAdd
        | Op::GroupNonUniformIMul
        | Op::GroupNonUniformSMin
        | Op::GroupNonUniformUMin
        | Op::GroupNonUniformSMax
        | Op::GroupNonUniformUMax
        | Op::GroupNonUniformBitwiseAnd
        | Op::GroupNonUniformBitwiseOr
        | Op::GroupNonUniformBitwiseXor => Domain::Integer,
        Op::GroupNonUniformFAdd
        | Op::GroupNonUniformFMul
        | Op::GroupNonUniformFMin
        | Op::GroupNonUniformFMax => Domain::Float,
        Op::GroupNonUniformLogicalAnd
        | Op::GroupNonUniformLogicalOr
        | Op::GroupNonUniformLogicalXor => Domain::Logical,
        _ => return None,
    })
}

pub(super) fn run(group: &Group, registers: &mut Registers, shape: &Shape<'_>) {
    let mut out = Output::take(registers, group, group.scalar);
    let source = Source::new(registers, group.src[0], group.scalar);
    let fold = Fold { shape, kind: group.kind, source, out: &mut out };
    match group.scalar {
        Scalar::F16 => floats::<f16>(group.op, fold),
        Scalar::Bf16 => floats::<bf16>(group.op, fold),
        Scalar::F32 => floats::<f32>(group.op, fold),
        Scalar::F64 => floats::<f64>(group.op, fold),
        Scalar::Bool => logical(group.op, fold),
        _ => integers(group.op, group.scalar.bytes() * 8, fold),
    }
    out.put(registers);
}

/// All types of integers compute in 64 bits; the bits above their own are cut off at the end,
/// which sums, products and bitwise operations don't notice.
fn integers(op: Op, bits: u32, fold: Fold<'_>) {
    let mask = low_bits(bits);
    let high = mask >> 1;
    let unsigned = Form { load: |value| value, store: |value: u64| value & mask };
    let with_sign = Form {
        load: |value| signed(value, bits),
        store: |value: i64| value.cast_unsigned() & mask,
    };
    match op {
        Op::GroupNonUniformIMul => fold.run(unsigned, 1, u64::wrapping_mul),
        Op::GroupNonUniformSMin => fold.run(with_sign, high.cast_signed(), i64::min),
        Op::GroupNonUniformSMax => fold.run(with_sign, !high.cast_signed(), i64::max),
        Op::GroupNonUniformUMin => fold.run(unsigned, mask, u64::min),
        Op::GroupNonUniformUMax => fold.run(unsigned, 0, u64::max),
        Op::GroupNonUniformBitwiseAnd => fold.run(unsigned, mask, |a, b| a & b),
        Op::GroupNonUniformBitwiseOr => fold.run(unsigned, 0, |a, b| a | b),
        Op::GroupNonUniformBitwiseXor => fold.run(unsigned, 0, |a, b| a ^ b),
        _ => fold.run(unsigned, 0, u64::wrapping_add),
    }
}

fn logical(op: Op, fold: Fold<'_>) {
    let form = Form { load: |value| value != 0, store: u64::from };
    match op {
        Op::GroupNonUniformLogicalAnd => fold.run(form, true, |a, b| a & b),
        Op::GroupNonUniformLogicalOr => fold.run(form, false, |a, b| a | b),
        _ => fold.run(form, false, |a, b| a ^ b),
    }
}

fn floats<T: Float>(op: Op, fold: Fold<'_>) {
    let form = Form { load: T::from_word, store: T::to_word };
    match op {
        Op::GroupNonUniformFMul => fold.run(form, T::ONE, |a, b| a * b),
        Op::GroupNonUniformFMin => fold.run(form, T::INFINITY, T::lesser),
        Op::GroupNonUniformFMax => fold.run(form, T::NEG_INFINITY, T::greater),
        _ => fold.run(form, T::ZERO, |a, b| a + b),
    }
}

/// How a value comes from its words and goes back.
struct Form<L, S> {
    load: L,
    store: S,
}

struct Fold<'a> {
    shape: &'a Shape<'a>,
    kind: GroupKind,
    source: Source<'a>,
    out: &'a mut Output,
}

impl Fold<'_> {
    fn run<T: Copy>(
        self,
        form: Form<impl Fn(u64) -> T, impl Fn(T) -> u64>,
        identity: T,
        combine: impl Fn(T, T) -> T,
    ) {
        let Self { shape, kind, source, out } = self;
        let load = |lane| (form.load)(source.get(lane));
        let size = match kind {
            GroupKind::Clustered(cluster) => (cluster as usize).clamp(1, shape.size),
            _ => shape.size,
        };
        for part in shape.parts(size) {
            let Some(first) = shape.first(&part) else { continue };
            let rest = first + 1..part.end;
            let others = rest.clone().zip(shape.words(&rest));
            let mut sum = load(first);
            match kind {
                GroupKind::InclusiveScan => {
                    out.set(first, (form.store)(sum));
                    for (lane, on) in others {
                        sum = if *on != 0 { combine(sum, load(lane)) } else { sum };
                        out.set(lane, (form.store)(sum));
                    }
                }
                GroupKind::ExclusiveScan => {
                    out.set(first, (form.store)(identity));
                    for (lane, on) in others {
                        out.set(lane, (form.store)(sum));
                        sum = if *on != 0 { combine(sum, load(lane)) } else { sum };
                    }
                }
                _ => {
                    for (lane, on) in others {
                        sum = if *on != 0 { combine(sum, load(lane)) } else { sum };
                    }
                    out.fill(part, (form.store)(sum));
                }
            }
        }
    }
}

impl Output {
    fn set(&mut self, lane: usize, value: u64) {
        let [low, high] = split(value);
        self.low[lane] = low;
        if let Some(word) = self.high.get_mut(lane) {
            *word = high;
        }
    }

    fn fill(&mut self, part: std::ops::Range<usize>, value: u64) {
        let [low, high] = split(value);
        if !self.high.is_empty() {
            self.high[part.clone()].fill(high);
        }
        self.low[part].fill(low);
    }
}
