//! Property: algebra that holds without a reference. The kernel is compared with itself; the
//! reference lends its error bounds where two roundings may differ, never its values.

mod arrangement;
mod values;

use crate::numeric::Regime;
use crate::ops::{Case, Problem, Property};
use crate::tensor::Tensor;

use super::compare::Expected;
use super::execute::{Setting, Slot, execute};
use super::subject::Subject;
use super::trial::{Trial, draw_inputs, forward_slots};
use super::{CheckError, Finding, Kind, Outcome, Session, describe};

/// Checks every property of the record.
///
/// # Errors
/// What keeps the variant from running.
pub(super) fn check(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
) -> Result<Outcome, CheckError> {
    let mut worst: f64 = 0.0;
    for property in subject.op.properties {
        let mut algebra = Algebra { session, subject, case, property, ran: Vec::new() };
        match algebra.check() {
            // A kernel file has plans for its own shapes only.
            Err(CheckError::Unsupported(_)) if subject.own.is_some() => {}
            Err(error) => return Err(error),
            Ok(Broken::No { worst: fraction }) => worst = worst.max(fraction),
            Ok(Broken::Yes(outcome)) => return Ok(outcome),
        }
    }
    Ok(Outcome::Pass { worst })
}

enum Broken {
    No { worst: f64 },
    Yes(Outcome),
}

struct Algebra<'a, 's> {
    session: &'a mut Session,
    subject: &'a Subject<'s>,
    case: &'a Case,
    property: &'a Property,
    /// The buffers of the latest run.
    ran: Vec<Slot>,
}

type Verdict = Result<Broken, CheckError>;

impl Algebra<'_, '_> {
    fn check(&mut self) -> Verdict {
        match *self.property {
            Property::Linear(operands) => self.linear(operands),
            Property::Homogeneous(operand) => self.scaled(&[operand]),
            Property::Odd(operands) => self.odd(operands),
            Property::ShiftInvariant(operand) => self.shift_invariant(operand),
            Property::RowsIndependent(operands) => self.rows_independent(operands),
            Property::Commutes(a, b) => self.commutes(a, b),
            Property::Selects(operand) => self.selects(operand),
            Property::RowsSumToOne => self.rows_sum_to_one(),
            Property::Convex(operand) => self.convex(operand),
            Property::Idempotent => self.idempotent(),
            Property::Involution(a, b) => self.involution(a, b),
            Property::Repeated { operand, dim, factor } => self.repeated(operand, dim, factor),
        }
    }

    fn draw(&self, regime: Regime) -> Vec<Tensor> {
        draw_inputs(self.subject.op, &Case { regime, ..self.case.clone() })
    }

    fn position(&self, operand: &str) -> usize {
        let mut inputs = self.case.problem(self.subject.op).inputs();
        let found = inputs.position(|o| o.name == operand);
        found.unwrap_or_else(|| panic!("{} reads no operand {operand}", self.subject.op.name))
    }

    fn run(&mut self, inputs: &[Tensor]) -> Result<Vec<(String, Tensor)>, CheckError> {
        let problem = self.case.problem(self.subject.op);
        self.run_problem(&problem, inputs)
    }

    fn run_problem(
        &mut self,
        problem: &Problem<'_>,
        inputs: &[Tensor],
    ) -> Result<Vec<(String, Tensor)>, CheckError> {
        let setting = Setting::default_for(self.subject.variant);
        let slots = self.subject.fitted_slots(forward_slots(problem, inputs));
        let mut executed = execute(self.session, self.subject, problem, &slots, &setting)?;
        self.ran = slots;
        let named = problem.outputs().map(|o| o.name.to_owned());
        Ok(named.filter_map(|name| executed.written.remove_entry(&name)).collect())
    }

    /// Error bounds of a run on these inputs, by output.
    fn bounds(&self, inputs: &[Tensor]) -> Vec<Vec<f64>> {
        let trial = Trial::forward(self.subject.op, self.case, inputs, &self.session.model);
        trial.expected.into_iter().map(|e| e.bounds).collect()
    }

    fn holds(&self, want: &Expected, got: &Tensor) -> Broken {
        let comparison = want.compare(got);
        if comparison.bad.is_empty() {
            return Broken::No { worst: comparison.worst };
        }
        let message = format!("{} breaks {:?}", want.name, self.property);
        let finding = Finding::new(Kind::Property, message);
        Broken::Yes(describe::differing(finding, &self.ran, want, got))
    }

    fn all(&self, pairs: impl IntoIterator<Item = (Expected, Tensor)>) -> Broken {
        let mut worst: f64 = 0.0;
        for (want, got) in pairs {
            match self.holds(&want, &got) {
                Broken::No { worst: fraction } => worst = worst.max(fraction),
                broken @ Broken::Yes(_) => return broken,
            }
        }
        Broken::No { worst }
    }

    /// Replaces some operands by a function of themselves.
    fn mapped(&self, inputs: &[Tensor], operands: &[&str], f: impl Fn(f64) -> f64) -> Vec<Tensor> {
        let mut changed = inputs.to_vec();
        for operand in operands {
            let at = self.position(operand);
            let values: Vec<f64> = inputs[at].values().into_iter().map(&f).collect();
            changed[at] = Tensor::new(inputs[at].dtype(), inputs[at].shape(), &values);
        }
        changed
    }
}
