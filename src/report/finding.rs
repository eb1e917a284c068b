//! Findings, for people and for programs.

use serde_json::{Value, json};

use crate::check::{Finding, Outcome, Verdict};
use crate::memory::MemoryFinding;

/// One screen about a verdict that isn't clean: what and where in the first line, then everything
/// that is known.
#[must_use]
pub fn finding_text(verdict: &Verdict) -> String {
    let Verdict { check, device, case, outcome, .. } = verdict;
    let body = match outcome {
        Outcome::Fail { finding } => finding.to_string(),
        other => other.to_string(),
    };
    format!("{} {check} on {device}: {case}\n{body}", verdict.target())
}

/// The same as one JSON object. `file` and the lines are null where no kernel is to blame.
#[must_use]
pub fn finding_json(verdict: &Verdict) -> Value {
    let finding = finding_of(verdict);
    json!({
        "kind": kind_of(verdict),
        "file": finding.and_then(|f| f.file.as_deref()),
        "line": finding.and_then(|f| f.line),
        "other_line": finding.and_then(|f| f.other_line),
        "message": message_of(verdict),
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

/// The finding's kind, or the verdict where there is no finding.
pub(super) fn kind_of(verdict: &Verdict) -> &'static str {
    finding_of(verdict).map_or(verdict.outcome.word(), |finding| finding.kind.name())
}

/// The sentence of a verdict that isn't a pass.
pub(super) fn message_of(verdict: &Verdict) -> &str {
    match &verdict.outcome {
        Outcome::Pass { .. } => "",
        Outcome::Fail { finding } => &finding.message,
        Outcome::Unsupported { reason }
        | Outcome::Crash { reason }
        | Outcome::Hang { reason }
        | Outcome::Skipped { reason } => reason,
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
