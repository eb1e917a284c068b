//! Determinism: two runs on fresh memory give the same bits.

use crate::memory::Poison;
use crate::ops::{Case, Order};

use super::execute::{Setting, Subject, execute};
use super::trial::Trial;
use super::{CheckError, Outcome, Session, describe};

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
    let broken = match subject.variant.order {
        Order::Fixed => describe::nondeterministic(&trial, &first, &second),
        Order::Atomic => [&first, &second]
            .map(|executed| describe::judge(subject, &trial, executed))
            .into_iter()
            .find(Outcome::is_bad),
    };
    Ok(broken.unwrap_or(Outcome::Pass { worst: 0.0 }))
}
