//! References: plain loops over a generic scalar.

use super::{Problem, derived};
use crate::numeric::{Bounded, Dual, Scalar, Shuffled};

/// An op's mathematics. Slices are row-major; inputs come in record order, `InOut` included;
/// results in record order of the written operands.
pub trait Formula: Sync {
    /// The op.
    fn forward<S: Scalar>(&self, problem: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>>;

    /// Gradients of the inputs that have one, in record order.
    ///
    /// `outputs` is what the forward returned, `cotangents` has one entry per output. Index
    /// operands arrive as whole numbers. Where it isn't written, it is derived from the forward:
    /// its bounds are those of a kernel that follows the chain rule step by step. A VJP kernel that
    /// simplifies first may need a written one.
    fn vjp<S: Scalar>(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<S>],
        outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        derived::vjp(self, problem, inputs, outputs, cotangents)
    }
}

/// [`Formula`] for every scalar that the checks use, so that a record can hold it.
pub trait Reference: Sync {
    /// Forward in f64.
    fn forward(&self, problem: &Problem<'_>, inputs: &[Vec<f64>]) -> Vec<Vec<f64>>;
    /// Forward with tangents.
    fn forward_dual(&self, problem: &Problem<'_>, inputs: &[Vec<Dual>]) -> Vec<Vec<Dual>>;
    /// Forward with error bounds.
    fn forward_bounded<'m>(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<Bounded<'m>>],
    ) -> Vec<Vec<Bounded<'m>>>;
    /// VJP in f64.
    fn vjp(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<f64>],
        outputs: &[Vec<f64>],
        cotangents: &[Vec<f64>],
    ) -> Vec<Vec<f64>>;
    /// The VJP that reverse mode derives from the forward, also where another is written.
    fn vjp_derived(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<f64>],
        outputs: &[Vec<f64>],
        cotangents: &[Vec<f64>],
    ) -> Vec<Vec<f64>>;
    /// VJP with error bounds.
    fn vjp_bounded<'m>(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<Bounded<'m>>],
        outputs: &[Vec<Bounded<'m>>],
        cotangents: &[Vec<Bounded<'m>>],
    ) -> Vec<Vec<Bounded<'m>>>;
    /// Forward in f32, sums in any order.
    fn forward_shuffled<'o>(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<Shuffled<'o>>],
    ) -> Vec<Vec<Shuffled<'o>>>;
    /// VJP in f32, sums in any order.
    fn vjp_shuffled<'o>(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<Shuffled<'o>>],
        outputs: &[Vec<Shuffled<'o>>],
        cotangents: &[Vec<Shuffled<'o>>],
    ) -> Vec<Vec<Shuffled<'o>>>;
}

impl<F: Formula> Reference for F {
    fn forward(&self, problem: &Problem<'_>, inputs: &[Vec<f64>]) -> Vec<Vec<f64>> {
        Formula::forward(self, problem, inputs)
    }

    fn forward_dual(&self, problem: &Problem<'_>, inputs: &[Vec<Dual>]) -> Vec<Vec<Dual>> {
        Formula::forward(self, problem, inputs)
    }

    fn forward_bounded<'m>(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<Bounded<'m>>],
    ) -> Vec<Vec<Bounded<'m>>> {
        Formula::forward(self, problem, inputs)
    }

    fn vjp(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<f64>],
        outputs: &[Vec<f64>],
        cotangents: &[Vec<f64>],
    ) -> Vec<Vec<f64>> {
        Formula::vjp(self, problem, inputs, outputs, cotangents)
    }

    fn vjp_derived(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<f64>],
        outputs: &[Vec<f64>],
        cotangents: &[Vec<f64>],
    ) -> Vec<Vec<f64>> {
        derived::vjp(self, problem, inputs, outputs, cotangents)
    }

    fn vjp_bounded<'m>(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<Bounded<'m>>],
        outputs: &[Vec<Bounded<'m>>],
        cotangents: &[Vec<Bounded<'m>>],
    ) -> Vec<Vec<Bounded<'m>>> {
        Formula::vjp(self, problem, inputs, outputs, cotangents)
    }

    fn forward_shuffled<'o>(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<Shuffled<'o>>],
    ) -> Vec<Vec<Shuffled<'o>>> {
        Formula::forward(self, problem, inputs)
    }

    fn vjp_shuffled<'o>(
        &self,
        problem: &Problem<'_>,
        inputs: &[Vec<Shuffled<'o>>],
        outputs: &[Vec<Shuffled<'o>>],
        cotangents: &[Vec<Shuffled<'o>>],
    ) -> Vec<Vec<Shuffled<'o>>> {
        Formula::vjp(self, problem, inputs, outputs, cotangents)
    }
}
