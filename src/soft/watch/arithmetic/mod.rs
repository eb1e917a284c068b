//! Operations without a defined result, and where NaNs come from.

mod float;
mod nan;
mod value;

use self::nan::Nans;
use crate::device::Hazard;
use crate::soft::findings::{Party, Sign, Telling, describe};
use crate::soft::observer::{Here, Moment, Observer, Reach};
use crate::soft::program::{Access, Guard, Program, Pure};

/// Looks at results that are not numbers and at operands that give no result.
#[derive(Debug, Default)]
pub(crate) struct Arithmetic {
    nans: Nans,
    flags: Vec<u32>,
}

impl Arithmetic {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Tells of active invocations whose operands give no defined result. The guard looks at
    /// inactive ones too, which hold anything.
    fn check(&mut self, moment: &mut Moment<'_>, pure: &Pure, guard: Guard) {
        let lanes = moment.active.lanes();
        let registers = &*moment.registers;
        let mut src: [[&[u32]; 2]; 4] = [[&[]; 2]; 4];
        for (at, operand) in src.iter_mut().enumerate().take(usize::from(pure.arity)) {
            let words = pure.operand_words(at);
            for (slot, word) in (pure.src[at]..pure.src[at] + words).zip(operand) {
                *word = &registers.get(slot)[lanes.clone()];
            }
        }
        self.flags.resize(lanes.len(), 0);
        if !guard(&mut self.flags, src) {
            return;
        }
        let here = moment.here;
        let sign = Sign::new(moment.program, Hazard::UndefinedArithmetic, moment.at);
        let mut wrong = moment.active.iter().filter(|lane| self.flags[lane - lanes.start] != 0);
        let Some(lane) = wrong.next() else { return };
        let times = wrong.fold(1, |times, _| times + 1);
        moment.findings.tell(moment.program, sign, times, || {
            let invocation = Some((here.workgroup, lane));
            let act = Party { what: "computes", at: moment.at, invocation };
            Telling {
                act: describe(moment.program, act),
                other: None,
                spot: None,
                message: value::undefined(pure, value::operands(registers, pure, lane)),
            }
        });
    }
}

impl Observer for Arithmetic {
    fn dispatch(&mut self, program: &Program, _here: &Here) {
        self.nans.dispatch(program);
    }

    fn workgroup(&mut self, _program: &Program, here: &Here) {
        self.nans.workgroup(here);
    }

    fn pure(&mut self, moment: &mut Moment<'_>, pure: &Pure) {
        if let Some(guard) = pure.guard {
            self.check(moment, pure, guard);
        }
        if pure.to.is_float() {
            self.nans.pure(moment, pure);
        }
    }

    fn load(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        if access.scalar.is_float() {
            self.nans.load(moment, access, reach);
        }
    }

    fn store(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        if access.scalar.is_float() {
            self.nans.store(moment, access, reach);
        }
    }
}

#[cfg(test)]
mod tests;
