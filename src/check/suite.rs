//! Which checks a variant gets, on which cases, and how one of them runs.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::device::DeviceError;
use crate::numeric::Regime;
use crate::ops::{Case, Cases, Op, Pass, Property, Variant};
use crate::tensor::Dtype;

use super::question::{Asked, Question};
use super::subject::Subject;
use super::{
    Check, CheckError, Finding, Kind, Outcome, Profile, Session, Turning, alias, blame,
    determinism, forward, gradient, gradient_exact, limits, memory, observed, portability,
    property, sanitize, shell_word, shrink,
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
        Check::Gradient | Check::GradientExact => variant.pass == Pass::Vjp,
        Check::Property => variant.pass == Pass::Forward && !op.properties.is_empty(),
        Check::Alias => !variant.aliases.is_empty(),
        Check::Memory
        | Check::Determinism
        | Check::Portability
        | Check::Sanitize
        | Check::Limits => true,
    }
}

/// The kinds of data in which a check's question has an answer.
pub(super) fn regimes(check: Check, op: &Op) -> Vec<Regime> {
    let regimes: &[Regime] = match check {
        Check::Forward => &Regime::FINITE,
        Check::Gradient => &[Regime::Normal, Regime::Tiny, Regime::Large, Regime::SignedZeros],
        Check::Property => &[Regime::Normal, Regime::Ties],
        Check::Memory => &[Regime::Normal, Regime::Negative],
        Check::GradientExact
        | Check::Alias
        | Check::Determinism
        | Check::Portability
        | Check::Sanitize
        | Check::Limits => &[Regime::Normal],
    };
    let selects = op.properties.iter().any(|p| matches!(p, Property::Selects(_)));
    let infinities = (check == Check::Forward && selects).then_some(Regime::Infinities);
    regimes.iter().copied().chain(infinities).collect()
}

/// The cases of a check.
#[must_use]
pub fn cases(check: Check, op: &Op, cases: Cases, seed: u64) -> Vec<Case> {
    let regimes = regimes(check, op);
    let mut found = Case::generate(op, cases, &regimes, seed);
    if check == Check::Forward && is_unary_half(op) {
        found.push(Case {
            dims: vec![1 << 16],
            attributes: op.default_attributes(),
            dtype: Dtype::F16,
            regime: Regime::AllHalves,
            seed,
            storage: Vec::new(),
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
    let output = session.output.take();
    let outcome = match outcome {
        Outcome::Fail { finding } if subject.effort == Effort::Full => {
            let search = |case: &Case, fails: &mut dyn FnMut(&Case) -> bool| {
                shrink(subject.op, case, |candidate| fails(candidate))
            };
            let (smallest, mut finding) =
                reduced(session, case, finding, search, |s, c| ask(s, subject, check, c));
            if smallest != *case {
                finding.smallest = Some(smallest.id(subject.op));
            }
            blame::place(session, subject, &smallest, &mut finding);
            let target = format!("{}.{}", subject.op.name, subject.variant.name);
            let id = smallest.id(subject.op);
            finding.repeat = repeat(session, &target, check, &id, case.seed, &finding);
            Outcome::Fail { finding }
        }
        outcome => outcome,
    };
    session.output = output;
    Ok(outcome)
}

/// Looks for a smaller case that fails in the same way: the smallest one found, with its finding.
pub(super) fn reduced<C: Clone + PartialEq>(
    session: &mut Session,
    case: &C,
    first: Box<Finding>,
    search: impl FnOnce(&C, &mut dyn FnMut(&C) -> bool) -> C,
    mut ask: impl FnMut(&mut Session, &C) -> Result<Outcome, CheckError>,
) -> (C, Box<Finding>) {
    // A parent that hears nothing for its time-out ends the worker, and the finding with it.
    let until = Instant::now() + session.ledger().options().timeout / 2;
    let mut last = None;
    let smallest = search(case, &mut |candidate| {
        if session.is_broken || Instant::now() > until {
            return false;
        }
        match ask(session, candidate) {
            Ok(Outcome::Fail { finding: smaller }) if smaller.kind == first.kind => {
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
        Some((found, mut smaller)) if found == smallest => {
            // A pattern needs elements: one alone has no common factor.
            if smaller.causes.is_empty() {
                smaller.causes = first.causes;
            }
            (smallest, smaller)
        }
        _ => (case.clone(), first),
    }
}

/// A line for a shell; `target` is what of it names the target, quoted already.
pub(crate) fn repeat(
    session: &Session,
    target: &str,
    check: Check,
    case: &str,
    seed: u64,
    finding: &Finding,
) -> String {
    let (case, program) = (shell_word(case), shell_word(&session.program));
    let device = shell_word(&session.info().selector());
    let size = finding.subgroup_size;
    let size = size.map_or_else(String::new, |size| format!(" --subgroup-size {size}"));
    let asked = match check {
        Check::Limits if session.profile != Profile::default() => {
            format!("{check} --profile {}", session.profile)
        }
        check => check.to_string(),
    };
    format!(
        "{program} check {target} --only {asked} --case {case} --seed {seed} --device {device}{size}"
    )
}

/// One check of a subject in one case, without more ado.
pub(super) fn ask(
    session: &mut Session,
    subject: &Subject<'_>,
    check: Check,
    case: &Case,
) -> Result<Outcome, CheckError> {
    let asked = Asked { subject, case };
    let (seed, subgroup_sizes) = (case.seed, asked.subgroup_sizes());
    let circumstances = Circumstances { seed, subgroup_sizes, promise: Promise::Results };
    answered(session, &circumstances, |session| match check {
        Check::Gradient => gradient::check(session, subject, case),
        Check::GradientExact => gradient_exact::check(session, subject, case),
        Check::Property => property::check(session, subject, case),
        check => plainly(session, &asked, check),
    })
}

/// One of the checks that need no algebra.
pub(super) fn plainly(
    session: &mut Session,
    question: &dyn Question,
    check: Check,
) -> Result<Outcome, CheckError> {
    match check {
        Check::Forward => forward::check(session, question),
        Check::Memory => memory::check(session, question),
        Check::Alias => alias::check(session, question),
        Check::Determinism => determinism::check(session, question),
        Check::Portability => portability::check(session, question),
        Check::Sanitize => sanitize::check(session, question),
        Check::Limits => limits::check(session, question),
        Check::Gradient | Check::GradientExact | Check::Property => {
            Err(CheckError::Unsupported(format!("{check} asks an op, and none is named")))
        }
    }
}

/// What is known of a check before it runs.
pub(super) struct Circumstances<'a> {
    /// Of all data.
    pub(super) seed: u64,
    /// Those that the kernels are made for; any if there is none.
    pub(super) subgroup_sizes: &'a [u32],
    pub(super) promise: Promise,
}

/// Whether something says what the kernels should write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    Results,
    Nothing,
}

/// What the device lacks is a verdict, and so are a message of the validation layer, what a watching
/// device saw, and a kernel that never ends where the device lives on.
pub(super) fn answered(
    session: &mut Session,
    circumstances: &Circumstances<'_>,
    ask: impl FnOnce(&mut Session) -> Result<Outcome, CheckError>,
) -> Result<Outcome, CheckError> {
    session.begin(circumstances);
    let outcome = match ask(session) {
        Ok(outcome) => outcome,
        Err(CheckError::Unsupported(reason)) => return Ok(Outcome::Unsupported { reason }),
        Err(error) => match error.of_device() {
            Some(DeviceError::Endless { what, file, line, .. }) => {
                let place = Turning { file: file.clone(), line: *line };
                let place = (place.line > 0).then_some(place);
                return Ok(Outcome::Hang { reason: what.clone(), place });
            }
            _ => return Err(error),
        },
    };
    let outcome = match session.messages.first() {
        Some(message) if matches!(outcome, Outcome::Pass { .. }) => {
            Outcome::fail(Finding::new(Kind::Validation, message.clone()))
        }
        _ => outcome,
    };
    let seen = std::mem::take(&mut session.observations);
    let mut outcome = observed::told(outcome, seen, circumstances.promise);
    if let Outcome::Fail { finding } = &mut outcome {
        finding.subgroup_size = session.way.subgroup_size;
    }
    Ok(outcome)
}
