//! Memory: a load marks what nobody wrote, a store brings it to where it can be told.

use rspirv::spirv::Op;

use super::super::column;
use super::origins::{Cause, Source, Use};
use super::shades::Trace;
use super::transfer::all_bits;
use super::{Definedness, Written, number};
use crate::soft::observer::{Moment, Reach, Target};
use crate::soft::program::{Access, Atomic, OUTSIDE, Region};

impl Definedness {
    pub(super) fn see_load(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        self.judge_address(moment, access);
        let slots = access.value..access.value + access.scalar.words();
        let active = moment.active;
        let shades = &mut self.seats[moment.here.seat].shades;
        for slot in slots.clone() {
            shades.define(slot, active);
        }
        let bytes = access.scalar.bytes() as usize;
        let Some((first, last)) = column::span(reach.bytes_at, active) else { return };
        let (first, last) = (first as usize, last as usize);
        if self.written(moment, reach).is_none_or(|written| written.has(first..last + bytes)) {
            return;
        }
        self.scratch.clear();
        for lane in active.iter() {
            if let Some((missing, trace)) = self.missing(moment, access, reach, lane) {
                let mask = spread(missing) & all_bits(access.scalar);
                self.scratch.push((lane, mask, trace));
            }
        }
        self.settle(moment, slots);
    }

    pub(super) fn see_store(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {
        self.judge_address(moment, access);
        let slots = access.value..access.value + access.scalar.words();
        let bits = all_bits(access.scalar);
        if reach.target != Target::Shared {
            self.judge(moment, slots, bits, Use::Output);
            self.write_all(moment, access, reach);
            return;
        }
        let seat = &self.seats[moment.here.seat];
        let live = |slot| seat.shades.is_live(slot, moment.active);
        if !slots.clone().any(live) {
            self.write_all(moment, access, reach);
            return;
        }
        let seat = &mut self.seats[moment.here.seat];
        let bytes = access.scalar.bytes() as usize;
        let len = moment.program.shared_bytes as usize;
        for lane in moment.active.iter().filter(|lane| reach.bytes_at[*lane] != OUTSIDE) {
            let start = reach.bytes_at[lane];
            let at = start as usize;
            self.origins.wrote(moment, reach.target, start);
            seat.shared.write(at..at + bytes, len);
            let masks = slots.clone().map(|slot| seat.shades.mask(slot, lane));
            let mask = super::whole(masks) & bits;
            for byte in (0..bytes).filter(|byte| mask >> (8 * byte) & 0xff != 0) {
                let slot = access.value + u32::from(byte >= 4);
                let trace = seat.shades.trace(slot, lane);
                let trace = self.origins.resolve(trace, moment.at, lane);
                seat.shared.forget(at + byte..at + byte + 1);
                seat.stored.insert(number(at + byte), trace);
            }
        }
    }

    /// Invocations have their turn one after another, so that the first one's write is what the
    /// second one reads.
    pub(super) fn see_atomic(
        &mut self,
        moment: &mut Moment<'_>,
        atomic: &Atomic,
        reach: Reach<'_>,
        order: &[usize],
    ) {
        let access = &atomic.access;
        self.judge_address(moment, access);
        let words = access.scalar.words();
        let bits = all_bits(access.scalar);
        if atomic.op != Op::AtomicLoad {
            self.judge(moment, access.value..access.value + words, bits, Use::Atomic);
        }
        if let Some(compare) = atomic.compare {
            self.judge(moment, compare..compare + words, bits, Use::Atomic);
        }
        self.scratch.clear();
        for lane in order.iter().copied().filter(|lane| moment.active.has(*lane)) {
            let missing = self.missing(moment, access, reach, lane);
            if let Some((missing, trace)) = missing {
                match atomic.op {
                    Op::AtomicStore => {}
                    Op::AtomicLoad | Op::AtomicExchange => {
                        self.scratch.push((lane, spread(missing) & bits, trace));
                    }
                    _ => self.origins.report_update(moment, trace, lane),
                }
            }
            if atomic.op != Op::AtomicLoad && reach.bytes_at[lane] != OUTSIDE {
                self.write_one(moment, access, reach, lane);
            }
        }
        match atomic.dst {
            Some(dst) => self.settle(moment, dst..dst + words),
            None => self.scratch.clear(),
        }
    }

    fn judge_address(&mut self, moment: &mut Moment<'_>, access: &Access) {
        if let Some(offset) = access.offset {
            let words = if access.region == Region::Physical { 2 } else { 1 };
            self.judge(moment, offset..offset + words, u64::MAX, Use::Address);
        }
    }

    /// None where all is written.
    fn written(&mut self, moment: &Moment<'_>, reach: Reach<'_>) -> Option<&mut Written> {
        match reach.target {
            Target::Buffer(at) => Some(self.buffer(at)),
            Target::Shared => Some(&mut self.seats[moment.here.seat].shared),
            Target::Push => None,
        }
    }

    /// The bytes that an invocation reads and nobody wrote, and where that comes from.
    fn missing(
        &mut self,
        moment: &Moment<'_>,
        access: &Access,
        reach: Reach<'_>,
        lane: usize,
    ) -> Option<(u8, Trace)> {
        let start = reach.bytes_at[lane];
        if start == OUTSIDE {
            return None;
        }
        let bytes = access.scalar.bytes() as usize;
        let missing = self.written(moment, reach)?.missing(start as usize, bytes);
        if missing == 0 {
            return None;
        }
        if reach.target == Target::Shared {
            let byte = start + missing.trailing_zeros();
            if let Some(trace) = self.seats[moment.here.seat].stored.get(&byte) {
                return Some((missing, *trace));
            }
        }
        let source = Source { region: region(reach), target: reach.target };
        let cause = Cause::Memory(source, access.scalar);
        let origin = self.origins.intern(moment.at, cause);
        let offset = start.saturating_sub(reach.origin);
        Some((missing, Trace { origin, offset, lane: number(lane) }))
    }

    /// All active invocations write defined values.
    fn write_all(&mut self, moment: &Moment<'_>, access: &Access, reach: Reach<'_>) {
        let active = moment.active;
        let lanes = &reach.bytes_at[active.lanes()];
        let Some((first, last)) = column::span(reach.bytes_at, active) else { return };
        let step = access.scalar.bytes();
        let len = memory_len(moment, reach);
        let Some(written) = self.written(moment, reach) else { return };
        let range = first as usize..last as usize + step as usize;
        if written.has(range.clone()) {
            return;
        }
        self.origins.wrote(moment, reach.target, first);
        let Some(written) = self.written(moment, reach) else { return };
        if active.is_full() && last != OUTSIDE && column::is_run(lanes, step) {
            written.write(range, len);
            return;
        }
        for lane in active.iter().filter(|lane| reach.bytes_at[*lane] != OUTSIDE) {
            let at = reach.bytes_at[lane] as usize;
            written.write(at..at + step as usize, len);
        }
    }

    fn write_one(&mut self, moment: &Moment<'_>, access: &Access, reach: Reach<'_>, lane: usize) {
        let at = reach.bytes_at[lane] as usize;
        let bytes = access.scalar.bytes() as usize;
        let len = memory_len(moment, reach);
        if let Some(written) = self.written(moment, reach) {
            written.write(at..at + bytes, len);
        }
    }
}

fn memory_len(moment: &Moment<'_>, reach: Reach<'_>) -> usize {
    match reach.target {
        Target::Buffer(at) => {
            let buffer = moment.memory.buffers.get(at).and_then(Option::as_ref);
            buffer.map_or(0, |buffer| buffer.bytes.len())
        }
        Target::Shared => moment.program.shared_bytes as usize,
        Target::Push => 0,
    }
}

/// The region, as far as names need it.
fn region(reach: Reach<'_>) -> Region {
    match (reach.target, reach.variable) {
        (Target::Buffer(_), Some(variable)) => Region::Buffer(variable),
        (Target::Buffer(_), None) => Region::Physical,
        (Target::Shared, _) => Region::Shared,
        (Target::Push, _) => Region::Push,
    }
}

/// All bits of the bytes that a mask names.
fn spread(bytes: u8) -> u64 {
    (0..8).filter(|byte| bytes >> byte & 1 != 0).fold(0, |bits, byte| bits | 0xff << (8 * byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::scalar::Scalar;

    #[test]
    fn bytes_become_bits() {
        assert_eq!(spread(0b1000_0010), 0xff00_0000_0000_ff00);
        assert_eq!(spread(0b1111) & all_bits(Scalar::Bool), 1);
    }
}
