//! What parent and child say to each other, one JSON object a line.

use serde::{Deserialize, Serialize};

use crate::check::{Check, Effort, Outcome};
use crate::device::DeviceInfo;
use crate::memory::{Counters, MemoryFinding};
use crate::numeric::ErrorModel;
use crate::ops::{Case, Op, Registry, Variant};

/// Parent to child: one check of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Op.
    pub op: String,
    /// Variant.
    pub variant: String,
    /// Check.
    pub check: Check,
    /// A kernel of glsl/faulty that takes the place of its twin.
    pub fault: Option<String>,
    /// What a failure is worth.
    pub effort: Effort,
    /// The cases, in order.
    pub cases: Vec<Case>,
}

impl Task {
    /// One check of a right variant, of which every failure shrinks.
    #[must_use]
    pub fn new(op: &Op, variant: &Variant, check: Check, cases: Vec<Case>) -> Self {
        Self {
            op: op.name.to_owned(),
            variant: variant.name.to_owned(),
            check,
            fault: None,
            effort: Effort::Full,
            cases,
        }
    }

    /// `op.variant`.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{}.{}", self.op, self.variant)
    }

    /// The id of a case; empty for an op that the registry doesn't have.
    #[must_use]
    pub fn case_id(&self, registry: &Registry, case: usize) -> String {
        registry.find_op(&self.op).map_or_else(String::new, |op| self.cases[case].id(op))
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
        /// The outcome.
        outcome: Outcome,
    },
    /// All cases of the task are done.
    Finished,
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
