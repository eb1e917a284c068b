//! Alias: operands that may share memory give the same bits when they do.

use super::execute::{Setting, put};
use super::question::Question;
use super::{CheckError, Kind, Outcome, Session, describe};

/// Runs the variant apart and in place, for every pair that the record allows.
///
/// # Errors
/// What keeps the variant from running.
pub(super) fn check(session: &mut Session, question: &dyn Question) -> Result<Outcome, CheckError> {
    let trial = question.trial(session)?;
    let apart = Setting::first(question);
    let separate = put(session, question, &trial.slots, &apart)?;
    for pair in question.aliases() {
        let shared = Setting { alias: Some(*pair), ..apart.clone() };
        let in_place = put(session, question, &trial.slots, &shared)?;
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
