use super::*;

/// The bits of an invocation's four words.
fn bits(scene: &Scene, first: Slot, lane: usize) -> Vec<bool> {
    (0..128)
        .map(|at: u32| scene.registers.get(first + at / 32)[lane] >> (at % 32) & 1 == 1)
        .collect()
}

#[test]
fn a_ballot_has_a_bit_for_every_active_invocation_that_says_yes() {
    for mut scene in Scene::all(7) {
        scene.fill(VALUE, |stream| u32::from(stream.unit() < 0.5));
        let group = group(Op::GroupNonUniformBallot, GroupKind::None, Scalar::Bool);
        assert_eq!(scene.run(&group), []);
        for lane in scene.active_lanes() {
            let base = lane / scene.size * scene.size;
            let votes = scene.registers.get(VALUE);
            let want: Vec<bool> = (0..128)
                .map(|at| {
                    let voter = base + at;
                    at < scene.size && voter < scene.width && scene.on[voter] && votes[voter] == 1
                })
                .collect();
            assert_eq!(bits(&scene, RESULT, lane), want, "{}", scene.title(&group, lane));
        }
    }
}

#[test]
fn what_is_asked_of_a_ballot() {
    let asked = [
        (Op::GroupNonUniformInverseBallot, GroupKind::None),
        (Op::GroupNonUniformBallotBitExtract, GroupKind::None),
        (Op::GroupNonUniformBallotBitCount, GroupKind::Reduce),
        (Op::GroupNonUniformBallotBitCount, GroupKind::InclusiveScan),
        (Op::GroupNonUniformBallotBitCount, GroupKind::ExclusiveScan),
        (Op::GroupNonUniformBallotFindLSB, GroupKind::None),
        (Op::GroupNonUniformBallotFindMSB, GroupKind::None),
    ];
    for (op, kind) in asked {
        for (at, mut scene) in Scene::all(8).into_iter().enumerate() {
            // Sparse ballots too, so that the first and the last bit move, or there is none.
            for word in 0..4 {
                let chance = [0.5, 0.02][at % 2];
                scene.fill(BALLOT + word, |stream| {
                    (0..32).fold(0, |bits, _| bits << 1 | u32::from(stream.unit() < chance))
                });
            }
            let size = scene.size;
            scene.fill(INDEX, |stream| u32::try_from(stream.index(size)).expect("small"));
            let src = [BALLOT, BALLOT + 1, BALLOT + 2, BALLOT + 3, INDEX];
            let group = Group { src, ..group(op, kind, Scalar::I32) };
            assert_eq!(scene.run(&group), []);
            for lane in scene.active_lanes() {
                let me = lane % size;
                let bits = bits(&scene, BALLOT, lane);
                let index = scene.registers.get(INDEX)[lane] as usize;
                let set: Vec<usize> = (0..size).filter(|at| bits[*at]).collect();
                let want = match (op, kind) {
                    (Op::GroupNonUniformInverseBallot, _) => usize::from(bits[me]),
                    (Op::GroupNonUniformBallotBitExtract, _) => usize::from(bits[index]),
                    (Op::GroupNonUniformBallotFindLSB, _) => {
                        set.first().copied().unwrap_or(u32::MAX as usize)
                    }
                    (Op::GroupNonUniformBallotFindMSB, _) => {
                        set.last().copied().unwrap_or(u32::MAX as usize)
                    }
                    (_, GroupKind::Reduce) => set.len(),
                    (_, GroupKind::InclusiveScan) => set.iter().filter(|at| **at <= me).count(),
                    _ => set.iter().filter(|at| **at < me).count(),
                };
                let got = scene.registers.get(RESULT)[lane] as usize;
                assert_eq!(got, want, "{}", scene.title(&group, lane));
            }
        }
    }
}
