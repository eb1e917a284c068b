//! Alias: operands that may share memory give the same bits when they do.

use crate::ops::Case;

use super::compare::Expected;
use super::execute::{Setting, Subject, execute};
use super::trial::Trial;
use super::{CheckError, Finding, Kind, Outcome, Session, describe};

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
        for (name, tensor) in &separate.written {
            let other = &in_place.written[name];
            if tensor.bytes() != other.bytes() {
                let (input, output) = pair;
                let finding = Finding::new(
                    Kind::Alias,
                    format!("{name} changes when {output} shares memory with {input}"),
                );
                let expected = Expected::exactly(name, tensor);
                return Ok(describe::differing(finding, &trial.slots, &expected, other));
            }
        }
    }
    Ok(Outcome::Pass { worst: 0.0 })
}
