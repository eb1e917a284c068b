//! Alias: operands that may share memory give the same bits when they do.

use crate::ops::Case;

use super::execute::{Setting, Subject, execute};
use super::trial::Trial;
use super::{CheckError, Kind, Outcome, Session, describe};

/// Runs the variant apart and in place, for every pair that the record allows.
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
    let apart = Setting::default_for(subject.variant);
    let separate = execute(session, subject, &problem, &trial.slots, &apart)?;
    for pair in subject.variant.aliases {
        let shared = Setting { alias: Some(*pair), ..apart.clone() };
        let in_place = execute(session, subject, &problem, &trial.slots, &shared)?;
        let (input, output) = pair;
        let message =
            |name: &str| format!("{name} changes when {output} shares memory with {input}");
        let runs = (&separate, &in_place);
        if let Some(broken) = describe::other_bits(Kind::Alias, &trial.slots, runs, message) {
            return Ok(broken);
        }
    }
    Ok(Outcome::Pass { worst: 0.0 })
}
