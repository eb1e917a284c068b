//! Gradient-exact: `<w, Jv>` of the forward kernel's own SPIR-V against `<g, v>` of the VJP kernel,
//! where `g = J'w`. No reference takes part, so that a forward and a backward that are wrong in the
//! same way as it don't hide behind each other.
//!
//! The op's plainest forward runs on an interpreter in dual numbers, for one input's direction `v`
//! at a time; what it wrote is what the VJP is given.

use std::collections::BTreeMap;

use crate::memory::Poison;
use crate::numeric::{Stream, ulp_of};
use crate::ops::{Case, Gradient, Operand};
use crate::soft::{Tangent, Tie};
use crate::tensor::{Dtype, Tensor, unravel};

use super::execute::{Executed, Setting, Slot, execute};
use super::subject::Subject;
use super::trial::{Cotangent, Prefill, Primal, Trial, draw_inputs, forward_slots};
use super::{CheckError, Finding, Kind, Mismatch, Outcome, Session};

/// Agreement demanded, relative to `||w o Jv||`.
const AGREEMENT: f64 = 1e-5;
/// Roundings of f32 that the terms of a derivative may have on their way, where they cancel.
const ROUNDINGS: f64 = 32.0;
/// The same of narrower storage, which is rounded to once for each value.
const STORED_ROUNDINGS: f64 = 4.0;

/// One run of the VJP.
#[derive(Clone, Copy)]
struct Draw {
    cotangent: Cotangent,
    prefill: Prefill,
    /// An index into the variant's workgroup sizes.
    workgroup: usize,
    alias: Option<(&'static str, &'static str)>,
}

/// Three draws, and as many more as it takes to see every workgroup size and every pair that may
/// share memory.
fn draws(subject: &Subject<'_>) -> Vec<Draw> {
    let plain = |workgroup: usize| {
        let (cotangent, prefill) = match workgroup {
            1 => (Cotangent::Draw(1), Prefill::Random),
            2 => (Cotangent::LastOnly, Prefill::Zeros),
            _ => (Cotangent::Draw(0), Prefill::Zeros),
        };
        Draw { cotangent, prefill, workgroup, alias: None }
    };
    let count = subject.variant.workgroups.len();
    let mut draws: Vec<Draw> = (0..count.max(3)).map(plain).collect();
    draws.iter_mut().for_each(|draw| draw.workgroup %= count.max(1));
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
    let moved: Vec<&Operand> =
        problem.inputs().filter(|operand| operand.gradient != Gradient::None).collect();
    let mut exact = Exact { session, subject, case, directions: BTreeMap::new() };
    let mut worst: f64 = 0.0;
    // Inputs of which nothing was compared, with the reason.
    let mut silent: BTreeMap<&str, String> = BTreeMap::new();
    let mut heard: Vec<&str> = Vec::new();
    for draw in draws(subject) {
        let forward = exact.forward(None, Tie::First)?;
        let trial = subject.fitted(primal.vjp(draw.cotangent, draw.prefill));
        let trial = Trial { slots: with_outputs(trial.slots, &forward.outputs), ..trial };
        let executed = exact.backward(&trial, &draw)?;
        if let Some(finding) = Finding::of_memory(executed.memory.clone()) {
            return Ok(Outcome::fail(finding));
        }
        for operand in &moved {
            let Some(gradient) = gradient(operand, &trial, &executed) else { continue };
            let direction = exact.direction(operand, draw.cotangent);
            match exact.compare(operand, &gradient, &direction, &trial)? {
                Compared::Agree(part) => {
                    worst = worst.max(part);
                    heard.push(operand.name);
                }
                Compared::Silent(reason) => {
                    silent.entry(operand.name).or_insert(reason);
                }
                Compared::Differ(mut finding) => {
                    let (cotangent, sharing) = (draw.cotangent, draw.alias);
                    let shared = sharing.map(|(x, y)| format!(", {y} in the memory of {x}"));
                    let shared = shared.unwrap_or_default();
                    finding.message =
                        format!("{} (cotangent {cotangent:?}{shared})", finding.message);
                    return Ok(Outcome::Fail { finding });
                }
            }
        }
    }
    match silent.into_iter().find(|(name, _)| !heard.contains(name)) {
        Some((name, reason)) => {
            Err(CheckError::Unsupported(format!("nothing follows for {name}: {reason}")))
        }
        None => Ok(Outcome::Pass { worst }),
    }
}

/// What a comparison came to.
enum Compared {
    /// The distance as a part of what is allowed.
    Agree(f64),
    Differ(Box<Finding>),
    /// The forward says nothing about this direction.
    Silent(String),
}

struct Exact<'a, 's> {
    session: &'a mut Session,
    subject: &'a Subject<'s>,
    case: &'a Case,
    directions: BTreeMap<String, Vec<f64>>,
}

/// A run of the forward kernel.
struct Forward {
    outputs: BTreeMap<String, Tensor>,
    tangents: BTreeMap<String, Vec<Tangent>>,
    kinks: Vec<String>,
    lost: Vec<String>,
}

/// One element's or one buffer's `g`, without what was in the buffer before.
struct Given {
    dtype: Dtype,
    shape: Vec<usize>,
    values: Vec<f64>,
    /// What was added to it, which it was rounded with.
    before: Vec<f64>,
}

impl Exact<'_, '_> {
    /// Runs the op's plainest forward, with a direction of one of its inputs.
    fn forward(
        &mut self,
        along: Option<(&Operand, &[f64])>,
        tie: Tie,
    ) -> Result<Forward, CheckError> {
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
        let slots = forward_slots(&problem, &inputs);
        let setting = Setting { poison: Poison::Nan, ..Setting::default_for(plainest.variant) };
        self.session.in_dual_numbers(|session, dual| {
            dual.begin(tie);
            if let Some((operand, direction)) = along {
                let bytes = element_bytes(problem.dtype_of(operand));
                dual.set_tangent(operand.name, bytes, direction);
            }
            let executed = execute(session, &plainest, &problem, &slots, &setting)?;
            let tangents = executed.written.iter().map(|(name, tensor)| {
                let found = dual.tangent(name, element_bytes(tensor.dtype()), tensor.len());
                (name.clone(), found)
            });
            Ok(Forward {
                tangents: tangents.collect(),
                outputs: executed.written,
                kinks: dual.kinks(),
                lost: dual.lost(),
            })
        })
    }

    fn backward(&mut self, trial: &Trial, draw: &Draw) -> Result<Executed, CheckError> {
        let setting = Setting {
            workgroup: self.subject.variant.workgroups[draw.workgroup],
            alias: draw.alias,
            ..Setting::default_for(self.subject.variant)
        };
        let problem = self.case.problem(self.subject.op);
        execute(self.session, self.subject, &problem, &trial.slots, &setting)
    }

    /// Another one for each cotangent.
    fn direction(&mut self, operand: &Operand, cotangent: Cotangent) -> Vec<f64> {
        let (op, case) = (self.subject.op, self.case);
        let problem = case.problem(op);
        let key = format!("v{} {cotangent:?}", operand.name);
        let drawn = self.directions.entry(key.clone()).or_insert_with(|| {
            let len: usize = (operand.shape)(&problem).iter().product();
            let mut stream = Stream::new(case.seed, &[op.name, &case.id(op), &key]);
            (0..len).map(|_| stream.normal()).collect()
        });
        drawn.clone()
    }

    fn compare(
        &mut self,
        operand: &Operand,
        gradient: &Given,
        direction: &[f64],
        trial: &Trial,
    ) -> Result<Compared, CheckError> {
        let forward = self.forward(Some((operand, direction)), Tie::First)?;
        let sides = Sides::new(&forward, gradient, direction, trial);
        if let Some(lost) = forward.lost.first() {
            return Ok(Compared::Silent(lost.clone()));
        }
        if !sides.forward.is_finite() {
            return Ok(Compared::Silent("the forward's derivative is not finite".to_owned()));
        }
        if let Some(kink) = forward.kinks.first() {
            let other = self.forward(Some((operand, direction)), Tie::Second)?;
            let other = Sides::new(&other, gradient, direction, trial);
            if !((other.forward - sides.forward).abs() <= sides.allowed) {
                return Ok(Compared::Silent(format!("the forward has a kink: {kink}")));
            }
        }
        let distance = (sides.backward - sides.forward).abs();
        if distance <= sides.allowed {
            let allowed = if sides.allowed > 0.0 { sides.allowed } else { 1.0 };
            return Ok(Compared::Agree(distance / allowed));
        }
        let mut finding = Finding::new(Kind::WrongGradient, sides.told(operand.name));
        finding.mismatch = self.element(operand, gradient, direction, trial)?;
        Ok(Compared::Differ(Box::new(finding)))
    }

    /// The element of the gradient that is wrong, or one of them: half of the direction is left out
    /// until one element is left.
    fn element(
        &mut self,
        operand: &Operand,
        gradient: &Given,
        direction: &[f64],
        trial: &Trial,
    ) -> Result<Option<Mismatch>, CheckError> {
        let mut range = 0..direction.len();
        if let Some(at) = gradient.values.iter().position(|g| !g.is_finite()) {
            range = at..at + 1;
        }
        let mut last = None;
        loop {
            let middle = range.start + range.len() / 2;
            let halves = match range.len() {
                0 => break,
                1 => vec![range.clone()],
                _ => vec![range.start..middle, middle..range.end],
            };
            let mut found: Option<(f64, std::ops::Range<usize>)> = None;
            for half in halves {
                let mut part = vec![0.0; direction.len()];
                // One element alone is asked for its own derivative.
                part[half.clone()].copy_from_slice(&direction[half.clone()]);
                if half.len() == 1 {
                    part[half.start] = 1.0;
                }
                let forward = self.forward(Some((operand, &part)), Tie::First)?;
                let sides = Sides::new(&forward, gradient, &part, trial);
                let excess = (sides.backward - sides.forward).abs() / sides.allowed.max(1e-300);
                if !found.as_ref().is_some_and(|(most, _)| *most >= excess) {
                    if half.len() == 1 {
                        last = Some((half.start, sides));
                    }
                    found = Some((excess, half));
                }
            }
            let Some((_, half)) = found else { break };
            if half.len() <= 1 {
                break;
            }
            range = half;
        }
        Ok(last.map(|(at, sides)| Mismatch {
            buffer: format!("g{}", operand.name),
            bad: 1,
            total: direction.len(),
            index: unravel(&gradient.shape, at),
            got: format!("{}", sides.backward),
            expected: format!("{}", sides.forward),
            bound: format!("{:.3e}", sides.allowed),
        }))
    }
}

/// Both numbers, and how far they may lie apart.
struct Sides {
    forward: f64,
    backward: f64,
    allowed: f64,
}

impl Sides {
    fn new(forward: &Forward, gradient: &Given, direction: &[f64], trial: &Trial) -> Self {
        let (mut terms, mut sizes) = (Vec::new(), Vec::new());
        let mut stored = rounding(gradient.dtype);
        for (name, tangents) in &forward.tangents {
            let Some(weights) = contents(trial, &format!("g{name}")) else { continue };
            stored = stored.max(rounding(forward.outputs[name].dtype()));
            for (tangent, w) in tangents.iter().zip(weights.values()) {
                terms.push(if w == 0.0 { 0.0 } else { w * tangent.value });
                sizes.push(if w == 0.0 { 0.0 } else { w * tangent.size });
            }
        }
        let along = |g: &[f64]| -> Vec<f64> {
            // What the direction leaves out isn't asked about, whatever it is.
            g.iter().zip(direction).map(|(g, v)| if *v == 0.0 { 0.0 } else { g * v }).collect()
        };
        let (own, before) = (along(&gradient.values), along(&gradient.before));
        let narrow = if stored > rounding(Dtype::F32) { STORED_ROUNDINGS * stored } else { 0.0 };
        let noise = ROUNDINGS * rounding(Dtype::F32) + narrow;
        Self {
            forward: terms.iter().sum(),
            backward: own.iter().sum(),
            allowed: AGREEMENT * norm(&terms) + noise * (norm(&sizes) + norm(&before)),
        }
    }

    fn told(&self, name: &str) -> String {
        let Self { forward, backward, allowed } = self;
        let ratio = if *forward == 0.0 {
            String::new()
        } else {
            format!(", {:.6} times as much", backward / forward)
        };
        format!(
            "g{name}: <w, Jv> of the forward kernel along {name} is {forward:.9e}, <g, v> of this one \
             {backward:.9e}{ratio}; {allowed:.1e} apart are allowed"
        )
    }
}

fn norm(terms: &[f64]) -> f64 {
    terms.iter().map(|term| term * term).sum::<f64>().sqrt()
}

/// Half a unit in the last place of 1.
fn rounding(dtype: Dtype) -> f64 {
    match dtype {
        half @ (Dtype::F16 | Dtype::BF16) => ulp_of(half, 1.0) / 2.0,
        _ => ulp_of(Dtype::F32, 1.0) / 2.0,
    }
}

fn element_bytes(dtype: Dtype) -> u32 {
    dtype.bytes_for(1).and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(u32::MAX)
}

fn contents<'t>(trial: &'t Trial, name: &str) -> Option<&'t Tensor> {
    trial.slots.iter().find(|slot| slot.name == name)?.contents.as_ref()
}

/// The VJP gets what the forward kernel wrote instead of what the reference says.
fn with_outputs(slots: Vec<Slot>, outputs: &BTreeMap<String, Tensor>) -> Vec<Slot> {
    let swapped = slots.into_iter().map(|slot| match outputs.get(&slot.name) {
        Some(output) => {
            let own = Tensor::new(slot.dtype, &slot.shape, &output.values());
            Slot { contents: Some(own), ..slot }
        }
        None => slot,
    });
    swapped.collect()
}

/// The gradient of an input as the VJP wrote it; none where it doesn't.
fn gradient(operand: &Operand, trial: &Trial, executed: &Executed) -> Option<Given> {
    let name = format!("g{}", operand.name);
    let written = executed.written.get(&name)?;
    let values = written.values();
    let before = match contents(trial, &name) {
        Some(before) => before.values(),
        None => vec![0.0; values.len()],
    };
    Some(Given {
        dtype: written.dtype(),
        shape: written.shape().to_vec(),
        values: values.iter().zip(&before).map(|(g, before)| g - before).collect(),
        before,
    })
}
