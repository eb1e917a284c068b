//! The VJP of a formula that states only its forward, by reverse mode.

use super::{Formula, Gradient, Problem};
use crate::numeric::{Scalar, Trace, Traced};
use crate::tensor::Dtype;

/// Relative error of rounding to f16.
const HALF_ROUNDING: f64 = 1.0 / 2048.0;

/// Gradients of the inputs that have one. The memory that this takes grows with the number of
/// operations of the forward.
///
/// A VJP kernel may read the outputs back instead of computing them again, and f16 has rounded them.
/// Where an output is also what the sweep back needs, as that of `exp`, it is therefore the saved
/// one. Elsewhere it may stand for a factor, as that of softmax does, whose error is then the
/// cotangent's.
pub(super) fn vjp<F: Formula + ?Sized, S: Scalar>(
    formula: &F,
    problem: &Problem<'_>,
    inputs: &[Vec<S>],
    outputs: &[Vec<S>],
    cotangents: &[Vec<S>],
) -> Vec<Vec<S>> {
    let trace = Trace::new();
    let mut sought = Vec::new();
    let traced: Vec<Vec<Traced<'_, S>>> = problem
        .inputs()
        .zip(inputs)
        .map(|(operand, values)| {
            let values = values.iter();
            if operand.gradient == Gradient::None {
                return values.map(|v| Traced::from(*v)).collect();
            }
            let leaves: Vec<_> = values.map(|v| trace.input(*v)).collect();
            sought.push(leaves.clone());
            leaves
        })
        .collect();
    let results = formula.forward(problem, &traced);
    for (results, saved) in results.iter().zip(outputs) {
        results.iter().zip(saved).for_each(|(result, saved)| trace.saved(*result, *saved));
    }
    let weights = problem.outputs().zip(cotangents).flat_map(|(operand, cotangents)| {
        let is_half = problem.dtype_of(operand) == Dtype::F16;
        let rounding = if is_half { HALF_ROUNDING } else { 0.0 };
        cotangents.iter().map(move |gy| gy.uncertain(rounding))
    });
    let weighted = results.iter().flatten().copied().zip(weights);
    let leaves: Vec<Traced<'_, S>> = sought.iter().flatten().copied().collect();
    let mut gradients = trace.gradients(weighted, &leaves).into_iter();
    sought.iter().map(|leaves| gradients.by_ref().take(leaves.len()).collect()).collect()
}
