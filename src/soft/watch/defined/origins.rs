//! Where undefined values come from, and what is told when one is used.

use std::collections::HashMap;

use super::super::memory_name;
use super::shades::{FRESH, Trace};
use crate::device::Hazard;
use crate::soft::findings::{Party, Sign, Spot, Telling, describe, place};
use crate::soft::observer::Moment;
use crate::soft::program::{PlaceId, Program, Region};
use crate::soft::scalar::Scalar;

/// Why a value is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cause {
    /// A function or private variable was read before it was written.
    Variable,
    /// `OpUndef`.
    Undefine,
    /// A subgroup operation took it from an invocation that isn't there.
    Absent,
    Memory(Region, Scalar),
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
}

impl Origins {
    /// A program starts: places are its own.
    pub(super) fn reset(&mut self) {
        self.list.clear();
        self.index.clear();
        self.list.push(Origin { at: 0, cause: Cause::Variable, used: None });
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
    pub(super) fn report(&mut self, moment: &mut Moment<'_>, trace: Trace, lane: usize, how: Use) {
        let trace = self.resolve(trace, moment.at, lane);
        let origin = &mut self.list[trace.origin as usize];
        let (used_at, how) = *origin.used.get_or_insert((moment.at, how));
        let (program, workgroup) = (moment.program, moment.here.workgroup);
        let memory = match origin.cause {
            Cause::Memory(region, scalar) => Some((region, scalar)),
            _ => None,
        };
        let variable = memory.map(|(region, _)| (region, shared_at(program, region, trace.offset)));
        let sign = Sign::new(program, Hazard::UninitRead, origin.at)
            .with_other(place(program, used_at))
            .with_memory(variable);
        let Origin { at, cause, .. } = *origin;
        moment.findings.tell(program, sign, || {
            let act =
                Party { what: "reads", at, invocation: Some((workgroup, trace.lane as usize)) };
            let user = Party { what: how.what(), at: used_at, invocation: Some((workgroup, lane)) };
            let (spot, subject) = subject(program, cause, trace.offset);
            Telling {
                act: describe(program, act),
                other: Some(describe(program, user)),
                spot,
                message: format!("reads {subject}, and {}", how.what()),
            }
        });
    }

    /// Tells that an atomic operation updates memory that nobody wrote: its own use.
    pub(super) fn report_update(&mut self, moment: &mut Moment<'_>, trace: Trace) {
        let (program, workgroup) = (moment.program, moment.here.workgroup);
        let Origin { at, cause, .. } = self.list[trace.origin as usize];
        let sign = Sign::new(program, Hazard::UninitRead, at).with_memory(cause);
        moment.findings.tell(program, sign, || {
            let invocation = Some((workgroup, trace.lane as usize));
            let act = Party { what: "updates", at, invocation };
            let (spot, subject) = subject(program, cause, trace.offset);
            Telling {
                act: describe(program, act),
                other: None,
                spot,
                message: format!("updates {subject}"),
            }
        });
    }
}

/// Which shared variable.
fn shared_at(program: &Program, region: Region, offset: u32) -> Option<usize> {
    let holds = |at: &usize| {
        let shared = &program.shared[*at];
        (shared.offset..shared.offset + shared.bytes).contains(&offset)
    };
    (0..program.shared.len()).filter(|_| region == Region::Shared).find(holds)
}

/// What is undefined, in words.
fn subject(program: &Program, cause: Cause, offset: u32) -> (Option<Spot>, String) {
    let Cause::Memory(region, scalar) = cause else {
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
    let element = if offset % bytes == 0 {
        format!("`{memory}[{}]`", offset / bytes)
    } else {
        format!("byte {offset} of `{memory}`")
    };
    let who = if region == Region::Shared { " in this workgroup" } else { "" };
    let spot = Spot { memory, offset_bytes: u64::from(offset) };
    (Some(spot), format!("{element}, which nobody wrote{who}"))
}
