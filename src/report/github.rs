//! Findings as annotations of a GitHub workflow.
//!
//! A line `::error file=...,line=...,title=...::message` on the standard output of a step marks
//! that line in the workflow's summary and in the pull request. GitHub shows few annotations of a
//! step, so the cases of one defect share one.

use std::fmt;

use crate::check::Verdict;
use crate::memory::MemoryFinding;
use crate::run::{Refusal, UnexpectedPass};

use super::finding::{REST, finding_of, finding_text, leak_text, pass_text, refusal_text};

/// The annotations of a run, in the order in which their first cases were found.
#[derive(Clone, Debug, Default)]
pub struct Annotations(Vec<Annotation>);

#[derive(Clone, Debug)]
struct Annotation {
    place: Option<(String, Option<u32>)>,
    title: String,
    /// All that is known of the first case.
    text: String,
    /// Cases of the same kind at the same place.
    more: Vec<String>,
}

/// Case ids that an annotation lists beside its first.
const LISTED: usize = 5;

impl Annotations {
    /// Adds a verdict; one that isn't bad, or was expected, has no annotation.
    pub fn add(&mut self, verdict: &Verdict) {
        if !verdict.is_finding() {
            return;
        }
        let finding = finding_of(verdict);
        let place = finding.and_then(|f| Some((f.file.clone()?, f.line)));
        let Verdict { check, device, case, .. } = verdict;
        let title = format!("{}: {} {check} on {device}", verdict.outcome.kind(), verdict.target());
        self.share(place, title, case, || finding_text(verdict));
    }

    /// Adds what could not be asked.
    pub fn add_refusal(&mut self, refusal: &Refusal) {
        let Refusal { device, target, check, case, .. } = refusal;
        let title = format!("refused: {target} {check} on {device}");
        let case = case.as_deref().unwrap_or(REST);
        self.share(None, title, case, || refusal_text(refusal));
    }

    /// Adds a case to the annotation of its kind, which begins with it if there is none.
    fn share(
        &mut self,
        place: Option<(String, Option<u32>)>,
        title: String,
        case: &str,
        text: impl FnOnce() -> String,
    ) {
        match self.0.iter_mut().find(|a| a.place == place && a.title == title) {
            Some(annotation) => annotation.more.push(case.to_owned()),
            None => self.0.push(Annotation { place, title, text: text(), more: Vec::new() }),
        }
    }

    /// Adds a buffer that was never freed, at the line that asked for it.
    pub fn add_leak(&mut self, device: &str, leak: &MemoryFinding) {
        self.0.push(Annotation {
            place: Some((leak.requested_at.file.to_string(), Some(leak.requested_at.line))),
            title: format!("{}: ledger of {device}", leak.kind),
            text: leak_text(device, leak),
            more: Vec::new(),
        });
    }

    /// Adds a line of the expectations file that should go, at that line.
    pub fn add_pass(&mut self, pass: &UnexpectedPass) {
        self.0.push(Annotation {
            place: Some((pass.file.clone(), u32::try_from(pass.line).ok())),
            title: format!("{}: expectations of {}", UnexpectedPass::KIND, pass.device),
            text: pass_text(pass),
            more: Vec::new(),
        });
    }
}

/// One workflow command a line.
impl fmt::Display for Annotations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|annotation| writeln!(f, "{annotation}"))
    }
}

impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("::error ")?;
        if let Some((file, line)) = &self.place {
            write!(f, "file={},", property(file))?;
            if let Some(line) = line {
                write!(f, "line={line},")?;
            }
        }
        write!(f, "title={}::{}", property(&self.title), data(&self.text))?;
        if !self.more.is_empty() {
            let listed: Vec<&str> = self.more.iter().take(LISTED).map(String::as_str).collect();
            let rest = if self.more.len() > LISTED { ", ..." } else { "" };
            let more = format!("\nand {} more: {}{rest}", self.more.len(), listed.join(", "));
            f.write_str(&data(&more))?;
        }
        Ok(())
    }
}

/// The message: what would end the command, and the sign that escapes it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which a colon or a comma would end too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::Annotations;
    use crate::check::{Check, Finding, Kind, Outcome, Verdict};

    fn verdict(case: &str, outcome: Outcome) -> Verdict {
        Verdict {
            device: "llvmpipe (LLVM 15, 256 bits)".to_owned(),
            op: "add".to_owned(),
            variant: Some("naive".to_owned()),
            check: Check::Forward,
            case: case.to_owned(),
            seed: 1,
            outcome,
            expected: None,
            output: None,
        }
    }

    fn wrong(line: u32) -> Outcome {
        let finding = Finding::new(Kind::WrongResult, "y is 100% wrong:\r\nall of it");
        let file = Some("glsl/a,b:c.comp".to_owned());
        Outcome::fail(Finding { file, line: Some(line), ..finding })
    }

    #[test]
    fn a_finding_is_one_escaped_line() {
        let mut annotations = Annotations::default();
        annotations.add(&verdict("rows=1", wrong(7)));
        annotations.add(&verdict("rows=2", Outcome::Pass { worst: 0.5 }));
        assert_eq!(
            annotations.to_string(),
            "::error file=glsl/a%2Cb%3Ac.comp,line=7,\
             title=wrong-result%3A add.naive forward on llvmpipe (LLVM 15%2C 256 bits)::\
             add.naive forward on llvmpipe (LLVM 15, 256 bits): rows=1%0A\
             wrong-result: y is 100%25 wrong:%0D%0Aall of it%0A  kernel    glsl/a,b:c.comp:7\n"
        );
    }

    #[test]
    fn the_cases_of_one_defect_share_an_annotation() {
        let mut annotations = Annotations::default();
        for rows in 0..8 {
            annotations.add(&verdict(&format!("rows={rows}"), wrong(7)));
        }
        annotations.add(&verdict("rows=9", wrong(8)));
        let text = annotations.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("%0Aand 7 more: rows=1, rows=2,"), "{text}");
        assert!(lines[0].ends_with("rows=5, ..."), "{text}");
        assert!(lines[1].contains("line=8,"), "{text}");
    }

    #[test]
    fn a_crash_names_no_file() {
        let mut annotations = Annotations::default();
        annotations.add(&verdict("rows=1", Outcome::Crash { reason: "signal: 11".to_owned() }));
        let text = annotations.to_string();
        assert!(text.starts_with("::error title=crash%3A add.naive forward on "), "{text}");
        assert!(text.ends_with("%0Acrash: signal: 11\n"), "{text}");
    }
}
