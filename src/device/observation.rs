//! What a device that watches its kernels saw them do.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of harm an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hazard {
    /// A read outside a buffer, an array or shared memory.
    OobRead,
    /// A write outside of it.
    OobWrite,
    /// A value that nobody wrote decides a branch, an address or an output.
    UninitRead,
    /// Two accesses to the same memory, one of them a write, and nothing orders them.
    Race,
    /// The same, but both write what is there already.
    SameValueRace,
    /// A barrier that some invocations of the workgroup don't reach.
    DivergentBarrier,
    /// A subgroup operation whose result depends on which invocations are together, or which reads
    /// from an invocation that isn't there.
    Divergence,
    /// An address that isn't a multiple of what the access needs.
    Misaligned,
    /// An operation without a defined result: a division by zero, a shift too wide.
    UndefinedArithmetic,
    /// The first instruction that made a NaN out of numbers.
    Nan,
}

impl Hazard {
    /// Every hazard.
    pub const ALL: [Self; 10] = [
        Self::OobRead,
        Self::OobWrite,
        Self::UninitRead,
        Self::Race,
        Self::SameValueRace,
        Self::DivergentBarrier,
        Self::Divergence,
        Self::Misaligned,
        Self::UndefinedArithmetic,
        Self::Nan,
    ];

    /// The name in reports and run files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OobRead => "oob-read",
            Self::OobWrite => "oob-write",
            Self::UninitRead => "uninit-read",
            Self::Race => "race",
            Self::SameValueRace => "same-value-race",
            Self::DivergentBarrier => "divergent-barrier",
            Self::Divergence => "divergence",
            Self::Misaligned => "misaligned",
            Self::UndefinedArithmetic => "undefined-arithmetic",
            Self::Nan => "nan",
        }
    }

    /// Whether it says something worth knowing that is no fault by itself.
    #[must_use]
    pub const fn is_note(self) -> bool {
        matches!(self, Self::SameValueRace)
    }
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One of the accesses or operations of an observation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Act {
    /// What it did: `reads`, `writes`, `divides`.
    pub what: String,
    /// The kernel's name.
    pub kernel: String,
    /// The file as the module names it; empty where it has no lines.
    pub file: String,
    /// The line in it, counted from 1; 0 where it is unknown.
    pub line: u32,
    /// The text of that line, trimmed; empty where the module doesn't hold its source.
    pub text: String,
    /// `gl_WorkGroupID` and `gl_LocalInvocationID` of the invocation.
    pub invocation: Option<([u32; 3], [u32; 3])>,
}

/// Something harmful that a kernel did. The same act at the same place is told once, with a count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// What kind.
    pub hazard: Hazard,
    /// One sentence, with the buffer and the element where there are any.
    pub message: String,
    /// Who did it.
    pub act: Act,
    /// The other party: of a race the earlier access, of an uninitialised read its use.
    pub other: Option<Act>,
    /// The memory: a buffer's name in the kernel or a shared variable.
    pub memory: Option<String>,
    /// First byte in it.
    pub offset_bytes: Option<u64>,
    /// How often.
    pub count: u64,
    /// The reason of a comment that allows it.
    pub allowed: Option<String>,
}

impl Observation {
    /// Whether it counts as a finding: no note, and nobody allowed it.
    #[must_use]
    pub const fn is_finding(&self) -> bool {
        !self.hazard.is_note() && self.allowed.is_none()
    }
}
