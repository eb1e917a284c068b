//! Memory: guards, unwritten outputs, changed inputs, results that depend on what nobody wrote,
//! and steps of a plan that use the same memory without a barrier between them.

use crate::memory::{FindingKind, MemoryFinding, Poison};
use crate::ops::Order;

use super::execute::{Executed, Setting, put};
use super::question::Question;
use super::{CheckError, Finding, Kind, Outcome, Session, describe, unwritten};

/// Runs the variant with NaN poison and with 2^100, since `max()` hides a NaN, then at its other
/// workgroup sizes and at a binding offset. What the ledger sees in any of these runs is a finding,
/// and so is a result that depends on the poison.
///
/// # Errors
/// What keeps the variant from running.
pub(super) fn check(session: &mut Session, question: &dyn Question) -> Result<Outcome, CheckError> {
    let trial = question.trial(session)?;
    let setting = Setting::first(question);
    let nan = put(session, question, &trial.slots, &setting)?;
    let huge_setting = Setting { poison: Poison::Huge, ..setting };
    let huge = put(session, question, &trial.slots, &huge_setting)?;
    let never = unwritten::in_both(&trial.slots, &nan, &huge);
    let found = seen(&nan, never).or_else(|| seen(&huge, Vec::new()));
    if let Some(finding) = found {
        return Ok(Outcome::fail(finding));
    }
    for setting in others(question) {
        let executed = match put(session, question, &trial.slots, &setting) {
            Err(CheckError::Unsupported(_)) => continue,
            executed => executed?,
        };
        let never = unwritten::surely(&trial.slots, &executed);
        if let Some(finding) = seen(&executed, never) {
            return Ok(Outcome::fail(finding));
        }
    }
    if question.order() == Order::Atomic {
        return Ok(Outcome::Pass { worst: 0.0 });
    }
    let message =
        |name: &str| format!("{name} changes with the contents of memory that nobody wrote");
    let broken = describe::other_bits(Kind::PoisonDependent, &trial.slots, (&nan, &huge), message);
    Ok(broken.unwrap_or(Outcome::Pass { worst: 0.0 }))
}

/// Every other workgroup size, and one binding offset: only then is there a guard in front of the
/// data.
fn others(question: &dyn Question) -> impl Iterator<Item = Setting> {
    let default = Setting::first(question);
    let shifted = Setting { offset_steps: 1, ..default.clone() };
    let sizes = question.workgroups()[1..].iter();
    sizes.map(move |size| Setting { workgroup: *size, ..default.clone() }).chain([shifted])
}

/// What the ledger and the plan's order say of a run, whatever its results are, with the outputs that
/// nobody wrote: those are told apart from legal values elsewhere. A write beside the data comes first,
/// since the element that it missed is the lesser fault.
fn seen(executed: &Executed, never: Vec<MemoryFinding>) -> Option<Finding> {
    let missing = || {
        let message = executed.unordered.first()?;
        Some(Finding::new(Kind::MissingBarrier, message.clone()))
    };
    let mut memory = executed.memory.clone();
    memory.retain(|finding| finding.kind != FindingKind::Unwritten);
    memory.extend(never);
    Finding::of_memory(memory).or_else(missing)
}
