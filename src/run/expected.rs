//! Holding verdicts against the lines of an expectations file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::expectations::{Expectation, Expectations, ExpectationsError, plain};
use super::files::{below, scripts_below};
use super::plan::{Targets, full_name};
use crate::check::{Check, CheckError, Known, Mark, Outcome, applies};
use crate::device::DeviceInfo;
use crate::ops::{Registry, nearest};
use crate::worker::{Task, slashed};

/// How much of its tasks a run asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every case of each: a line without a failure is out of date.
    Whole,
    /// One case, which says nothing about the others.
    OneCase,
}

/// The lines that a run is held against.
#[derive(Clone, Debug)]
pub struct Judge<'e> {
    /// The lines.
    pub expectations: &'e Expectations,
    /// All devices of the run.
    pub devices: Vec<DeviceInfo>,
    /// How much is asked.
    pub coverage: Coverage,
}

/// What the lines say about one check of one target on one device, and how its cases meet them.
#[derive(Clone, Debug)]
pub struct Standing<'e> {
    lines: Vec<&'e Expectation>,
    coverage: Coverage,
    /// Cases with an outcome.
    answered: usize,
    /// Those that the device could run.
    ran: usize,
    /// Bad cases: their kinds, each with the numbers of the lines that it fits.
    bad: BTreeSet<(&'static str, Vec<usize>)>,
}

/// A line that expects a failure, and none came. It is reported like a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnexpectedPass {
    /// The device's name.
    pub device: String,
    /// The expectations file.
    pub file: String,
    /// Number of the line, counted from 1.
    pub line: usize,
    /// The message that it expects.
    pub expected: String,
    /// Its reason.
    pub reason: String,
    /// What ran without such a failure.
    pub passed: Vec<Passed>,
}

/// A check of a target without an expected failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// `op.variant`, or the kernel file's path.
    pub target: String,
    /// Check.
    pub check: Check,
    /// How many cases.
    pub cases: usize,
}

impl UnexpectedPass {
    /// Its name among the kinds of findings.
    pub const KIND: &'static str = "unexpected-pass";

    /// One sentence.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { expected, .. } = self;
        let checks = match self.passed.as_slice() {
            [one] => format!("{} {}", one.target, one.check),
            all => format!("{} checks", all.len()),
        };
        format!("the line expects \"{expected}\", and no case of {checks} failed so")
    }
}

impl<'e> Judge<'e> {
    /// What the lines say about a task on a device.
    #[must_use]
    pub fn standing(&self, info: &DeviceInfo, task: &Task) -> Standing<'e> {
        let (group, target) = (task.work.group(), task.target());
        let covers = |line: &&Expectation| {
            line.covers([&group, &target], task.check) && line.is_about(info, &self.devices)
        };
        let lines = self.expectations.lines().iter().filter(covers).collect();
        let (coverage, bad) = (self.coverage, BTreeSet::new());
        Standing { lines, coverage, answered: 0, ran: 0, bad }
    }
}

impl Standing<'_> {
    fn of(&self, mark: Mark) -> impl Iterator<Item = &Expectation> {
        self.lines.iter().copied().filter(move |line| line.mark == mark)
    }

    /// The reason why the cases must not run.
    #[must_use]
    pub fn skip(&self) -> Option<&str> {
        self.of(Mark::Skip).next().map(|line| line.reason.as_str())
    }

    /// Takes in the outcome of a case: the line that expects it, if it is bad. A line that says
    /// `fail` goes before one that says `flaky`.
    pub fn judge(&mut self, outcome: &Outcome) -> Option<Known> {
        if matches!(outcome, Outcome::Skipped { .. }) {
            return None;
        }
        self.answered += 1;
        self.ran += usize::from(!matches!(outcome, Outcome::Unsupported { .. }));
        if !outcome.is_bad() {
            return None;
        }
        let text = format!("{}: {}", outcome.kind(), outcome.message());
        let fits = |line: &&&Expectation| line.mark != Mark::Skip && text.contains(&line.message);
        let fitting: Vec<&Expectation> = self.lines.iter().filter(fits).copied().collect();
        let known = fitting.iter().min_by_key(|line| (line.mark, line.line)).map(|line| Known {
            mark: line.mark,
            line: line.line,
            reason: line.reason.clone(),
        });
        self.bad.insert((outcome.kind(), fitting.iter().map(|line| line.line).collect()));
        known
    }

    /// Lines that say `fail`, where all cases have an outcome and none fits. A device that could
    /// run no case says nothing about them.
    pub fn unmet(&self, cases: usize) -> impl Iterator<Item = &Expectation> {
        let is_judged = self.coverage == Coverage::Whole && self.answered == cases && self.ran > 0;
        let is_met =
            |line: &Expectation| self.bad.iter().any(|(_, fits)| fits.contains(&line.line));
        self.of(Mark::Fail).filter(move |line| is_judged && !is_met(line))
    }
}

/// What a run says about the lines of its expectations file.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// Numbers of lines that should go.
    pub(super) stale: BTreeSet<usize>,
    pub(super) failures: Vec<Failures>,
}

/// How a check of a target was bad on a device.
#[derive(Clone, Debug)]
pub(super) struct Failures {
    pub(super) device: String,
    pub(super) target: String,
    pub(super) check: Check,
    pub(super) bad: BTreeSet<(&'static str, Vec<usize>)>,
}

impl Learned {
    /// Takes in what came of the tasks on a device: the lines that expected failures in vain.
    pub fn hear(
        &mut self,
        file: &Path,
        device: &str,
        tasks: &[Task],
        standings: Vec<Standing<'_>>,
    ) -> Vec<UnexpectedPass> {
        let mut passes = BTreeMap::new();
        for (task, standing) in tasks.iter().zip(standings) {
            let target = task.target();
            let cases = task.cases.len();
            for line in standing.unmet(cases) {
                let pass = passes.entry(line.line).or_insert_with(|| UnexpectedPass {
                    device: device.to_owned(),
                    file: file.display().to_string(),
                    line: line.line,
                    expected: line.message.clone(),
                    reason: line.reason.clone(),
                    passed: Vec::new(),
                });
                let check = task.check;
                pass.passed.push(Passed { target: target.clone(), check, cases });
                self.stale.insert(line.line);
            }
            if !standing.bad.is_empty() {
                let (device, check, bad) = (device.to_owned(), task.check, standing.bad);
                self.failures.push(Failures { device, target, check, bad });
            }
        }
        passes.into_values().collect()
    }
}

/// Why lines can't be held against what there is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MatchError {
    /// A line about nothing that exists.
    #[error(transparent)]
    Line(#[from] ExpectationsError),
    /// A kernel file of the run that doesn't say which checks it has.
    #[error(transparent)]
    Check(#[from] CheckError),
}

impl Expectations {
    /// Makes sure that every line speaks of something: a variant of the registry or a kernel file
    /// of the run that has the check, or another kernel file on disk.
    ///
    /// # Errors
    /// The first line that doesn't, with what comes close.
    pub fn validate(&self, registry: &Registry, targets: &Targets) -> Result<(), MatchError> {
        let mut pairs = Vec::new();
        for (op, variant) in registry.variants() {
            let checks = Check::ALL.into_iter().filter(|check| applies(*check, op, variant));
            let names = [op.name.to_owned(), full_name(op, variant)];
            pairs.extend(checks.map(|check| (names.clone(), check)));
        }
        for file in targets.files() {
            let path = file.work.group();
            for check in Check::ALL {
                if file.foreign.applies(check)? {
                    pairs.push(([path.clone(), path.clone()], check));
                }
            }
        }
        for script in targets.scripts() {
            pairs.push(([script.clone(), script], Check::Forward));
        }
        let covers = |line: &Expectation, ([group, target], check): &([String; 2], Check)| {
            line.covers([group, target], *check)
        };
        let is_matched =
            |line: &Expectation| pairs.iter().any(|pair| covers(line, pair)) || is_on_disk(line);
        let Some(line) = self.lines().iter().find(|line| !is_matched(line)) else {
            return Ok(());
        };
        let names = pairs.iter().flat_map(|(names, check)| {
            let check = line.check.map_or("*", |_| check.name());
            names.iter().map(move |name| format!("{name}/{check}"))
        });
        let names: BTreeSet<String> = names.collect();
        Err(MatchError::Line(ExpectationsError::Unmatched {
            path: self.path().to_owned(),
            line: line.line,
            column: line.scope_column,
            scope: line.scope.clone(),
            nearest: nearest(&line.scope, names.into_iter()),
        }))
    }
}

/// Whether the line's target is a file, or a glob on the kernel files or scripts of a folder.
fn is_on_disk(line: &Expectation) -> bool {
    let Some((glob, (target, _))) = line.target.as_ref().zip(line.scope.rsplit_once('/')) else {
        return false;
    };
    if Path::new(target).is_file() {
        return true;
    }
    let signs = ['*', '?', '[', '{'];
    let literal = &target[..target.find(signs).unwrap_or(target.len())];
    // A glob without a folder of its own is one on ops.
    let Some((folder, _)) = literal.rsplit_once('/') else { return false };
    let mut found = below(Path::new(folder)).unwrap_or_default();
    found.extend(scripts_below(Path::new(folder)).unwrap_or_default());
    found.iter().any(|file| glob.matches(plain(&slashed(file))))
}
