use rspirv::spirv::Op;

use super::rig::{ALL_FENCE, At, BARRIER, BUFFER_FENCE, Rig, every};
use crate::device::Hazard;
use crate::soft::program::Scope;
use crate::soft::scalar::Scalar;

/// Writes own, reads the neighbour's, with something in between.
#[track_caller]
fn exchange(at: At, between: impl FnOnce(&mut Rig)) -> Rig {
    let mut rig = Rig::new();
    rig.line(10).store(at, &every(|lane| lane));
    rig.line(11);
    between(&mut rig);
    rig.line(12).load(at, &every(|lane| lane ^ 7));
    rig
}

#[test]
fn an_invocation_is_in_order_with_itself() {
    let mut rig = Rig::new();
    for at in [At::Buffer, At::Shared] {
        rig.store(at, &every(|lane| lane));
        rig.load(at, &every(|lane| lane));
        rig.store(at, &every(|lane| lane));
    }
    rig.clean();
}

#[test]
fn shared_memory_needs_a_barrier() {
    let mut rig = exchange(At::Shared, |_| ());
    let seen = rig.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(
        seen[0].message,
        "reads f32 7 (byte 28) of `s` (invocation 0 of workgroup [0, 0, 0]), which invocation 7 \
         of workgroup [0, 0, 0] wrote: no barrier between lines 10 and 12 in the same workgroup"
    );
    assert_eq!((seen[0].act.line, seen[0].act.invocation), (12, Some(([0; 3], [0; 3]))));
    let other = seen[0].other.as_ref().unwrap();
    assert_eq!((other.line, other.invocation), (10, Some(([0; 3], [7, 0, 0]))));
    assert_eq!((seen[0].memory.as_deref(), seen[0].offset_bytes), (Some("s"), Some(28)));
    exchange(At::Shared, |rig| rig.barrier(BARRIER)).clean();
}

#[test]
fn a_read_must_be_over_before_the_next_write() {
    let mut rig = exchange(At::Shared, |rig| rig.barrier(BARRIER));
    rig.line(13).store(At::Shared, &every(|lane| lane));
    assert!(rig.race().contains("read: no barrier between lines 12 and 13"));
    let mut rig = exchange(At::Shared, |rig| rig.barrier(BARRIER));
    rig.barrier(BARRIER);
    rig.store(At::Shared, &every(|lane| lane));
    rig.clean();
}

#[test]
fn many_readers_are_not_forgotten() {
    let mut rig = Rig::new();
    // The last reader is the writer itself: the others are in the way.
    rig.line(1).load(At::Shared, &every(|_| 3));
    rig.line(2).store(At::Shared, &[(7, 3)]);
    assert!(rig.race().contains("no barrier between lines 1 and 2"));
}

#[test]
fn buffers_need_more_than_a_plain_barrier() {
    assert!(exchange(At::Buffer, |_| ()).race().contains("no barrier between"));
    let plain = exchange(At::Buffer, |rig| rig.barrier(BARRIER)).race();
    assert!(plain.contains("ordered by execution, but not made visible"), "{plain}");
    let all: Vec<usize> = (0..8).collect();
    exchange(At::Buffer, |rig| {
        rig.fence(&all, BUFFER_FENCE);
        rig.barrier(BARRIER);
    })
    .clean();
    exchange(At::Buffer, |rig| {
        rig.barrier(BARRIER);
        rig.fence(&all, BUFFER_FENCE);
    })
    .clean();
    exchange(At::Buffer, |rig| rig.barrier(ALL_FENCE)).clean();
    // A fence alone makes nobody wait.
    let fence = exchange(At::Buffer, |rig| rig.fence(&all, BUFFER_FENCE)).race();
    assert!(fence.contains("no barrier between"), "{fence}");
}

#[test]
fn a_plain_barrier_keeps_buffer_reads_before_writes() {
    let mut rig = Rig::new();
    rig.load(At::Buffer, &every(|lane| lane ^ 7));
    rig.barrier(BARRIER);
    rig.store(At::Buffer, &every(|lane| lane));
    rig.clean();
    rig.barrier(BARRIER);
    rig.line(9).store(At::Buffer, &every(|lane| lane ^ 7));
    assert!(rig.race().contains("not made visible"));
}

#[test]
fn only_a_subgroup_barrier_orders_a_subgroup() {
    let swap = |between: &dyn Fn(&mut Rig)| {
        let mut rig = Rig::new();
        rig.line(1).store(At::Shared, &every(|lane| lane));
        between(&mut rig);
        rig.line(2).load(At::Shared, &every(|lane| lane ^ 1));
        rig
    };
    let all: Vec<usize> = (0..8).collect();
    assert!(swap(&|_| ()).race().contains("no barrier"));
    assert!(swap(&|rig| rig.fence(&all, ALL_FENCE)).race().contains("no barrier"));
    let met = |rig: &mut Rig| rig.meet(&all, Scope::Subgroup, ALL_FENCE);
    swap(&met).clean();
    // It orders nothing between subgroups.
    let mut rig = exchange(At::Shared, met);
    assert!(rig.race().contains("no barrier"));
    // And reads before it are no longer in the way.
    let mut rig = Rig::new();
    rig.load(At::Shared, &every(|lane| lane ^ 1));
    met(&mut rig);
    rig.load(At::Shared, &every(|lane| lane));
    rig.store(At::Shared, &every(|lane| lane));
    rig.clean();
}

#[test]
fn one_instruction_may_write_a_place_once() {
    for at in [At::Buffer, At::Shared] {
        let mut rig = Rig::new();
        rig.line(5).store(at, &every(|lane| lane / 2));
        assert!(rig.race().contains("same statement"));
        rig.barrier(ALL_FENCE);
        rig.store_values(at, &every(|_| 0), &[1; 8]);
        let seen = rig.seen();
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].hazard, Hazard::SameValueRace);
    }
}

#[test]
fn a_store_of_what_is_there_is_a_note() {
    let mut rig = Rig::new();
    rig.line(1).store_values(At::Buffer, &[(0, 4)], &[7; 8]);
    rig.line(2).store_values(At::Buffer, &[(1, 4)], &[7; 8]);
    rig.line(3).store_values(At::Buffer, &[(2, 4)], &[8; 8]);
    let hazards: Vec<Hazard> = rig.seen().iter().map(|seen| seen.hazard).collect();
    assert_eq!(hazards, [Hazard::SameValueRace, Hazard::Race]);
}

#[test]
fn bytes_of_a_word_are_apart() {
    for scalar in [Scalar::I8, Scalar::F16] {
        for at in [At::Buffer, At::Shared] {
            let mut rig = Rig::new();
            rig.scalar = scalar;
            rig.store(at, &every(|lane| lane));
            rig.load(at, &every(|lane| lane));
            rig.store(at, &every(|lane| lane));
            rig.clean();
            rig.barrier(ALL_FENCE);
            rig.line(1).store(at, &every(|lane| lane));
            rig.line(2).load(at, &every(|lane| lane ^ 1));
            assert!(rig.race().contains("lines 1 and 2"));
        }
    }
}

#[test]
fn two_words_are_one_component() {
    let mut rig = Rig::new();
    rig.scalar = Scalar::F64;
    rig.store(At::Buffer, &every(|lane| lane));
    rig.clean();
    rig.scalar = Scalar::F32;
    rig.line(1).load(At::Buffer, &[(0, 3)]);
    assert!(rig.race().contains("f32 3 (byte 12)"));
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    for at in [At::Buffer, At::Shared] {
        let mut rig = Rig::new();
        rig.add(at, &every(|_| 0));
        rig.add(at, &every(|_| 0));
        rig.atomic(Op::AtomicLoad, at, &every(|_| 0), Scope::Device, 0);
        rig.clean();
        // The last one to change it is the reader itself.
        rig.line(1).add(at, &every(|_| 4));
        rig.line(2).load(at, &[(7, 4)]);
        assert!(rig.race().contains("atomically changed"));
        rig.barrier(ALL_FENCE);
        rig.load(at, &[(7, 4)]);
        rig.clean();
        rig.line(3).add(at, &[(2, 4)]);
        assert!(rig.race().contains("atomically changes"));
    }
}

#[test]
fn a_plain_read_stays_in_sight_among_atomic_ones() {
    let mut rig = Rig::new();
    rig.line(1).load(At::Shared, &[(1, 0)]);
    rig.line(2).atomic(Op::AtomicLoad, At::Shared, &every(|_| 0), Scope::Device, 0);
    rig.line(3).atomic(Op::AtomicStore, At::Shared, &[(0, 0)], Scope::Device, 0);
    assert!(rig.race().contains("lines 1 and 3"));
}

#[test]
fn atomic_scopes_must_reach_the_other() {
    let meet = |scope: Scope, lanes: [usize; 2]| {
        let mut rig = Rig::new();
        for lane in lanes {
            rig.atomic(Op::AtomicIAdd, At::Shared, &[(lane, 0)], scope, 0);
        }
        rig
    };
    meet(Scope::Subgroup, [0, 1]).clean();
    assert!(meet(Scope::Subgroup, [0, 5]).race().contains("the scope (Subgroup and Subgroup)"));
    meet(Scope::Workgroup, [0, 5]).clean();
}

#[test]
fn the_name_is_that_of_the_shared_variable() {
    let mut rig = Rig::new();
    rig.line(1).store(At::Shared, &[(0, 17), (1, 17)]);
    let seen = rig.seen();
    assert_eq!((seen[0].memory.as_deref(), seen[0].offset_bytes), (Some("t"), Some(4)));
}

#[test]
fn a_lock_in_shared_memory_orders_its_holders() {
    let hold = |fence: u32| {
        let mut rig = Rig::new();
        for lane in 0..8 {
            rig.line(1).atomic(
                Op::AtomicCompareExchange,
                At::Shared,
                &[(lane, 0)],
                Scope::Device,
                0,
            );
            rig.fence(&[lane], fence);
            rig.line(2).load(At::Shared, &[(lane, 1)]);
            rig.line(3).store(At::Shared, &[(lane, 1)]);
            rig.fence(&[lane], fence);
            rig.line(4).atomic(Op::AtomicExchange, At::Shared, &[(lane, 0)], Scope::Device, 0);
        }
        rig
    };
    hold(BARRIER).clean();
    assert!(!hold(BUFFER_FENCE).seen().is_empty(), "the fence speaks of other memory");
}

#[test]
fn every_byte_has_its_own_last_invocation() {
    for (scalar, last) in [(Scalar::I8, 3), (Scalar::F16, 1)] {
        for later in 0..=last {
            let mut rig = Rig::new();
            rig.scalar = scalar;
            rig.line(1).store(At::Shared, &every(|lane| lane));
            rig.line(2).load(At::Shared, &[(6, later)]);
            assert!(rig.race().contains(&format!("which invocation {later} of")));
            // A whole word that one of them reads.
            rig.scalar = Scalar::F32;
            rig.line(3).load(At::Shared, &[(later as usize, 0)]);
            assert_eq!(rig.seen().len(), 1);
        }
    }
}

#[test]
fn a_byte_that_many_read_leaves_the_others_alone() {
    let mut rig = Rig::new();
    rig.scalar = Scalar::F16;
    rig.load(At::Shared, &every(|_| 0));
    rig.load(At::Shared, &[(1, 1)]);
    rig.store(At::Shared, &[(1, 1)]);
    rig.clean();
}
