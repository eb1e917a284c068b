//! Where undefined values come from, and what is told when one is used.

use std::collections::HashMap;

use super::super::memory_name;
use super::shades::{FRESH, Trace};
use crate::device::{Act, Hazard};
use crate::soft::findings::{Party, Sign, Spot, Telling, describe, place};
use crate::soft::observer::{Moment, Target};
use crate::soft::program::{PlaceId, Program, Region};
use crate::soft::scalar::Scalar;

/// What was read: its name is the region's, but whoever wrote to it knows the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Source {
    pub(super) region: Region,
    pub(super) target: Target,
}

/// Why a value is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cause {
    /// A function or private variable was read before it was written.
    Variable,
    /// `OpUndef`.
    Undefine,
    /// A subgroup operation took it from an invocation that isn't there.
    Absent,
    Memory(Source, Scalar),
}

/// How an undefined value does harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Branch,
    Address,
    Atomic,
    /// Written to a buffer.
    Output,
}

impl Use {
    const fn what(self) -> &'static str {
        match self {
            Self::Branch => "branches on it",
            Self::Address => "takes it for an address",
            Self::Atomic => "gives it to an atomic operation",
            Self::Output => "writes it to a buffer",
        }
    }
}

/// Invocations that use undefined values of one origin; the first of them is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    pub(super) trace: Trace,
    pub(super) lane: usize,
    pub(super) how: Use,
    pub(super) times: u64,
}

#[derive(Clone, Copy, Debug)]
struct Origin {
    at: PlaceId,
    cause: Cause,
    /// Its first use. All others are counted there: they have one root.
    used: Option<(PlaceId, Use)>,
}

/// The origins of a dispatch.
#[derive(Debug, Default)]
pub(super) struct Origins {
    list: Vec<Origin>,
    index: HashMap<(PlaceId, Cause), u32>,
    /// Who first wrote to a memory (a shared variable by its index): where bytes are unwritten,
    /// that is the line which wrote too few of them, as often as not.
    writers: HashMap<(Target, Option<usize>), Act>,
}

impl Origins {
    /// A program starts: places are its own.
    pub(super) fn reset(&mut self) {
        self.list.clear();
        self.index.clear();
        self.writers.retain(|(target, _), _| *target != Target::Shared);
        self.list.push(Origin { at: 0, cause: Cause::Variable, used: None });
    }

    /// Bytes are written that were not.
    pub(super) fn wrote(&mut self, moment: &Moment<'_>, target: Target, offset: u32) {
        let (program, workgroup) = (moment.program, moment.here.workgroup);
        self.writers.entry((target, shared_at(program, target, offset))).or_insert_with(|| {
            let invocation = moment.active.first().map(|lane| (workgroup, lane));
            describe(program, Party { what: "writes", at: moment.at, invocation })
        });
    }

    pub(super) fn free(&mut self, buffer: usize) {
        self.writers.remove(&(Target::Buffer(buffer), None));
    }

    /// Who wrote other parts of the memory first.
    fn writer_of_parts(&self, program: &Program, cause: Cause, offset: u32) -> Option<&Act> {
        let Cause::Memory(Source { target, .. }, _) = cause else { return None };
        self.writers.get(&(target, shared_at(program, target, offset)))
    }

    pub(super) fn intern(&mut self, at: PlaceId, cause: Cause) -> u32 {
        let list = &mut self.list;
        *self.index.entry((at, cause)).or_insert_with(|| {
            list.push(Origin { at, cause, used: None });
            u32::try_from(list.len() - 1).unwrap_or(FRESH)
        })
    }

    /// The trace of a value that an invocation reads: an unwritten variable is told where it is
    /// read, since nothing happens where it begins.
    pub(super) fn resolve(&mut self, trace: Trace, at: PlaceId, lane: usize) -> Trace {
        if trace.origin != FRESH {
            return trace;
        }
        let origin = self.intern(at, Cause::Variable);
        Trace { origin, offset: 0, lane: u32::try_from(lane).unwrap_or(u32::MAX) }
    }

    /// Tells that an invocation uses an undefined value. The read of what nobody wrote comes
    /// first: that is the line to look at.
    pub(super) fn report(&mut self, moment: &mut Moment<'_>, user: User) {
        let User { trace, lane, how, times } = user;
        let origin = &mut self.list[trace.origin as usize];
        let (used_at, how) = *origin.used.get_or_insert((moment.at, how));
        let (program, workgroup) = (moment.program, moment.here.workgroup);
        let variable = match origin.cause {
            Cause::Memory(Source { region, target }, _) => {
                Some((region, shared_at(program, target, trace.offset)))
            }
            _ => None,
        };
        let sign = Sign::new(program, Hazard::UninitRead, origin.at)
            .with_other(place(program, used_at))
            .with_memory(variable);
        let Origin { at, cause, .. } = *origin;
        moment.findings.tell(program, sign, times, || {
            let act =
                Party { what: "reads", at, invocation: Some((workgroup, trace.lane as usize)) };
            let by = Party { what: how.what(), at: used_at, invocation: Some((workgroup, lane)) };
            let (spot, subject) = subject(program, cause, trace.offset);
            // Who wrote the other parts should have written this one too, or has the wrong guard.
            let other = self.writer_of_parts(program, cause, trace.offset);
            let on = format!(" on line {}", program.places[used_at as usize].line);
            let on = if other.is_some() { on } else { String::new() };
            Telling {
                act: describe(program, act),
                other: other.cloned().or_else(|| Some(describe(program, by))),
                spot,
                message: format!("reads {subject}, and {}{on}", how.what()),
            }
        });
    }

    /// Tells that an atomic operation updates memory that nobody wrote: its own use. What it finds
    /// there may also be an undefined value that another instruction left.
    pub(super) fn report_update(&mut self, moment: &mut Moment<'_>, trace: Trace, lane: usize) {
        if self.list[trace.origin as usize].at != moment.at {
            self.report(moment, User { trace, lane, how: Use::Atomic, times: 1 });
            return;
        }
        let (program, workgroup) = (moment.program, moment.here.workgroup);
        let Origin { at, cause, .. } = self.list[trace.origin as usize];
        let sign = Sign::new(program, Hazard::UninitRead, at).with_memory(cause);
        moment.findings.tell(program, sign, 1, || {
            let invocation = Some((workgroup, trace.lane as usize));
            let act = Party { what: "updates", at, invocation };
            let (spot, subject) = subject(program, cause, trace.offset);
            Telling {
                act: describe(program, act),
                other: self.writer_of_parts(program, cause, trace.offset).cloned(),
                spot,
                message: format!("updates {subject}"),
            }
        });
    }
}

/// Which shared variable.
fn shared_at(program: &Program, target: Target, offset: u32) -> Option<usize> {
    let holds = |at: &usize| {
        let shared = &program.shared[*at];
        (shared.offset..shared.offset + shared.bytes).contains(&offset)
    };
    (0..program.shared.len()).filter(|_| target == Target::Shared).find(holds)
}

/// What is undefined, in words.
fn subject(program: &Program, cause: Cause, offset: u32) -> (Option<Spot>, String) {
    let Cause::Memory(Source { region, .. }, scalar) = cause else {
        let text = match cause {
            Cause::Variable => "a variable that nobody wrote",
            Cause::Undefine => "an undefined value",
            _ => "the value of an invocation that does not take part",
        };
        return (None, text.to_owned());
    };
    let (memory, start) = memory_name(program, region, offset);
    let offset = offset - start;
    let bytes = scalar.bytes();
    let element = if offset.is_multiple_of(bytes) {
        format!("`{memory}[{}]`", offset / bytes)
    } else {
        format!("byte {offset} of `{memory}`")
    };
    let who = if region == Region::Shared { " in this workgroup" } else { "" };
    let spot = Spot { memory, offset_bytes: u64::from(offset) };
    (Some(spot), format!("{element}, which nobody wrote{who}"))
}
