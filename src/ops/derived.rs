//! The VJP of a formula that states only its forward, by reverse mode.

use super::{Formula, Gradient, Problem};
use crate::numeric::{Scalar, Trace, Traced};

/// Gradients of the inputs that have one. The memory that this takes grows with the number of
/// operations of the forward.
///
/// Where an output is also what the sweep back needs, as that of `exp`, it is the saved one, so
/// that the bound covers a kernel which reads it back from f16.
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
    let weighted = results.iter().flatten().copied().zip(cotangents.iter().flatten().copied());
    let leaves: Vec<Traced<'_, S>> = sought.iter().flatten().copied().collect();
    let mut gradients = trace.gradients(weighted, &leaves).into_iter();
    sought.iter().map(|leaves| gradients.by_ref().take(leaves.len()).collect()).collect()
}
