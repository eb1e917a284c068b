use super::*;

fn truths(scene: &Scene, lane: usize, cluster: usize) -> Vec<bool> {
    let members = scene.members(lane, cluster);
    members.iter().map(|lane| scene.registers.get(VALUE)[*lane] == 1).collect()
}

#[test]
fn all_any_and_elect() {
    for share in [0.02, 0.5, 0.98, 1.0] {
        for mut scene in Scene::all(5) {
            scene.fill(VALUE, |stream| u32::from(stream.unit() < share));
            for op in [
                Op::GroupNonUniformAll,
                Op::GroupNonUniformAny,
                Op::GroupNonUniformQuadAllKHR,
                Op::GroupNonUniformQuadAnyKHR,
                Op::GroupNonUniformElect,
                Op::SubgroupAllKHR,
                Op::SubgroupAnyKHR,
            ] {
                let group = group(op, GroupKind::None, Scalar::Bool);
                assert_eq!(scene.run(&group), []);
                for lane in scene.active_lanes() {
                    let votes = truths(&scene, lane, scene.size);
                    let quad = truths(&scene, lane, 4);
                    let want = match op {
                        Op::GroupNonUniformAll | Op::SubgroupAllKHR => votes.iter().all(|v| *v),
                        Op::GroupNonUniformAny | Op::SubgroupAnyKHR => votes.contains(&true),
                        Op::GroupNonUniformQuadAllKHR => !quad.contains(&false),
                        Op::GroupNonUniformQuadAnyKHR => quad.contains(&true),
                        _ => scene.members(lane, scene.size)[0] == lane,
                    };
                    let got = scene.registers.get(RESULT)[lane];
                    assert_eq!(got, u32::from(want), "{}", scene.title(&group, lane));
                }
            }
        }
    }
}

#[test]
fn all_equal() {
    let all = [INTEGERS.as_slice(), &FLOATS, &[Scalar::Bool]].concat();
    for scalar in all {
        for deviants in [0.0, 0.03] {
            for mut scene in Scene::all(6) {
                let usual = any_bits(&mut scene.stream, scalar) & 0x3f00_0000_3f00_3f7f;
                let top = 1 << (scalar.bytes() * 8 - 1);
                let other = if scalar == Scalar::Bool { 1 - (usual & 1) } else { usual ^ top };
                let usual = if scalar == Scalar::Bool { usual & 1 } else { usual };
                scene.fill_values(
                    scalar,
                    |stream| {
                        if stream.unit() < deviants { other } else { usual }
                    },
                );
                let group = group(Op::GroupNonUniformAllEqual, GroupKind::None, scalar);
                assert_eq!(scene.run(&group), []);
                // A sign alone doesn't tell zeros apart.
                let zeros = scalar.is_float() && usual == 0;
                for lane in scene.active_lanes() {
                    let members = scene.members(lane, scene.size);
                    let values: Vec<u64> =
                        members.iter().map(|lane| scene.value(VALUE, scalar, *lane)).collect();
                    let want = zeros || values.iter().all(|value| *value == values[0]);
                    let got = scene.registers.get(RESULT)[lane];
                    assert_eq!(got, u32::from(want), "{}", scene.title(&group, lane));
                }
            }
        }
    }
}

#[test]
fn nans_equal_nothing_and_zeros_each_other() {
    let group = group(Op::GroupNonUniformAllEqual, GroupKind::None, Scalar::F32);
    for (words, want) in [
        ([0, 0x8000_0000, 0, 0], 1),
        ([0x7fc0_0000; 4], 0),
        ([0x3f80_0000; 4], 1),
        ([0x3f80_0000, 0x3f80_0000, 0x3f80_0001, 0x3f80_0000], 0),
    ] {
        let mut scene = Scene::new(0, 4, 4, 0..4, 1.0);
        scene.registers.get_mut(VALUE).copy_from_slice(&words);
        scene.run(&group);
        assert_eq!(scene.registers.get(RESULT), [want; 4], "{words:x?}");
    }
}
