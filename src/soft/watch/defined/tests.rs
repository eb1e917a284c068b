use rspirv::spirv::Op;

use super::super::stage::{Stage, access, core, reach, row};
use super::*;
use crate::device::{Act, Hazard};
use crate::soft::program::{GroupKind, Manner, OUTSIDE, Region, Scope, What};
use crate::soft::registers::Active;
use crate::soft::scalar::Scalar;

const BUFFER: Region = Region::Buffer(0);
const SHARED: Region = Region::Shared;

/// An observer at the start of a workgroup.
struct Watched {
    stage: Stage,
    watch: Definedness,
}

impl Watched {
    fn new() -> Self {
        let stage = Stage::new();
        let mut watch = Definedness::new();
        watch.transfer(0, 0..1024, Transfer::Undefine);
        watch.dispatch(&stage.program, &stage.here);
        watch.workgroup(&stage.program, &stage.here);
        Self { stage, watch }
    }

    fn load(&mut self, at: u32, region: Region, slot: Slot, bytes_at: &[u32]) {
        let access = access(region, Scalar::F32, slot);
        self.watch.load(&mut self.stage.at(at), &access, reach(region, bytes_at));
    }

    fn store(&mut self, at: u32, region: Region, slot: Slot, bytes_at: &[u32]) {
        let access = access(region, Scalar::F32, slot);
        self.watch.store(&mut self.stage.at(at), &access, reach(region, bytes_at));
    }

    fn core(&mut self, at: u32, op: Op, dst: Slot, src: [Slot; 2]) {
        self.watch.pure(&mut self.stage.at(at), &core(op, Scalar::I32, dst, src));
    }

    fn copy(&mut self, at: u32, dst: Slot, src: Slot) {
        self.watch.copy(&mut self.stage.at(at), dst, src, Inactive::Keep);
    }

    /// The lines of what was told: the read, then the use.
    fn lines(&mut self) -> Vec<(u32, u32)> {
        let told = self.stage.told();
        assert!(told.iter().all(|told| told.hazard == Hazard::UninitRead));
        let line = |act: &Act| act.line;
        told.iter().map(|told| (told.act.line, told.other.as_ref().map_or(0, line))).collect()
    }
}

#[test]
fn a_store_of_what_nobody_wrote_names_the_read_and_the_use() {
    let mut watched = Watched::new();
    watched.store(3, SHARED, 5, &row(0)[..].iter().map(|at| at % 32).collect::<Vec<_>>());
    watched.load(4, SHARED, 1, &row(8));
    watched.core(5, Op::FAdd, 2, [1, 6]);
    assert_eq!(watched.lines(), [], "neither a load nor a sum is a fault");
    watched.store(6, BUFFER, 2, &row(0));
    let told = watched.stage.told();
    let [told] = &told[..] else { panic!("{told:?}") };
    assert_eq!(
        told.message,
        "reads `tile[8]`, which nobody wrote in this workgroup, and writes it to a buffer on line 6"
    );
    assert_eq!(
        (told.act.line, told.other.as_ref().map(|other| other.line)),
        (4, Some(3)),
        "who wrote the rest"
    );
    assert_eq!((told.memory.as_deref(), told.offset_bytes), (Some("tile"), Some(32)));
    assert_eq!(told.act.invocation, Some(([0; 3], [6, 0, 0])));
    assert_eq!(told.count, 10);
    watched.load(7, BUFFER, 3, &row(0));
    watched.store(8, BUFFER, 3, &row(0));
    watched.store(8, BUFFER, 2, &row(0));
    assert_eq!(watched.lines(), [], "it is told once");
}

#[test]
fn a_reduction_over_a_partly_filled_tile_leads_back_to_the_unwritten_part() {
    let mut watched = Watched::new();
    watched.stage.activate(0..10);
    watched.store(9, SHARED, 5, &row(0));
    for half in [8, 4, 2, 1] {
        watched.stage.activate(0..half);
        watched.load(11, SHARED, 1, &row(0));
        watched.load(11, SHARED, 2, &row(4 * u32::try_from(half).expect("small")));
        watched.core(11, Op::FAdd, 3, [1, 2]);
        watched.store(11, SHARED, 3, &row(0));
    }
    watched.stage.activate([0]);
    watched.load(12, SHARED, 4, &row(0));
    assert_eq!(watched.lines(), []);
    watched.store(12, BUFFER, 4, &row(0));
    let told = watched.stage.told();
    assert_eq!((told[0].act.line, told[0].offset_bytes), (11, Some(48)));
}

#[test]
fn a_workgroup_starts_with_unwritten_shared_memory() {
    let mut watched = Watched::new();
    watched.store(1, SHARED, 5, &row(0));
    watched.load(2, SHARED, 1, &row(0));
    watched.store(3, BUFFER, 1, &row(0));
    assert_eq!(watched.lines(), []);
    watched.watch.workgroup(&watched.stage.program, &watched.stage.here);
    watched.load(2, SHARED, 1, &row(0));
    watched.store(3, BUFFER, 1, &row(0));
    assert_eq!(watched.lines(), [(2, 1)]);
}

#[test]
fn a_variable_is_told_where_it_is_read() {
    let mut watched = Watched::new();
    watched.copy(2, 1, 20);
    assert_eq!(watched.lines(), []);
    watched.watch.branch(&mut watched.stage.at(3), 1);
    assert_eq!(watched.lines(), [(2, 3)]);
    watched.copy(4, 21, 5);
    watched.copy(5, 1, 21);
    watched.watch.branch(&mut watched.stage.at(6), 1);
    assert_eq!(watched.lines(), []);
}

#[test]
fn a_branch_that_writes_a_variable_defines_it_there_alone() {
    let mut watched = Watched::new();
    watched.stage.activate(0..4);
    watched.copy(1, 20, 5);
    watched.copy(2, 1, 20);
    watched.watch.branch(&mut watched.stage.at(3), 1);
    assert_eq!(watched.lines(), []);
    watched.stage.activate(0..6);
    watched.copy(4, 1, 20);
    watched.watch.branch(&mut watched.stage.at(5), 1);
    let told = watched.stage.told();
    assert_eq!((told.len(), told[0].count), (1, 2));
    assert_eq!(told[0].act.invocation, Some(([0; 3], [4, 0, 0])));
}

#[test]
fn masked_bits_are_no_fault() {
    let mut watched = Watched::new();
    watched.store(1, SHARED, 5, &row(0));
    let half = Access { scalar: Scalar::I16, ..access(SHARED, Scalar::F32, 1) };
    let bytes_at: Vec<u32> = row(64);
    watched.watch.load(&mut watched.stage.at(2), &half, reach(SHARED, &bytes_at));
    watched.stage.fill(2, |_| 16);
    watched.core(3, Op::ShiftLeftLogical, 3, [1, 2]);
    watched.stage.fill(4, |_| 0xffff);
    watched.core(4, Op::BitwiseAnd, 6, [3, 4]);
    watched.store(5, BUFFER, 6, &row(0));
    assert_eq!(watched.lines(), []);
    watched.store(6, BUFFER, 3, &row(0));
    assert_eq!(watched.lines(), [(2, 1)]);
}

#[test]
fn addresses_and_atomics_are_uses() {
    let mut watched = Watched::new();
    watched.load(1, BUFFER, 1, &row(0));
    let index =
        Index { dst: 2, before: None, index: 1, wide: false, stride: 4, limit: 8, beyond: OUTSIDE };
    watched.watch.index(&mut watched.stage.at(2), &index);
    assert_eq!(watched.lines(), [(1, 2)]);
    watched.load(3, BUFFER, 1, &row(0));
    watched.store(4, BUFFER, 5, &row(0));
    let atomic = |op, dst| Atomic {
        op,
        access: Access { manner: Manner::default(), ..access(BUFFER, Scalar::I32, 1) },
        dst,
        compare: None,
        scope: Scope::Device,
        semantics: 0,
    };
    let order: Vec<usize> = (0..16).collect();
    let add = atomic(Op::AtomicIAdd, Some(7));
    watched.watch.atomic(&mut watched.stage.at(5), &add, reach(BUFFER, &row(0)), &order);
    assert_eq!(watched.lines(), [(3, 4)]);
    let same = [512; 16];
    watched.watch.atomic(&mut watched.stage.at(6), &add, reach(BUFFER, &same), &order);
    let told = watched.stage.told();
    let other = told[0].other.as_ref().map(|other| other.line);
    assert_eq!((told[0].act.line, other, told[0].count), (6, Some(4), 1));
    assert_eq!(told[0].message, "updates `y[128]`, which nobody wrote");
    let exchange = atomic(Op::AtomicExchange, Some(7));
    let same = [520; 16];
    watched.watch.atomic(&mut watched.stage.at(7), &exchange, reach(BUFFER, &same), &order);
    watched.store(8, BUFFER, 7, &row(0));
    let told = watched.stage.told();
    assert_eq!((told[0].act.line, told[0].count), (7, 1), "only the first reads the unwritten");
}

#[test]
fn a_shuffle_takes_its_source_with_it() {
    let mut watched = Watched::new();
    let shuffle = Group {
        op: Op::GroupNonUniformShuffleXor,
        kind: GroupKind::None,
        scalar: Scalar::F32,
        dst: [9; 4],
        src: [1, 2, 0, 0, 0],
    };
    watched.stage.fill(2, |_| 1);
    watched.watch.group(&mut watched.stage.at(1), &shuffle);
    watched.store(2, BUFFER, 9, &row(0));
    assert_eq!(watched.lines(), [], "all are there");
    watched.stage.activate(0..5);
    watched.watch.group(&mut watched.stage.at(3), &shuffle);
    watched.stage.activate(0..4);
    watched.store(4, BUFFER, 9, &row(0));
    assert_eq!(watched.lines(), [], "the one without a partner does not use it");
    watched.stage.activate(0..5);
    watched.store(5, BUFFER, 9, &row(0));
    assert_eq!(watched.lines(), [(3, 5)]);
    watched.stage.activate([2]);
    watched.copy(6, 1, 20);
    watched.stage.activate(0..16);
    watched.watch.group(&mut watched.stage.at(7), &shuffle);
    watched.stage.activate((0..16).filter(|lane| *lane != 3));
    watched.store(8, BUFFER, 9, &row(0));
    assert_eq!(watched.lines(), []);
    watched.stage.activate([3]);
    watched.store(9, BUFFER, 9, &row(0));
    assert_eq!(watched.lines(), [(6, 9)]);
}

#[test]
fn a_scan_is_undefined_from_an_undefined_operand_on() {
    let mut watched = Watched::new();
    watched.stage.activate([2]);
    watched.copy(1, 1, 20);
    watched.stage.activate(0..16);
    let scan = Group {
        op: Op::GroupNonUniformFAdd,
        kind: GroupKind::ExclusiveScan,
        scalar: Scalar::F32,
        dst: [9; 4],
        src: [1, 0, 0, 0, 0],
    };
    watched.watch.group(&mut watched.stage.at(2), &scan);
    watched.stage.activate([0, 1, 2, 8, 9, 15]);
    watched.store(3, BUFFER, 9, &row(0));
    assert_eq!(watched.lines(), []);
    watched.stage.activate([3, 7]);
    watched.store(4, BUFFER, 9, &row(0));
    let told = watched.stage.told();
    assert_eq!((told[0].act.line, told[0].count), (1, 2));
}

#[test]
fn arrays_of_registers_are_followed_by_invocation() {
    let mut watched = Watched::new();
    watched.stage.fill(2, |lane| lane % 4);
    watched.watch.store_indexed(&mut watched.stage.at(1), 20, 2, 5);
    watched.watch.load_indexed(&mut watched.stage.at(2), 6, 20, 2);
    watched.store(3, BUFFER, 6, &row(0));
    assert_eq!(watched.lines(), []);
    watched.stage.fill(2, |lane| (lane + 1) % 4);
    watched.watch.load_indexed(&mut watched.stage.at(4), 6, 20, 2);
    watched.store(5, BUFFER, 6, &row(0));
    assert_eq!(watched.lines(), [(4, 5)]);
}

#[test]
fn the_host_and_other_subgroups_write_too() {
    let mut watched = Watched::new();
    watched.watch.transfer(0, 0..64, Transfer::Write);
    watched.store(9, BUFFER, 5, &row(64));
    watched.load(1, BUFFER, 1, &row(0));
    watched.watch.branch(&mut watched.stage.at(2), 1);
    assert_eq!(watched.lines(), []);
    watched.copy(3, 1, 20);
    watched.stage.active = Active::new(0..8, &[0xff], 16);
    watched.load(4, BUFFER, 1, &row(0));
    watched.stage.active = Active::new(8..16, &[0xff00], 16);
    watched.watch.branch(&mut watched.stage.at(5), 1);
    let told = watched.stage.told();
    assert_eq!((told[0].act.line, told[0].count), (3, 8), "the second subgroup kept its own");
}

#[test]
fn half_of_a_wide_value_is_enough() {
    let mut watched = Watched::new();
    watched.stage.activate([0]);
    watched.store(1, SHARED, 5, &row(0));
    let wide = access(SHARED, Scalar::I64, 6);
    watched.watch.load(&mut watched.stage.at(2), &wide, reach(SHARED, &row(0)));
    let narrow = Pure { to: Scalar::I32, arity: 1, ..core(Op::UConvert, Scalar::I64, 8, [6, 0]) };
    assert_eq!(narrow.what, What::Core(Op::UConvert));
    watched.watch.pure(&mut watched.stage.at(3), &narrow);
    watched.store(4, BUFFER, 8, &row(0));
    assert_eq!(watched.lines(), [], "the low word is written");
    let output = access(BUFFER, Scalar::I64, 6);
    watched.watch.store(&mut watched.stage.at(5), &output, reach(BUFFER, &row(0)));
    assert_eq!(watched.lines(), [(2, 1)]);
}
