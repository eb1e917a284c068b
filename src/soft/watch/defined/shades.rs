//! Which bits of registers are undefined, and why.

use super::super::column;
use crate::soft::program::Slot;
use crate::soft::registers::Active;

/// Where the undefined bits of one invocation's word come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trace {
    /// An index into the origins.
    pub(super) origin: u32,
    /// The byte in that memory, from the start of the binding or of shared memory.
    pub(super) offset: u32,
    /// The invocation that read it.
    pub(super) lane: u32,
}

/// The origin of a variable's word that nobody has read yet.
pub(super) const FRESH: u32 = 0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Defined,
    /// All of it is undefined: a variable that nobody wrote. It needs no column.
    Fresh,
    /// What its column says.
    Mixed,
}

#[derive(Debug, Default)]
struct Shade {
    masks: Vec<u32>,
    traces: Vec<Trace>,
}

/// The undefined bits of a workgroup's registers. Nearly all registers are defined nearly always,
/// so only the others have a column.
#[derive(Debug, Default)]
pub(super) struct Shades {
    width: usize,
    states: Vec<State>,
    columns: Vec<Option<Box<Shade>>>,
    spare: Vec<Box<Shade>>,
}

impl Shades {
    /// A workgroup starts.
    pub(super) fn reset(&mut self, slot_count: u32, width: usize, variables: &[Slot]) {
        if self.width != width {
            self.spare.clear();
        }
        let old = self.columns.iter_mut().filter_map(Option::take);
        if self.width == width {
            self.spare.extend(old);
        } else {
            old.for_each(drop);
        }
        self.width = width;
        self.states.clear();
        self.states.resize(slot_count as usize, State::Defined);
        self.columns.resize_with(slot_count as usize, || None);
        for variable in variables {
            self.states[*variable as usize] = State::Fresh;
        }
    }

    #[inline]
    pub(super) fn is_defined(&self, slot: Slot) -> bool {
        self.states[slot as usize] == State::Defined
    }

    /// Whether an active invocation has undefined bits in it.
    pub(super) fn is_live(&self, slot: Slot, active: &Active) -> bool {
        match (self.states[slot as usize], &self.columns[slot as usize]) {
            (State::Defined, _) => false,
            (State::Mixed, Some(shade)) => {
                column::any(&shade.masks[active.lanes()], active.words())
            }
            _ => active.count() > 0,
        }
    }

    pub(super) fn mask(&self, slot: Slot, lane: usize) -> u32 {
        match (self.states[slot as usize], &self.columns[slot as usize]) {
            (State::Defined, _) => 0,
            (State::Mixed, Some(shade)) => shade.masks[lane],
            _ => u32::MAX,
        }
    }

    pub(super) fn trace(&self, slot: Slot, lane: usize) -> Trace {
        match &self.columns[slot as usize] {
            Some(shade) => shade.traces[lane],
            None => Trace::default(),
        }
    }

    /// All invocations that run together are defined; the inactive ones hold anything.
    #[inline]
    pub(super) fn define(&mut self, slot: Slot, active: &Active) {
        if !self.is_defined(slot) {
            self.define_lanes(slot, active);
        }
    }

    fn define_lanes(&mut self, slot: Slot, active: &Active) {
        if active.lanes().len() == self.width {
            self.release(slot);
            return;
        }
        self.shade(slot).masks[active.lanes()].fill(0);
        self.settle(slot);
    }

    /// Only the active ones are defined; the others keep what they had.
    pub(super) fn define_active(&mut self, slot: Slot, active: &Active) {
        if self.is_defined(slot) {
            return;
        }
        if active.count() == self.width {
            self.release(slot);
            return;
        }
        let masks = &mut self.shade(slot).masks[active.lanes()];
        for (mask, active) in masks.iter_mut().zip(active.words()) {
            *mask &= !active;
        }
        self.settle(slot);
    }

    /// Gives one invocation's word its undefined bits. [`Self::settle`] has to follow the last one
    /// where the mask may be 0.
    pub(super) fn set(&mut self, slot: Slot, lane: usize, mask: u32, trace: Trace) {
        if mask == 0 && self.is_defined(slot) {
            return;
        }
        let shade = self.shade(slot);
        shade.masks[lane] = mask;
        shade.traces[lane] = trace;
    }

    /// Drops the column if nothing in it is undefined.
    pub(super) fn settle(&mut self, slot: Slot) {
        if let Some(shade) = &self.columns[slot as usize]
            && !column::any(&shade.masks, &shade.masks)
        {
            self.release(slot);
        }
    }

    fn release(&mut self, slot: Slot) {
        self.states[slot as usize] = State::Defined;
        self.spare.extend(self.columns[slot as usize].take());
    }

    fn shade(&mut self, slot: Slot) -> &mut Shade {
        let state = &mut self.states[slot as usize];
        let mask = if *state == State::Fresh { u32::MAX } else { 0 };
        *state = State::Mixed;
        let (width, spare) = (self.width, &mut self.spare);
        self.columns[slot as usize].get_or_insert_with(|| {
            let mut shade = spare.pop().unwrap_or_default();
            shade.masks.clear();
            shade.masks.resize(width, mask);
            shade.traces.clear();
            shade.traces.resize(width, Trace::default());
            shade
        })
    }
}
