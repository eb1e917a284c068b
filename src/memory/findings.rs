//! What a kernel did to memory that it shouldn't have: data, never an error.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::events::{Event, Site};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A guard before or behind the data was written.
    GuardHit,
    /// Output elements still hold the poison.
    Unwritten,
    /// A buffer that was bound for reading only has changed.
    InputChanged,
    /// An output carries the poison of another buffer: somebody read outside the data, or read
    /// what nobody had written.
    PoisonRead,
    /// A buffer was not freed.
    Leak,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GuardHit => "guard hit",
            Self::Unwritten => "unwritten output",
            Self::InputChanged => "input changed",
            Self::PoisonRead => "poison read",
            Self::Leak => "leak",
        })
    }
}

/// Neighbouring elements, counted from the first element of the data: negative before it, and at
/// or above the length behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementRange {
    /// The first element.
    pub start: i64,
    /// One past the last.
    pub end: i64,
}

impl fmt::Display for ElementRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.end == self.start + 1 {
            write!(f, "{}", self.start)
        } else {
            write!(f, "{}..{}", self.start, self.end)
        }
    }
}

/// How many elements answer to a question, and where the first of them lie.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementRanges {
    /// All elements concerned.
    pub count: u64,
    /// The first ranges, at most [`ElementRanges::KEPT`].
    pub ranges: Vec<ElementRange>,
}

impl ElementRanges {
    /// Ranges listed; every element is counted all the same.
    pub const KEPT: usize = 16;

    /// Collects the indices, ascending, whose value answers to `concerned`.
    pub(super) fn of<T>(
        values: impl Iterator<Item = (i64, T)>,
        concerned: impl Fn(T) -> bool,
    ) -> Self {
        let mut found = Self::default();
        let mut end_of_last = None;
        for (index, value) in values {
            if !concerned(value) {
                continue;
            }
            found.count += 1;
            if end_of_last == Some(index) {
                if let Some(last) = found.ranges.last_mut().filter(|last| last.end == index) {
                    last.end = index + 1;
                }
            } else if found.ranges.len() < Self::KEPT {
                found.ranges.push(ElementRange { start: index, end: index + 1 });
            }
            end_of_last = Some(index + 1);
        }
        found
    }

    /// Counts elements where blocks of `len` of them were counted.
    pub(super) fn times(mut self, len: usize) -> Self {
        let factor = i64::try_from(len).unwrap_or(i64::MAX);
        self.count *= factor.unsigned_abs();
        for range in &mut self.ranges {
            range.start *= factor;
            range.end *= factor;
        }
        self
    }

    /// Takes in what lies behind.
    pub(super) fn append(&mut self, mut behind: Self) {
        self.count += behind.count;
        self.ranges.append(&mut behind.ranges);
        self.ranges.truncate(Self::KEPT);
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn listed(&self) -> u64 {
        self.ranges.iter().map(|range| (range.end - range.start).unsigned_abs()).sum()
    }
}

impl fmt::Display for ElementRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, range) in self.ranges.iter().enumerate() {
            write!(f, "{}{range}", if i == 0 { "" } else { ", " })?;
        }
        let more = self.count - self.listed();
        if more > 0 {
            write!(f, " and {more} more")?;
        }
        Ok(())
    }
}

/// One fault, with the buffer's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFinding {
    /// What was found.
    pub kind: FindingKind,
    /// The buffer's name.
    pub buffer: String,
    /// Who asked for the buffer.
    pub requested_at: Site,
    /// Where the elements lie; the first [`ElementRanges::KEPT`] ranges. Empty for a leak.
    pub ranges: Vec<ElementRange>,
    /// How many elements are concerned.
    pub count: u64,
    /// The buffer's last events, oldest first.
    pub events: Vec<Event>,
    /// The finding in one line.
    pub message: String,
}

impl fmt::Display for MemoryFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: buffer `{}`, requested at {}: {}",
            self.kind, self.buffer, self.requested_at, self.message
        )?;
        for event in &self.events {
            write!(f, "\n  {event}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ElementRanges;

    #[test]
    fn ranges_join_neighbours_and_count_beyond_the_list() {
        let joined = ElementRanges::of((-2..4).zip([1, 1, 0, 0, 1, 1]), |v| v == 1);
        assert_eq!(joined.to_string(), "-2..0, 2..4");
        let sparse = ElementRanges::of((0..100).map(|i| (i, i)), |i| i % 2 == 0);
        assert_eq!(sparse.count, 50);
        assert_eq!(sparse.ranges.len(), ElementRanges::KEPT);
        assert!(sparse.to_string().ends_with("30 and 34 more"), "{sparse}");
    }
}
