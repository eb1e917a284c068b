//! Findings, for people and for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::check::{Finding, Outcome, Verdict};
use crate::memory::MemoryFinding;
use crate::run::{Refusal, UnexpectedPass};

use super::snippet::{Colour, snippets};

/// One screen about a verdict that isn't clean: what and where in the first line, then everything
/// that is known.
#[must_use]
pub fn finding_text(verdict: &Verdict) -> String {
    coloured_text(verdict, Colour::None)
}

/// The same with the colours of a terminal in source lines.
#[must_use]
pub fn coloured_text(verdict: &Verdict, colour: Colour) -> String {
    let Verdict { check, device, case, outcome, .. } = verdict;
    let body = match outcome {
        Outcome::Fail { finding } => {
            let (lines, text) = (snippets(finding, colour), finding.to_string());
            match text.split_once('\n') {
                Some((head, rest)) => format!("{head}\n{lines}{rest}"),
                None => format!("{text}\n{lines}").trim_end().to_owned(),
            }
        }
        other => other.to_string(),
    };
    format!("{} {check} on {device}: {case}\n{body}", verdict.target())
}

/// The same as one JSON object. `file` and the lines are null where no kernel is to blame.
#[must_use]
pub fn finding_json(verdict: &Verdict) -> Value {
    let finding = finding_of(verdict);
    let turning = match &verdict.outcome {
        Outcome::Hang { place, .. } => place.as_ref(),
        _ => None,
    };
    let file = finding.and_then(|f| f.file.as_deref());
    json!({
        "kind": verdict.outcome.kind(),
        "file": file.or(turning.map(|place| place.file.as_str())),
        "line": finding.and_then(|f| f.line).or(turning.map(|place| place.line)),
        "other_line": finding.and_then(|f| f.other_line),
        "message": verdict.outcome.message(),
        "device": verdict.device,
        "target": verdict.target(),
        "check": verdict.check,
        "case": verdict.case,
        "seed": verdict.seed,
        "finding": finding,
    })
}

pub(super) fn finding_of(verdict: &Verdict) -> Option<&Finding> {
    match &verdict.outcome {
        Outcome::Fail { finding } => Some(finding),
        _ => None,
    }
}

/// A buffer that was never freed.
#[must_use]
pub fn leak_text(device: &str, leak: &MemoryFinding) -> String {
    format!("ledger of {device}\n{leak}")
}

/// The same as one JSON object; the line is that of whoever asked for the buffer.
#[must_use]
pub fn leak_json(device: &str, leak: &MemoryFinding) -> Value {
    json!({
        "kind": leak.kind,
        "file": leak.requested_at.file,
        "line": leak.requested_at.line,
        "other_line": null,
        "message": leak.message,
        "device": device,
        "finding": leak,
    })
}

/// What stands for the cases of a refusal that names none.
pub(super) const REST: &str = "all that is left";

/// What could not be asked.
#[must_use]
pub fn refusal_text(refusal: &Refusal) -> String {
    let Refusal { device, target, check, case, message } = refusal;
    let case = case.as_deref().unwrap_or(REST);
    format!("{target} {check} on {device}: {case}\nrefused: {message}")
}

/// The same as one JSON object; the message names file and line where they are known.
#[must_use]
pub fn refusal_json(refusal: &Refusal) -> Value {
    json!({
        "kind": "refused",
        "file": null,
        "line": null,
        "other_line": null,
        "message": refusal.message,
        "device": refusal.device,
        "target": refusal.target,
        "check": refusal.check,
        "case": refusal.case,
    })
}

/// Targets that the text of a line without a failure lists.
const LISTED: usize = 5;

/// A line of the expectations file that should go.
#[must_use]
pub fn pass_text(pass: &UnexpectedPass) -> String {
    let UnexpectedPass { device, file, line, reason, .. } = pass;
    let kind = UnexpectedPass::KIND;
    let mut text = format!("{file}:{line} on {device}\n{kind}: {}\n", pass.message());
    for passed in pass.passed.iter().take(LISTED) {
        // Writing to a String can't fail.
        let _ = writeln!(
            text,
            "  passed    {} {}: {} cases",
            passed.target, passed.check, passed.cases
        );
    }
    if pass.passed.len() > LISTED {
        let _ = writeln!(text, "  passed    and {} more", pass.passed.len() - LISTED);
    }
    let _ = write!(text, "  reason    {reason}");
    text
}

/// The same as one JSON object; the line is that of the expectations file.
#[must_use]
pub fn pass_json(pass: &UnexpectedPass) -> Value {
    json!({
        "kind": UnexpectedPass::KIND,
        "file": pass.file,
        "line": pass.line,
        "other_line": null,
        "message": pass.message(),
        "device": pass.device,
        "finding": pass,
    })
}
