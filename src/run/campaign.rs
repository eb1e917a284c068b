//! A campaign: every check asked about every fault, and about the right variants beside them.

use std::collections::BTreeMap;

use crate::check::{Check, Effort, Outcome, applies, cases};
use crate::faulty::Fault;
use crate::ops::{Cases, Op, Variant};
use crate::worker::{Task, Work};

/// What a check said about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It failed, crashed or hung.
    Caught,
    /// Every case that the device could run passed.
    Missed,
    /// The device could run none of the cases.
    Unknown,
}

/// A fault with the answers of the checks that apply to its variant.
#[derive(Clone, Debug)]
pub struct Row {
    /// The fault.
    pub fault: &'static Fault,
    /// By check.
    pub answers: BTreeMap<Check, Answer>,
}

/// A right variant that a check called wrong.
#[derive(Clone, Debug)]
pub struct FailedTwin {
    /// `op.variant`.
    pub target: String,
    /// The check.
    pub check: Check,
    /// The case.
    pub case: String,
    /// What it saw.
    pub outcome: Outcome,
}

/// Tasks and what came of them.
#[derive(Clone, Debug)]
pub struct Campaign {
    tasks: Vec<Task>,
    rows: Vec<Row>,
    checks: Vec<Check>,
    failed_twins: Vec<FailedTwin>,
}

impl Campaign {
    /// The tasks for some faults and their twins, each with the checks that apply to it. A task
    /// ends at its first failure.
    #[must_use]
    pub fn new(faults: &[&'static Fault], checks: &[Check], seed: u64) -> Self {
        let mut tasks = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        for fault in faults {
            rows.push(Row { fault, answers: BTreeMap::new() });
            let (op, variant) = fault.place();
            tasks.extend(
                asked(op, variant, checks, fault.needs, seed).map(|task| task.planted(fault.name)),
            );
        }
        let mut twins: Vec<(&str, &str, Cases)> = Vec::new();
        for fault in faults {
            let twin = (fault.op, fault.variant, fault.needs);
            if !twins.contains(&twin) {
                twins.push(twin);
                let (op, variant) = fault.place();
                tasks.extend(asked(op, variant, checks, fault.needs, seed));
            }
        }
        Self { tasks, rows, checks: checks.to_vec(), failed_twins: Vec::new() }
    }

    /// What the workers have to do.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Takes in the outcome of a case of a task.
    pub fn hear(&mut self, task: usize, case: usize, outcome: Outcome) {
        let task = &self.tasks[task];
        let Work::Variant { fault: Some(name), .. } = &task.work else {
            if outcome.is_bad() {
                self.failed_twins.push(FailedTwin {
                    target: task.target(),
                    check: task.check,
                    case: task.cases[case].clone(),
                    outcome,
                });
            }
            return;
        };
        let Some(row) = self.rows.iter_mut().find(|row| row.fault.name == name) else { return };
        // Cases that the device can't run say nothing, as long as it could run another.
        let answer = match (row.answers.get(&task.check), &outcome) {
            (Some(Answer::Caught), _) => Answer::Caught,
            (_, outcome) if outcome.is_bad() => Answer::Caught,
            (None | Some(Answer::Unknown), Outcome::Unsupported { .. }) => Answer::Unknown,
            _ => Answer::Missed,
        };
        row.answers.insert(task.check, answer);
    }

    /// The checks that are on.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// Every fault with its answers.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Right variants that were called wrong.
    #[must_use]
    pub fn failed_twins(&self) -> &[FailedTwin] {
        &self.failed_twins
    }

    /// Faults that no check caught.
    #[must_use]
    pub fn uncaught(&self) -> Vec<&'static Fault> {
        let rows = self.rows.iter().filter(|row| row.caught().next().is_none());
        rows.map(|row| row.fault).collect()
    }

    /// Faults whose own check is on and called them right, or wasn't answered at all.
    #[must_use]
    pub fn missed(&self) -> Vec<&'static Fault> {
        let missed = |row: &&Row| {
            let answer = row.answers.get(&row.fault.caught_by);
            let is_on = self.checks.contains(&row.fault.caught_by);
            is_on && !matches!(answer, Some(Answer::Caught | Answer::Unknown))
        };
        self.rows.iter().filter(missed).map(|row| row.fault).collect()
    }

    /// How many faults a check caught, and how many of them no other check did.
    #[must_use]
    pub fn totals(&self, check: Check) -> (usize, usize) {
        let caught = self.rows.iter().filter(|row| row.caught().any(|by| by == check));
        let alone = caught.clone().filter(|row| row.caught().count() == 1);
        (caught.count(), alone.count())
    }

    /// Whether every fault is caught by its own check, as far as that is on, and no twin is.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.missed().is_empty() && self.failed_twins.is_empty()
    }
}

impl Row {
    /// The checks that caught the fault.
    pub fn caught(&self) -> impl Iterator<Item = Check> {
        let caught = self.answers.iter().filter(|(_, answer)| **answer == Answer::Caught);
        caught.map(|(check, _)| *check)
    }
}

fn asked(
    op: &'static Op,
    variant: &'static Variant,
    checks: &[Check],
    size: Cases,
    seed: u64,
) -> impl Iterator<Item = Task> {
    checks.iter().filter(|check| applies(**check, op, variant)).map(move |check| {
        let cases = cases(*check, op, size, seed);
        Task { effort: Effort::FirstFailure, ..Task::variant(op, variant, *check, &cases) }
    })
}
