//! A check's failure: evidence, place, likely cause and how to repeat it.

use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

use crate::device::Observation;
use crate::memory::MemoryFinding;

use super::{Evidence, Kind};

/// What a check saw that it shouldn't have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// One sentence.
    pub message: String,
    /// The source file to blame: a kernel's or that of an include.
    pub file: Option<String>,
    /// The line in it that stores into the buffer.
    pub line: Option<u32>,
    /// The next other line in it that does.
    pub other_line: Option<u32>,
    /// Elements that are wrong, and elements in all.
    pub mismatch: Option<Mismatch>,
    /// Where the wrong elements lie.
    pub places: Vec<String>,
    /// Likely causes, the likeliest first.
    pub causes: Vec<String>,
    /// What the ledger saw.
    pub memory: Vec<MemoryFinding>,
    /// What the device saw, its cause first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// The subgroup size at which it was found, where an interpreter was given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgroup_size: Option<u32>,
    /// The smallest failing case, where shrinking found a smaller one.
    pub smallest: Option<String>,
    /// A command that repeats it.
    pub repeat: String,
    /// The folder that its arrays were written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrays: Option<String>,
    /// The arrays themselves.
    #[serde(skip)]
    pub evidence: Evidence,
}

/// How many elements are wrong and how wrong the worst is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The buffer.
    pub buffer: String,
    /// Wrong elements.
    pub bad: usize,
    /// All elements.
    pub total: usize,
    /// Coordinates of the worst.
    pub index: Vec<usize>,
    /// What the kernel wrote there; text, since JSON has no NaN.
    pub got: String,
    /// What the reference says.
    pub expected: String,
    /// How far the kernel may be from it.
    pub bound: String,
}

impl Finding {
    /// A finding of a kind with its sentence.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            file: None,
            line: None,
            other_line: None,
            mismatch: None,
            places: Vec::new(),
            causes: Vec::new(),
            memory: Vec::new(),
            observations: Vec::new(),
            subgroup_size: None,
            smallest: None,
            repeat: String::new(),
            arrays: None,
            evidence: Evidence::default(),
        }
    }

    /// What the device saw that the finding is about, where it is about that.
    #[must_use]
    pub fn cause(&self) -> Option<&Observation> {
        let first = self.observations.first()?;
        (first.is_finding() && Kind::of_hazard(first.hazard) == Some(self.kind)).then_some(first)
    }

    /// A finding made of what the ledger saw, named by the first of it; nothing if it saw nothing.
    #[must_use]
    pub fn of_memory(memory: Vec<MemoryFinding>) -> Option<Self> {
        let first = memory.first()?;
        let named = Self::new(first.kind.into(), first.message.clone());
        Some(Self { memory, ..named })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{}: {}\n", self.kind, self.message);
        if let Some(file) = &self.file {
            let line = self.line.map_or_else(String::new, |line| format!(":{line}"));
            let other = self.other_line.map_or_else(String::new, |line| format!(", {line}"));
            let _ = writeln!(text, "  kernel    {file}{line}{other}");
        }
        if let Some(m) = &self.mismatch {
            let _ = writeln!(text, "  bad       {} of {} in {}", m.bad, m.total, m.buffer);
            let _ = writeln!(
                text,
                "  worst     {}{:?}: got {}, expected {} +- {}",
                m.buffer, m.index, m.got, m.expected, m.bound
            );
        }
        for place in &self.places {
            let _ = writeln!(text, "  where     {place}");
        }
        for cause in &self.causes {
            let _ = writeln!(text, "  cause     {cause}");
        }
        for memory in &self.memory {
            for line in memory.to_string().lines() {
                let _ = writeln!(text, "  memory    {line}");
            }
        }
        if let Some(smallest) = &self.smallest {
            let _ = writeln!(text, "  smallest  {smallest}");
        }
        if let Some(arrays) = &self.arrays {
            let _ = writeln!(text, "  arrays    {arrays}");
        }
        if !self.repeat.is_empty() {
            let _ = writeln!(text, "  repeat    {}", self.repeat);
        }
        f.write_str(text.trim_end())
    }
}
