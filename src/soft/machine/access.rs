//! Loads and stores: addresses are held against what is bound before anything is touched.

use crate::soft::memory::View;
use crate::soft::observer::{Reach, Target};
use crate::soft::program::{Access, NOWHERE, OUTSIDE, PlaceId, Region, Slot};
use crate::soft::registers::Active;
use crate::soft::scalar::Scalar;
use crate::soft::words::join;

use super::World;
use super::addresses::{self, Shape};
use super::workgroup::Workgroup;

/// What an access may touch.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) target: Target,
    pub(super) variable: Option<u32>,
    pub(super) start: u32,
    pub(super) len: u32,
}

/// Reads or writes, for messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
}

impl Workgroup {
    pub(super) fn bounds(&self, world: &World<'_>, region: Region) -> Bounds {
        let whole = |target, len: usize| Bounds {
            target,
            variable: None,
            start: 0,
            len: u32::try_from(len).unwrap_or(u32::MAX),
        };
        match region {
            Region::Buffer(index) => {
                let view = world.request.views.get(index as usize).copied();
                let view = view.unwrap_or(View { buffer: usize::MAX, start: 0, len: 0 });
                Bounds {
                    target: Target::Buffer(view.buffer),
                    variable: Some(index),
                    start: view.start,
                    len: view.len,
                }
            }
            Region::Shared => whole(Target::Shared, self.shared.len()),
            Region::Push => whole(Target::Push, world.request.push.len()),
            Region::Physical => whole(Target::Buffer(usize::MAX), 0),
        }
    }

    /// Fills the scratch column with the address of every invocation, and tells of those outside.
    pub(super) fn resolve(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        access: &Access,
        bounds: Bounds,
        way: Way,
    ) -> Shape {
        let lanes = active.lanes();
        let scratch = &mut self.scratch[lanes.clone()];
        let size = access.scalar.bytes();
        // The last offset at which the whole component still lies inside.
        let last = bounds.len.checked_sub(size).and_then(|last| last.checked_sub(access.base));
        let (shape, is_wrong) = match (access.offset, last) {
            (_, None) => {
                scratch.fill(OUTSIDE);
                (Shape::Same, true)
            }
            (None, Some(_)) => {
                scratch.fill(bounds.start + access.base);
                (Shape::Same, false)
            }
            (Some(offset), Some(last)) => {
                let offsets = &self.registers.get(offset)[lanes];
                let first = bounds.start + access.base;
                addresses::place(scratch, offsets, active.words(), first, last)
            }
        };
        if is_wrong {
            self.outside(world, active, at, access, bounds, way);
        }
        let unit = access.alignment.max(size);
        let low = match shape {
            Shape::Same => active.first().map_or(0, |lane| self.scratch[lane]),
            _ => addresses::union(&self.scratch[active.lanes()], active.words()),
        };
        if unit.is_power_of_two() && low & (unit - 1) != 0 {
            self.misaligned(world, active, at, access, unit);
        }
        shape
    }

    pub(super) fn load(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        access: &Access,
    ) {
        if access.region == Region::Physical {
            self.by_buffer(world, active, access, |group, world, active, access, bounds| {
                group.load_from(world, active, at, access, bounds);
            });
            return;
        }
        let bounds = self.bounds(world, access.region);
        self.load_from(world, active, at, access, bounds);
    }

    fn load_from(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        access: &Access,
        bounds: Bounds,
    ) {
        let shape = self.resolve(world, active, at, access, bounds, Way::Read);
        let lanes = active.lanes();
        let bytes: &[u8] = match bounds.target {
            Target::Buffer(index) => bytes_of(world, index),
            Target::Shared => &self.shared,
            Target::Push => world.request.push,
        };
        let addresses = &self.scratch[lanes.clone()];
        // A part of a workgroup that is bound to another buffer keeps what it has.
        let is_all = access.region != Region::Physical;
        let masks = active.words();
        let mut low = self.registers.take(access.value);
        let out = &mut low[lanes.clone()];
        let first = addresses.first().copied().unwrap_or(OUTSIDE);
        match (access.scalar, shape) {
            (scalar, Shape::Same) if is_all => {
                let [word, high] = component(bytes, scalar, first);
                out.fill(word);
                if scalar.words() == 2 {
                    self.registers.get_mut(access.value + 1)[lanes].fill(high);
                }
            }
            (Scalar::I64 | Scalar::F64, _) => {
                let mut high = self.registers.take(access.value + 1);
                let high_out = &mut high[lanes];
                for (((low, high), at), mask) in
                    out.iter_mut().zip(high_out).zip(addresses).zip(masks)
                {
                    if is_all || *mask != 0 {
                        [*low, *high] = component(bytes, access.scalar, *at);
                    }
                }
                self.registers.put(access.value + 1, high);
            }
            (Scalar::I8, _) => gather(out, addresses, masks, is_all, |at| byte(bytes, at)),
            (Scalar::I16 | Scalar::F16 | Scalar::Bf16, _) => {
                gather(out, addresses, masks, is_all, |at| half(bytes, at));
            }
            (_, Shape::Row) if is_all && addresses::read_row(out, bytes, first) => {}
            _ => gather(out, addresses, masks, is_all, |at| word(bytes, at)),
        }
        self.registers.put(access.value, low);
        if !world.observers.0.is_empty() {
            let scratch = std::mem::take(&mut self.scratch);
            let reach = reach(&scratch, bounds);
            self.watch(world, active, at, |observer, moment| observer.load(moment, access, reach));
            self.scratch = scratch;
        }
    }

    pub(super) fn store(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        access: &Access,
    ) {
        if access.region == Region::Physical {
            self.by_buffer(world, active, access, |group, world, active, access, bounds| {
                group.store_to(world, active, at, access, bounds);
            });
            return;
        }
        let bounds = self.bounds(world, access.region);
        self.store_to(world, active, at, access, bounds);
    }

    fn store_to(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        access: &Access,
        bounds: Bounds,
    ) {
        let shape = self.resolve(world, active, at, access, bounds, Way::Write);
        if !world.observers.0.is_empty() {
            let scratch = std::mem::take(&mut self.scratch);
            let reach = reach(&scratch, bounds);
            self.watch(world, active, at, |observer, moment| observer.store(moment, access, reach));
            self.scratch = scratch;
        }
        world.changes += 1;
        let low = self.registers.get(access.value);
        let wide = access.scalar.words() == 2;
        let high = if wide { self.registers.get(access.value + 1) } else { low };
        let bytes: &mut [u8] = match bounds.target {
            Target::Buffer(index) => bytes_of_mut(world, index),
            Target::Shared => &mut self.shared,
            Target::Push => &mut [],
        };
        let to = &self.scratch;
        if access.scalar.bytes() == 4 && shape == Shape::Row && active.is_full() {
            let lanes = active.lanes();
            if addresses::write_row(bytes, to[lanes.start], &low[lanes]) {
                return;
            }
        }
        match access.scalar.bytes() {
            1 => scatter(bytes, to, active, |lane| [low[lane].to_le_bytes()[0]]),
            2 => scatter(bytes, to, active, |lane| {
                let [a, b, ..] = low[lane].to_le_bytes();
                [a, b]
            }),
            4 => scatter(bytes, to, active, |lane| low[lane].to_le_bytes()),
            _ => scatter(bytes, to, active, |lane| join([low[lane], high[lane]]).to_le_bytes()),
        }
    }

    /// Physical addresses: the high word is one more than a buffer's number. Those that go to one
    /// buffer are handled together.
    pub(super) fn by_buffer(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        access: &Access,
        mut each: impl FnMut(&mut Self, &mut World<'_>, &Active, &Access, Bounds),
    ) {
        let Some(offset) = access.offset else { return };
        let mut left: Vec<usize> = active.iter().collect();
        while let Some(first) = left.first().copied() {
            let high = self.registers.get(offset + 1);
            let own = high[first];
            let (same, others): (Vec<usize>, Vec<usize>) =
                left.iter().partition(|lane| high[**lane] == own);
            let mut bits = vec![0_u64; active.bits().len()];
            same.iter().for_each(|lane| bits[lane / 64] |= 1 << (lane % 64));
            let some = Active::new(active.lanes(), &bits, self.here.width);
            let index = own.checked_sub(1).map_or(usize::MAX, |index| index as usize);
            let bytes = bytes_of(world, index);
            // An address of no buffer is refused, and no observer needs to know where it is not.
            let index = if bytes.is_empty() { 0 } else { index };
            let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            let bounds = Bounds { target: Target::Buffer(index), variable: None, start: 0, len };
            each(self, world, &some, access, bounds);
            left = others;
        }
    }

    /// Reads a variable by an index that is known only now.
    pub(super) fn load_indexed(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        (dst, base, offset): (Slot, Slot, Slot),
    ) {
        let mut out = self.registers.take(dst);
        let offsets = self.registers.get(offset);
        let mut wrong = None;
        for lane in active.iter() {
            out[lane] = match offsets[lane] {
                OUTSIDE | NOWHERE => {
                    wrong.get_or_insert(lane);
                    0
                }
                offset => self.registers.get(base + offset)[lane],
            };
        }
        self.registers.put(dst, out);
        if let Some(lane) = wrong {
            self.outside_variable(world, at, lane, Way::Read);
        }
        self.follow(world, active, at, |observer, moment| {
            observer.load_indexed(moment, dst, base, offset);
        });
    }

    pub(super) fn store_indexed(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        (base, offset, src): (Slot, Slot, Slot),
    ) {
        self.follow(world, active, at, |observer, moment| {
            observer.store_indexed(moment, base, offset, src);
        });
        let mut wrong = None;
        for lane in active.iter() {
            match self.registers.get(offset)[lane] {
                OUTSIDE | NOWHERE => {
                    wrong.get_or_insert(lane);
                }
                offset => {
                    let value = self.registers.get(src)[lane];
                    self.registers.get_mut(base + offset)[lane] = value;
                }
            }
        }
        if let Some(lane) = wrong {
            self.outside_variable(world, at, lane, Way::Write);
        }
    }
}

pub(super) fn reach(scratch: &[u32], bounds: Bounds) -> Reach<'_> {
    let (target, variable) = (bounds.target, bounds.variable);
    Reach { target, variable, bytes_at: scratch, origin: bounds.start }
}

fn bytes_of<'a>(world: &'a World<'_>, index: usize) -> &'a [u8] {
    let buffer = world.memory.buffers.get(index).and_then(Option::as_ref);
    buffer.map_or(&[], |buffer| &buffer.bytes)
}

pub(super) fn bytes_of_mut<'a>(world: &'a mut World<'_>, index: usize) -> &'a mut [u8] {
    let buffer = world.memory.buffers.get_mut(index).and_then(Option::as_mut);
    buffer.map_or(&mut [], |buffer| &mut buffer.bytes)
}

fn gather(
    out: &mut [u32],
    addresses: &[u32],
    masks: &[u32],
    is_all: bool,
    read: impl Fn(u32) -> u32,
) {
    for ((out, at), mask) in out.iter_mut().zip(addresses).zip(masks) {
        if is_all || *mask != 0 {
            *out = read(*at);
        }
    }
}

/// Writes what every active invocation has to write.
fn scatter<const N: usize>(
    bytes: &mut [u8],
    addresses: &[u32],
    active: &Active,
    value: impl Fn(usize) -> [u8; N],
) {
    for lane in active.iter() {
        let at = addresses[lane] as usize;
        if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
            *place = value(lane);
        }
    }
}

/// The words of a component; 0 where there is no memory.
pub(super) fn component(bytes: &[u8], scalar: Scalar, at: u32) -> [u32; 2] {
    match scalar {
        Scalar::I64 | Scalar::F64 => {
            [word(bytes, at), at.checked_add(4).map_or(0, |at| word(bytes, at))]
        }
        Scalar::I8 => [byte(bytes, at), 0],
        Scalar::I16 | Scalar::F16 | Scalar::Bf16 => [half(bytes, at), 0],
        _ => [word(bytes, at), 0],
    }
}

#[inline]
fn byte(bytes: &[u8], at: u32) -> u32 {
    bytes.get(at as usize).map_or(0, |byte| u32::from(*byte))
}

#[inline]
fn word(bytes: &[u8], at: u32) -> u32 {
    let at = at as usize;
    match bytes.get(at..at.wrapping_add(4)) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

#[inline]
fn half(bytes: &[u8], at: u32) -> u32 {
    let at = at as usize;
    match bytes.get(at..at.wrapping_add(2)) {
        Some(&[a, b]) => u32::from(u16::from_le_bytes([a, b])),
        _ => 0,
    }
}
