//! Determinism: two runs on fresh memory give the same bits.

use crate::memory::Poison;
use crate::ops::Order;

use super::execute::{Setting, put};
use super::question::Question;
use super::{CheckError, Outcome, Output, Session, describe};

/// Runs the variant twice. Where float atomics add in any order, each run must still be within
/// the bounds of the reference.
///
/// # Errors
/// What keeps the variant from running.
pub(super) fn check(session: &mut Session, question: &dyn Question) -> Result<Outcome, CheckError> {
    let trial = question.trial(session)?;
    let setting = Setting::first(question);
    let first = put(session, question, &trial.slots, &setting)?;
    if trial.expected.is_empty() {
        session.output = Some(Output::new(&trial, &first, question.order()));
    }
    // The second run finds other poison and, where that can be chosen, has another order, so that a
    // result which depends on either differs.
    session.way = session.way.in_another_order();
    let again = Setting { poison: Poison::Huge, ..setting };
    let second = put(session, question, &trial.slots, &again)?;
    let broken = match question.order() {
        Order::Fixed => describe::nondeterministic(&trial, &first, &second),
        Order::Atomic => [&first, &second]
            .map(|executed| describe::judge(question.pass(), &trial, executed))
            .into_iter()
            .find(Outcome::is_bad),
    };
    Ok(broken.unwrap_or(Outcome::Pass { worst: 0.0 }))
}
