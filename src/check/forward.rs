//! Forward: every element of every output against the reference.

use super::execute::{Setting, put};
use super::question::Question;
use super::{CheckError, Outcome, Output, Session, describe};

/// Runs the variant once and compares.
///
/// # Errors
/// What keeps the variant from running.
pub(super) fn check(session: &mut Session, question: &dyn Question) -> Result<Outcome, CheckError> {
    let trial = question.trial(session)?;
    if trial.expected.is_empty() {
        // A pass would say nothing.
        let what = "there is nothing to compare: no output has an expectation".to_owned();
        return Err(CheckError::Interface { kernel: "truth".to_owned(), what });
    }
    let setting = Setting::first(question);
    let executed = put(session, question, &trial.slots, &setting)?;
    session.output = Some(Output::new(&trial, &executed, question.order()));
    Ok(describe::judge(question.pass(), &trial, &executed))
}
