//! What each reference says, as it was reviewed: `cargo insta review` shows what a change changes.

use std::fmt::Write;

use vklab::numeric::Stream;
use vklab::ops::{Case, Op};

/// A small case with fixed data: inputs, outputs and gradients to ten digits.
fn reference(op: &Op) -> String {
    let dims: Vec<String> = op.dims.iter().map(|dim| format!("{}=4", dim.name)).collect();
    let case = Case::parse(op, &format!("{}/normal", dims.join(",")), 1).expect("a case");
    let problem = case.problem(op);
    let mut stream = Stream::new(1, &[op.name]);
    let mut draw = |len: usize| -> Vec<f64> { (0..len).map(|_| stream.normal()).collect() };
    let inputs: Vec<Vec<f64>> =
        problem.inputs().map(|x| draw((x.shape)(&problem).iter().product())).collect();
    let outputs = op.reference.forward(&problem, &inputs);
    let cotangents: Vec<Vec<f64>> = outputs.iter().map(|y| draw(y.len())).collect();
    let gradients = op.reference.vjp(&problem, &inputs, &outputs, &cotangents);
    let mut text = format!("{} {}\n", op.name, case.id(op));
    let rows = [("x", inputs), ("y", outputs), ("gy", cotangents), ("gx", gradients)];
    for (kind, values) in rows {
        for values in values {
            let shown: Vec<String> = values.iter().map(|v| format!("{v:.9e}")).collect();
            let _ = writeln!(text, "{kind:<2} {}", shown.join(" "));
        }
    }
    text
}

#[test]
fn references_are_as_reviewed() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for op in own_ops::registry().ops() {
            insta::assert_snapshot!(format!("reference__{}", op.name), reference(op));
        }
    });
}
