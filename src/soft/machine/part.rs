//! Invocations that run together, and where each of them waits.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::soft::program::{BlockId, PlaceId, Scope};
use crate::soft::registers::Active;

/// Instructions that a part may execute before it gives way to others.
const SLICE: u64 = 1 << 16;

/// Slices without a change of memory before a part is suspected for the first time.
const PATIENCE: u32 = 2;

/// What a workgroup may still execute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fuel {
    total: u64,
    left: u64,
    slice: u64,
}

impl Fuel {
    pub(crate) const fn new(total: u64) -> Self {
        Self { total, left: total, slice: 0 }
    }

    pub(crate) fn refill(&mut self) {
        self.slice = SLICE.min(self.left);
    }

    /// Whether there is enough for a block.
    pub(crate) fn take(&mut self, instructions: u64) -> bool {
        let is_fresh = self.slice == SLICE && instructions <= self.left;
        let slice = match self.slice.checked_sub(instructions) {
            Some(slice) => slice,
            // A block longer than a slice has one for itself.
            None if is_fresh => 0,
            None => {
                self.left -= self.slice.min(self.left);
                self.slice = 0;
                return false;
            }
        };
        self.slice = slice;
        self.left = self.left.saturating_sub(instructions);
        true
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.left == 0
    }

    pub(crate) const fn used(&self) -> u64 {
        self.total - self.left
    }
}

/// What a part does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// In front of a barrier, whose instruction this is.
    AtBarrier {
        block: BlockId,
        next: usize,
        at: PlaceId,
        memory: Scope,
        semantics: u32,
    },
    Done,
}

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) active: Active,
    pub(crate) state: State,
    /// The rest of a block, after a barrier.
    pub(crate) resume: Option<(BlockId, usize)>,
    /// For every rank the invocations that wait there.
    waiting: Vec<Option<Box<[u64]>>>,
    /// Ranks at which somebody waits, the last the first to run.
    ranks: Vec<u32>,
    spare: Vec<Box<[u64]>>,
    words: usize,
    /// Looks for a state that comes back, once a whole slice changed no memory.
    pub(crate) suspect: Option<Suspect>,
    /// Slices in a row in which memory didn't change, and its changes before them.
    quiet: u32,
    seen: u64,
    /// How many of them raise suspicion: more each time that there was nothing to it.
    patience: u32,
}

/// An earlier state of a part (Brent's way of finding a cycle: the state to compare with is taken
/// anew after 1, 2, 4 ... visits of its block).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Suspect {
    pub(crate) rank: u32,
    pub(crate) state: u64,
    /// Changes of memory before it.
    pub(crate) changes: u64,
    pub(crate) visits: u32,
    pub(crate) is_looping: bool,
}

impl Part {
    pub(crate) fn new(lanes: std::ops::Range<usize>, width: usize, ranks: usize) -> Self {
        let words = width.div_ceil(64);
        let mut bits = vec![0; words];
        for lane in lanes.clone() {
            bits[lane / 64] |= 1 << (lane % 64);
        }
        Self {
            active: Active::new(lanes, &bits, width),
            state: State::Running,
            resume: None,
            waiting: vec![None; ranks],
            ranks: Vec::new(),
            spare: Vec::new(),
            words,
            suspect: None,
            quiet: 0,
            seen: 0,
            patience: PATIENCE,
        }
    }

    /// Everybody is at the start.
    pub(crate) fn start(&mut self, first: u32) {
        let mut bits = vec![0; self.words];
        for lane in self.active.lanes() {
            bits[lane / 64] |= 1 << (lane % 64);
        }
        self.active.set(&bits);
        self.ranks.clear();
        self.waiting.iter_mut().for_each(|waiting| *waiting = None);
        self.state = State::Running;
        self.resume = None;
        self.suspect = None;
        (self.quiet, self.seen, self.patience) = (0, 0, PATIENCE);
        self.arrive(first, &bits);
    }

    /// Invocations come to wait at a block.
    pub(crate) fn arrive(&mut self, rank: u32, bits: &[u64]) {
        if bits.iter().all(|word| *word == 0) {
            return;
        }
        if let Some(there) = &mut self.waiting[rank as usize] {
            there.iter_mut().zip(bits).for_each(|(there, more)| *there |= more);
            return;
        }
        let mut own = self.spare.pop().unwrap_or_else(|| vec![0; self.words].into());
        own.copy_from_slice(bits);
        self.waiting[rank as usize] = Some(own);
        let at = self.ranks.partition_point(|other| *other > rank);
        self.ranks.insert(at, rank);
    }

    /// Takes the first block at which anybody waits and makes those active.
    pub(crate) fn take(&mut self) -> Option<u32> {
        let rank = self.ranks.pop()?;
        if let Some(bits) = self.waiting[rank as usize].take() {
            if *self.active.bits() != *bits {
                self.active.set(&bits);
            }
            self.spare.push(bits);
        }
        Some(rank)
    }

    /// Whether nobody waits at this rank or before it.
    pub(crate) fn is_before_others(&self, rank: u32) -> bool {
        self.ranks.last().is_none_or(|first| *first > rank)
    }

    /// The first block at which anybody waits, and one of them.
    pub(crate) fn first_waiting(&self) -> Option<(u32, usize)> {
        let rank = *self.ranks.last()?;
        let bits = self.waiting[rank as usize].as_ref()?;
        let lane = bits.iter().enumerate().find(|(_, word)| **word != 0);
        lane.map(|(at, word)| (rank, at * 64 + word.trailing_zeros() as usize))
    }

    /// A slice is used up.
    pub(crate) fn pause(&mut self, changes: u64) {
        if self.seen != changes {
            (self.quiet, self.seen, self.suspect) = (0, changes, None);
            return;
        }
        self.quiet += 1;
        if self.suspect.is_none() && self.quiet >= self.patience {
            self.suspect = Some(Suspect::default());
            self.patience = self.patience.saturating_mul(4);
        }
    }

    /// Whether it is known to go round in a circle.
    pub(crate) fn is_looping(&self) -> bool {
        self.suspect.is_some_and(|suspect| suspect.is_looping)
    }

    /// Who waits where, as a number.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for rank in &self.ranks {
            (rank, &self.waiting[*rank as usize]).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Where an invocation waits; none where it has ended or is active.
    pub(crate) fn where_is(&self, lane: usize) -> Option<u32> {
        self.ranks.iter().copied().find(|rank| {
            let bits = self.waiting[*rank as usize].as_ref();
            bits.is_some_and(|bits| bits[lane / 64] >> (lane % 64) & 1 == 1)
        })
    }
}
