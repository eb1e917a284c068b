//! Collects what observers see; the same thing at the same place is told once, with a count.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::device::{Act, Hazard, Observation};

use super::program::{Place, PlaceId, Program};

/// One party of an observation, as observers know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) what: &'static str,
    pub(crate) at: PlaceId,
    /// `gl_WorkGroupID` and the invocation in it.
    pub(crate) invocation: Option<([u32; 3], usize)>,
}

/// Where in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) memory: String,
    pub(crate) offset_bytes: u64,
}

/// What tells two observations apart, in integers: a bad kernel makes the same observation in
/// every invocation, so that looking it up has to be cheap. Lines count, not instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sign {
    hazard: Hazard,
    kernel: u64,
    place: Place,
    other: u64,
    memory: u64,
}

impl Sign {
    pub(crate) fn new(program: &Program, hazard: Hazard, at: PlaceId) -> Self {
        Self { hazard, kernel: hash(&program.name), place: place(program, at), other: 0, memory: 0 }
    }

    /// The other party: whatever says its line, such as its [`Place`] and its kernel.
    pub(crate) fn with_other(self, other: impl Hash) -> Self {
        Self { other: hash(other), ..self }
    }

    pub(crate) fn with_memory(self, memory: impl Hash) -> Self {
        Self { memory: hash(memory), ..self }
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// An observation in words.
#[derive(Clone, Debug)]
pub(crate) struct Telling {
    pub(crate) act: Act,
    pub(crate) other: Option<Act>,
    pub(crate) spot: Option<Spot>,
    pub(crate) message: String,
}

/// Everything that was seen in a recording.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// None for what was left out.
    seen: HashMap<Sign, Option<usize>>,
    observations: Vec<Observation>,
}

/// Different observations that are told of one hazard; more of them say nothing new.
const TOLD_MAX: usize = 64;

/// What follows on a line that may race, or alone on the line above: `// vklab: race-ok the reason`.
const RACE_OK: &str = "vklab: race-ok";

impl Findings {
    /// Tells of something in a kernel. `message` is only made the first time. Where it happens in
    /// many invocations, [`Self::tell`] spares the caller the making of `other` and `spot` too.
    pub(crate) fn report(
        &mut self,
        program: &Program,
        hazard: Hazard,
        act: Party,
        other: Option<Act>,
        spot: Option<Spot>,
        message: impl FnOnce() -> String,
    ) {
        let line = |act: &Act| hash((&act.kernel, &act.file, act.line));
        let sign = Sign::new(program, hazard, act.at)
            .with_other(other.as_ref().map(line))
            .with_memory(spot.as_ref().map(|spot| &spot.memory));
        self.tell(program, sign, 1, || Telling {
            act: describe(program, act),
            other,
            spot,
            message: message(),
        });
    }

    /// Tells of what `sign` stands for, which happened in so many invocations; `make` is only
    /// called the first time.
    pub(crate) fn tell(
        &mut self,
        program: &Program,
        sign: Sign,
        times: u64,
        make: impl FnOnce() -> Telling,
    ) {
        if let Some(at) = self.seen.get(&sign) {
            if let Some(at) = at {
                self.observations[*at].count += times;
            }
            return;
        }
        let told = self.observations.iter().filter(|told| told.hazard == sign.hazard).count();
        if told >= TOLD_MAX {
            self.seen.insert(sign, None);
            return;
        }
        self.seen.insert(sign, Some(self.observations.len()));
        let Telling { act, other, spot, message } = make();
        let allowed = match sign.hazard {
            Hazard::Race | Hazard::SameValueRace => race_ok(program, &act)
                .or_else(|| other.as_ref().and_then(|other| race_ok(program, other))),
            _ => None,
        };
        self.observations.push(Observation {
            hazard: sign.hazard,
            message,
            act,
            other,
            memory: spot.as_ref().map(|spot| spot.memory.clone()),
            offset_bytes: spot.map(|spot| spot.offset_bytes),
            count: times,
            allowed,
        });
    }

    pub(crate) fn take(&mut self) -> Vec<Observation> {
        self.seen.clear();
        std::mem::take(&mut self.observations)
    }
}

/// The source line of an instruction.
pub(crate) fn place(program: &Program, at: PlaceId) -> Place {
    program.places.get(at as usize).copied().unwrap_or_default()
}

/// A party with its source line, in the words of reports.
pub(crate) fn describe(program: &Program, party: Party) -> Act {
    let place = place(program, party.at);
    let file = program.files.get(place.file as usize);
    let text = file.and_then(|file| line_text(&file.text, place.line));
    let [x, y, _] = program.local_size;
    let local = |lane: usize| {
        let lane = u32::try_from(lane).unwrap_or(u32::MAX);
        [lane % x.max(1), lane / x.max(1) % y.max(1), lane / (x.max(1) * y.max(1))]
    };
    Act {
        what: party.what.to_owned(),
        kernel: program.name.clone(),
        file: file.map_or_else(String::new, |file| file.name.clone()),
        line: place.line,
        text: text.unwrap_or_default().to_owned(),
        invocation: party.invocation.map(|(workgroup, lane)| (workgroup, local(lane))),
    }
}

/// A line, counted from 1 and trimmed.
fn line_text(text: &str, line: u32) -> Option<&str> {
    text.lines().nth((line as usize).checked_sub(1)?).map(str::trim)
}

/// The reason why the line of a party may race. A comment behind other code speaks of that code,
/// so the line above only counts where it holds nothing else.
fn race_ok(program: &Program, act: &Act) -> Option<String> {
    let above = || {
        let file = program.files.iter().find(|file| file.name == act.file)?;
        let text = line_text(&file.text, act.line.checked_sub(1)?)?;
        text.starts_with("//").then(|| reason(text)).flatten()
    };
    reason(&act.text).or_else(above)
}

fn reason(text: &str) -> Option<String> {
    let (_, reason) = text.split_once(RACE_OK)?;
    let reason = reason.trim();
    (!reason.is_empty()).then(|| reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::program::SourceFile;
    use super::*;

    const SOURCE: &str = "void main() {
    // vklab: race-ok any winner will do
    x = 1;
    y = 1; // vklab: race-ok all write the same
    z = 1;
    // vklab: race-ok
    w = 1;
}
";

    fn program() -> Program {
        Program {
            name: "k".to_owned(),
            local_size: [8, 4, 1],
            places: (0..200).map(|line| Place { file: 0, line }).collect(),
            files: vec![SourceFile { name: "k.comp".to_owned(), text: SOURCE.to_owned() }],
            ..Program::default()
        }
    }

    fn party(at: PlaceId) -> Party {
        Party { what: "writes", at, invocation: Some(([1, 0, 0], 13)) }
    }

    fn race(findings: &mut Findings, at: PlaceId, memory: &str) {
        let spot = Spot { memory: memory.to_owned(), offset_bytes: 4 };
        let message = || "two writes".to_owned();
        findings.report(&program(), Hazard::Race, party(at), None, Some(spot), message);
    }

    #[test]
    fn the_same_line_and_memory_are_told_once() {
        let mut findings = Findings::default();
        race(&mut findings, 5, "a");
        race(&mut findings, 5, "a");
        race(&mut findings, 5, "b");
        let told = findings.take();
        assert_eq!(told.iter().map(|told| told.count).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(told[0].act.text, "z = 1;");
        assert_eq!(told[0].act.invocation, Some(([1, 0, 0], [5, 1, 0])));
        assert_eq!(told[0].allowed, None);
        assert!(findings.take().is_empty());
    }

    #[test]
    fn a_reason_allows_its_line_or_the_one_below() {
        let mut findings = Findings::default();
        for at in [3, 4, 5, 7, 3] {
            race(&mut findings, at, "a");
        }
        let told = findings.take();
        let allowed: Vec<_> = told.iter().map(|told| told.allowed.as_deref()).collect();
        let reasons = [Some("any winner will do"), Some("all write the same"), None, None];
        assert_eq!(allowed, reasons);
        assert_eq!(told[0].count, 2, "an allowed race is counted too");
    }

    #[test]
    fn one_hazard_does_not_crowd_out_another() {
        let mut findings = Findings::default();
        for at in 0..100 {
            race(&mut findings, at, "a");
            race(&mut findings, at, "a");
        }
        let hazard = Hazard::OobRead;
        findings.report(&program(), hazard, party(1), None, None, || "outside".to_owned());
        let told = findings.take();
        assert_eq!(told.len(), TOLD_MAX + 1);
        assert_eq!(told[64].hazard, hazard);
    }
}
