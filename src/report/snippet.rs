//! The source lines of what a device saw.

use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic, Label, Severity};
use codespan_reporting::files::{self, Files};
use codespan_reporting::term::termcolor::Buffer;
use codespan_reporting::term::{self, Config};

use crate::check::Finding;
use crate::device::{Act, Observation};

/// Whether text has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// As escape sequences of a terminal.
    Ansi,
    /// None.
    #[default]
    None,
}

/// Observations that are shown with their lines.
const SHOWN: usize = 4;

/// The lines of a finding's observations, each with what was done there and by whom; empty where
/// nothing was seen. The first observation has no head where the finding is about it.
pub(super) fn snippets(finding: &Finding, colour: Colour) -> String {
    let mut text = String::new();
    let cause = finding.cause();
    for observation in finding.observations.iter().take(SHOWN) {
        let shown = snippet(observation, colour);
        let is_cause = cause.is_some_and(|cause| std::ptr::eq(cause, observation));
        // The finding's own first line says the same.
        let body = if is_cause { shown.split_once('\n').map(|(_, body)| body) } else { None };
        text.push_str(body.unwrap_or(&shown).trim_end());
        text.push('\n');
    }
    if finding.observations.len() > SHOWN {
        let more = finding.observations.len() - SHOWN;
        text.push_str(&format!("  and {more} more observations\n"));
    }
    text
}

fn snippet(observation: &Observation, colour: Colour) -> String {
    let Observation { hazard, message, act, other, count, allowed, .. } = observation;
    let acts: Vec<&Act> = std::iter::once(act).chain(other).collect();
    let sources = Sources::of(&acts);
    let mut labels = Vec::new();
    let mut notes = Vec::new();
    for (index, act) in acts.iter().enumerate() {
        let said = said(act);
        match sources.find(act) {
            Some((file, line)) if index == 0 => {
                labels.push(Label::primary(file, line).with_message(said));
            }
            Some((file, line)) => labels.push(Label::secondary(file, line).with_message(said)),
            None => notes.push(format!("{}: {said}", place(act))),
        }
    }
    if *count > 1 {
        notes.push(format!("seen {count} times"));
    }
    notes.extend(allowed.iter().map(|reason| format!("allowed there: {reason}")));
    let severity = if observation.is_finding() { Severity::Error } else { Severity::Note };
    let diagnostic = Diagnostic::new(severity)
        .with_message(format!("{hazard}: {message}"))
        .with_labels(labels)
        .with_notes(notes);
    let config = Config::default();
    let shown = match colour {
        Colour::None => term::emit_into_string(&config, &sources, &diagnostic),
        Colour::Ansi => {
            let mut buffer = Buffer::ansi();
            term::emit_to_write_style(&mut buffer, &config, &sources, &diagnostic)
                .map(|()| String::from_utf8_lossy(buffer.as_slice()).into_owned())
        }
    };
    // What can't be drawn can still be said.
    shown.unwrap_or_else(|_| format!("{}: {hazard}: {message}\n", place(act)))
}

fn said(act: &Act) -> String {
    match act.invocation {
        Some((group, local)) => {
            format!("{} (invocation {} of workgroup {})", act.what, triple(local), triple(group))
        }
        None => act.what.clone(),
    }
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("{x},{y},{z}")
}

fn place(act: &Act) -> String {
    match act.line {
        0 => act.kernel.clone(),
        line => format!("{}:{line}", act.file),
    }
}

/// The lines that acts name, which is all that is known of their files.
struct Sources(Vec<Source>);

struct Source {
    name: String,
    text: String,
    lines: Vec<Line>,
}

struct Line {
    number: u32,
    range: Range<usize>,
}

/// Two or more lines that aren't shown are drawn as a gap.
const GAP: usize = 2;

impl Sources {
    fn of(acts: &[&Act]) -> Self {
        let mut known: Vec<&&Act> = acts.iter().filter(|act| !act.text.is_empty()).collect();
        known.sort_by_key(|act| (&act.file, act.line));
        known.dedup_by_key(|act| (&act.file, act.line));
        let mut sources: Vec<Source> = Vec::new();
        for act in known {
            if sources.last().is_none_or(|source| source.name != act.file) {
                let (text, lines) = (String::new(), Vec::new());
                sources.push(Source { name: act.file.clone(), text, lines });
            }
            if let Some(source) = sources.last_mut() {
                source.add(act.line, &act.text);
            }
        }
        Self(sources)
    }

    fn find(&self, act: &Act) -> Option<(usize, Range<usize>)> {
        let file = self.0.iter().position(|source| source.name == act.file)?;
        let source = &self.0[file];
        let is_it = |line: &&Line| line.number == act.line && !line.range.is_empty();
        let Range { start, .. } = source.lines.iter().find(is_it)?.range;
        Some((file, start..start + act.text.len()))
    }

    fn line(&self, file: usize, index: usize) -> Result<&Line, files::Error> {
        let source = self.0.get(file).ok_or(files::Error::FileMissing)?;
        let max = source.lines.len();
        source.lines.get(index).ok_or(files::Error::LineTooLarge { given: index, max })
    }
}

impl Source {
    fn add(&mut self, number: u32, text: &str) {
        if self.lines.last().is_some_and(|last| last.number + 1 < number) {
            (0..GAP).for_each(|_| self.push(0, ""));
        }
        self.push(number, text);
    }

    fn push(&mut self, number: u32, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.text.push('\n');
        self.lines.push(Line { number, range: start..self.text.len() });
    }
}

impl<'a> Files<'a> for Sources {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, file: usize) -> Result<&'a str, files::Error> {
        self.0.get(file).map(|source| source.name.as_str()).ok_or(files::Error::FileMissing)
    }

    fn source(&'a self, file: usize) -> Result<&'a str, files::Error> {
        self.0.get(file).map(|source| source.text.as_str()).ok_or(files::Error::FileMissing)
    }

    fn line_index(&'a self, file: usize, byte: usize) -> Result<usize, files::Error> {
        let source = self.0.get(file).ok_or(files::Error::FileMissing)?;
        let after = source.lines.partition_point(|line| line.range.end <= byte);
        Ok(after.min(source.lines.len().saturating_sub(1)))
    }

    fn line_number(&'a self, file: usize, index: usize) -> Result<usize, files::Error> {
        Ok(usize::try_from(self.line(file, index)?.number).unwrap_or(usize::MAX))
    }

    fn line_range(&'a self, file: usize, index: usize) -> Result<Range<usize>, files::Error> {
        Ok(self.line(file, index)?.range.clone())
    }
}

#[cfg(test)]
mod tests;
