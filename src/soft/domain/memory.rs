//! Tangents between registers and memory.

use rspirv::spirv::Op;

use crate::soft::observer::{Moment, Reach};
use crate::soft::program::{Access, Atomic, NOWHERE, Slot};
use crate::soft::scalar::Scalar;

use super::dual::{Tangent, Tie};
use super::numbers::number;
use super::observer::Tangents;

/// The parts of a component that have tangents of their own: how many bytes each, and where. Two
/// words that are one number go by the low one; as an integer they may be two floats.
fn parts(scalar: Scalar) -> &'static [(Slot, u32, u32)] {
    match scalar {
        Scalar::I64 => &[(0, 0, 4), (1, 4, 4)],
        Scalar::F64 => &[(0, 0, 8)],
        Scalar::I8 => &[(0, 0, 1)],
        Scalar::I16 | Scalar::F16 | Scalar::Bf16 => &[(0, 0, 2)],
        Scalar::Bool | Scalar::I32 | Scalar::F32 => &[(0, 0, 4)],
    }
}

impl Tangents {
    pub(super) fn loaded(&mut self, moment: &Moment<'_>, access: &Access, reach: Reach<'_>) {
        let mut is_torn = false;
        for (word, offset, bytes) in parts(access.scalar) {
            let (value, seat) = (access.value + word, moment.here.seat);
            let mut tangents = Vec::with_capacity(moment.active.count());
            if let Some(cells) = self.cells(reach.target, &moment.here) {
                for lane in moment.active.iter().filter(|lane| reach.bytes_at[*lane] < NOWHERE) {
                    let read = cells.read(reach.bytes_at[lane].saturating_add(*offset), *bytes);
                    is_torn |= read.is_err();
                    tangents.push((lane, read.unwrap_or_default()));
                }
            }
            let registers = &mut self.seats[seat].registers;
            registers.clear(value, moment.active);
            for (lane, tangent) in tangents {
                registers.put(value, lane, tangent);
            }
        }
        if access.scalar == Scalar::F64 {
            self.registers(&moment.here).clear(access.value + 1, moment.active);
        }
        if is_torn {
            self.dual.lose(moment, "a read of a part of a number");
        }
    }

    pub(super) fn stored(&mut self, moment: &Moment<'_>, access: &Access, reach: Reach<'_>) {
        for (word, offset, bytes) in parts(access.scalar) {
            for lane in moment.active.iter().filter(|lane| reach.bytes_at[*lane] < NOWHERE) {
                let tangent = self.registers(&moment.here).get(access.value + word, lane);
                if let Some(cells) = self.cells(reach.target, &moment.here) {
                    let at = reach.bytes_at[lane].saturating_add(*offset);
                    cells.write(at, *bytes, tangent);
                }
            }
        }
    }

    /// One invocation's turn: memory has its new value, the register what was there.
    pub(super) fn atomic(
        &mut self,
        moment: &mut Moment<'_>,
        atomic: &Atomic,
        reach: Reach<'_>,
        lane: usize,
    ) {
        let access = &atomic.access;
        let at = reach.bytes_at[lane];
        let bytes = access.scalar.bytes();
        let registers = self.registers(&moment.here);
        let own = registers.get(access.value, lane);
        if let Some(dst) = atomic.dst {
            registers.put(dst, lane, Tangent::default());
        }
        if at >= NOWHERE {
            return;
        }
        let Some(cells) = self.cells(reach.target, &moment.here) else { return };
        let read = cells.read(at, bytes);
        let before = self.dual.whole(moment, read);
        if let Some(dst) = atomic.dst {
            self.registers(&moment.here).put(dst, lane, before);
        }
        let after = match atomic.op {
            Op::AtomicLoad => before,
            Op::AtomicStore | Op::AtomicExchange => own,
            Op::AtomicFAddEXT => before + own,
            Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
                self.extreme(moment, atomic, lane, [before, own])
            }
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                let word = |slot: Slot| moment.registers.get(slot)[lane];
                let is_same = match (atomic.dst, atomic.compare) {
                    (Some(dst), Some(compare)) => word(dst) == word(compare),
                    _ => false,
                };
                if is_same { own } else { before }
            }
            op => {
                if !before.is_zero() || !own.is_zero() {
                    self.dual.lose(moment, &format!("{op:?} of a float's bits"));
                }
                Tangent::default()
            }
        };
        if let Some(cells) = self.cells(reach.target, &moment.here) {
            cells.write(at, bytes, after);
        }
    }

    /// Of what was there and what came, the one that was kept.
    fn extreme(
        &self,
        moment: &Moment<'_>,
        atomic: &Atomic,
        lane: usize,
        [before, own]: [Tangent; 2],
    ) -> Tangent {
        let Some(dst) = atomic.dst else {
            if !before.is_zero() || !own.is_zero() {
                self.dual.lose(moment, "an extreme value that isn't looked at");
            }
            return Tangent::default();
        };
        let scalar = atomic.access.scalar;
        let of = |slot| number(moment.registers, slot, scalar, lane);
        let (old, new) = (of(dst), of(atomic.access.value));
        if old == new && before.value != own.value {
            self.dual.kink(moment, "an extreme value of equal numbers");
            return if self.dual.tie() == Tie::First { before } else { own };
        }
        let is_greater = atomic.op == Op::AtomicFMaxEXT;
        let is_new = if is_greater { new > old } else { new < old };
        if is_new || old.is_nan() { own } else { before }
    }
}
