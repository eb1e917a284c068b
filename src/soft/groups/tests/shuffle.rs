use super::*;

/// The specification's own words for each: which invocation of the subgroup.
fn wanted(op: Op, me: i64, operand: i64, cluster: i64) -> i64 {
    match op {
        Op::GroupNonUniformShuffleXor => me ^ operand,
        Op::GroupNonUniformShuffleUp => me - operand,
        Op::GroupNonUniformShuffleDown => me + operand,
        Op::GroupNonUniformRotateKHR => ((me + operand) & (cluster - 1)) + (me & !(cluster - 1)),
        Op::GroupNonUniformQuadBroadcast => me / 4 * 4 + operand,
        Op::GroupNonUniformQuadSwap => match operand {
            0 => [1, 0, 3, 2][me.cast_unsigned() as usize % 4] + me / 4 * 4,
            1 => [2, 3, 0, 1][me.cast_unsigned() as usize % 4] + me / 4 * 4,
            _ => [3, 2, 1, 0][me.cast_unsigned() as usize % 4] + me / 4 * 4,
        },
        _ => operand,
    }
}

fn check(scene: &mut Scene, group: &Group) {
    let told = scene.run(group);
    let cluster = match group.kind {
        GroupKind::Clustered(cluster) => i64::from(cluster),
        _ => i64::try_from(scene.size).expect("small"),
    };
    let mut want_told = Vec::new();
    for lane in scene.active_lanes() {
        let base = lane / scene.size * scene.size;
        let me = i64::try_from(lane - base).expect("small");
        let operand = i64::from(scene.registers.get(OPERAND)[lane]);
        let source = usize::try_from(wanted(group.op, me, operand, cluster))
            .ok()
            .filter(|source| *source < scene.size && base + source < scene.width)
            .map(|source| base + source);
        let want = match source {
            Some(source) if scene.on[source] => scene.value(VALUE, group.scalar, source),
            _ => {
                want_told.push((lane, source.unwrap_or(ABSENT)));
                0
            }
        };
        let got = scene.value(RESULT, group.scalar, lane);
        assert_eq!(got, want, "{}", scene.title(group, lane));
    }
    assert_eq!(told, want_told, "{:?}", group.op);
}

#[test]
fn reads_follow_each_invocation_s_operand() {
    for scalar in [INTEGERS.as_slice(), &FLOATS, &[Scalar::Bool]].concat() {
        for op in [
            Op::GroupNonUniformBroadcast,
            Op::GroupNonUniformShuffle,
            Op::GroupNonUniformShuffleXor,
            Op::GroupNonUniformShuffleUp,
            Op::GroupNonUniformShuffleDown,
            Op::GroupNonUniformRotateKHR,
            Op::GroupNonUniformQuadBroadcast,
            Op::GroupNonUniformQuadSwap,
            Op::SubgroupReadInvocationKHR,
        ] {
            for (at, mut scene) in Scene::all(9).into_iter().enumerate() {
                scene.fill_values(scalar, |stream| any_bits(stream, scalar));
                let limit = match op {
                    Op::GroupNonUniformQuadBroadcast => 4,
                    Op::GroupNonUniformQuadSwap => 3,
                    _ => scene.size,
                };
                if at % 2 == 0 {
                    let same = u32::try_from(scene.stream.index(limit)).expect("small");
                    scene.fill(OPERAND, |_| same);
                } else {
                    // Beyond the subgroup, now and then.
                    let limit = if limit > 4 { limit + 3 } else { limit };
                    scene
                        .fill(OPERAND, |stream| u32::try_from(stream.index(limit)).expect("small"));
                }
                check(&mut scene, &group(op, GroupKind::None, scalar));
                if op == Op::GroupNonUniformRotateKHR {
                    for cluster in [1, 2, 4] {
                        check(&mut scene, &group(op, GroupKind::Clustered(cluster), scalar));
                    }
                }
            }
        }
    }
}

#[test]
fn operands_of_all_sizes_stay_inside() {
    for op in [
        Op::GroupNonUniformShuffle,
        Op::GroupNonUniformShuffleXor,
        Op::GroupNonUniformShuffleUp,
        Op::GroupNonUniformShuffleDown,
        Op::GroupNonUniformRotateKHR,
    ] {
        for operand in [128, 0x8000_0000, u32::MAX] {
            let mut scene = Scene::new(0, 128, 200, 0..200, 0.9);
            scene.fill_values(Scalar::I32, |stream| any_bits(stream, Scalar::I32));
            scene.fill(OPERAND, |_| operand);
            check(&mut scene, &group(op, GroupKind::None, Scalar::I32));
        }
    }
}

#[test]
fn the_first_active_invocation_s_value_goes_to_all() {
    for scalar in [Scalar::F16, Scalar::I32, Scalar::F64] {
        for op in [Op::GroupNonUniformBroadcastFirst, Op::SubgroupFirstInvocationKHR] {
            for mut scene in Scene::all(10) {
                scene.fill_values(scalar, |stream| any_bits(stream, scalar));
                let group = group(op, GroupKind::None, scalar);
                assert_eq!(scene.run(&group), []);
                for lane in scene.active_lanes() {
                    let first = scene.members(lane, scene.size)[0];
                    let want = scene.value(VALUE, scalar, first);
                    let got = scene.value(RESULT, scalar, lane);
                    assert_eq!(got, want, "{}", scene.title(&group, lane));
                }
            }
        }
    }
}

/// Worked by hand: `Horizontal`, `Vertical` and `Diagonal` of a quad that holds a, b, c, d.
#[test]
fn a_quad_swaps_in_three_directions() {
    for (direction, want) in [(0, [11, 10, 13, 12]), (1, [12, 13, 10, 11]), (2, [13, 12, 11, 10])] {
        let mut scene = Scene::new(0, 4, 4, 0..4, 1.0);
        scene.registers.get_mut(VALUE).copy_from_slice(&[10, 11, 12, 13]);
        scene.fill(OPERAND, |_| direction);
        scene.run(&group(Op::GroupNonUniformQuadSwap, GroupKind::None, Scalar::I32));
        assert_eq!(scene.registers.get(RESULT), want);
    }
}
