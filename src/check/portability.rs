//! Portability: the result doesn't hang on the workgroup size or on where a binding starts.

use crate::ops::Order;

use super::compare::Expected;
use super::execute::{Setting, put};
use super::question::Question;
use super::{CheckError, Finding, Kind, Outcome, Session, describe};

/// Runs the variant at each of its workgroup sizes that the device takes, and at a binding offset.
/// Another workgroup size may add in another order: each of the two runs may be off by the bound.
/// Another offset must not change a bit.
///
/// # Errors
/// What keeps the default setting from running.
pub(super) fn check(session: &mut Session, question: &dyn Question) -> Result<Outcome, CheckError> {
    let trial = question.trial(session)?;
    let default = Setting::first(question);
    let plain = put(session, question, &trial.slots, &default)?;
    let sizes = question.workgroups()[1..].iter();
    let mut settings: Vec<(Setting, f64)> =
        sizes.map(|size| (Setting { workgroup: *size, ..default.clone() }, 2.0)).collect();
    let exact = if question.order() == Order::Atomic { 2.0 } else { 0.0 };
    settings.push((Setting { offset_steps: 1, ..default.clone() }, exact));
    settings.push((Setting { offset_steps: 3, ..default }, exact));
    let mut worst: f64 = 0.0;
    for (setting, slack) in settings {
        let other = match put(session, question, &trial.slots, &setting) {
            Err(CheckError::Unsupported(_)) => continue,
            other => other?,
        };
        for want in &trial.expected {
            let (tensor, got) = (&plain.written[&want.name], &other.written[&want.name]);
            let mut expected = Expected::exactly(&want.name, tensor);
            for (bound, allowed) in expected.bounds.iter_mut().zip(&want.bounds) {
                *bound = if slack == 0.0 { 0.0 } else { slack * allowed };
            }
            for (bound, value) in expected.bounds.iter_mut().zip(&want.values) {
                if value.is_nan() && slack != 0.0 {
                    *bound = f64::INFINITY;
                }
            }
            let comparison = expected.compare(got);
            if !comparison.bad.is_empty() {
                let finding = Finding::new(
                    Kind::NotPortable,
                    format!(
                        "{} changes with workgroup {} and binding offset {} x the alignment",
                        want.name, setting.workgroup, setting.offset_steps
                    ),
                );
                return Ok(describe::differing(finding, &trial.slots, &expected, got));
            }
            worst = worst.max(comparison.worst);
        }
    }
    Ok(Outcome::Pass { worst })
}
