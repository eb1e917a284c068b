//! Which checks a variant gets, on which cases, and how one of them runs.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::numeric::Regime;
use crate::ops::{Case, Cases, Op, Pass, Property, Variant};
use crate::tensor::Dtype;

use super::execute::Subject;
use super::{
    Check, CheckError, Finding, Kind, Outcome, Session, alias, blame, determinism, forward,
    gradient, memory, portability, property, shrink,
};

/// How much a failure is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// Every case runs, and each failure shrinks.
    #[default]
    Full,
    /// The first failure as it is ends the check: enough to know that there is one.
    FirstFailure,
}

/// Whether a check has something to ask of a variant.
#[must_use]
pub fn applies(check: Check, op: &Op, variant: &Variant) -> bool {
    match check {
        Check::Forward => variant.pass == Pass::Forward,
        Check::Gradient => variant.pass == Pass::Vjp,
        Check::Property => variant.pass == Pass::Forward && !op.properties.is_empty(),
        Check::Alias => !variant.aliases.is_empty(),
        Check::Memory | Check::Determinism | Check::Portability => true,
    }
}

/// The cases of a check.
#[must_use]
pub fn cases(check: Check, op: &Op, cases: Cases, seed: u64) -> Vec<Case> {
    let regimes: &[Regime] = match check {
        Check::Forward => &Regime::FINITE,
        Check::Gradient => &[Regime::Normal, Regime::Tiny, Regime::Large, Regime::SignedZeros],
        Check::Property => &[Regime::Normal, Regime::Ties],
        Check::Memory => &[Regime::Normal, Regime::Negative],
        Check::Alias | Check::Determinism | Check::Portability => &[Regime::Normal],
    };
    let selects = op.properties.iter().any(|p| matches!(p, Property::Selects(_)));
    let mut regimes = regimes.to_vec();
    if check == Check::Forward && selects {
        regimes.push(Regime::Infinities);
    }
    let mut found = Case::generate(op, cases, &regimes, seed);
    if check == Check::Forward && is_unary_half(op) {
        found.push(Case {
            dims: vec![1 << 16],
            attributes: op.default_attributes(),
            dtype: Dtype::F16,
            regime: Regime::AllHalves,
            seed,
        });
    }
    found
}

/// A function of one number, stored as f16: few enough inputs to try them all.
fn is_unary_half(op: &Op) -> bool {
    let inputs = op.operands.iter().filter(|o| o.is_read()).count();
    inputs == 1 && op.dims.len() == 1 && op.dtypes.contains(&Dtype::F16)
}

/// Runs one check in one case. A failure is shrunk to the smallest case that fails, unless the
/// subject asks for less effort.
///
/// # Errors
/// What keeps the check from running and isn't a verdict of its own.
pub fn run(
    session: &mut Session,
    subject: &Subject<'_>,
    check: Check,
    case: &Case,
) -> Result<Outcome, CheckError> {
    let outcome = ask(session, subject, check, case)?;
    let Outcome::Fail { mut finding } = outcome else { return Ok(outcome) };
    if subject.effort == Effort::FirstFailure {
        return Ok(Outcome::Fail { finding });
    }
    // A parent that hears nothing for its time-out ends the worker, and the finding with it.
    let until = Instant::now() + session.ledger().options().timeout / 2;
    let mut last = None;
    let mut failing = shrink(subject.op, case, |candidate| {
        if session.is_broken || Instant::now() > until {
            return false;
        }
        match ask(session, subject, check, candidate) {
            Ok(Outcome::Fail { finding: smaller }) if smaller.kind == finding.kind => {
                last = Some((candidate.clone(), smaller));
                true
            }
            Ok(_) => false,
            // Another case may take the device away; this finding stands all the same, and the
            // device must not be blamed on the case behind it.
            Err(error) => {
                session.is_broken = error.is_of_device();
                false
            }
        }
    });
    match last {
        Some((smallest, smaller)) if smallest == failing => {
            finding = smaller;
            finding.smallest = Some(failing.id(subject.op));
        }
        _ => failing = case.clone(),
    }
    finding.file = blame::file(session, subject, &failing, &finding);
    finding.repeat = repeat(session, subject, check, &failing);
    Ok(Outcome::Fail { finding })
}

/// A line for a shell.
fn repeat(session: &Session, subject: &Subject<'_>, check: Check, case: &Case) -> String {
    format!(
        "{} check {}.{} --only {check} --case {} --seed {} --device 'vk:{}'",
        session.program,
        subject.op.name,
        subject.variant.name,
        case.id(subject.op),
        case.seed,
        session.info().name
    )
}

fn ask(
    session: &mut Session,
    subject: &Subject<'_>,
    check: Check,
    case: &Case,
) -> Result<Outcome, CheckError> {
    session.messages.clear();
    let answer = match check {
        Check::Forward => forward::check(session, subject, case),
        Check::Gradient => gradient::check(session, subject, case),
        Check::Property => property::check(session, subject, case),
        Check::Memory => memory::check(session, subject, case),
        Check::Alias => alias::check(session, subject, case),
        Check::Determinism => determinism::check(session, subject, case),
        Check::Portability => portability::check(session, subject, case),
    };
    match answer {
        Err(CheckError::Unsupported(reason)) => Ok(Outcome::Unsupported { reason }),
        Ok(outcome @ Outcome::Pass { .. }) => Ok(match session.messages.first() {
            Some(message) => Outcome::fail(Finding::new(Kind::Validation, message.clone())),
            None => outcome,
        }),
        other => other,
    }
}
