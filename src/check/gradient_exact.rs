//! Gradient-exact: the derivative of the op's own forward kernel, in dual numbers, against the VJP
//! kernel. No reference takes part in the comparison, so a forward and a backward that are wrong
//! together can't hide behind one that shares their mistake.
//!
//! The op's plainest forward runs on an interpreter, along one input's direction at a time; what it
//! wrote is what the VJP is given.

use crate::numeric::Stream;
use crate::ops::{Case, Gradient, Operand};
use crate::soft::Tie;
use crate::tensor::Tensor;

use super::exact::{Forward, Forwards, Given, Tally, with_outputs};
use super::execute::{Executed, Setting, Slot, execute};
use super::subject::Subject;
use super::trial::{Cotangent, Prefill, Primal, Trial, draw_inputs, forward_slots};
use super::{CheckError, Finding, Outcome, Session};

/// One run of the VJP.
#[derive(Clone, Copy)]
struct Draw {
    cotangent: Cotangent,
    prefill: Prefill,
    workgroup: u32,
    alias: Option<(&'static str, &'static str)>,
}

/// Three draws, and as many more as it takes to see every workgroup size and every pair that may
/// share memory.
fn draws(subject: &Subject<'_>) -> Vec<Draw> {
    let workgroups = subject.variant.workgroups;
    let plain = |at: usize| {
        let (cotangent, prefill) = match at {
            1 => (Cotangent::Draw(1), Prefill::Random),
            2 => (Cotangent::LastOnly, Prefill::Zeros),
            _ => (Cotangent::Draw(0), Prefill::Zeros),
        };
        Draw { cotangent, prefill, workgroup: workgroups[at % workgroups.len()], alias: None }
    };
    let mut draws: Vec<Draw> = (0..workgroups.len().max(3)).map(plain).collect();
    let shared = subject.variant.aliases.iter();
    draws.extend(shared.map(|pair| Draw { alias: Some(*pair), ..plain(0) }));
    draws
}

/// Compares the two for several cotangents and each differentiable input.
///
/// # Errors
/// What keeps either kernel from running; a forward that no tangent comes through.
pub(super) fn check(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
) -> Result<Outcome, CheckError> {
    let model = session.model.clone();
    let primal = Primal::new(subject.op, case, &model);
    let problem = case.problem(subject.op);
    let mut of_op = OfOp { session, subject, case };
    let mut tally = Tally::default();
    let forward = of_op.forward(None, Tie::First)?;
    for draw in draws(subject) {
        let trial = subject.fitted(primal.vjp(draw.cotangent, draw.prefill));
        let trial = Trial { slots: with_outputs(trial.slots, &forward.outputs), ..trial };
        let executed = of_op.backward(&trial, &draw)?;
        if let Some(finding) = Finding::of_memory(executed.memory.clone()) {
            return Ok(Outcome::fail(finding));
        }
        for operand in problem.inputs().filter(|o| o.gradient != Gradient::None) {
            let Some(given) = Given::added(operand.name, &trial.slots, &executed) else { continue };
            let direction = of_op.direction(operand, draw.cotangent);
            let found = tally.compare(&mut of_op, &given, &direction, &trial.slots)?;
            if let Some(mut finding) = found {
                let shared = draw.alias.map(|(x, y)| format!(", {y} in the memory of {x}"));
                let (what, shared) = (draw.cotangent, shared.unwrap_or_default());
                finding.message = format!("{} (cotangent {what:?}{shared})", finding.message);
                return Ok(Outcome::Fail { finding });
            }
        }
    }
    tally.end()
}

struct OfOp<'a, 's> {
    session: &'a mut Session,
    subject: &'a Subject<'s>,
    case: &'a Case,
}

impl Forwards for OfOp<'_, '_> {
    fn forward(&mut self, along: Option<(&str, &[f64])>, tie: Tie) -> Result<Forward, CheckError> {
        let op = self.subject.op;
        let plainest = Subject::new(op, &op.variants[0]);
        // A kernel file may store its buffers otherwise than the lab's own kernel.
        let usual = Case { storage: Vec::new(), ..self.case.clone() };
        let problem = usual.problem(op);
        let inputs: Vec<Tensor> = problem
            .inputs()
            .zip(draw_inputs(op, self.case))
            .map(|(operand, x)| Tensor::new(problem.dtype_of(operand), x.shape(), &x.values()))
            .collect();
        let slots: Vec<Slot> = forward_slots(&problem, &inputs);
        let setting = Setting::default_for(plainest.variant);
        Forward::of(self.session, &slots, along, tie, |session| {
            execute(session, &plainest, &problem, &slots, &setting)
        })
    }
}

impl OfOp<'_, '_> {
    fn backward(&mut self, trial: &Trial, draw: &Draw) -> Result<Executed, CheckError> {
        let (workgroup, alias) = (draw.workgroup, draw.alias);
        let setting = Setting { workgroup, alias, ..Setting::default_for(self.subject.variant) };
        let problem = self.case.problem(self.subject.op);
        execute(self.session, self.subject, &problem, &trial.slots, &setting)
    }

    /// Another one for each cotangent.
    fn direction(&self, operand: &Operand, cotangent: Cotangent) -> Vec<f64> {
        let (op, case) = (self.subject.op, self.case);
        let len: usize = (operand.shape)(&case.problem(op)).iter().product();
        let name = format!("v{} {cotangent:?}", operand.name);
        let mut stream = Stream::new(case.seed, &[op.name, &case.id(op), &name]);
        (0..len).map(|_| stream.normal()).collect()
    }
}
