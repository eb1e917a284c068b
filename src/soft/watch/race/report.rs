//! What is said about two accesses that nothing orders.

use crate::device::{Act, Hazard};
use crate::soft::findings::{Findings, Party, Spot, describe};
use crate::soft::observer::{Reach, Target};
use crate::soft::program::{Access, Program, Region};

use super::order::Missing;
use super::stamps::{Deed, Stamp};

/// An access, with all that a message says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessor<'a> {
    pub(super) program: &'a Program,
    pub(super) stamp: Stamp,
    pub(super) workgroup: [u32; 3],
    pub(super) lane: u32,
}

impl Accessor<'_> {
    fn party(&self) -> Party {
        Party {
            what: self.stamp.deed.verb(),
            at: self.stamp.place,
            invocation: Some((self.workgroup, self.lane as usize)),
        }
    }

    fn act(&self) -> Act {
        describe(self.program, self.party())
    }

    fn who(&self) -> String {
        format!("invocation {} of workgroup {:?}", self.lane, self.workgroup)
    }

    fn line(&self) -> u32 {
        let place = self.program.places.get(self.stamp.place as usize);
        place.map_or(0, |place| place.line)
    }
}

/// Tells of two accesses.
pub(super) fn tell(
    findings: &mut Findings,
    hazard: Hazard,
    (later, earlier): (Accessor<'_>, Accessor<'_>),
    (spot, element): (Spot, String),
    missing: Missing,
) {
    let memory = spot.memory.clone();
    // Of many readers one is remembered, which may be the one who writes now; another read too.
    let is_same = (later.workgroup, later.lane) == (earlier.workgroup, earlier.lane);
    let who = if is_same { "another one".to_owned() } else { earlier.who() };
    let mut before = earlier.act();
    before.invocation = before.invocation.filter(|_| !is_same);
    let message = || {
        let what = if earlier.stamp.deed == Deed::Write && later.stamp.deed == Deed::Write {
            "wrote too".to_owned()
        } else {
            earlier.stamp.deed.participle().to_owned()
        };
        format!(
            "{} {element} of `{memory}` ({}), which {} {what}{}: {}",
            later.stamp.deed.verb(),
            later.who(),
            who,
            if hazard == Hazard::SameValueRace { ", the same value" } else { "" },
            reason(missing, &later, &earlier),
        )
    };
    findings.report(later.program, hazard, later.party(), Some(before), Some(spot), message);
}

/// What would have ordered them.
fn reason(missing: Missing, later: &Accessor<'_>, earlier: &Accessor<'_>) -> String {
    let lines = match (earlier.line(), later.line()) {
        (0, _) | (_, 0) => "the two".to_owned(),
        (a, b) if a == b => format!("two executions of line {a}"),
        (a, b) => format!("lines {a} and {b}"),
    };
    match missing {
        Missing::Barrier => format!("no barrier between {lines} in the same workgroup"),
        Missing::Lockstep => "no barrier between the two in the same workgroup, where the same \
                              statement writes one place from several invocations"
            .to_owned(),
        Missing::Visibility => format!(
            "ordered by execution, but not made visible: the barrier between {lines} doesn't \
             speak of this memory; it needs memoryBarrierBuffer() or memoryBarrierShared() before \
             barrier()"
        ),
        Missing::DeviceSync => {
            "no release and acquire of device scope between the two workgroups".to_owned()
        }
        Missing::Coherence => {
            "fences order the two workgroups, but an access isn't coherent".to_owned()
        }
        Missing::RecordedBarrier => "no barrier recorded between the two dispatches".to_owned(),
        Missing::Scope => format!(
            "both are atomic, but the scope ({:?} and {:?}) doesn't reach from one to the other",
            later.stamp.scope, earlier.stamp.scope
        ),
    }
}

/// The memory's name with the place in it, and the element in words.
pub(super) fn spot(
    program: &Program,
    access: &Access,
    reach: &Reach<'_>,
    buffer_name: &str,
    byte: u32,
) -> (Spot, String) {
    let (memory, start) = match (reach.target, access.region, reach.variable) {
        (Target::Shared, ..) => {
            let holds = |from: u32, bytes: u32| (from..from.saturating_add(bytes)).contains(&byte);
            let variable = program.shared.iter().find(|it| holds(it.offset, it.bytes));
            variable.map_or(("shared memory", 0), |it| (it.name.as_str(), it.offset))
        }
        (_, Region::Buffer(_), Some(variable)) => {
            let variable = program.buffers.get(variable as usize);
            (variable.map_or(buffer_name, |it| it.name.as_str()), reach.origin)
        }
        _ => (buffer_name, 0),
    };
    let offset = byte.saturating_sub(start);
    let element = format!("{} (byte {offset})", element(access, offset));
    (Spot { memory: memory.to_owned(), offset_bytes: offset.into() }, element)
}

fn element(access: &Access, offset: u32) -> String {
    format!("{:?} {}", access.scalar, offset / access.scalar.bytes()).to_lowercase()
}
