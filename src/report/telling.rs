//! Where the verdicts of a run go: findings to the standard output, everything to the run file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;
use thiserror::Error;

use crate::check::Verdict;
use crate::memory::{Counters, MemoryFinding};
use crate::run::{Line, Refusal, RunError, RunFile, UnexpectedPass};

use super::{
    Annotations, Colour, Junit, Summary, coloured_text, finding_json, leak_json, leak_text,
    pass_json, pass_text, refusal_json,
};

/// How findings are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For people, with a summary.
    Text,
    /// One JSON object a finding.
    Json,
    /// Annotations of a GitHub workflow, and the summary.
    Github,
    /// JUnit XML.
    Junit,
}

/// Why a run could not be told.
#[derive(Debug, Error)]
pub enum TellError {
    /// The run file.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The XML.
    #[error(transparent)]
    Junit(#[from] quick_junit::SerializeError),
    /// A pool that ended without an error, and yet not all its cases.
    #[error("a worker left cases unanswered")]
    Unanswered,
}

/// A run being told.
#[derive(Debug)]
pub struct Telling {
    style: Style,
    colour: Colour,
    /// Prints a line.
    print: fn(fmt::Arguments<'_>),
    annotations: Annotations,
    junit: Junit,
    summary: Summary,
    file: Option<RunFile>,
    told: Told,
}

/// Errors that cost a run a part, each with the targets that it met.
pub type Refused = BTreeMap<String, BTreeSet<String>>;

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Findings, leaks and unexpected passes among them.
    pub findings: usize,
    /// Buffers that were never freed.
    pub leaks: usize,
    /// What could not be done.
    pub refused: Refused,
}

impl Telling {
    /// Nothing is told yet. `print` is given the lines for the standard output.
    #[must_use]
    pub fn new(style: Style, print: fn(fmt::Arguments<'_>), file: Option<RunFile>) -> Self {
        let (annotations, junit) = (Annotations::default(), Junit::default());
        let (summary, told) = (Summary::default(), Told::default());
        Self { style, colour: Colour::None, print, annotations, junit, summary, file, told }
    }

    /// Lets the text for people have colours.
    #[must_use]
    pub fn coloured(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// Writes a line to the run file, if there is one.
    ///
    /// # Errors
    /// A full disk.
    pub fn write(&mut self, line: &Line) -> Result<(), RunError> {
        self.file.as_mut().map_or(Ok(()), |file| file.write(line))
    }

    /// A verdict.
    ///
    /// # Errors
    /// As [`Telling::write`].
    pub fn verdict(&mut self, verdict: Verdict) -> Result<(), RunError> {
        self.summary.add(&verdict);
        match self.style {
            Style::Github => self.annotations.add(&verdict),
            Style::Junit => self.junit.add(&verdict),
            Style::Text | Style::Json => {}
        }
        if verdict.is_finding() {
            let colour = self.colour;
            self.show(|| coloured_text(&verdict, colour), || finding_json(&verdict));
        }
        self.write(&Line::Verdict(Box::new(verdict)))
    }

    /// A buffer that was never freed.
    ///
    /// # Errors
    /// As [`Telling::write`].
    pub fn leak(&mut self, device: &str, leak: MemoryFinding) -> Result<(), RunError> {
        self.told.leaks += 1;
        match self.style {
            Style::Github => self.annotations.add_leak(device, &leak),
            Style::Junit => self.junit.add_leak(device, &leak),
            Style::Text | Style::Json => {}
        }
        self.show(|| leak_text(device, &leak), || leak_json(device, &leak));
        self.write(&Line::Leak { device: device.to_owned(), leak: Box::new(leak) })
    }

    /// A line of the expectations file that should go.
    ///
    /// # Errors
    /// As [`Telling::write`].
    pub fn unexpected_pass(&mut self, pass: UnexpectedPass) -> Result<(), RunError> {
        match self.style {
            Style::Github => self.annotations.add_pass(&pass),
            Style::Junit => self.junit.add_pass(&pass),
            Style::Text | Style::Json => {}
        }
        self.show(|| pass_text(&pass), || pass_json(&pass));
        self.write(&Line::UnexpectedPass { pass: Box::new(pass) })
    }

    /// What could not be asked.
    ///
    /// # Errors
    /// As [`Telling::write`].
    pub fn refuse(&mut self, refusal: Refusal) -> Result<(), RunError> {
        self.summary.refuse();
        match self.style {
            Style::Github => self.annotations.add_refusal(&refusal),
            Style::Junit => self.junit.add_refusal(&refusal),
            Style::Json => (self.print)(format_args!("{}", refusal_json(&refusal))),
            Style::Text => {}
        }
        let Refusal { target, message, .. } = &refusal;
        self.told.refused.entry(message.clone()).or_default().insert(target.clone());
        self.write(&Line::Refused(refusal))
    }

    /// Arrays that could not be written. Their findings are told all the same.
    pub fn not_dumped(&mut self, target: String, message: String) {
        self.told.refused.entry(message).or_default().insert(target);
    }

    /// What could not be done so far.
    #[must_use]
    pub fn refused(&self) -> &Refused {
        &self.told.refused
    }

    /// Counters of one of a device's ledgers.
    pub fn add_ledger(&mut self, device: &str, counters: Counters) {
        self.summary.add_ledger(device, counters);
    }

    /// Writes what a device's ledgers counted together.
    ///
    /// # Errors
    /// As [`Telling::write`].
    pub fn end_device(&mut self, device: &str) -> Result<(), RunError> {
        match self.summary.ledgers().get(device).copied() {
            Some(counters) => self.write(&Line::Ledger { device: device.to_owned(), counters }),
            None => Ok(()),
        }
    }

    /// Findings are numbered as in the run file, so that `vklab explain RUN.jsonl:N` finds them.
    fn show(&mut self, text: impl Fn() -> String, json: impl Fn() -> Value) {
        self.told.findings += 1;
        match self.style {
            Style::Text => (self.print)(format_args!("{}. {}\n", self.told.findings, text())),
            Style::Json => (self.print)(format_args!("{}", json())),
            Style::Github | Style::Junit => {}
        }
    }

    /// What can only be told when all is known, the run's end excepted: it may be cut short.
    ///
    /// # Errors
    /// What the writer of XML refuses.
    pub fn report(&self, seed: u64) -> Result<(), TellError> {
        match self.style {
            Style::Github => (self.print)(format_args!("{}", self.annotations)),
            Style::Junit => (self.print)(format_args!("{}", self.junit.xml(seed)?.trim_end())),
            Style::Text | Style::Json => {}
        }
        Ok(())
    }

    /// The end of a run that was not cut short.
    ///
    /// # Errors
    /// As [`Telling::write`].
    pub fn end(mut self, seed: u64) -> Result<Told, RunError> {
        let verdicts = self.summary.verdicts();
        self.write(&Line::End { verdicts })?;
        if matches!(self.style, Style::Text | Style::Github) {
            (self.print)(format_args!("{}seed {seed}", self.summary));
        }
        Ok(self.told)
    }
}
