//! Gaussian error linear unit: `y = x Phi(x)`, Phi the normal distribution function.
//!
//! VJP: `gx = gy (Phi(x) + x phi(x))` with the density `phi(x) = exp(-x^2 / 2) / sqrt(2 pi)`.
//! Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
//!
//! Ladder:
//! - `naive`: one invocation per element.
//! - `unrolled`: four consecutive elements per invocation, a quarter of the workgroups.

use std::f64::consts::PI;

use super::elementwise::{LEN, UNARY, by_four, kernel, single};
use super::{Example, Formula, Op, Plan, Problem, Property, Target, Unsupported, Variant};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "gelu_erf",
    formula: "y = x Phi(x) = x (1 + erf(x / sqrt 2)) / 2",
    dims: &[LEN],
    attributes: &[],
    dtypes: &[Dtype::F32, Dtype::F16],
    operands: UNARY,
    reference: &GeluErf,
    // Phi(0) = 0.5; Phi(1) = 0.841344746 and Phi(-1) = 1 - Phi(1), from the usual table.
    example: Example {
        dims: &[3],
        attributes: &[],
        inputs: &[&[0.0, 1.0, -1.0]],
        outputs: &[&[0.0, 0.841_344_746, -0.158_655_254]],
    },
    variants: &[
        Variant::forward("naive", naive).in_place(&[("x", "y")]),
        Variant::forward("unrolled", unrolled).in_place(&[("x", "y")]),
        Variant::vjp("vjp_naive", vjp_naive).in_place(&[("gy", "gx")]),
    ],
    properties: &[Property::RowsIndependent(&["x"])],
};

struct GeluErf;

/// `erf(x / sqrt 2)`. Irrational constants are roots of rational ones, so that the bound holds the
/// kernel's rounding of them.
fn scaled_erf<S: Scalar>(x: S) -> S {
    (x * S::constant(0.5).sqrt()).erf()
}

impl Formula for GeluErf {
    fn forward<S: Scalar>(&self, _p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        vec![
            inputs[0]
                .iter()
                .map(|x| S::constant(0.5) * *x * (S::constant(1.0) + scaled_erf(*x)))
                .collect(),
        ]
    }

    fn vjp<S: Scalar>(
        &self,
        _p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let slope = |x: S| {
            let density = (S::constant(-0.5) * x * x).exp() * S::constant(0.5 / PI).sqrt();
            S::constant(0.5) * (S::constant(1.0) + scaled_erf(x)) + x * density
        };
        vec![inputs[0].iter().zip(&cotangents[0]).map(|(x, gy)| *gy * slope(*x)).collect()]
    }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("gelu_erf/naive.comp"), p);
    single(dispatch, p, target)
}

fn unrolled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("gelu_erf/unrolled.comp"), p);
    by_four(dispatch, p, target)
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("gelu_erf/vjp_naive.comp"), p);
    single(dispatch, p, target)
}
