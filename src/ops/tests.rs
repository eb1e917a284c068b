//! What every record must hold to, whatever the op.

use super::{ALL, Case, Cases, Gradient, Op, Pass};
use crate::numeric::{Domain, Dual, Regime, Stream};

#[test]
fn names_are_sorted_and_unique() {
    assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name));
    for op in ALL {
        let mut names: Vec<&str> = op.variants.iter().map(|v| v.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), op.variants.len(), "{}", op.name);
        let vjp_prefixed =
            op.variants.iter().all(|v| v.name.starts_with("vjp_") == (v.pass == Pass::Vjp));
        assert!(vjp_prefixed, "{}: VJP variants, and no others, are called vjp_*", op.name);
    }
}

#[test]
fn hand_worked_examples_pin_the_references() {
    for op in ALL {
        let example = &op.example;
        let case = Case {
            dims: example.dims.to_vec(),
            attributes: example.attributes.to_vec(),
            dtype: op.dtypes[0],
            regime: Regime::Normal,
            seed: 0,
            storage: Vec::new(),
        };
        let inputs: Vec<Vec<f64>> = example.inputs.iter().map(|x| x.to_vec()).collect();
        let got = op.reference.forward(&case.problem(op), &inputs);
        assert_eq!(got.len(), example.outputs.len(), "{}", op.name);
        for (got, want) in got.iter().zip(example.outputs) {
            assert_eq!(got.len(), want.len(), "{}", op.name);
            let close = got.iter().zip(*want).all(|(g, w)| (g - w).abs() <= 1e-6);
            assert!(close, "{}: {got:?} and by hand {want:?}", op.name);
        }
    }
}

#[test]
fn references_fit_the_shapes_of_every_case() {
    for op in ALL {
        for case in Case::generate(op, Cases::Quick, &[Regime::Normal], 1) {
            let problem = case.problem(op);
            let inputs = draw(op, &case);
            let outputs = op.reference.forward(&problem, &inputs);
            for (operand, values) in problem.outputs().zip(&outputs) {
                let len: usize = (operand.shape)(&problem).iter().product();
                assert_eq!(values.len(), len, "{} {} {}", op.name, case.id(op), operand.name);
            }
        }
    }
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

fn draw(op: &Op, case: &Case) -> Vec<Vec<f64>> {
    let problem = case.problem(op);
    problem
        .inputs()
        .map(|operand| {
            let len = (operand.shape)(&problem).iter().product();
            let mut stream = Stream::new(case.seed, &[op.name, operand.name]);
            // An empty index range only occurs where there is nothing to draw.
            match (operand.domain)(&problem) {
                Domain::Index { below: 0 } => Vec::new(),
                domain => case.regime.draw(domain, len, &mut stream),
            }
        })
        .collect()
}
