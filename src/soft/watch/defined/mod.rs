//! Uninitialised reads: values that nobody wrote, followed through registers and shared memory to
//! where they do harm.
//!
//! A load of unwritten bytes is no fault by itself, and neither is a copy: whole structures are
//! copied, tiles are padded. It is told when such a value decides a branch, an address or an atomic
//! operation, or is written to a buffer. A kernel that writes padding of its own to a scratch buffer
//! that nobody reads is told too, once; it costs it one store to say what the padding is.

mod access;
mod group;
mod origins;
mod shades;
mod transfer;
mod written;

use std::collections::HashMap;
use std::ops::Range;

use self::origins::{Cause, Origins, Use, User};
use self::shades::{Shades, Trace};
use self::transfer::{Operands, blamed, undefined_bits};
use self::written::Written;
use crate::soft::matrix::Matrix;
use crate::soft::observer::{Here, Moment, Observer, Reach, Transfer};
use crate::soft::program::{Access, Atomic, Group, Inactive, Index, OUTSIDE, Program, Pure, Slot};

/// Follows what nobody wrote.
#[derive(Debug, Default)]
pub(crate) struct Definedness {
    /// By the buffer's index.
    buffers: Vec<Written>,
    seats: Vec<Seat>,
    origins: Origins,
    scratch: Vec<(usize, u64, Trace)>,
}

/// The shadow of a workgroup under way.
#[derive(Debug, Default)]
struct Seat {
    shades: Shades,
    shared: Written,
    /// Where the undefined values come from that were written to shared memory, by their byte.
    stored: HashMap<u32, Trace>,
}

impl Definedness {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn buffer(&mut self, at: usize) -> &mut Written {
        if self.buffers.len() <= at {
            self.buffers.resize_with(at + 1, Written::default);
        }
        &mut self.buffers[at]
    }

    /// A value is used such that its undefined bits do harm. Afterwards it counts as defined, so
    /// that it is told once.
    fn judge(&mut self, moment: &mut Moment<'_>, slots: Range<Slot>, bits: u64, how: Use) {
        for (slot, bits) in slots.zip(halves(bits)) {
            let shades = &mut self.seats[moment.here.seat].shades;
            if shades.is_defined(slot) || !shades.is_live(slot, moment.active) {
                continue;
            }
            let active = moment.active;
            let mut users: Vec<User> = Vec::new();
            for lane in active.iter().filter(|lane| shades.mask(slot, *lane) & bits != 0) {
                let trace = self.origins.resolve(shades.trace(slot, lane), moment.at, lane);
                match users.iter_mut().find(|user| user.trace.origin == trace.origin) {
                    Some(user) => user.times += 1,
                    None => users.push(User { trace, lane, how, times: 1 }),
                }
            }
            for user in users {
                self.origins.report(moment, user);
            }
            let shades = &mut self.seats[moment.here.seat].shades;
            shades.define_active(slot, active);
        }
    }

    /// Brings the results in `scratch` into registers: the low word of each, then the high one.
    fn settle(&mut self, moment: &Moment<'_>, slots: Range<Slot>) {
        let shades = &mut self.seats[moment.here.seat].shades;
        for (word, slot) in slots.enumerate() {
            shades.define(slot, moment.active);
            for (lane, mask, trace) in &self.scratch {
                shades.set(slot, *lane, halves(*mask)[word.min(1)], *trace);
            }
            shades.settle(slot);
        }
        self.scratch.clear();
    }

    fn slow_pure(&mut self, moment: &mut Moment<'_>, pure: &Pure) {
        let shades = &self.seats[moment.here.seat].shades;
        self.scratch.clear();
        for lane in moment.active.iter() {
            let mut operands = Operands::default();
            for at in 0..usize::from(pure.arity) {
                let slots = pure.src[at]..pure.src[at] + pure.operand_words(at);
                let masks = slots.clone().map(|slot| shades.mask(slot, lane));
                operands.masks[at] = whole(masks);
                operands.values[at] = whole(slots.map(|slot| moment.registers.get(slot)[lane]));
            }
            let mask = undefined_bits(pure, &operands);
            if mask == 0 {
                continue;
            }
            let at = blamed(pure, &operands);
            let low = shades.mask(pure.src[at], lane) != 0;
            let trace = shades.trace(pure.src[at] + u32::from(!low), lane);
            self.scratch.push((lane, mask, self.origins.resolve(trace, moment.at, lane)));
        }
        self.settle(moment, pure.dst..pure.dst + pure.to.words());
    }

    fn live_sources(&self, moment: &Moment<'_>, pure: &Pure) -> bool {
        let shades = &self.seats[moment.here.seat].shades;
        (0..usize::from(pure.arity)).any(|at| {
            (pure.src[at]..pure.src[at] + pure.operand_words(at))
                .any(|slot| !shades.is_defined(slot) && shades.is_live(slot, moment.active))
        })
    }

    fn copied(&mut self, moment: &Moment<'_>, dst: Slot, src: Slot) {
        let shades = &self.seats[moment.here.seat].shades;
        self.scratch.clear();
        for lane in moment.active.iter() {
            let mask = shades.mask(src, lane);
            if mask != 0 {
                let trace = self.origins.resolve(shades.trace(src, lane), moment.at, lane);
                self.scratch.push((lane, u64::from(mask), trace));
            }
        }
        let shades = &mut self.seats[moment.here.seat].shades;
        for (lane, mask, trace) in self.scratch.drain(..) {
            shades.set(dst, lane, low(mask), trace);
        }
    }
}

impl Observer for Definedness {
    fn transfer(&mut self, buffer: usize, bytes: Range<u64>, written: Transfer) {
        let range = narrow(bytes);
        let buffer = self.buffer(buffer);
        match written {
            Transfer::Write => buffer.write(range.clone(), range.end),
            Transfer::Undefine => buffer.forget(range),
        }
    }

    fn free(&mut self, buffer: usize) {
        *self.buffer(buffer) = Written::default();
        self.origins.free(buffer);
    }

    fn dispatch(&mut self, _program: &Program, _here: &Here) {
        self.origins.reset();
    }

    fn workgroup(&mut self, program: &Program, here: &Here) {
        if self.seats.len() <= here.seat {
            self.seats.resize_with(here.seat + 1, Seat::default);
        }
        let seat = &mut self.seats[here.seat];
        seat.shades.reset(program.slot_count, here.width, &program.variables);
        seat.shared.clear();
        seat.stored.clear();
    }

    fn pure(&mut self, moment: &mut Moment<'_>, pure: &Pure) {
        if self.live_sources(moment, pure) {
            self.slow_pure(moment, pure);
            return;
        }
        let shades = &mut self.seats[moment.here.seat].shades;
        for slot in pure.dst..pure.dst + pure.to.words() {
            shades.define(slot, moment.active);
        }
    }

    fn copy(&mut self, moment: &mut Moment<'_>, dst: Slot, src: Slot, inactive: Inactive) {
        let shades = &mut self.seats[moment.here.seat].shades;
        if shades.is_defined(src) && shades.is_defined(dst) {
            return;
        }
        let live = shades.is_live(src, moment.active);
        match inactive {
            Inactive::Keep => shades.define_active(dst, moment.active),
            Inactive::Clobber => shades.define(dst, moment.active),
        }
        if live {
            self.copied(moment, dst, src);
        }
    }

    fn undefine(&mut self, moment: &mut Moment<'_>, dst: Slot) {
        let origin = self.origins.intern(moment.at, Cause::Undefine);
        let shades = &mut self.seats[moment.here.seat].shades;
        for lane in moment.active.iter() {
            shades.set(dst, lane, u32::MAX, Trace { origin, offset: 0, lane: number(lane) });
        }
    }

    fn index(&mut self, moment: &mut Moment<'_>, index: &Index) {
        let words = if index.wide { 2 } else { 1 };
        let slots = index.index..index.index + words;
        self.judge(moment, slots, u64::MAX, Use::Address);
        if let Some(before) = index.before {
            self.judge(moment, before..before + 1, u64::MAX, Use::Address);
        }
        self.seats[moment.here.seat].shades.define(index.dst, moment.active);
    }

    fn load_indexed(&mut self, moment: &mut Moment<'_>, dst: Slot, base: Slot, offset: Slot) {
        self.judge(moment, offset..offset + 1, u64::MAX, Use::Address);
        let shades = &mut self.seats[moment.here.seat].shades;
        shades.define(dst, moment.active);
        let offsets = moment.registers.get(offset);
        for lane in moment.active.iter() {
            let Some(slot) = indexed(base, offsets[lane]) else { continue };
            if shades.is_defined(slot) {
                continue;
            }
            let mask = shades.mask(slot, lane);
            if mask != 0 {
                let trace = self.origins.resolve(shades.trace(slot, lane), moment.at, lane);
                shades.set(dst, lane, mask, trace);
            }
        }
    }

    fn store_indexed(&mut self, moment: &mut Moment<'_>, base: Slot, offset: Slot, src: Slot) {
        self.judge(moment, offset..offset + 1, u64::MAX, Use::Address);
        let shades = &mut self.seats[moment.here.seat].shades;
        let offsets = moment.registers.get(offset);
        let mut touched = Vec::new();
        for lane in moment.active.iter() {
            let Some(slot) = indexed(base, offsets[lane]) else { continue };
            let mask = shades.mask(src, lane);
            if mask == 0 && shades.is_defined(slot) {
                continue;
            }
            let mut trace = shades.trace(src, lane);
            if mask != 0 {
                trace = self.origins.resolve(trace, moment.at, lane);
            }
            shades.set(slot, lane, mask, trace);
            if !touched.contains(&slot) {
                touched.push(slot);
            }
        }
        for slot in touched {
            shades.settle(slot);
        }
    }

    fn load(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        self.see_load(moment, access, reach);
    }

    fn store(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        self.see_store(moment, access, reach);
    }

    fn atomic(
        &mut self,
        moment: &mut Moment<'_>,
        atomic: &Atomic,
        reach: Reach<'_>,
        order: &[usize],
    ) {
        self.see_atomic(moment, atomic, reach, order);
    }

    fn group(&mut self, moment: &mut Moment<'_>, group: &Group) {
        self.see_group(moment, group);
    }

    fn matrix(&mut self, moment: &mut Moment<'_>, matrix: &Matrix) {
        self.see_matrix(moment, matrix);
    }

    fn constant(&mut self, moment: &mut Moment<'_>, dst: Slot) {
        self.seats[moment.here.seat].shades.define(dst, moment.active);
    }

    fn branch(&mut self, moment: &mut Moment<'_>, condition: Slot) {
        self.judge(moment, condition..condition + 1, u64::MAX, Use::Branch);
    }
}

/// The register of an array that an invocation means.
fn indexed(base: Slot, offset: u32) -> Option<Slot> {
    if offset == OUTSIDE { None } else { base.checked_add(offset) }
}

fn narrow(bytes: Range<u64>) -> Range<usize> {
    let at = |byte| usize::try_from(byte).unwrap_or(usize::MAX);
    at(bytes.start)..at(bytes.end)
}

fn number(lane: usize) -> u32 {
    u32::try_from(lane).unwrap_or(u32::MAX)
}

fn low(word: u64) -> u32 {
    halves(word)[0]
}

fn halves(word: u64) -> [u32; 2] {
    let half = |word: u64| u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0);
    [half(word), half(word >> 32)]
}

/// One value of its words, the low one first.
fn whole(words: impl Iterator<Item = u32>) -> u64 {
    words.zip([0, 32]).fold(0, |whole, (word, shift)| whole | u64::from(word) << shift)
}

#[cfg(test)]
mod tests;
