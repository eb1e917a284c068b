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
use super::super::words::{Float, join, low_bits, signed, split};
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
        let size = match self.kind {
            GroupKind::Clustered(cluster) => (cluster as usize).clamp(1, self.shape.size),
            _ => self.shape.size,
        };
        let Self { kind, source: Source { low, high }, out, .. } = self;
        for part in self.shape.parts(size) {
            let Some(first) = self.shape.first(&part) else { continue };
            // The first active value is taken as it is, so that the identity doesn't show: it
            // would make a sum of negative zeros positive and a minimum of NaNs infinite.
            let run = first..part.end;
            let on = self.shape.words(&run);
            let low = &low[run.clone()];
            let outs = out.low[run.clone()].iter_mut();
            let total = if high.is_empty() {
                let values = low.iter().map(|low| u64::from(*low));
                let outs = outs.map(|low| move |value| *low = split(value)[0]);
                step(kind, values.zip(on), outs, &form, identity, &combine)
            } else {
                let values =
                    low.iter().zip(&high[run.clone()]).map(|(low, high)| join([*low, *high]));
                let outs = outs.zip(&mut out.high[run]);
                let outs = outs.map(|(low, high)| move |value| [*low, *high] = split(value));
                step(kind, values.zip(on), outs, &form, identity, &combine)
            };
            if let Some(total) = total {
                let [low, high] = split(total);
                out.low[part.clone()].fill(low);
                if !out.high.is_empty() {
                    out.high[part].fill(high);
                }
            }
        }
    }
}

/// Folds the values of one subgroup or cluster, of which the first one is active. A scan is
/// written at once, the result of a reduction is given back.
fn step<'a, T: Copy>(
    kind: GroupKind,
    values: impl Iterator<Item = (u64, &'a u32)>,
    mut outs: impl Iterator<Item = impl FnOnce(u64)>,
    form: &Form<impl Fn(u64) -> T, impl Fn(T) -> u64>,
    identity: T,
    combine: impl Fn(T, T) -> T,
) -> Option<u64> {
    let mut values = values.map(|(value, on)| ((form.load)(value), *on != 0));
    let (mut sum, _) = values.next()?;
    match kind {
        GroupKind::InclusiveScan => {
            outs.next()?((form.store)(sum));
            for ((value, on), put) in values.zip(outs) {
                sum = if on { combine(sum, value) } else { sum };
                put((form.store)(sum));
            }
            None
        }
        GroupKind::ExclusiveScan => {
            outs.next()?((form.store)(identity));
            for ((value, on), put) in values.zip(outs) {
                put((form.store)(sum));
                sum = if on { combine(sum, value) } else { sum };
            }
            None
        }
        _ => {
            let total =
                values.fold(sum, |sum, (value, on)| if on { combine(sum, value) } else { sum });
            Some((form.store)(total))
        }
    }
}
