//! The lab's own records: their order, and three ways to a gradient that must agree.

use super::flaws::draw;
use super::{ALL, Case, Cases, Gradient, Pass};
use crate::numeric::{Dual, Regime, Stream};

#[test]
fn names_are_sorted() {
    assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name));
}

#[test]
fn written_vjps_agree_with_dual_numbers() {
    for op in ALL.iter().filter(|op| op.variants.iter().any(|v| v.pass == Pass::Vjp)) {
        for case in Case::generate(op, Cases::Quick, &[Regime::Normal], 2) {
            let problem = case.problem(op);
            let inputs = draw(op, &case);
            let mut stream = Stream::new(3, &[op.name, &case.id(op)]);
            let duals: Vec<Vec<Dual>> = problem
                .inputs()
                .zip(&inputs)
                .map(|(operand, values)| {
                    let fixed = operand.gradient == Gradient::None;
                    let mut tangent = || if fixed { 0.0 } else { stream.normal() };
                    values.iter().map(|v| Dual::new(*v, tangent())).collect()
                })
                .collect();
            let outputs = op.reference.forward_dual(&problem, &duals);
            let cotangents: Vec<Vec<f64>> =
                outputs.iter().map(|y| y.iter().map(|_| stream.cotangent()).collect()).collect();
            let values: Vec<Vec<f64>> =
                outputs.iter().map(|y| y.iter().map(|d| d.value).collect()).collect();
            let gradients = op.reference.vjp(&problem, &inputs, &values, &cotangents);

            let forward: Vec<f64> = outputs
                .iter()
                .zip(&cotangents)
                .flat_map(|(y, w)| y.iter().zip(w).map(|(d, w)| d.tangent * w))
                .collect();
            let differentiable = problem
                .inputs()
                .zip(&duals)
                .filter(|(operand, _)| operand.gradient != Gradient::None)
                .map(|(_, tangents)| tangents);
            let backward: Vec<f64> = differentiable
                .zip(&gradients)
                .flat_map(|(v, g)| {
                    assert_eq!(v.len(), g.len(), "{} {}", op.name, case.id(op));
                    v.iter().zip(g).map(|(v, g)| v.tangent * g)
                })
                .collect();
            let (left, right): (f64, f64) = (forward.iter().sum(), backward.iter().sum());
            let scale = forward.iter().chain(&backward).map(|t| t.abs()).fold(1e-3, f64::max);
            let near = (left - right).abs() <= 1e-10 * scale;
            assert!(near, "{} {}: <w,Jv> = {left}, <g,v> = {right}", op.name, case.id(op));
        }
    }
}

#[test]
fn written_vjps_agree_with_derived_ones() {
    let mut wrong = Vec::new();
    for op in ALL.iter().filter(|op| op.variants.iter().any(|v| v.pass == Pass::Vjp)) {
        for case in Case::generate(op, Cases::Quick, &[Regime::Normal, Regime::Large], 4) {
            let problem = case.problem(op);
            let inputs = draw(op, &case);
            let outputs = op.reference.forward(&problem, &inputs);
            let mut stream = Stream::new(5, &[op.name, &case.id(op)]);
            let cotangents: Vec<Vec<f64>> =
                outputs.iter().map(|y| y.iter().map(|_| stream.cotangent()).collect()).collect();
            let written = op.reference.vjp(&problem, &inputs, &outputs, &cotangents);
            let derived = op.reference.vjp_derived(&problem, &inputs, &outputs, &cotangents);
            assert_eq!(written.len(), derived.len(), "{}", op.name);
            for (written, derived) in written.iter().zip(&derived) {
                assert_eq!(written.len(), derived.len(), "{}", op.name);
                let scale = written.iter().map(|g| g.abs()).fold(1e-3, f64::max);
                let differ = |(w, d): (&f64, &f64)| !((w - d).abs() <= 1e-12 * scale);
                if let Some(at) = written.iter().zip(derived).position(differ) {
                    let (w, d, id) = (written[at], derived[at], case.id(op));
                    wrong.push(format!("{} {id} [{at}]: {w:e} and {d:e}", op.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
