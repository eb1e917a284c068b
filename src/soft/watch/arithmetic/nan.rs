//! The first instruction that made a NaN out of numbers. Its number travels in the NaN's payload,
//! through registers, shared memory and other invocations alike, to where it is written to a buffer.

use std::collections::HashMap;

use super::{float, value};
use crate::device::Hazard;
use crate::soft::findings::{Party, Sign, Spot, Telling, describe, place};
use crate::soft::observer::{Here, Moment, Reach, Target};
use crate::soft::program::{Access, OUTSIDE, PlaceId, Program, Pure, Region, Slot, What};
use crate::soft::scalar::Scalar;
use crate::soft::watch::memory_name;
use rspirv::spirv::{GlslStd450Op as Extended, Op};

#[derive(Debug)]
struct Origin {
    at: PlaceId,
    invocation: ([u32; 3], usize),
    message: String,
    /// The infinity among its operands.
    infinity: Option<PlaceId>,
    /// The store that is told; others are counted there.
    stored_at: Option<PlaceId>,
}

/// The NaNs of a dispatch.
#[derive(Debug, Default)]
pub(super) struct Nans {
    /// A NaN or an infinity came from outside: then the kernel may well make more of them, and
    /// nothing is told.
    loaded: bool,
    /// The number in a payload is one more than the index.
    origins: Vec<Origin>,
    index: HashMap<PlaceId, u32>,
    constants: Vec<Slot>,
    /// For every seat and invocation the last instruction that made an infinity out of numbers.
    infinities: Vec<Vec<Option<PlaceId>>>,
    /// The first one of all, for infinities that came by way of shared memory.
    first_infinity: Option<PlaceId>,
}

/// What an operation does with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Computes,
    /// Takes a float out of bits that may be anything.
    Reinterprets,
}

fn kind(pure: &Pure) -> Kind {
    match pure.what {
        What::Core(Op::Bitcast | Op::CopyObject) => Kind::Reinterprets,
        What::Core(Op::ConvertSToF | Op::ConvertUToF) => Kind::Computes,
        What::Extended(Extended::Ldexp) => Kind::Computes,
        _ if pure.from.is_float() => Kind::Computes,
        _ => Kind::Reinterprets,
    }
}

impl Nans {
    pub(super) fn dispatch(&mut self, program: &Program) {
        self.loaded = false;
        self.origins.clear();
        self.index.clear();
        self.constants = program.constants.iter().map(|(slot, _)| *slot).collect();
        self.constants.sort_unstable();
        self.infinities.clear();
        self.first_infinity = None;
    }

    pub(super) fn workgroup(&mut self, here: &Here) {
        if self.infinities.len() <= here.seat {
            self.infinities.resize_with(here.seat + 1, Vec::new);
        }
        let infinities = &mut self.infinities[here.seat];
        infinities.clear();
        infinities.resize(here.width, None);
    }

    pub(super) fn load(&mut self, moment: &Moment<'_>, access: &Access, reach: Reach<'_>) {
        if self.loaded || reach.target == Target::Shared {
            return;
        }
        let (slot, scalar) = (access.value, access.scalar);
        self.loaded = float::any_special(moment.registers, slot, scalar, moment.active);
    }

    pub(super) fn pure(&mut self, moment: &mut Moment<'_>, pure: &Pure) {
        if self.loaded || !float::any_special(moment.registers, pure.dst, pure.to, moment.active) {
            return;
        }
        match kind(pure) {
            Kind::Computes => self.computed(moment, pure),
            Kind::Reinterprets => self.reinterpreted(moment, pure),
        }
    }

    fn computed(&mut self, moment: &mut Moment<'_>, pure: &Pure) {
        let result = pure.dst..pure.dst + pure.to.words();
        for lane in moment.active.iter() {
            let bits = float::read(moment.registers, result.clone(), lane);
            if float::is_nan(pure.to, bits) {
                let number = match nan_operand(moment, pure, lane) {
                    Some(operand) => float::tag_of(pure.from, operand),
                    None => Some(self.make(moment, pure, lane)),
                };
                if let Some(bits) = number.and_then(|number| float::tag(pure.to, number)) {
                    float::write(moment.registers, result.clone(), lane, bits);
                }
            } else if float::is_infinite(pure.to, bits) && !has_infinity(moment, pure, lane) {
                self.infinities[moment.here.seat][lane] = Some(moment.at);
                self.first_infinity.get_or_insert(moment.at);
            }
        }
    }

    /// A NaN out of nowhere. Those of the same numbers by one register's words stay what they are:
    /// a copy keeps its number anyway.
    fn reinterpreted(&mut self, moment: &Moment<'_>, pure: &Pure) {
        let constant = self.constants.binary_search(&pure.src[0]).is_ok();
        let ours = |lane: usize| {
            let slots = pure.dst..pure.dst + pure.to.words();
            let bits = float::read(moment.registers, slots, lane);
            let finite = !float::is_nan(pure.to, bits) && !float::is_infinite(pure.to, bits);
            finite || float::tag_of(pure.to, bits).is_some_and(|number| self.knows(number))
        };
        self.loaded = !constant && !moment.active.iter().all(ours);
    }

    fn knows(&self, number: u32) -> bool {
        (1..=self.origins.len()).contains(&(number as usize))
    }

    /// The number of the origin of a NaN that an instruction has just made.
    fn make(&mut self, moment: &Moment<'_>, pure: &Pure, lane: usize) -> u32 {
        let next = u32::try_from(self.origins.len() + 1).unwrap_or(u32::MAX);
        let number = *self.index.entry(moment.at).or_insert(next);
        if number == next {
            let operands = value::operands(moment.registers, pure, lane);
            let mut message = format!("{} makes a NaN", value::call(pure, &operands));
            let infinity = self.infinities[moment.here.seat][lane].or(self.first_infinity);
            let infinity = infinity.filter(|_| has_infinity(moment, pure, lane));
            if let Some(at) = infinity {
                let line = place(moment.program, at).line;
                message.push_str(&format!("; the infinity was made on line {line}"));
            }
            let (at, invocation) = (moment.at, (moment.here.workgroup, lane));
            self.origins.push(Origin { at, invocation, message, infinity, stored_at: None });
        }
        number
    }

    pub(super) fn store(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        if self.loaded || self.origins.is_empty() || !matches!(reach.target, Target::Buffer(_)) {
            return;
        }
        if !float::any_special(moment.registers, access.value, access.scalar, moment.active) {
            return;
        }
        let mut found: Vec<(u32, usize, u64)> = Vec::new();
        for lane in moment.active.iter().filter(|lane| reach.bytes_at[*lane] != OUTSIDE) {
            let slots = access.value..access.value + access.scalar.words();
            let bits = float::read(moment.registers, slots, lane);
            let number = float::tag_of(access.scalar, bits).filter(|number| self.knows(*number));
            let Some(number) = number else { continue };
            match found.iter_mut().find(|(seen, ..)| *seen == number) {
                Some((.., times)) => *times += 1,
                None => found.push((number, lane, 1)),
            }
        }
        for (number, lane, times) in found {
            self.report(moment, reach, number, (lane, times));
        }
    }

    /// The first invocation that stores it is told, and how many do.
    fn report(
        &mut self,
        moment: &mut Moment<'_>,
        reach: Reach<'_>,
        number: u32,
        (lane, times): (usize, u64),
    ) {
        let origin = &mut self.origins[number as usize - 1];
        let stored_at = *origin.stored_at.get_or_insert(moment.at);
        let (program, at) = (moment.program, moment.at);
        let workgroup = moment.here.workgroup;
        let sign = Sign::new(program, Hazard::Nan, origin.at).with_other(place(program, stored_at));
        moment.findings.tell(program, sign, times, || {
            let maker =
                Party { what: "makes a NaN", at: origin.at, invocation: Some(origin.invocation) };
            // Where the infinity came from says more than where the NaN went.
            let other = match origin.infinity {
                Some(at) => Party { what: "makes the infinity", at, invocation: None },
                None => Party { what: "writes it", at, invocation: Some((workgroup, lane)) },
            };
            let region = reach.variable.map_or(Region::Physical, Region::Buffer);
            let offset = reach.bytes_at[lane].saturating_sub(reach.origin);
            let (memory, _) = memory_name(program, region, offset);
            Telling {
                act: describe(program, maker),
                other: Some(describe(program, other)),
                message: format!("{}, and it is written to `{memory}`", origin.message),
                spot: Some(Spot { memory, offset_bytes: u64::from(offset) }),
            }
        });
    }
}

/// The bits of a floating-point operand that is what `test` asks for.
fn operand(
    moment: &Moment<'_>,
    pure: &Pure,
    lane: usize,
    test: impl Fn(Scalar, u64) -> bool,
) -> Option<u64> {
    let first = usize::from(pure.what == What::Core(Op::Select));
    (first..usize::from(pure.arity)).find_map(|at| {
        let slots = pure.src[at]..pure.src[at] + pure.operand_words(at);
        let bits = float::read(moment.registers, slots, lane);
        test(pure.from, bits).then_some(bits)
    })
}

fn nan_operand(moment: &Moment<'_>, pure: &Pure, lane: usize) -> Option<u64> {
    operand(moment, pure, lane, float::is_nan)
}

fn has_infinity(moment: &Moment<'_>, pure: &Pure, lane: usize) -> bool {
    operand(moment, pure, lane, float::is_infinite).is_some()
}
