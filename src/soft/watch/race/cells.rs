//! What is remembered of memory: the last write and the reads since, for every word.

/// Who did something to a word and when. Stamp 0 is nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trace {
    pub(super) stamp: u32,
    pub(super) who: Who,
}

/// A word of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) writer: Trace,
    /// The last reader, and whether there were others that nothing orders before it.
    pub(super) readers: Trace,
}

/// How many invocations a [`Trace`] stands for: the one it names, or others too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Plural {
    One,
    /// Of the same subgroup.
    Subgroup,
    /// Of the same workgroup.
    Workgroup,
    /// Of several workgroups.
    Several,
}

/// An invocation of a workgroup (16 bits), the bytes of the word (4 bits), a [`Plural`] (2 bits) and
/// the spread (2 bits): where the bytes of a word belong to consecutive invocations it says how
/// many bytes each has, 1 or 2, and the invocation is that of the first byte, modulo 2^16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Who(u32);

const BYTES_AT: u32 = 16;
const PLURAL_AT: u32 = 20;
const SPREAD_AT: u32 = 22;
const LANE: u32 = 0xffff;

/// The bits of a whole word's bytes.
pub(super) const WHOLE: u32 = 0xf;

impl Who {
    pub(super) const fn new(lane: u32, bytes: u32, plural: Plural) -> Self {
        Self(lane & LANE | bytes << BYTES_AT | (plural as u32) << PLURAL_AT)
    }

    pub(super) const fn lane(self) -> u32 {
        self.0 & LANE
    }

    /// A bit for each byte.
    pub(super) const fn bytes(self) -> u32 {
        self.0 >> BYTES_AT & WHOLE
    }

    pub(super) const fn plural(self) -> Plural {
        match self.0 >> PLURAL_AT & 3 {
            0 => Plural::One,
            1 => Plural::Subgroup,
            2 => Plural::Workgroup,
            _ => Plural::Several,
        }
    }

    const fn spread(self) -> u32 {
        self.0 >> SPREAD_AT
    }

    /// The whole word, by several workgroups.
    pub(super) const fn is_everybody(self) -> bool {
        self.0 >> BYTES_AT == WHOLE | (Plural::Several as u32) << (PLURAL_AT - BYTES_AT)
    }

    /// One invocation and no other.
    pub(super) const fn is_just(self, lane: u32) -> bool {
        self.0 & !(WHOLE << BYTES_AT) == lane
    }

    /// Of these bytes one invocation and no other.
    pub(super) fn is_only(self, lane: u32, bytes: u32) -> bool {
        self.is_just(lane)
            || self.spread() > 0 && self.lanes_of(bytes).all(|(_, other)| other == lane)
    }

    /// Those of the bytes that are touched, and by whom.
    fn lanes_of(self, bytes: u32) -> impl Iterator<Item = (u32, u32)> {
        let touched = self.bytes() & bytes;
        let spread = self.spread();
        (0..4).filter(move |byte| touched >> byte & 1 == 1).map(move |byte| {
            let ahead = u32::checked_div(byte, spread).unwrap_or(0);
            (byte, (self.lane() + ahead) & LANE)
        })
    }

    /// The same without a spread: another one than `lane` that touches these bytes, if there is.
    pub(super) fn other_than(self, lane: u32, bytes: u32) -> Self {
        if self.spread() == 0 {
            return self;
        }
        let other = self.lanes_of(bytes).map(|(_, other)| other).find(|other| *other != lane);
        Self::new(other.unwrap_or(lane), self.bytes() & bytes, self.plural())
    }

    /// Both this and an invocation that touches other bytes, if that can be said.
    pub(super) fn beside(self, lane: u32, bytes: u32) -> Option<Self> {
        if self.is_just(lane) {
            return Some(Self(self.0 | bytes << BYTES_AT));
        }
        let unit = bytes.count_ones();
        let base = |lane: u32, bytes: u32| lane.wrapping_sub(bytes.trailing_zeros() / unit) & LANE;
        let alike = match self.spread() {
            0 => {
                self.bytes().count_ones() == unit
                    && base(self.lane(), self.bytes()) == base(lane, bytes)
            }
            spread => spread == unit && self.lane() == base(lane, bytes),
        };
        (unit <= 2 && alike && self.plural() == Plural::One).then(|| {
            let both = Self::new(base(lane, bytes), self.bytes() | bytes, Plural::One);
            Self(both.0 | unit << SPREAD_AT)
        })
    }

    /// What remains without these bytes, unless nothing does.
    pub(super) const fn without(self, bytes: u32) -> Option<Self> {
        if self.bytes() & !bytes == 0 {
            return None;
        }
        Some(Self(self.0 & !(bytes << BYTES_AT)))
    }
}

/// Words to a chunk.
const CHUNK: usize = 4096;

/// The cells of a buffer, in chunks that appear when they are first touched.
#[derive(Debug)]
pub(super) struct Shadow {
    chunks: Vec<Box<[Cell]>>,
    words: usize,
}

impl Shadow {
    pub(super) fn new(bytes: usize) -> Self {
        let words = bytes.div_ceil(4);
        let chunks = std::iter::repeat_with(Box::default).take(words.div_ceil(CHUNK)).collect();
        Self { chunks, words }
    }

    #[inline]
    pub(super) fn cell(&mut self, word: usize) -> Option<&mut Cell> {
        let chunk = self.chunks.get_mut(word / CHUNK)?;
        if chunk.is_empty() {
            let len = CHUNK.min(self.words - word / CHUNK * CHUNK);
            *chunk = vec![Cell::default(); len].into_boxed_slice();
        }
        chunk.get_mut(word % CHUNK)
    }

    /// As many consecutive cells, where they lie in one chunk that was touched before.
    #[inline]
    pub(super) fn row(&mut self, word: usize, len: usize) -> Option<&mut [Cell]> {
        self.chunks.get_mut(word / CHUNK)?.get_mut(word % CHUNK..word % CHUNK + len)
    }

    pub(super) fn clear(&mut self) {
        self.chunks.fill_with(Box::default);
    }
}
