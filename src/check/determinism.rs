//! Determinism: two runs on fresh memory give the same bits.

use crate::memory::Poison;
use crate::ops::{Case, Order};

use super::compare::Expected;
use super::execute::{Setting, Subject, execute};
use super::trial::Trial;
use super::{CheckError, Finding, Kind, Outcome, Session, describe};

/// Runs the variant twice. Where float atomics add in any order, each run must still be within
/// the bounds of the reference.
///
/// # Errors
/// What keeps the variant from running.
pub(super) fn check(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
) -> Result<Outcome, CheckError> {
    let trial = Trial::new(subject, case, &session.model);
    let problem = case.problem(subject.op);
    let setting = Setting::default_for(subject.variant);
    let first = execute(session, subject, &problem, &trial.slots, &setting)?;
    // The second run finds other poison, so that a result which depends on it differs.
    let again = Setting { poison: Poison::Huge, ..setting };
    let second = execute(session, subject, &problem, &trial.slots, &again)?;
    for (name, tensor) in &first.written {
        let other = &second.written[name];
        if tensor.bytes() == other.bytes() {
            continue;
        }
        if subject.variant.order == Order::Atomic {
            let judged = describe::judge(subject, &trial, &second);
            if judged.is_bad() {
                return Ok(judged);
            }
            continue;
        }
        let finding = Finding::new(Kind::Nondeterministic, format!("two runs differ in {name}"));
        let expected = Expected::exactly(name, tensor);
        let outcome = describe::differing(finding, &trial.slots, &expected, other);
        return Ok(outcome);
    }
    Ok(Outcome::Pass { worst: 0.0 })
}
