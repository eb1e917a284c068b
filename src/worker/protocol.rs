//! What parent and child say to each other, one JSON object a line.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::check::{Check, Effort, Outcome, Output, Verdict};
use crate::device::DeviceInfo;
use crate::memory::{Counters, MemoryFinding};
use crate::numeric::ErrorModel;
use crate::ops::{Case, Op, Variant};

/// Parent to child: one check of one variant or kernel file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// What is checked.
    pub work: Work,
    /// Check.
    pub check: Check,
    /// What a failure is worth.
    pub effort: Effort,
    /// Seed of all data.
    pub seed: u64,
    /// Ids of the cases, in order.
    pub cases: Vec<String>,
}

/// What a task is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// A variant of the registry.
    Variant {
        /// Op.
        op: String,
        /// Variant.
        variant: String,
        /// A fault that takes its place.
        fault: Option<String>,
    },
    /// A kernel file.
    File {
        /// Where it is.
        path: PathBuf,
        /// What stands for it where it isn't on disk.
        unsaved: Option<Unsaved>,
    },
    /// An Amber script.
    Script {
        /// Where it is.
        path: PathBuf,
    },
}

/// A kernel file that isn't on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsaved {
    /// Its text.
    pub text: String,
    /// The arguments of `vklab check` that stand for it, quoted for a shell.
    pub asked: String,
}

impl Work {
    /// A right variant.
    #[must_use]
    pub fn variant(op: &Op, variant: &Variant) -> Self {
        Self::Variant { op: op.name.to_owned(), variant: variant.name.to_owned(), fault: None }
    }

    /// The group of the target: an op, or a file's path.
    #[must_use]
    pub fn group(&self) -> String {
        match self {
            Self::Variant { op, .. } => op.clone(),
            Self::File { path, .. } | Self::Script { path } => slashed(path),
        }
    }

    /// The variant, where there is one.
    #[must_use]
    pub fn variant_name(&self) -> Option<&str> {
        match self {
            Self::Variant { variant, .. } => Some(variant),
            Self::File { .. } | Self::Script { .. } => None,
        }
    }
}

/// A path with `/` on every platform.
#[must_use]
pub fn slashed(path: &Path) -> String {
    path.display().to_string().replace(MAIN_SEPARATOR, "/")
}

impl Task {
    /// One check, of which every failure shrinks.
    #[must_use]
    pub const fn new(work: Work, check: Check, seed: u64, cases: Vec<String>) -> Self {
        Self { work, check, effort: Effort::Full, seed, cases }
    }

    /// The same for a right variant, on cases of one seed.
    #[must_use]
    pub fn variant(op: &Op, variant: &Variant, check: Check, cases: &[Case]) -> Self {
        let seed = cases.first().map_or(0, |case| case.seed);
        let ids = cases.iter().map(|case| case.id(op)).collect();
        Self::new(Work::variant(op, variant), check, seed, ids)
    }

    /// The same with a fault in the variant's place.
    #[must_use]
    pub fn planted(mut self, name: &str) -> Self {
        if let Work::Variant { fault, .. } = &mut self.work {
            *fault = Some(name.to_owned());
        }
        self
    }

    /// `op.variant`, or the kernel file's path.
    #[must_use]
    pub fn target(&self) -> String {
        let group = self.work.group();
        match self.work.variant_name() {
            Some(variant) => format!("{group}.{variant}"),
            None => group,
        }
    }

    /// The verdict on one of its cases.
    #[must_use]
    pub fn verdict(&self, device: &str, case: usize, answer: Answer) -> Verdict {
        Verdict {
            device: device.to_owned(),
            op: self.work.group(),
            variant: self.work.variant_name().map(str::to_owned),
            check: self.check,
            case: self.cases[case].clone(),
            seed: self.seed,
            outcome: answer.outcome,
            expected: None,
            output: answer.output,
        }
    }
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The outcome.
    pub outcome: Outcome,
    /// What the check's own run wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, output: None }
    }
}

/// How every [`Event`] starts on its line.
pub(super) const EVENT_START: &str = "{\"event\":";

/// Child to parent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The device is open and calibrated.
    Ready {
        /// What it is.
        info: Box<DeviceInfo>,
        /// The error model that its checks use.
        model: Box<ErrorModel>,
    },
    /// A case starts: what a silent death is blamed on.
    Begin {
        /// Index in the task.
        case: usize,
    },
    /// A case has its outcome.
    Answer {
        /// Index in the task.
        case: usize,
        /// What came of it.
        answer: Answer,
    },
    /// All cases of the task are done.
    Finished,
    /// A case can't be done, or the rest of the task; what follows may well be.
    Refused {
        /// Index in the task; the rest of it if there is none.
        case: Option<usize>,
        /// The error's text.
        message: String,
    },
    /// The arrays of a finding, which was answered already, could not be written.
    NotDumped {
        /// The error's text.
        message: String,
    },
    /// The child can't go on.
    Failed {
        /// Whose fault it is.
        failure: Failure,
        /// The error's text.
        message: String,
    },
    /// The ledger's last word, after the parent closed the child's input.
    Closed {
        /// Its counters.
        counters: Counters,
        /// What was never freed.
        leaks: Vec<MemoryFinding>,
    },
}

/// What a failed child means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Failure {
    /// The device didn't answer: a `hang` verdict for the case.
    Hang,
    /// The device went away: a `crash` verdict for the case.
    Crash,
    /// The lab or its input is at fault: the run ends.
    Error,
}

#[cfg(test)]
mod tests {
    use super::{EVENT_START, Event};

    #[test]
    fn events_start_as_the_reader_expects() {
        let line = serde_json::to_string(&Event::Finished).expect("JSON");
        assert!(line.starts_with(EVENT_START), "{line}");
    }
}
