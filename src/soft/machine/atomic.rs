//! Atomic operations, one invocation at a time.

use crate::device::Hazard;
use crate::soft::atomics;
use crate::soft::findings::Party;
use crate::soft::lower::mix;
use crate::soft::matrix::{self, Matrix};
use crate::soft::observer::Target;
use crate::soft::program::{Atomic, PlaceId, Region};
use crate::soft::registers::Active;
use crate::soft::words::{join, split};

use super::World;
use super::access::{Bounds, Way, bytes_of_mut, reach};
use super::workgroup::Workgroup;

impl Workgroup {
    pub(super) fn atomic(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        atomic: &Atomic,
    ) {
        if atomic.access.region == Region::Physical {
            self.by_buffer(world, active, &atomic.access, |group, world, active, _, bounds| {
                group.atomic_on(world, active, at, atomic, bounds);
            });
            return;
        }
        let bounds = self.bounds(world, atomic.access.region);
        self.atomic_on(world, active, at, atomic, bounds);
    }

    fn atomic_on(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        atomic: &Atomic,
        bounds: Bounds,
    ) {
        let access = &atomic.access;
        let way = if atomic.op == rspirv::spirv::Op::AtomicLoad { Way::Read } else { Way::Write };
        self.resolve(world, active, at, access, bounds, way);
        let order = self.turns(world, active);
        let scratch = std::mem::take(&mut self.scratch);
        let reach = reach(&scratch, bounds);
        self.watch(world, active, at, |observer, moment| {
            observer.atomic(moment, atomic, reach, &order);
        });
        let is_watched = !world.observers.0.is_empty();
        let wide = access.scalar.words() == 2;
        let size = access.scalar.bytes() as usize;
        let mut changed = false;
        for lane in &order {
            let lane = *lane;
            let operand = |slot: u32| {
                let high = if wide { self.registers.get(slot + 1)[lane] } else { 0 };
                join([self.registers.get(slot)[lane], high])
            };
            let value = operand(access.value);
            let compare = atomic.compare.map_or(0, operand);
            let bytes: &mut [u8] = match bounds.target {
                Target::Buffer(index) => bytes_of_mut(world, index),
                Target::Shared => &mut self.shared,
                Target::Push => &mut [],
            };
            let from = scratch[lane] as usize;
            let old = match bytes.get_mut(from..from.saturating_add(size)) {
                Some(place) => {
                    let mut eight = [0; 8];
                    eight[..size].copy_from_slice(place);
                    let old = u64::from_le_bytes(eight);
                    let new = atomics::apply(atomic.op, access.scalar, old, value, compare);
                    changed |= new != old;
                    place.copy_from_slice(&new.to_le_bytes()[..size]);
                    old
                }
                None => 0,
            };
            if let Some(dst) = atomic.dst {
                let [low, high] = split(old);
                self.registers.get_mut(dst)[lane] = low;
                if wide {
                    self.registers.get_mut(dst + 1)[lane] = high;
                }
            }
            if is_watched {
                self.watch(world, active, at, |observer, moment| {
                    observer.atomic_done(moment, atomic, reach, lane);
                });
            }
        }
        self.scratch = scratch;
        world.changes += u64::from(changed);
    }

    /// In which order invocations have their turn.
    fn turns(&self, world: &World<'_>, active: &Active) -> Vec<usize> {
        let mut order: Vec<usize> = active.iter().collect();
        let schedule = world.request.schedule;
        if schedule != 0 {
            let size = self.here.subgroup_size.max(1);
            let salt = |at: usize| mix(schedule ^ u64::try_from(at).unwrap_or(0) << 8);
            // Subgroups in any order, and in half of the schedules each from its last invocation.
            let is_reversed = mix(schedule) & 2 == 2;
            order.sort_by_key(|lane| {
                let turn = if is_reversed { usize::MAX - lane } else { *lane };
                (salt(lane / size), turn)
            });
        }
        order
    }

    pub(super) fn matrix(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        matrix: &Matrix,
    ) {
        let mut alone = None;
        matrix::run(matrix, &mut self.registers, active, self.here.subgroup_size, &mut |lane| {
            alone.get_or_insert(lane);
        });
        if let Some(lane) = alone {
            let workgroup = self.here.workgroup;
            let what = "multiplies matrices of a subgroup";
            let party = Party { what, at, invocation: Some((workgroup, lane)) };
            world.findings.report(world.program, Hazard::Divergence, party, None, None, || {
                format!(
                    "a subgroup of workgroup {workgroup:?} multiplies matrices without all of its \
                     invocations; invocation {lane} is there"
                )
            });
        }
        self.follow(world, active, at, |observer, moment| observer.matrix(moment, matrix));
    }
}
