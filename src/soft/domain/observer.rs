//! Carries tangents through what the machine does.

use std::collections::HashMap;
use std::ops::Range;

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use crate::soft::matrix::Matrix;
use crate::soft::observer::{Here, Moment, Observer, Reach, Target, Transfer};
use crate::soft::program::{
    Access, Atomic, Group, Inactive, Index, NOWHERE, OUTSIDE, Program, Pure, Slot, What,
};
use crate::soft::scalar::Scalar;

use super::cells::Cells;
use super::columns::Columns;
use super::dual::{Dual, Tangent, Tie};
use super::numbers::number;
use super::rules::{Slope, slope};

/// The tangents of everything that the machine holds.
#[derive(Debug)]
pub(super) struct Tangents {
    pub(super) dual: Dual,
    pub(super) seats: Vec<Seat>,
    pub(super) buffers: HashMap<usize, Cells>,
}

/// Those of a workgroup.
#[derive(Debug, Default)]
pub(super) struct Seat {
    pub(super) registers: Columns,
    pub(super) shared: Cells,
}

impl Tangents {
    pub(super) fn new(dual: Dual) -> Self {
        Self { dual, seats: Vec::new(), buffers: HashMap::new() }
    }

    pub(super) fn registers(&mut self, here: &Here) -> &mut Columns {
        &mut self.seats[here.seat].registers
    }

    /// The memory that an access reaches; push constants have no tangents.
    pub(super) fn cells(&mut self, target: Target, here: &Here) -> Option<&mut Cells> {
        match target {
            Target::Buffer(index) => Some(self.buffers.entry(index).or_default()),
            Target::Shared => Some(&mut self.seats[here.seat].shared),
            Target::Push => None,
        }
    }

    fn select(&mut self, moment: &Moment<'_>, pure: &Pure) {
        let [condition, yes, no, _] = pure.src;
        let registers = &mut self.seats[moment.here.seat].registers;
        for word in 0..pure.to.words() {
            registers.set(pure.dst + word, moment.active, |registers, lane| {
                let is_set = moment.registers.get(condition)[lane] != 0;
                registers.get(if is_set { yes } else { no } + word, lane)
            });
        }
    }

    /// Numbers that are equal and don't move together are at the border between yes and no.
    fn compare(&mut self, moment: &mut Moment<'_>, pure: &Pure) {
        let [a, b, ..] = pure.src;
        let mut is_kink = false;
        for lane in moment.active.iter() {
            let of = |slot| number(moment.registers, slot, pure.from, lane);
            let registers = &self.seats[moment.here.seat].registers;
            let moves = registers.get(a, lane).value != registers.get(b, lane).value;
            if moves && of(a) == of(b) {
                is_kink = true;
                if self.dual.tie() == Tie::Second {
                    moment.registers.get_mut(pure.dst)[lane] ^= 1;
                }
            }
        }
        if is_kink {
            self.dual.kink(moment, "a comparison of equal numbers");
        }
    }

    /// Equal bits are equal numbers; any other look at the bits of a number sees more than that.
    fn bits(&mut self, moment: &Moment<'_>, pure: &Pure) {
        if matches!(pure.what, What::Core(Op::IEqual | Op::INotEqual)) {
            return;
        }
        let what = match pure.what {
            What::Core(op) | What::Second(op) => format!("{op:?} of a float's bits"),
            What::Extended(op) | What::SecondExtended(op) => format!("{op:?}"),
        };
        self.dual.lose(moment, &what);
    }

    fn derive(&mut self, moment: &Moment<'_>, pure: &Pure) {
        let arity = usize::from(pure.arity);
        let tie = self.dual.tie();
        let (mut kink, mut jump, mut lost) = (false, false, false);
        let registers = &mut self.seats[moment.here.seat].registers;
        registers.set(pure.dst, moment.active, |registers, lane| {
            let mut tangents = [Tangent::default(); 3];
            for (tangent, slot) in tangents.iter_mut().zip(pure.src).take(arity) {
                *tangent = registers.get(slot, lane);
            }
            if tangents.iter().all(|tangent| tangent.is_zero()) {
                return Tangent::default();
            }
            let mut operands = [0.0; 4];
            for (at, operand) in operands.iter_mut().enumerate().take(arity) {
                *operand = number(moment.registers, pure.src[at], operand_type(pure, at), lane);
            }
            let along = |slopes: [f64; 3]| {
                let terms = tangents.iter().zip(slopes).map(|(tangent, slope)| *tangent * slope);
                terms.fold(Tangent::default(), |sum, term| sum + term)
            };
            match slope(pure.what, operands) {
                Some(Slope::Smooth(slopes)) => along(slopes),
                Some(Slope::Kink(first, second)) => {
                    let (first, second) = (along(first), along(second));
                    kink |= first.value != second.value;
                    if tie == Tie::First { first } else { second }
                }
                Some(Slope::Jump) => {
                    jump = true;
                    Tangent::default()
                }
                None => {
                    lost = true;
                    Tangent::default()
                }
            }
        });
        let name = || match pure.what {
            What::Core(op) | What::Second(op) => format!("{op:?}"),
            What::Extended(op) | What::SecondExtended(op) => format!("{op:?}"),
        };
        if kink {
            self.dual.kink(moment, &format!("{} of equal numbers", name()));
        }
        if jump {
            self.dual.lose(moment, &format!("{} where it jumps", name()));
        }
        if lost {
            self.dual.lose(moment, &name());
        }
    }
}

/// Only an exponent is of another type than the others.
fn operand_type(pure: &Pure, at: usize) -> Scalar {
    let is_exponent = matches!(pure.what, What::Extended(Extended::Ldexp)) && at == 1;
    if is_exponent { Scalar::I32 } else { pure.from }
}

fn compares(what: What) -> bool {
    use Op::{
        FOrdEqual, FOrdGreaterThan, FOrdGreaterThanEqual, FOrdLessThan, FOrdLessThanEqual,
        FOrdNotEqual, FUnordEqual, FUnordGreaterThan, FUnordGreaterThanEqual, FUnordLessThan,
        FUnordLessThanEqual, FUnordNotEqual, LessOrGreater,
    };
    let What::Core(op) = what else { return false };
    matches!(
        op,
        FOrdEqual
            | FOrdGreaterThan
            | FOrdGreaterThanEqual
            | FOrdLessThan
            | FOrdLessThanEqual
            | FOrdNotEqual
            | FUnordEqual
            | FUnordGreaterThan
            | FUnordGreaterThanEqual
            | FUnordLessThan
            | FUnordLessThanEqual
            | FUnordNotEqual
            | LessOrGreater
    )
}

impl Observer for Tangents {
    fn transfer(&mut self, buffer: usize, bytes: Range<u64>, _: Transfer) {
        if let Some(cells) = self.buffers.get_mut(&buffer) {
            cells.clear(bytes);
        }
    }

    fn upload(&mut self, name: &str, buffer: usize, bytes: Range<u64>) {
        let Some((element, tangent)) = self.dual.uploaded(name, bytes.end - bytes.start) else {
            return;
        };
        let cells = self.buffers.entry(buffer).or_default();
        let places = (0..).map(|at| bytes.start + at * u64::from(element));
        for (at, value) in places.zip(tangent) {
            if let Ok(at) = u32::try_from(at) {
                cells.write(at, element, Tangent::new(value));
            }
        }
    }

    fn download(&mut self, name: &str, buffer: usize, bytes: Range<u64>) {
        let cells = self.buffers.get(&buffer).map(|cells| cells.part(bytes));
        self.dual.downloaded(name, cells.unwrap_or_default());
    }

    fn free(&mut self, buffer: usize) {
        self.buffers.remove(&buffer);
    }

    fn dispatch(&mut self, _: &Program, _: &Here) {
        self.seats.clear();
    }

    fn workgroup(&mut self, program: &Program, here: &Here) {
        if self.seats.len() <= here.seat {
            self.seats.resize_with(here.seat + 1, Seat::default);
        }
        let registers = Columns::new(program.slot_count as usize, here.width);
        self.seats[here.seat] = Seat { registers, shared: Cells::default() };
    }

    fn pure(&mut self, moment: &mut Moment<'_>, pure: &Pure) {
        let words = pure.from.words();
        let is_select = matches!(pure.what, What::Core(Op::Select));
        let sources = pure.src.iter().take(usize::from(pure.arity)).skip(usize::from(is_select));
        let registers = self.registers(&moment.here);
        let moves = sources.flat_map(|slot| (0..words).map(move |word| slot + word)).any(|slot| {
            registers.has(slot)
                && moment.active.iter().any(|lane| !registers.get(slot, lane).is_zero())
        });
        for word in 0..pure.to.words() {
            registers.clear(pure.dst + word, moment.active);
        }
        if !moves {
        } else if is_select {
            self.select(moment, pure);
        } else if !pure.from.is_float() {
            self.bits(moment, pure);
        } else if compares(pure.what) {
            self.compare(moment, pure);
        } else {
            self.derive(moment, pure);
        }
    }

    fn copy(&mut self, moment: &mut Moment<'_>, dst: Slot, src: Slot, _: Inactive) {
        let registers = self.registers(&moment.here);
        if registers.has(src) {
            registers.set(dst, moment.active, |registers, lane| registers.get(src, lane));
        } else {
            registers.clear(dst, moment.active);
        }
    }

    fn undefine(&mut self, moment: &mut Moment<'_>, dst: Slot) {
        self.registers(&moment.here).clear(dst, moment.active);
    }

    fn constant(&mut self, moment: &mut Moment<'_>, dst: Slot) {
        self.registers(&moment.here).clear(dst, moment.active);
    }

    fn index(&mut self, moment: &mut Moment<'_>, index: &Index) {
        let registers = self.registers(&moment.here);
        registers.clear(index.dst, moment.active);
        let moves = |lane: usize| !registers.get(index.index, lane).is_zero();
        if registers.has(index.index) && moment.active.iter().any(moves) {
            self.dual.lose(moment, "an index made of a float's bits");
        }
    }

    fn load_indexed(&mut self, moment: &mut Moment<'_>, dst: Slot, base: Slot, offset: Slot) {
        let offsets = moment.registers.get(offset);
        self.registers(&moment.here).set(dst, moment.active, |registers, lane| {
            match offsets[lane] {
                OUTSIDE | NOWHERE => Tangent::default(),
                offset => registers.get(base + offset, lane),
            }
        });
    }

    fn store_indexed(&mut self, moment: &mut Moment<'_>, base: Slot, offset: Slot, src: Slot) {
        let offsets = moment.registers.get(offset);
        let registers = self.registers(&moment.here);
        for lane in moment.active.iter() {
            if offsets[lane] < NOWHERE {
                let tangent = registers.get(src, lane);
                registers.put(base + offsets[lane], lane, tangent);
            }
        }
    }

    fn load(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        self.loaded(moment, access, reach);
    }

    fn store(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        self.stored(moment, access, reach);
    }

    fn atomic_done(
        &mut self,
        moment: &mut Moment<'_>,
        atomic: &Atomic,
        reach: Reach<'_>,
        lane: usize,
    ) {
        self.atomic(moment, atomic, reach, lane);
    }

    fn group(&mut self, moment: &mut Moment<'_>, group: &Group) {
        self.grouped(moment, group);
    }

    fn matrix(&mut self, moment: &mut Moment<'_>, matrix: &Matrix) {
        self.multiplied(moment, matrix);
    }
}
