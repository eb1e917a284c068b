//! Columns: one word of every invocation of a workgroup.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::program::Slot;

/// The registers of one workgroup.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    columns: Vec<Vec<u32>>,
}

impl Registers {
    pub(crate) fn new(slots: usize, lanes: usize) -> Self {
        Self { columns: vec![vec![0; lanes]; slots] }
    }

    pub(crate) fn get(&self, slot: Slot) -> &[u32] {
        &self.columns[slot as usize]
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut [u32] {
        &mut self.columns[slot as usize]
    }

    /// Everything that the invocations of `lanes` hold, as a number.
    pub(crate) fn digest(&self, lanes: Range<usize>) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.columns.iter().for_each(|column| column[lanes.clone()].hash(&mut hasher));
        hasher.finish()
    }

    /// Takes a column out, so that it can be written while others are read; [`Self::put`] brings
    /// it back.
    pub(crate) fn take(&mut self, slot: Slot) -> Vec<u32> {
        std::mem::take(&mut self.columns[slot as usize])
    }

    pub(crate) fn put(&mut self, slot: Slot, column: Vec<u32>) {
        self.columns[slot as usize] = column;
    }
}

/// Which invocations execute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Active {
    /// The part of the workgroup that runs together: all of it, or a subgroup.
    lanes: Range<usize>,
    /// A bit for every invocation of the workgroup; none is set outside of `lanes`.
    bits: Vec<u64>,
    /// All ones where active, for whole columns at a time.
    words: Vec<u32>,
    count: usize,
}

impl Active {
    pub(crate) fn new(lanes: Range<usize>, bits: &[u64], width: usize) -> Self {
        let mut active = Self { lanes, words: vec![0; width], ..Self::default() };
        active.set(bits);
        active
    }

    pub(crate) fn set(&mut self, bits: &[u64]) {
        self.bits.clear();
        self.bits.extend_from_slice(bits);
        self.count = bits.iter().map(|word| word.count_ones() as usize).sum();
        if self.is_full() {
            self.words[self.lanes.clone()].fill(u32::MAX);
            return;
        }
        for lane in self.lanes.clone() {
            self.words[lane] = if self.has(lane) { u32::MAX } else { 0 };
        }
    }

    /// Every invocation that runs together is active.
    pub(crate) fn is_full(&self) -> bool {
        self.count == self.lanes.len()
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn lanes(&self) -> Range<usize> {
        self.lanes.clone()
    }

    pub(crate) fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// All ones or zeros for every invocation of `lanes`.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words[self.lanes.clone()]
    }

    pub(crate) fn has(&self, lane: usize) -> bool {
        self.bits[lane / 64] >> (lane % 64) & 1 == 1
    }

    /// The active invocations, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + use<'_> {
        self.bits
            .iter()
            .enumerate()
            .flat_map(|(at, word)| ones(*word).map(move |bit| at * 64 + bit))
    }

    /// The first active one.
    pub(crate) fn first(&self) -> Option<usize> {
        self.iter().next()
    }
}

/// The positions of the set bits, ascending.
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros();
        word &= word - 1;
        Some(bit as usize)
    })
}
