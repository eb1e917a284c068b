use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::super::stage::{Stage, access, core, pure, reach, row};
use super::*;
use crate::soft::program::{Region, Slot, What};
use crate::soft::scalar::Scalar;

const BUFFER: Region = Region::Buffer(0);

struct Watched {
    stage: Stage,
    watch: Arithmetic,
}

impl Watched {
    fn new() -> Self {
        let stage = Stage::new();
        let mut watch = Arithmetic::new();
        watch.dispatch(&stage.program, &stage.here);
        watch.workgroup(&stage.program, &stage.here);
        Self { stage, watch }
    }

    fn fill(&mut self, slot: Slot, f: impl Fn(u32) -> f32) {
        self.stage.fill(slot, |lane| f(lane).to_bits());
    }

    /// Computes it as the machine would.
    fn float(&mut self, at: u32, op: Op, dst: Slot, src: [Slot; 2]) {
        for lane in 0..16 {
            let [a, b] = src.map(|slot| f32::from_bits(self.stage.registers.get(slot)[lane]));
            let value = match op {
                Op::FAdd => a + b,
                Op::FSub => a - b,
                Op::FMul => a * b,
                _ => a / b,
            };
            self.stage.registers.get_mut(dst)[lane] = value.to_bits();
        }
        self.watch.pure(&mut self.stage.at(at), &core(op, Scalar::F32, dst, src));
    }

    fn store(&mut self, at: u32, slot: Slot) {
        let access = access(BUFFER, Scalar::F32, slot);
        self.watch.store(&mut self.stage.at(at), &access, reach(BUFFER, &row(0)));
    }

    fn messages(&mut self) -> Vec<String> {
        self.stage.told().into_iter().map(|told| told.message).collect()
    }
}

#[test]
fn the_first_nan_is_told_at_its_store() {
    let mut watched = Watched::new();
    watched.fill(1, |lane| if lane < 3 { 0.0 } else { 1.0 });
    watched.float(1, Op::FDiv, 2, [1, 1]);
    watched.float(2, Op::FAdd, 3, [2, 1]);
    watched.float(3, Op::FMul, 3, [1, 3]);
    assert_eq!(watched.stage.told(), []);
    watched.store(4, 3);
    let told = watched.stage.told();
    let [told] = &told[..] else { panic!("{told:?}") };
    assert_eq!(told.hazard, Hazard::Nan);
    assert_eq!(told.message, "0 / 0 makes a NaN, and it is written to `y`");
    assert_eq!((told.act.line, told.other.as_ref().map(|other| other.line)), (1, Some(4)));
    assert_eq!((told.count, told.memory.as_deref()), (3, Some("y")));
    assert_eq!(told.act.invocation, Some(([0; 3], [0, 0, 0])));
}

#[test]
fn a_nan_of_an_inactive_invocation_or_one_that_stays_is_no_fault() {
    let mut watched = Watched::new();
    watched.stage.activate(3..16);
    watched.fill(1, |lane| if lane < 3 { 0.0 } else { 1.0 });
    watched.float(1, Op::FDiv, 2, [1, 1]);
    watched.store(2, 2);
    watched.stage.activate(0..16);
    watched.float(3, Op::FDiv, 2, [1, 1]);
    watched.store(4, 1);
    assert_eq!(watched.stage.told(), []);
}

#[test]
fn what_comes_from_outside_excuses_a_nan() {
    let mut watched = Watched::new();
    watched.fill(1, |lane| if lane == 7 { f32::INFINITY } else { 1.0 });
    let load = access(BUFFER, Scalar::F32, 1);
    watched.watch.load(&mut watched.stage.at(1), &load, reach(BUFFER, &row(0)));
    watched.float(2, Op::FSub, 2, [1, 1]);
    watched.store(3, 2);
    assert_eq!(watched.stage.told(), []);
    watched.watch.dispatch(&watched.stage.program, &watched.stage.here);
    watched.watch.workgroup(&watched.stage.program, &watched.stage.here);
    watched.float(2, Op::FSub, 2, [1, 1]);
    watched.store(3, 2);
    assert_eq!(watched.messages(), ["inf - inf makes a NaN, and it is written to `y`"]);
}

#[test]
fn an_overflow_is_named_where_it_becomes_a_nan() {
    let mut watched = Watched::new();
    watched.fill(1, |_| 1e30);
    watched.float(5, Op::FMul, 2, [1, 1]);
    watched.store(6, 2);
    assert_eq!(watched.stage.told(), [], "an infinity alone is none of it");
    watched.float(7, Op::FDiv, 3, [2, 2]);
    watched.store(8, 3);
    assert_eq!(
        watched.messages(),
        ["inf / inf makes a NaN; the infinity was made on line 5, and it is written to `y`"]
    );
}

#[test]
fn a_conversion_keeps_the_origin() {
    let mut watched = Watched::new();
    watched.fill(1, |_| 0.0);
    watched.float(1, Op::FDiv, 2, [1, 1]);
    watched.stage.fill(3, |_| 0x7e00);
    let narrow =
        |from, to, dst, src| Pure { to, arity: 1, ..core(Op::FConvert, from, dst, [src, 0]) };
    watched.watch.pure(&mut watched.stage.at(2), &narrow(Scalar::F32, Scalar::F16, 3, 2));
    watched.fill(4, |_| f32::NAN);
    watched.watch.pure(&mut watched.stage.at(3), &narrow(Scalar::F16, Scalar::F32, 4, 3));
    watched.store(4, 4);
    let told = watched.stage.told();
    assert_eq!((told[0].act.line, told[0].count), (1, 16));
}

#[test]
fn bits_that_are_no_number_come_from_outside() {
    let bitcast = Pure { arity: 1, ..pure(What::Core(Op::Bitcast), Scalar::I32, Scalar::F32) };
    let told = |constants: Vec<(Slot, u32)>| {
        let mut watched = Watched::new();
        watched.stage.program.constants = constants;
        watched.watch.dispatch(&watched.stage.program, &watched.stage.here);
        watched.watch.workgroup(&watched.stage.program, &watched.stage.here);
        watched.fill(10, |_| f32::NEG_INFINITY);
        watched.watch.pure(&mut watched.stage.at(1), &bitcast);
        watched.float(2, Op::FSub, 2, [10, 10]);
        watched.store(3, 2);
        watched.stage.told().len()
    };
    assert_eq!(told(vec![]), 0, "an input in disguise");
    assert_eq!(told(vec![(0, 0xff80_0000)]), 1, "a constant of the kernel");
}

#[test]
fn operands_without_a_result_are_told_with_their_values() {
    let mut watched = Watched::new();
    watched.stage.fill(0, |lane| lane);
    watched.stage.fill(1, |lane| u32::from(lane != 7));
    let by_zero: Guard = |out, src| {
        out.iter_mut().zip(src[1][0]).for_each(|(out, by)| *out = u32::from(*by == 0));
        out.contains(&1)
    };
    let divide = |op| Pure { guard: Some(by_zero), ..core(op, Scalar::I32, 10, [0, 1]) };
    watched.watch.pure(&mut watched.stage.at(1), &divide(Op::UDiv));
    assert_eq!(watched.messages(), ["divides by zero: 7 / 0"]);
    watched.stage.activate((0..16).filter(|lane| *lane != 7));
    watched.watch.pure(&mut watched.stage.at(2), &divide(Op::UDiv));
    assert_eq!(watched.messages(), [""; 0], "nobody is there");
}

#[test]
fn messages_say_what_is_undefined() {
    let told = |op, from, operands: &[u64]| {
        value::undefined(&pure(What::Core(op), from, Scalar::I32), operands.to_vec())
    };
    assert_eq!(told(Op::ShiftLeftLogical, Scalar::I32, &[1, 40]), "shifts a 32-bit value by 40");
    assert_eq!(told(Op::SMod, Scalar::I8, &[0xff, 0]), "divides by zero: -1 % 0");
    assert_eq!(
        told(Op::SDiv, Scalar::I32, &[0x8000_0000, 0xffff_ffff]),
        "overflows: -2147483648 / -1"
    );
    assert_eq!(
        told(Op::ConvertFToS, Scalar::F32, &[u64::from(3e10_f32.to_bits())]),
        "converts 3e10 to a 32-bit signed integer, which can't hold it"
    );
    let root = pure(What::Extended(Extended::Sqrt), Scalar::F32, Scalar::F32);
    let minus_one = u64::from((-1.0_f32).to_bits());
    assert_eq!(value::undefined(&root, vec![minus_one]), "sqrt(-1) has no defined result");
}
