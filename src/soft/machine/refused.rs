//! Tells of accesses that the machine doesn't make, or that a device needn't.

use crate::device::Hazard;
use crate::soft::findings::{Party, Spot, describe};
use crate::soft::lower;
use crate::soft::observer::Target;
use crate::soft::program::{Access, NOWHERE, OUTSIDE, PlaceId, Program};
use crate::soft::registers::Active;

use super::World;
use super::access::{Bounds, Way};
use super::workgroup::Workgroup;

impl Workgroup {
    /// Tells of the first active invocation whose address is no multiple of what it must be.
    pub(super) fn misaligned(
        &self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        access: &Access,
        unit: u32,
    ) {
        let is_wrong = |lane: &usize| {
            let address = self.scratch[*lane];
            address < NOWHERE && address & (unit - 1) != 0
        };
        let Some(lane) = active.iter().find(is_wrong) else { return };
        let (workgroup, address) = (self.here.workgroup, self.scratch[lane]);
        let party = Party { what: "accesses", at, invocation: Some((workgroup, lane)) };
        world.findings.report(world.program, Hazard::Misaligned, party, None, None, || {
            format!(
                "accesses {} bytes at byte {address} of a buffer, which is no multiple of {unit} \
                 (invocation {lane} of workgroup {workgroup:?})",
                access.scalar.bytes()
            )
        });
    }

    /// Tells of the active invocations whose address lies outside.
    pub(super) fn outside(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        access: &Access,
        bounds: Bounds,
        way: Way,
    ) {
        let program = world.program;
        let offset_of = |lane: usize| match access.offset {
            Some(offset) => self.registers.get(offset)[lane],
            None => 0,
        };
        let mut guards: Option<Vec<PlaceId>> = None;
        for lane in active.iter().filter(|lane| self.scratch[*lane] == OUTSIDE) {
            let offset = offset_of(lane);
            if offset == NOWHERE {
                continue;
            }
            let (hazard, what) = match way {
                Way::Read => (Hazard::OobRead, "reads"),
                Way::Write => (Hazard::OobWrite, "writes"),
            };
            let invocation = Some((self.here.workgroup, lane));
            let offset = (offset != OUTSIDE).then(|| u64::from(offset) + u64::from(access.base));
            let memory = name(program, bounds, offset.unwrap_or(u64::from(access.base)));
            let spot = Spot { memory: memory.clone(), offset_bytes: offset.unwrap_or(0) };
            let workgroup = self.here.workgroup;
            let party = Party { what, at, invocation };
            // The innermost condition that let it through is the last one before it.
            let guard = guards.get_or_insert_with(|| lower::guards(program, self.block));
            let place = |at: &PlaceId| program.places[*at as usize];
            let before = guard.iter().filter(|guard| place(guard).file == place(&at).file);
            let before = before.filter(|guard| (1..place(&at).line).contains(&place(guard).line));
            let other = before.max_by_key(|guard| place(guard).line).map(|guard| {
                let what = "is the condition before it";
                describe(program, Party { what, at: *guard, invocation: None })
            });
            world.findings.report(program, hazard, party, other, Some(spot), || {
                let size = access.scalar.bytes();
                let where_to = match offset {
                    Some(offset) => {
                        format!(
                            "{size} bytes at byte {offset} of `{memory}`, which has {}",
                            bounds.len
                        )
                    }
                    None => format!("`{memory}` by an index that its array doesn't have"),
                };
                format!("{what} {where_to} (invocation {lane} of workgroup {workgroup:?})")
            });
        }
    }

    pub(super) fn outside_variable(
        &self,
        world: &mut World<'_>,
        at: PlaceId,
        lane: usize,
        way: Way,
    ) {
        let (hazard, what) = match way {
            Way::Read => (Hazard::OobRead, "reads"),
            Way::Write => (Hazard::OobWrite, "writes"),
        };
        let workgroup = self.here.workgroup;
        let party = Party { what, at, invocation: Some((workgroup, lane)) };
        world.findings.report(world.program, hazard, party, None, None, || {
            format!(
                "{what} an array of its own by an index that it doesn't have (invocation {lane} of \
                 workgroup {workgroup:?})"
            )
        });
    }
}

/// What the memory at hand is called.
fn name(program: &Program, bounds: Bounds, offset: u64) -> String {
    match (bounds.target, bounds.variable) {
        (_, Some(index)) => {
            program.buffers.get(index as usize).map_or_else(String::new, |b| b.name.clone())
        }
        (Target::Shared, _) => {
            let inside = |v: &&crate::soft::program::SharedVariable| {
                (u64::from(v.offset)..u64::from(v.offset) + u64::from(v.bytes)).contains(&offset)
            };
            let variable = program.shared.iter().find(inside).or(program.shared.last());
            variable.map_or_else(|| "shared memory".to_owned(), |v| v.name.clone())
        }
        (Target::Push, _) => "push constants".to_owned(),
        _ => "a physical address".to_owned(),
    }
}
