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
    /// What its column says, an index into [`Shades::columns`].
    Mixed(usize),
}

#[derive(Debug, Default)]
struct Column {
    masks: Vec<u32>,
    traces: Vec<Trace>,
}

/// The undefined bits of a workgroup's registers. Nearly all registers are defined nearly always,
/// so only the others have a column.
#[derive(Debug, Default)]
pub(super) struct Shades {
    width: usize,
    states: Vec<State>,
    columns: Vec<Column>,
    /// Columns that no register has.
    spare: Vec<usize>,
}

impl Shades {
    /// A workgroup starts.
    pub(super) fn reset(&mut self, slot_count: u32, width: usize, variables: &[Slot]) {
        if self.width != width {
            self.columns.clear();
        }
        self.width = width;
        self.spare.clear();
        self.spare.extend(0..self.columns.len());
        self.states.clear();
        self.states.resize(slot_count as usize, State::Defined);
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
        match self.states[slot as usize] {
            State::Defined => false,
            State::Fresh => active.count() > 0,
            State::Mixed(at) => column::any_active(&self.columns[at].masks, active),
        }
    }

    pub(super) fn mask(&self, slot: Slot, lane: usize) -> u32 {
        match self.states[slot as usize] {
            State::Defined => 0,
            State::Fresh => u32::MAX,
            State::Mixed(at) => self.columns[at].masks[lane],
        }
    }

    pub(super) fn trace(&self, slot: Slot, lane: usize) -> Trace {
        match self.states[slot as usize] {
            State::Mixed(at) => self.columns[at].traces[lane],
            State::Defined | State::Fresh => Trace::default(),
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
        self.column(slot).masks[active.lanes()].fill(0);
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
        let masks = &mut self.column(slot).masks[active.lanes()];
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
        let column = self.column(slot);
        column.masks[lane] = mask;
        column.traces[lane] = trace;
    }

    /// Gives the column back if nothing in it is undefined.
    pub(super) fn settle(&mut self, slot: Slot) {
        if let State::Mixed(at) = self.states[slot as usize] {
            let masks = &self.columns[at].masks;
            if !column::any(masks) {
                self.release(slot);
            }
        }
    }

    fn release(&mut self, slot: Slot) {
        let state = std::mem::take(&mut self.states[slot as usize]);
        if let State::Mixed(at) = state {
            self.spare.push(at);
        }
    }

    fn column(&mut self, slot: Slot) -> &mut Column {
        let state = &mut self.states[slot as usize];
        let mask = match *state {
            State::Mixed(at) => return &mut self.columns[at],
            State::Fresh => u32::MAX,
            State::Defined => 0,
        };
        let at = self.spare.pop().unwrap_or_else(|| {
            self.columns.push(Column::default());
            self.columns.len() - 1
        });
        *state = State::Mixed(at);
        let column = &mut self.columns[at];
        column.masks.clear();
        column.masks.resize(self.width, mask);
        column.traces.clear();
        column.traces.resize(self.width, Trace::default());
        column
    }
}
