//! The VJP of a formula that states only its forward, by reverse mode.

use super::{Formula, Gradient, Problem};
use crate::numeric::{Scalar, Trace, Traced};
use crate::tensor::Dtype;

/// Relative error of rounding to a storage that a VJP may read back, where it isn't f32's.
const fn rounding(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F16 => 1.0 / 2048.0,
        Dtype::BF16 => 1.0 / 256.0,
        _ => 0.0,
    }
}

/// Gradients of the inputs that have one. The memory that this takes grows with the number of
/// operations of the forward.
///
/// A VJP kernel may read the outputs back instead of computing them again, and 16 bits have rounded them.
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
        let rounding = rounding(problem.dtype_of(operand));
        cotangents.iter().map(move |gy| gy.uncertain(rounding))
    });
    let weighted = results.iter().flatten().copied().zip(weights);
    let leaves: Vec<Traced<'_, S>> = sought.iter().flatten().copied().collect();
    let mut gradients = trace.gradients(weighted, &leaves).into_iter();
    sought.iter().map(|leaves| gradients.by_ref().take(leaves.len()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::vjp;
    use crate::numeric::{Bounded, ErrorModel, Scalar, Structure};
    use crate::ops::{Formula, Problem, relu};
    use crate::tensor::Dtype;

    struct Same;

    impl Formula for Same {
        fn forward<S: Scalar>(&self, _p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
            vec![inputs[0].clone()]
        }
    }

    #[test]
    fn what_the_storage_of_an_output_loses_is_allowed() {
        let table = [(Dtype::F32, 0.0), (Dtype::F16, 1.0 / 2048.0), (Dtype::BF16, 1.0 / 256.0)];
        for (dtype, lost) in table {
            let storage = [("y".to_owned(), dtype)];
            let (op, dims) = (&relu::OP, &[1]);
            let problem =
                Problem { op, dims, attributes: &[], dtype: Dtype::F32, storage: &storage };
            let one = vec![Bounded::exact(1.0, &ErrorModel::SPEC, Structure::Random)];
            let all = [one];
            let error = vjp(&Same, &problem, &all, &all, &all)[0][0].error;
            assert!(error >= lost && error < lost + 1e-6, "{dtype}: {error}");
        }
    }
}
