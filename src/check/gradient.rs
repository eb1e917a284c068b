//! Gradient: the chain of checks that names its cause.
//!
//! 1. and 2. The reference VJP against dual numbers and finite differences ([`super::proven`]).
//! 3. The op's plainest forward kernel against the reference.
//! 4. and 5. The VJP kernel against the reference VJP for five cotangents.
//! 6. Linearity in the cotangent.
//! 7. The accumulation contract.
//! 8. Determinism on fresh memory.

use crate::memory::Poison;
use crate::numeric::{F32_MIN_NORMAL, min_normal, ulp_of};
use crate::ops::{Case, Order};
use crate::tensor::{Dtype, Tensor};

use super::compare::Expected;
use super::execute::{Executed, Setting, execute};
use super::question::Asked;
use super::subject::Subject;
use super::trial::{Cotangent, Prefill, Primal, Trial};
use super::{CheckError, Finding, Kind, Outcome, Output, Session, describe, forward};

/// The cotangents of step 5: all ones alone would check nothing for softmax and its kind, whose
/// row sums cancel, so it comes last and as an extra.
const COTANGENTS: [Cotangent; 5] = [
    Cotangent::Draw(0),
    Cotangent::Draw(1),
    Cotangent::Draw(2),
    Cotangent::LastOnly,
    Cotangent::Ones,
];

/// Runs the chain for a VJP variant.
///
/// # Errors
/// What keeps the variant from running.
pub(super) fn check(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
) -> Result<Outcome, CheckError> {
    if let Some(finding) = session.proven.prove(subject.op, case) {
        return Ok(Outcome::fail(finding));
    }
    let plainest = Subject::new(subject.op, &subject.op.variants[0]);
    // A kernel file may store its buffers otherwise than the lab's own kernel.
    let usual = Case { storage: Vec::new(), ..case.clone() };
    let forward = forward::check(session, &Asked { subject: &plainest, case: &usual })?;
    if forward.is_bad() {
        return Ok(forward);
    }
    let model = session.model.clone();
    let primal = Primal::new(subject.op, case, &model);
    let mut chain = Chain { session, subject, case, primal, worst: 0.0 };
    let links: [fn(&mut Chain<'_, '_>) -> Step; 4] =
        [|c| c.cotangents(), |c| c.linearity(), |c| c.accumulation(), |c| c.determinism()];
    for link in links {
        if let Some(broken) = link(&mut chain)? {
            return Ok(broken);
        }
    }
    Ok(Outcome::Pass { worst: chain.worst })
}

/// A failing outcome, or nothing.
type Step = Result<Option<Outcome>, CheckError>;

struct Chain<'a, 's> {
    session: &'a mut Session,
    subject: &'a Subject<'s>,
    case: &'a Case,
    primal: Primal<'a>,
    worst: f64,
}

impl Chain<'_, '_> {
    fn run(&mut self, trial: &Trial, poison: Poison) -> Result<Executed, CheckError> {
        let setting = Setting { poison, ..Setting::default_for(self.subject.variant) };
        let problem = self.case.problem(self.subject.op);
        execute(self.session, self.subject, &problem, &trial.slots, &setting)
    }

    fn trial(&self, cotangent: Cotangent, prefill: Prefill) -> Trial {
        self.subject.fitted(self.primal.vjp(cotangent, prefill))
    }

    fn cotangents(&mut self) -> Step {
        for cotangent in COTANGENTS {
            let trial = self.trial(cotangent, Prefill::Zeros);
            let executed = self.run(&trial, Poison::Nan)?;
            if cotangent == COTANGENTS[0] {
                self.session.output = Some(Output::new(&trial, &executed));
            }
            match describe::judge(self.subject.variant.pass, &trial, &executed) {
                Outcome::Pass { worst } => self.worst = self.worst.max(worst),
                Outcome::Fail { mut finding } => {
                    if self.ignores_cotangent(&executed)? {
                        finding.causes.insert(0, "the same for other cotangents: ignored".into());
                    }
                    finding.message = format!("{} (cotangent {cotangent:?})", finding.message);
                    return Ok(Some(Outcome::Fail { finding }));
                }
                other => return Ok(Some(other)),
            }
        }
        Ok(None)
    }

    fn ignores_cotangent(&mut self, wrong: &Executed) -> Result<bool, CheckError> {
        let trial = self.trial(Cotangent::Scaled(3), Prefill::Zeros);
        let other = self.run(&trial, Poison::Nan)?;
        Ok(other.written == wrong.written)
    }

    /// `VJP(2^k w) = 2^k VJP(w)` bit for bit, `VJP(w1 + w2) = VJP(w1) + VJP(w2)` within the bounds
    /// of the three, `VJP(0) = 0` exactly.
    fn linearity(&mut self) -> Step {
        let one = self.trial(Cotangent::Draw(0), Prefill::Zeros);
        let base = self.run(&one, Poison::Nan)?;
        if self.subject.variant.order == Order::Fixed {
            for power in [3, -3] {
                let trial = self.trial(Cotangent::Scaled(power), Prefill::Zeros);
                let scaled = self.run(&trial, Poison::Nan)?;
                for expected in &trial.expected {
                    let (from, got) =
                        (&base.written[&expected.name], &scaled.written[&expected.name]);
                    let want = scaled_exactly(&expected.name, from, got, power);
                    if !want.compare(got).bad.is_empty() {
                        let message = format!("VJP(2^{power} w) is not 2^{power} VJP(w)");
                        return fail(Kind::NotLinear, message, &trial, &want, got);
                    }
                }
            }
        }
        let two = self.trial(Cotangent::Draw(1), Prefill::Zeros);
        let sum = self.trial(Cotangent::SumOfTwo, Prefill::Zeros);
        let (second, both) = (self.run(&two, Poison::Nan)?, self.run(&sum, Poison::Nan)?);
        for ((first, other), third) in one.expected.iter().zip(&two.expected).zip(&sum.expected) {
            let name = &first.name;
            let (a, b) = (base.written[name].values(), second.written[name].values());
            let mut want = third.clone();
            for at in 0..want.values.len() {
                want.values[at] = a[at] + b[at];
                want.bounds[at] = first.bounds[at] + other.bounds[at] + third.bounds[at];
                // Past the format's range infinities come and go; step 5 has judged each of the three.
                let overflows = want.dtype.round(third.values[at]).is_infinite();
                if overflows || !want.values[at].is_finite() {
                    want.bounds[at] = f64::INFINITY;
                }
                if let half @ (Dtype::F16 | Dtype::BF16) = want.dtype {
                    // Both terms were rounded to storage before this addition.
                    let ulp = ulp_of(half, 1.0);
                    want.bounds[at] +=
                        (a[at].abs() + b[at].abs()) * ulp + 2.0 * ulp * min_normal(half);
                }
            }
            let got = &both.written[name];
            if !want.compare(got).bad.is_empty() {
                let message = "VJP(w1 + w2) is not VJP(w1) + VJP(w2)".to_owned();
                return fail(Kind::NotLinear, message, &sum, &want, got);
            }
        }
        self.zero_in_zero_out()
    }

    fn zero_in_zero_out(&mut self) -> Step {
        let trial = self.trial(Cotangent::Zero, Prefill::Zeros);
        let executed = self.run(&trial, Poison::Nan)?;
        for expected in &trial.expected {
            let mut want = expected.clone();
            // 0 times what overflowed is a NaN in the reference too; those elements say nothing.
            for (bound, value) in want.bounds.iter_mut().zip(&want.values) {
                *bound = if value.is_finite() && bound.is_finite() { 0.0 } else { f64::INFINITY };
            }
            let got = &executed.written[&want.name];
            if !want.compare(got).bad.is_empty() {
                let message = "VJP(0) is not 0".to_owned();
                return fail(Kind::NotLinear, message, &trial, &want, got);
            }
        }
        Ok(None)
    }

    fn accumulation(&mut self) -> Step {
        let trial = self.trial(Cotangent::Draw(0), Prefill::Random);
        let executed = self.run(&trial, Poison::Huge)?;
        let judged = describe::judge(self.subject.variant.pass, &trial, &executed);
        let Outcome::Fail { mut finding } = judged else { return Ok(None) };
        finding.kind = Kind::Accumulation;
        finding.message = format!(
            "{}: a gradient buffer that held data is not written as declared",
            finding.message
        );
        Ok(Some(Outcome::Fail { finding }))
    }

    fn determinism(&mut self) -> Step {
        if self.subject.variant.order == Order::Atomic {
            return Ok(None);
        }
        let trial = self.trial(Cotangent::Draw(0), Prefill::Random);
        let (first, second) = (self.run(&trial, Poison::Nan)?, self.run(&trial, Poison::Nan)?);
        Ok(describe::nondeterministic(&trial, &first, &second))
    }
}

fn fail(kind: Kind, message: String, trial: &Trial, expected: &Expected, got: &Tensor) -> Step {
    let finding = Finding::new(kind, message);
    Ok(Some(describe::differing(finding, &trial.slots, expected, got)))
}

/// `2^power` times a result, exact but for elements near the ends of the format's range, where
/// scaling itself rounds or overflows.
pub(super) fn scaled_exactly(name: &str, from: &Tensor, got: &Tensor, power: i32) -> Expected {
    let mut want = Expected::exactly(name, from);
    let (low, high) = match from.dtype() {
        Dtype::F16 => (2f64.powi(-14), 65_504.0),
        _ => (F32_MIN_NORMAL, f64::from(f32::MAX)),
    };
    // Intermediate results are smaller or larger than the result itself by what the kernel does
    // on the way; 2^24 covers the sums and quotients of the ops here.
    let margin = if from.dtype() == Dtype::F16 { 16.0 } else { 2f64.powi(24) };
    let inside = |v: f64| v == 0.0 || (v.abs() > low * margin && v.abs() < high / margin);
    // A zero may be what underflowed before it was scaled.
    let underflows = |v: f64| v != 0.0 && v.abs() < low * margin;
    for ((value, bound), got) in want.values.iter_mut().zip(&mut want.bounds).zip(got.values()) {
        *value *= 2f64.powi(power);
        if !inside(*value) || underflows(got) {
            *bound = f64::INFINITY;
        }
    }
    want
}
