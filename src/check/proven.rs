//! References that have already been held against themselves in this session.

use std::collections::BTreeSet;

use crate::numeric::{Dual, Regime, Stream};
use crate::ops::{Case, Gradient, Op, Problem};
use crate::tensor::Tensor;

use super::trial::draw_inputs;
use super::{Finding, Kind};

/// Problems whose reference VJP was found consistent.
#[derive(Debug, Default)]
pub(super) struct Proven(BTreeSet<String>);

/// Pairs of random directions and cotangents that each reference is tried with.
const PAIRS: u32 = 8;
/// Agreement demanded of dual numbers, relative to the largest term.
const DUAL: f64 = 1e-12;
/// Agreement demanded of finite differences: relative to `||w o Jv||`, and to `||w|| ||f||`.
const DIFFERENCE: (f64, f64) = (1e-8, 1e-11);

impl Proven {
    /// Holds the reference VJP against dual numbers and against finite differences (order 4), once
    /// for each problem. A kernel is not to blame for what is found here.
    pub(super) fn prove(&mut self, op: &'static Op, case: &Case) -> Option<Finding> {
        // Mathematics doesn't hang on the regime, and rounding in f64 does: a saturated softmax
        // cancels to 1e-27, where no two ways of computing it agree to 12 digits.
        let case = Case { regime: Regime::Normal, ..case.clone() };
        let key = format!("{} {}", op.name, case.id(op));
        if self.0.contains(&key) {
            return None;
        }
        let finding = disagreement(op, &case);
        if finding.is_none() {
            self.0.insert(key);
        }
        finding
    }
}

fn disagreement(op: &'static Op, case: &Case) -> Option<Finding> {
    let problem = case.problem(op);
    let id = case.id(op);
    let drawn: Vec<Vec<f64>> = draw_inputs(op, case).iter().map(Tensor::values).collect();
    let inputs = away_from_kinks(&problem, drawn);
    let outputs = op.reference.forward(&problem, &inputs);
    if outputs.iter().flatten().any(|v| !v.is_finite()) {
        return None;
    }
    for pair in 0..PAIRS {
        let mut stream = Stream::new(case.seed, &[op.name, &id, "prove", &pair.to_string()]);
        let direction: Vec<Vec<f64>> = problem
            .inputs()
            .zip(&inputs)
            .map(|(operand, values)| {
                let fixed = operand.gradient == Gradient::None;
                values.iter().map(|_| if fixed { 0.0 } else { stream.normal() }).collect()
            })
            .collect();
        let cotangents: Vec<Vec<f64>> =
            outputs.iter().map(|y| y.iter().map(|_| stream.cotangent()).collect()).collect();
        let gradients = op.reference.vjp(&problem, &inputs, &outputs, &cotangents);
        let moved = problem
            .inputs()
            .zip(&direction)
            .filter(|(operand, _)| operand.gradient != Gradient::None)
            .map(|(_, v)| v);
        let backward: Vec<f64> =
            moved.zip(&gradients).flat_map(|(v, g)| v.iter().zip(g).map(|(v, g)| v * g)).collect();
        let forward = tangent_terms(&problem, &inputs, &direction, &cotangents);
        let scale = forward.iter().chain(&backward).map(|t| t.abs()).sum::<f64>().max(1e-30);
        let (got, dual) = (backward.iter().sum::<f64>(), forward.iter().sum::<f64>());
        if !((got - dual).abs() <= DUAL * scale) {
            let derived = op.reference.vjp_derived(&problem, &inputs, &outputs, &cotangents);
            let place = first_difference(&problem, &gradients, &derived).unwrap_or_default();
            return Some(Finding::new(
                Kind::Reference,
                format!("reference VJP {got:e} and dual numbers {dual:e} disagree at {id}{place}"),
            ));
        }
        // Two of the pairs also see finite differences, which share no code with either.
        if pair < 2 {
            let (difference, spread) = difference(&problem, &inputs, &direction, &cotangents);
            let norm = |v: &[f64]| v.iter().map(|t| t * t).sum::<f64>().sqrt();
            let flat = |v: &[Vec<f64>]| v.iter().flatten().copied().collect::<Vec<f64>>();
            let allowed = DIFFERENCE.0 * norm(&forward)
                + DIFFERENCE.1 * norm(&flat(&cotangents)) * norm(&flat(&outputs));
            // The spread between two orders estimates the difference's own error; where it is
            // large the reference isn't smooth here and nothing follows.
            if spread <= allowed && !((difference - dual).abs() <= allowed + spread) {
                return Some(Finding::new(
                    Kind::Reference,
                    format!(
                        "dual numbers {dual:e} and differences {difference:e} disagree at {id}"
                    ),
                ));
            }
        }
    }
    None
}

/// The element of a gradient where the reference VJP leaves the one that is derived from its
/// forward. The dual numbers know one directional derivative and no element.
fn first_difference(
    problem: &Problem<'_>,
    written: &[Vec<f64>],
    derived: &[Vec<f64>],
) -> Option<String> {
    let differentiable = problem.inputs().filter(|o| o.gradient != Gradient::None);
    differentiable.zip(written.iter().zip(derived)).find_map(|(operand, (written, derived))| {
        let scale = derived.iter().map(|g| g.abs()).fold(1e-30, f64::max);
        let differ = |(w, d): (&f64, &f64)| !((w - d).abs() <= 1e-9 * scale);
        let at = written.iter().zip(derived).position(differ)?;
        let (name, w, d) = (operand.name, written[at], derived[at]);
        Some(format!(": g{name}[{at}] is {w:e}, and {d:e} by the chain rule"))
    })
}

fn tangent_terms(
    problem: &Problem<'_>,
    inputs: &[Vec<f64>],
    direction: &[Vec<f64>],
    cotangents: &[Vec<f64>],
) -> Vec<f64> {
    let duals: Vec<Vec<Dual>> = inputs
        .iter()
        .zip(direction)
        .map(|(x, v)| x.iter().zip(v).map(|(x, v)| Dual::new(*x, *v)).collect())
        .collect();
    let outputs = problem.op.reference.forward_dual(problem, &duals);
    let terms = outputs
        .iter()
        .zip(cotangents)
        .flat_map(|(y, w)| y.iter().zip(w).map(|(d, w)| d.tangent * w));
    terms.collect()
}

/// The directional derivative of `<w, f>` by central differences of order 4, and its distance to
/// order 2 at the smaller step, divided by what Richardson's extrapolation gains.
fn difference(
    problem: &Problem<'_>,
    inputs: &[Vec<f64>],
    direction: &[Vec<f64>],
    cotangents: &[Vec<f64>],
) -> (f64, f64) {
    let loss = |h: f64| -> f64 {
        let moved: Vec<Vec<f64>> = inputs
            .iter()
            .zip(direction)
            .map(|(x, v)| x.iter().zip(v).map(|(x, v)| x + h * v).collect())
            .collect();
        let outputs = problem.op.reference.forward(problem, &moved);
        let terms = outputs.iter().zip(cotangents).flat_map(|(y, w)| y.iter().zip(w));
        terms.map(|(y, w)| y * w).sum()
    };
    let count = inputs.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let rms = (inputs.iter().flatten().map(|x| x * x).sum::<f64>() / count).sqrt();
    let central = |h: f64| (loss(h) - loss(-h)) / (2.0 * h);
    let order_4 = |h: f64| (4.0 * central(h / 2.0) - central(h)) / 3.0;
    let h = 1e-3 * rms.max(1.0);
    let (coarse, fine) = (order_4(h), order_4(h / 2.0));
    (fine, (coarse - fine).abs() / 15.0)
}

/// Moves draws that lie within 0.05 of a kink to that distance.
fn away_from_kinks(problem: &Problem<'_>, mut inputs: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for (operand, values) in problem.inputs().zip(&mut inputs) {
        for kink in operand.kinks {
            for value in values.iter_mut().filter(|v| (**v - kink).abs() < 0.05) {
                *value = if *value < *kink { kink - 0.05 } else { kink + 0.05 };
            }
        }
    }
    inputs
}
