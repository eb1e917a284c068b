//! What kernels wrote on one device, a line a case, and how it differs from what was accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::check::{Outcome, Output, Verdict};

/// How much worse a result may become, as a fraction of its bound, before that is said.
const WORSE: f64 = 0.1;
/// What stands in a column that has nothing to say.
const NOTHING: &str = "-";
/// The first line of a snapshot.
const HEAD: [&str; 9] =
    ["target", "check", "case", "word", "bits", "worst", "at", "samples", "inputs"];

/// What a line is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Key {
    /// `op.variant`, or the path of a kernel file.
    pub target: String,
    /// The check's name.
    pub check: String,
    /// Case id.
    pub case: String,
}

impl Key {
    pub(super) fn new(verdict: &Verdict) -> Self {
        let (target, case) = (column(&verdict.target()), column(&verdict.case));
        Self { target, check: verdict.check.name().to_owned(), case }
    }
}

/// One result in the columns of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fingerprint {
    /// `pass`, `FAIL`, `CRASH` or `HANG`.
    pub word: String,
    /// Hash of what was written.
    pub bits: String,
    /// Worst error as a fraction of its bound, two digits.
    pub worst: String,
    /// Where that is.
    pub at: String,
    /// Three elements.
    pub samples: String,
    /// Hash of what the buffers held before.
    pub inputs: String,
}

impl Fingerprint {
    /// None where nothing was written that could be compared.
    pub(super) fn of(verdict: &Verdict) -> Option<Self> {
        let output = verdict.output.as_ref()?;
        let word = match verdict.outcome {
            Outcome::Pass { .. } => "pass",
            Outcome::Fail { .. } => "FAIL",
            _ => return None,
        };
        Some(Self::written(word, output))
    }

    fn written(word: &str, output: &Output) -> Self {
        let nothing = || NOTHING.to_owned();
        let (word, inputs) = (word.to_owned(), column(&output.inputs));
        if output.any_order {
            // Whatever another run may change is left out.
            let (bits, worst) = ("any-order".to_owned(), nothing());
            return Self { word, bits, worst, at: nothing(), samples: nothing(), inputs };
        }
        Self {
            word,
            bits: column(&output.bits),
            worst: output.worst.map_or_else(nothing, |worst| format!("{worst:.1e}")),
            at: output.at.as_deref().map_or_else(nothing, column),
            samples: column(&output.samples.join(" ")),
            inputs,
        }
    }

    /// A case that ended its process.
    pub(super) fn lost(verdict: &Verdict) -> Option<Self> {
        let word = match verdict.outcome {
            Outcome::Crash { .. } => "CRASH",
            Outcome::Hang { .. } => "HANG",
            _ => return None,
        };
        let nothing = || NOTHING.to_owned();
        let (bits, worst, at) = (nothing(), nothing(), nothing());
        Some(Self { word: word.to_owned(), bits, worst, at, samples: nothing(), inputs: nothing() })
    }

    fn is_good(&self) -> bool {
        self.word == "pass"
    }

    /// Whether a kernel did the same. A bound that moved under the same bits is no change.
    fn agrees(&self, other: &Self) -> bool {
        self.word == other.word && self.bits == other.bits && self.inputs == other.inputs
    }

    fn is_worse_than(&self, before: &Self) -> bool {
        match (self.worst.parse::<f64>(), before.worst.parse::<f64>()) {
            (Ok(now), Ok(then)) => !(now <= then + WORSE),
            _ => false,
        }
    }
}

/// A text without what separates columns.
pub(super) fn column(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() { NOTHING.to_owned() } else { text }
}

/// How a case's result differs from the accepted one; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Wrong, and not in this way before.
    Failing,
    /// Right, nearer to its bound by more than a tenth of it.
    Worse,
    /// Other bits, right and about as near.
    Moved,
    /// Wrong before, right now.
    Mended,
    /// The lab or the kernel file gives the kernel other data: not comparable.
    InputsChanged,
    /// No such line was accepted.
    New,
    /// The target and check ran without this case, or it isn't supported any more.
    Gone,
}

impl Class {
    /// The words for tables and headers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Worse => "worse but within bound",
            Self::Moved => "bits moved",
            Self::Mended => "mended",
            Self::InputsChanged => "inputs changed",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }

    fn of(before: Option<&Fingerprint>, after: &Fingerprint) -> Self {
        match before {
            _ if !after.is_good() => Self::Failing,
            None => Self::New,
            Some(before) if !before.is_good() => Self::Mended,
            Some(before) if before.inputs != after.inputs => Self::InputsChanged,
            Some(before) if after.is_worse_than(before) => Self::Worse,
            Some(_) => Self::Moved,
        }
    }
}

/// A line that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it is about.
    pub key: Key,
    /// In which way.
    pub class: Class,
    /// The accepted result.
    pub before: Option<Fingerprint>,
    /// The new one.
    pub after: Option<Fingerprint>,
}

/// What runs had to say about one device.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    pub(super) written: BTreeMap<Key, Fingerprint>,
    /// Cases that ended their process; they matter where a result was accepted.
    pub(super) lost: BTreeMap<Key, Fingerprint>,
    /// Cases that were not asked on purpose.
    pub(super) skipped: BTreeSet<Key>,
    /// Targets and checks of which every case was asked.
    pub(super) whole: BTreeSet<(String, String)>,
}

/// Results by target, check and case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs(BTreeMap<Key, Fingerprint>);

impl Outputs {
    /// Reads back what `Display` wrote.
    ///
    /// # Errors
    /// The line that is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = BTreeMap::new();
        for (index, line) in text.lines().enumerate().skip(1) {
            let columns: Vec<String> =
                line.split("  ").map(str::trim).filter(|c| !c.is_empty()).map(column).collect();
            let Ok([target, check, case, word, bits, worst, at, samples, inputs]) =
                <[String; 9]>::try_from(columns)
            else {
                return Err(format!("line {} of its contents hasn't nine columns", index + 1));
            };
            let result = Fingerprint { word, bits, worst, at, samples, inputs };
            lines.insert(Key { target, check, case }, result);
        }
        Ok(Self(lines))
    }

    /// These results after new runs, and what that changes. Lines of cases that weren't asked
    /// stay as they are.
    pub(super) fn after(&self, new: &Gathered) -> (Self, Vec<Change>) {
        let mut lines = self.0.clone();
        let mut changes = Vec::new();
        let lost = new.lost.iter().filter(|(key, _)| self.0.contains_key(key));
        for (key, after) in new.written.iter().chain(lost) {
            let before = self.0.get(key);
            if before.is_some_and(|before| before.agrees(after)) {
                continue;
            }
            lines.insert(key.clone(), after.clone());
            changes.push(Change {
                key: key.clone(),
                class: Class::of(before, after),
                before: before.cloned(),
                after: Some(after.clone()),
            });
        }
        for (key, before) in &self.0 {
            let is_asked = new.whole.contains(&(key.target.clone(), key.check.clone()));
            let has_answer = [&new.written, &new.lost].iter().any(|map| map.contains_key(key));
            if is_asked && !has_answer && !new.skipped.contains(key) {
                lines.remove(key);
                let (key, before) = (key.clone(), Some(before.clone()));
                changes.push(Change { key, class: Class::Gone, before, after: None });
            }
        }
        (Self(lines), changes)
    }

    /// Targets that have a line.
    #[must_use]
    pub fn targets(&self) -> BTreeSet<&str> {
        self.0.keys().map(|key| key.target.as_str()).collect()
    }
}

impl fmt::Display for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_line(f, HEAD)?;
        for (Key { target, check, case }, r) in &self.0 {
            writeln!(f)?;
            let result = [&r.word, &r.bits, &r.worst, &r.at, &r.samples, &r.inputs];
            let [word, bits, worst, at, samples, inputs] = result.map(String::as_str);
            write_line(f, [target, check, case, word, bits, worst, at, samples, inputs])?;
        }
        Ok(())
    }
}

/// Widths that don't depend on other lines, so that a new line moves no old one.
fn write_line(f: &mut fmt::Formatter<'_>, columns: [&str; 9]) -> fmt::Result {
    let [target, check, case, word, bits, worst, at, samples, inputs] = columns;
    write!(f, "{target:<26}  {check:<8}  {case:<40}  {word:<5}  {bits:<16}  {worst:<7}  ")?;
    write!(f, "{at:<12}  {samples:<41}  {inputs}")
}

/// Cases by class and variant.
#[must_use]
pub(super) fn by_class(changes: &[Change]) -> BTreeMap<Class, BTreeMap<&str, usize>> {
    let mut classes: BTreeMap<Class, BTreeMap<&str, usize>> = BTreeMap::new();
    for change in changes {
        let variants = classes.entry(change.class).or_default();
        *variants.entry(change.key.target.as_str()).or_default() += 1;
    }
    classes
}

/// `softmax.shared 12, sum.shared 4`: variants with their numbers of cases.
#[must_use]
pub(super) fn counted(variants: &BTreeMap<&str, usize>) -> String {
    let parts: Vec<String> = variants.iter().map(|(name, n)| format!("{name} {n}")).collect();
    parts.join(", ")
}
