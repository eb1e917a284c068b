use rspirv::spirv::Op;

use super::rig::{ALL_FENCE, At, BARRIER, BUFFER_FENCE, Rig, every};
use crate::device::Hazard;
use crate::soft::program::Scope;

const ACQUIRE_BUFFERS: u32 = 0x42;
const RELEASE_BUFFERS: u32 = 0x44;

#[test]
fn workgroups_are_not_ordered() {
    let mut rig = Rig::new();
    rig.line(1).store(At::Buffer, &[(4, 5)]);
    rig.barrier(ALL_FENCE);
    rig.workgroup(2, 0);
    rig.line(2).store(At::Buffer, &[(3, 5)]);
    let seen = rig.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].hazard, Hazard::Race);
    assert_eq!(
        seen[0].message,
        "writes f32 5 (byte 20) of `o` (invocation 3 of workgroup [2, 0, 0]), which invocation 4 \
         of workgroup [0, 0, 0] wrote too: no release and acquire of device scope between the two \
         workgroups"
    );
}

#[test]
fn readers_of_several_workgroups_are_in_the_way_of_a_write() {
    let mut rig = Rig::new();
    for linear in 0..4 {
        rig.workgroup(linear, 0);
        rig.line(1).load(At::Buffer, &every(|lane| lane));
    }
    rig.clean();
    rig.line(2).store(At::Buffer, &[(3, 3)]);
    assert!(rig.race().contains("no release and acquire of device scope"));
}

#[test]
fn workgroups_of_two_seats_interleave() {
    let mut rig = Rig::new();
    rig.workgroup(1, 1);
    rig.sit(0, 0);
    rig.store(At::Shared, &every(|lane| lane));
    rig.store(At::Buffer, &every(|lane| lane));
    rig.sit(1, 1);
    rig.store(At::Shared, &every(|lane| lane ^ 1));
    rig.store(At::Buffer, &every(|lane| lane + 8));
    rig.barrier(ALL_FENCE);
    rig.sit(0, 0);
    rig.clean();
    // The other workgroup's barrier is not this one's.
    rig.line(3).load(At::Shared, &every(|lane| lane ^ 1));
    assert!(rig.race().contains("no barrier"));
}

#[test]
fn shared_memory_of_the_last_workgroup_is_gone() {
    let mut rig = Rig::new();
    rig.store(At::Shared, &every(|lane| lane));
    rig.workgroup(1, 0);
    rig.store(At::Shared, &every(|lane| lane ^ 1));
    rig.clean();
}

#[test]
fn dispatches_need_a_recorded_barrier() {
    let two = |era: u32| {
        let mut rig = Rig::new();
        rig.line(1).load(At::Buffer, &every(|lane| lane));
        rig.program.name = "later".to_owned();
        rig.dispatch(1, era);
        rig.line(2).store(At::Buffer, &every(|lane| lane));
        rig
    };
    two(1).clean();
    let seen = two(0).seen();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].message.contains("no barrier recorded between the two dispatches"));
    assert_eq!(seen[0].act.kernel, "later");
    assert_eq!(seen[0].other.as_ref().unwrap().kernel, "k");
}

#[test]
fn recordings_are_ordered() {
    let mut rig = Rig::new();
    rig.store(At::Buffer, &every(|lane| lane));
    rig.dispatch(0, 0);
    rig.store(At::Buffer, &every(|lane| lane ^ 1));
    rig.clean();
}

#[test]
fn a_freed_buffer_is_forgotten() {
    use crate::soft::observer::Observer as _;
    let mut rig = Rig::new();
    rig.store(At::Buffer, &[(0, 0)]);
    rig.races.free(0);
    rig.store(At::Buffer, &[(1, 0)]);
    rig.clean();
}

#[test]
fn scopes_of_atomics_across_workgroups() {
    let meet = |scope: Scope| {
        let mut rig = Rig::new();
        for linear in 0..2 {
            rig.workgroup(linear, 0);
            rig.atomic(Op::AtomicIAdd, At::Buffer, &every(|_| 0), scope, 0);
        }
        rig
    };
    meet(Scope::Device).clean();
    assert!(meet(Scope::Workgroup).race().contains("the scope (Workgroup and Workgroup)"));
}

/// Which parts of the pattern a kernel has.
#[derive(Clone, Copy)]
struct Parts {
    release: u32,
    acquire: u32,
    coherent: bool,
}

/// Every workgroup stores a partial and counts itself; the last one sums all.
fn last_block(parts: Parts) -> Rig {
    let mut rig = Rig::new();
    rig.manner.coherent = parts.coherent;
    for linear in 0..4 {
        rig.workgroup(linear, 0);
        rig.line(15).store(At::Buffer, &[(0, linear)]);
        rig.fence(&[0], parts.release);
        rig.line(16).add(At::Buffer, &[(0, 40)]);
        rig.line(16).store(At::Shared, &[(0, 0)]);
        rig.barrier(BARRIER);
        rig.line(19).load(At::Shared, &every(|_| 0));
    }
    rig.fence(&[0], parts.acquire);
    for partial in 0..4 {
        rig.line(21).load(At::Buffer, &[(0, partial)]);
    }
    rig
}

#[test]
fn the_last_block_needs_both_fences_and_coherence() {
    let whole = Parts { release: BUFFER_FENCE, acquire: BUFFER_FENCE, coherent: true };
    last_block(whole).clean();
    let none = Parts { release: 0, acquire: 0, coherent: false };
    assert!(last_block(none).race().contains("no release and acquire of device scope"));
    assert!(last_block(Parts { release: 0, ..whole }).race().contains("no release and acquire"));
    assert!(last_block(Parts { acquire: 0, ..whole }).race().contains("no release and acquire"));
    let other = Parts { release: BARRIER, ..whole };
    assert!(last_block(other).race().contains("no release and acquire"));
    assert!(last_block(Parts { coherent: false, ..whole }).race().contains("isn't coherent"));
}

#[test]
fn a_release_includes_the_workgroup_before_its_barrier() {
    let hand_over = |barrier: u32, fences_of_all: bool| {
        let mut rig = Rig::new();
        rig.manner.coherent = true;
        let all: Vec<usize> = (0..8).collect();
        rig.line(1).store(At::Buffer, &every(|lane| lane));
        if fences_of_all {
            rig.fence(&all, BUFFER_FENCE);
        }
        rig.barrier(barrier);
        if !fences_of_all {
            rig.fence(&[0], BUFFER_FENCE);
        }
        rig.add(At::Buffer, &[(0, 40)]);
        rig.workgroup(1, 0);
        rig.add(At::Buffer, &[(0, 40)]);
        rig.fence(&[0], BUFFER_FENCE);
        rig.barrier(BARRIER);
        rig.line(2).load(At::Buffer, &every(|lane| lane));
        rig
    };
    hand_over(ALL_FENCE, false).clean();
    hand_over(BARRIER, true).clean();
    assert!(hand_over(BARRIER, false).race().contains("no release and acquire"));
}

#[test]
fn what_was_acquired_is_passed_on() {
    // A writes and sets flag 40; B waits for it and sets flag 41; C waits for that and reads.
    let chain = |fence_of_b: u32| {
        let mut rig = Rig::new();
        rig.manner.coherent = true;
        rig.line(1).store(At::Buffer, &[(0, 0)]);
        rig.fence(&[0], BUFFER_FENCE);
        rig.atomic(Op::AtomicStore, At::Buffer, &[(0, 40)], Scope::Device, 0);
        rig.workgroup(1, 0);
        rig.atomic(Op::AtomicLoad, At::Buffer, &[(0, 40)], Scope::Device, 0);
        rig.fence(&[0], fence_of_b);
        rig.atomic(Op::AtomicStore, At::Buffer, &[(0, 41)], Scope::Device, 0);
        rig.workgroup(2, 0);
        rig.atomic(Op::AtomicLoad, At::Buffer, &[(0, 41)], Scope::Device, 0);
        rig.fence(&[0], BUFFER_FENCE);
        rig.line(2).load(At::Buffer, &[(0, 0)]);
        rig
    };
    chain(BUFFER_FENCE).clean();
    assert!(chain(0).race().contains("no release and acquire"));
}

#[test]
fn atomics_can_release_and_acquire_themselves() {
    let pass = |release: u32, acquire: u32| {
        let mut rig = Rig::new();
        rig.manner.coherent = true;
        rig.line(1).store(At::Buffer, &[(0, 0)]);
        rig.atomic(Op::AtomicStore, At::Buffer, &[(0, 40)], Scope::Device, release);
        rig.workgroup(1, 0);
        rig.atomic(Op::AtomicLoad, At::Buffer, &[(0, 40)], Scope::Device, acquire);
        rig.line(2).load(At::Buffer, &[(0, 0)]);
        rig
    };
    pass(RELEASE_BUFFERS, ACQUIRE_BUFFERS).clean();
    assert!(pass(RELEASE_BUFFERS, 0).race().contains("no release"));
    assert!(pass(0, ACQUIRE_BUFFERS).race().contains("no release"));
}

#[test]
fn what_comes_after_a_release_is_not_in_it() {
    let mut rig = Rig::new();
    rig.manner.coherent = true;
    rig.fence(&[0], BUFFER_FENCE);
    rig.line(1).store(At::Buffer, &[(0, 0)]);
    rig.add(At::Buffer, &[(0, 40)]);
    rig.workgroup(1, 0);
    rig.add(At::Buffer, &[(0, 40)]);
    rig.fence(&[0], BUFFER_FENCE);
    rig.line(2).load(At::Buffer, &[(0, 0)]);
    assert!(rig.race().contains("no release"));
}

#[test]
fn a_spin_lock_orders_its_holders() {
    let hold = |fence: u32| {
        let mut rig = Rig::new();
        rig.manner.coherent = true;
        for turn in 0..32 {
            let lane = turn % 8;
            if lane == 0 {
                rig.workgroup(u32::try_from(turn / 8).unwrap(), 0);
            }
            rig.line(1).atomic(
                Op::AtomicCompareExchange,
                At::Buffer,
                &[(lane, 0)],
                Scope::Device,
                0,
            );
            rig.fence(&[lane], fence);
            rig.line(2).load(At::Buffer, &[(lane, 1)]);
            rig.line(3).store(At::Buffer, &[(lane, 1)]);
            rig.fence(&[lane], fence);
            rig.line(4).atomic(Op::AtomicExchange, At::Buffer, &[(lane, 0)], Scope::Device, 0);
        }
        rig
    };
    hold(BUFFER_FENCE).clean();
    assert!(!hold(0).seen().is_empty());
}
