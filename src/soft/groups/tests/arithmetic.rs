use std::cmp::Ordering;

use half::{bf16, f16};

use super::*;

const KINDS: [GroupKind; 8] = [
    GroupKind::Reduce,
    GroupKind::InclusiveScan,
    GroupKind::ExclusiveScan,
    GroupKind::Clustered(1),
    GroupKind::Clustered(2),
    GroupKind::Clustered(4),
    GroupKind::Clustered(8),
    GroupKind::Clustered(64),
];

/// The values that an invocation's result is made of, in order.
fn parts(scene: &Scene, group: &Group, lane: usize) -> Vec<u64> {
    let mut lanes = match group.kind {
        // A cluster larger than the subgroup is undefined; here it is the subgroup.
        GroupKind::Clustered(cluster) => scene.members(lane, scene.size.min(cluster as usize)),
        _ => scene.members(lane, scene.size),
    };
    match group.kind {
        GroupKind::InclusiveScan => lanes.retain(|other| *other <= lane),
        GroupKind::ExclusiveScan => lanes.retain(|other| *other < lane),
        _ => {}
    }
    lanes.iter().map(|lane| scene.value(VALUE, group.scalar, *lane)).collect()
}

fn check(group: &Group, scene: &mut Scene, same: impl Fn(u64, &[u64]) -> bool) {
    let told = scene.run(group);
    assert_eq!(told, [], "nothing is read from inactive invocations");
    for lane in scene.active_lanes() {
        let got = scene.value(RESULT, group.scalar, lane);
        let parts = parts(scene, group, lane);
        assert!(same(got, &parts), "{}: {got:#x} of {parts:x?}", scene.title(group, lane));
    }
}

fn integer(op: Op, bits: u32, parts: &[u64]) -> u64 {
    let modulus = 1_i128 << bits;
    let with_sign = |value: i128| if value >= modulus / 2 { value - modulus } else { value };
    let values = parts.iter().map(|value| i128::from(*value));
    let signed = values.clone().map(with_sign);
    let result = match op {
        Op::GroupNonUniformIAdd => values.sum(),
        Op::GroupNonUniformIMul => values.fold(1, |a: i128, b| {
            let product = a.cast_unsigned().wrapping_mul(b.cast_unsigned());
            (product % modulus.cast_unsigned()).cast_signed()
        }),
        Op::GroupNonUniformSMin => signed.min().unwrap_or(modulus / 2 - 1),
        Op::GroupNonUniformSMax => signed.max().unwrap_or(-modulus / 2),
        Op::GroupNonUniformUMin => values.min().unwrap_or(modulus - 1),
        Op::GroupNonUniformUMax => values.max().unwrap_or(0),
        Op::GroupNonUniformBitwiseAnd => values.fold(modulus - 1, |a, b| a & b),
        Op::GroupNonUniformBitwiseOr => values.fold(0, |a, b| a | b),
        _ => values.fold(0, |a, b| a ^ b),
    };
    u64::try_from(result.rem_euclid(modulus)).expect("below the modulus")
}

#[test]
fn integers() {
    for op in [
        Op::GroupNonUniformIAdd,
        Op::GroupNonUniformIMul,
        Op::GroupNonUniformSMin,
        Op::GroupNonUniformUMin,
        Op::GroupNonUniformSMax,
        Op::GroupNonUniformUMax,
        Op::GroupNonUniformBitwiseAnd,
        Op::GroupNonUniformBitwiseOr,
        Op::GroupNonUniformBitwiseXor,
    ] {
        for scalar in INTEGERS {
            for (at, mut scene) in Scene::all(1).into_iter().enumerate() {
                scene.fill_values(scalar, |stream| any_bits(stream, scalar));
                let group = group(op, KINDS[at % KINDS.len()], scalar);
                check(&group, &mut scene, |got, parts| {
                    got == integer(op, scalar.bytes() * 8, parts)
                });
            }
        }
    }
}

#[test]
fn booleans() {
    for op in
        [Op::GroupNonUniformLogicalAnd, Op::GroupNonUniformLogicalOr, Op::GroupNonUniformLogicalXor]
    {
        for kind in KINDS {
            for (at, mut scene) in Scene::all(2).into_iter().enumerate() {
                let truths = [0.1, 0.5, 0.9][at % 3];
                scene.fill_values(Scalar::Bool, |stream| u64::from(stream.unit() < truths));
                check(&group(op, kind, Scalar::Bool), &mut scene, |got, parts| {
                    let ones = parts.iter().filter(|value| **value == 1).count();
                    let want = match op {
                        Op::GroupNonUniformLogicalAnd => ones == parts.len(),
                        Op::GroupNonUniformLogicalOr => ones > 0,
                        _ => ones % 2 == 1,
                    };
                    got == u64::from(want)
                });
            }
        }
    }
}

/// The value of some bits, and its bits after rounding.
fn decode(scalar: Scalar, bits: u64) -> f64 {
    let low = || u16::try_from(bits).expect("16 bits");
    match scalar {
        Scalar::F16 => f16::from_bits(low()).to_f64(),
        Scalar::Bf16 => bf16::from_bits(low()).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(u32::try_from(bits).expect("32 bits"))),
        _ => f64::from_bits(bits),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is meant")]
fn encode(scalar: Scalar, value: f64) -> u64 {
    match scalar {
        Scalar::F16 => u64::from(f16::from_f64(value).to_bits()),
        Scalar::Bf16 => u64::from(bf16::from_f64(value).to_bits()),
        Scalar::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// A sum or product in f64 rounds as in the narrow type itself; extremes have no rounding.
fn float(op: Op, scalar: Scalar, parts: &[u64]) -> f64 {
    let round = |value| decode(scalar, encode(scalar, value));
    let mut values = parts.iter().map(|bits| decode(scalar, *bits));
    let numbers = values.clone().filter(|value| !value.is_nan());
    let order = |a: &f64, b: &f64| a.partial_cmp(b).unwrap_or(Ordering::Equal);
    let (identity, extreme) = match op {
        Op::GroupNonUniformFMin => (f64::INFINITY, numbers.min_by(order)),
        Op::GroupNonUniformFMax => (f64::NEG_INFINITY, numbers.max_by(order)),
        Op::GroupNonUniformFMul => {
            return values.next().map_or(1.0, |first| values.fold(first, |a, b| round(a * b)));
        }
        _ => return values.next().map_or(0.0, |first| values.fold(first, |a, b| round(a + b))),
    };
    if parts.is_empty() { identity } else { extreme.unwrap_or(f64::NAN) }
}

#[test]
fn floats_in_the_order_of_their_invocations() {
    for op in [
        Op::GroupNonUniformFAdd,
        Op::GroupNonUniformFMul,
        Op::GroupNonUniformFMin,
        Op::GroupNonUniformFMax,
    ] {
        for scalar in FLOATS {
            for (at, mut scene) in Scene::all(3).into_iter().enumerate() {
                let oddities = if at / KINDS.len() % 2 == 0 { 0.0 } else { 0.2 };
                scene.fill_values(scalar, |stream| {
                    let odd = [f64::NAN, f64::INFINITY, -0.0, 0.0, -f64::INFINITY];
                    let value = if stream.unit() < oddities {
                        odd[stream.index(odd.len())]
                    } else {
                        stream.normal()
                    };
                    encode(scalar, value)
                });
                let group = group(op, KINDS[at % KINDS.len()], scalar);
                check(&group, &mut scene, |got, parts| {
                    let (got, want) = (decode(scalar, got), float(op, scalar, parts));
                    got == want || got.is_nan() && want.is_nan()
                });
            }
        }
    }
}

/// Worked by hand: 2048 + 1 stays 2048 in f16, so that the order shows.
#[test]
fn f16_sums_round_at_every_step() {
    let mut scene = Scene::new(0, 4, 4, 0..4, 1.0);
    let values = [2048.0, 1.0, 1.0, 3.0].map(|value| encode(Scalar::F16, value));
    let mut next = values.iter().copied();
    scene.fill_values(Scalar::F16, |_| next.next().unwrap_or(0));
    scene.run(&group(Op::GroupNonUniformFAdd, GroupKind::InclusiveScan, Scalar::F16));
    let got: Vec<f64> =
        (0..4).map(|lane| decode(Scalar::F16, scene.value(RESULT, Scalar::F16, lane))).collect();
    assert_eq!(got, [2048.0, 2048.0, 2048.0, 2052.0]);
}

#[test]
fn a_register_may_be_read_and_written() {
    for kind in KINDS {
        for mut scene in Scene::all(4) {
            scene.fill_values(Scalar::I64, |stream| any_bits(stream, Scalar::I64));
            let apart = group(Op::GroupNonUniformIAdd, kind, Scalar::I64);
            scene.run(&apart);
            let active = scene.active();
            run(
                &Group { dst: [VALUE, VALUE + 1, 0, 0], ..apart },
                &mut scene.registers,
                &active,
                scene.size,
                &mut |_, _| {},
            );
            for lane in scene.active_lanes() {
                let [got, want] = [VALUE, RESULT].map(|slot| scene.value(slot, Scalar::I64, lane));
                assert_eq!(got, want, "{}", scene.title(&apart, lane));
            }
        }
    }
}
