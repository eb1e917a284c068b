//! Forward: every element of every output against the reference.

use crate::ops::Case;

use super::execute::{Setting, Subject, execute};
use super::trial::Trial;
use super::{CheckError, Outcome, Session, describe};

/// Runs the variant once and compares.
///
/// # Errors
/// What keeps the variant from running.
pub(super) fn check(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
) -> Result<Outcome, CheckError> {
    let trial = Trial::new(subject, case, &session.model);
    let setting = Setting::default_for(subject.variant);
    let executed = execute(session, subject, &case.problem(subject.op), &trial.slots, &setting)?;
    Ok(describe::judge(subject, &trial, &executed))
}
