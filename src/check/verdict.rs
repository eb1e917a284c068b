//! What a check concludes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::device::DeviceInfo;

use super::{Finding, Output};

/// One question that the lab asks of a variant on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Every element against the reference, within its bound.
    Forward,
    /// The chain of gradient checks.
    Gradient,
    /// The VJP kernel against the derivative of the forward kernel itself, in dual numbers.
    GradientExact,
    /// Algebra that needs no reference.
    Property,
    /// Guards, unwritten outputs, changed inputs, results that depend on unwritten memory.
    Memory,
    /// In-place operation gives the same bits.
    Alias,
    /// Two runs give the same bits.
    Determinism,
    /// Other workgroup sizes and binding offsets give the same result.
    Portability,
    /// An interpreter that watches sees no fault at any subgroup size, in any order.
    Sanitize,
    /// What kernels, dispatches and bindings take, against what devices offer.
    Limits,
}

impl Check {
    /// All checks, in the order in which they run.
    pub const ALL: [Self; 10] = [
        Self::Forward,
        Self::Gradient,
        Self::GradientExact,
        Self::Property,
        Self::Memory,
        Self::Alias,
        Self::Determinism,
        Self::Portability,
        Self::Sanitize,
        Self::Limits,
    ];

    /// The name on the command line and in run files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Gradient => "gradient",
            Self::GradientExact => "gradient-exact",
            Self::Property => "property",
            Self::Memory => "memory",
            Self::Alias => "alias",
            Self::Determinism => "determinism",
            Self::Portability => "portability",
            Self::Sanitize => "sanitize",
            Self::Limits => "limits",
        }
    }

    /// Whether it has something to ask of kernels on this device.
    #[must_use]
    pub fn is_asked_on(self, device: &DeviceInfo) -> bool {
        match self {
            Self::Sanitize | Self::GradientExact => device.is_interpreter(),
            _ => true,
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The answer to one question about one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing wrong.
    Pass {
        /// Worst error as a fraction of its bound; 0 where the check compares bits.
        worst: f64,
    },
    /// The kernel is wrong.
    Fail {
        /// What was seen.
        finding: Box<Finding>,
    },
    /// The device or the plan can't do it.
    Unsupported {
        /// The computed reason.
        reason: String,
    },
    /// The process died.
    Crash {
        /// Signal or exit code, and the end of its error output.
        reason: String,
    },
    /// The kernel doesn't end; most devices take the process with them.
    Hang {
        /// How long it had, or where it loops.
        reason: String,
        /// Where it loops, on a device that can tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Turning>,
    },
    /// An expectations file asked for it.
    Skipped {
        /// The line's reason.
        reason: String,
    },
}

impl Outcome {
    /// The word for tables and counts.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Pass { .. } => "pass",
            Self::Fail { .. } => "fail",
            Self::Unsupported { .. } => "unsupported",
            Self::Crash { .. } => "crash",
            Self::Hang { .. } => "hang",
            Self::Skipped { .. } => "skipped",
        }
    }

    /// The finding's kind, or the word where there is no finding.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Fail { finding } => finding.kind.name(),
            other => other.word(),
        }
    }

    /// The sentence of an outcome that isn't a pass.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::Pass { .. } => "",
            Self::Fail { finding } => &finding.message,
            Self::Unsupported { reason }
            | Self::Crash { reason }
            | Self::Hang { reason, .. }
            | Self::Skipped { reason } => reason,
        }
    }

    /// A failure.
    #[must_use]
    pub fn fail(finding: Finding) -> Self {
        Self::Fail { finding: Box::new(finding) }
    }

    /// Whether the run as a whole must exit with findings.
    #[must_use]
    pub const fn is_bad(&self) -> bool {
        matches!(self, Self::Fail { .. } | Self::Crash { .. } | Self::Hang { .. })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass { worst } => write!(f, "pass, worst {worst:.2}"),
            Self::Fail { finding } => write!(f, "fail: {finding}"),
            Self::Unsupported { reason }
            | Self::Crash { reason }
            | Self::Hang { reason, .. }
            | Self::Skipped { reason } => write!(f, "{}: {reason}", self.word()),
        }
    }
}

/// The line at which a kernel turns in circles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turning {
    /// The file as the module names it.
    pub file: String,
    /// The line in it, counted from 1.
    pub line: u32,
}

/// What a line of an expectations file says of the cases that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// At least one of them is bad.
    Fail,
    /// Some may be bad.
    Flaky,
    /// They are not run.
    Skip,
}

impl Mark {
    /// All marks.
    pub const ALL: [Self; 3] = [Self::Fail, Self::Flaky, Self::Skip];

    /// The word in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Flaky => "flaky",
            Self::Skip => "skip",
        }
    }
}

/// The line of an expectations file that a bad outcome fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Of the line.
    pub mark: Mark,
    /// Its number, counted from 1.
    pub line: usize,
    /// Its reason.
    pub reason: String,
}

/// An outcome with what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The device's name.
    pub device: String,
    /// Op, or the path of a kernel file.
    pub op: String,
    /// Variant of an op.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Check.
    pub check: Check,
    /// Case id.
    pub case: String,
    /// Seed of the case's streams.
    pub seed: u64,
    /// The answer.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Why a bad outcome is no finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Known>,
    /// What the check's own run wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
}

impl Verdict {
    /// Whether it is bad, and nobody expected it.
    #[must_use]
    pub const fn is_finding(&self) -> bool {
        self.outcome.is_bad() && self.expected.is_none()
    }

    /// `op.variant`, or the kernel file's path.
    #[must_use]
    pub fn target(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}.{variant}", self.op),
            None => self.op.clone(),
        }
    }
}
