//! Rectifier: `y = max(x, 0)`.
//!
//! VJP: `gx = gy` where `x > 0`, otherwise 0; so the slope at the kink, at +0 and at -0, is 0.
//!
//! -0 gives a zero whose sign is left open, as Vulkan leaves it. A NaN stays one on devices that
//! preserve NaNs; its slope is 0.
//!
//! Ladder:
//! - `naive`: one invocation per element.
//! - `unrolled`: four consecutive elements per invocation, a quarter of the workgroups.

use super::elementwise::{LEN, by_four, kernel, single, vector};
use super::{Example, Formula, Op, Operand, Plan, Problem, Property, Target, Unsupported, Variant};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "relu",
    formula: "y = max(x, 0)",
    dims: &[LEN],
    attributes: &[],
    dtypes: &[Dtype::F32, Dtype::F16],
    operands: &[
        Operand { kinks: &[0.0], ..Operand::input("x", vector) },
        Operand::output("y", vector),
    ],
    reference: &Relu,
    // Only what is above zero passes.
    example: Example {
        dims: &[4],
        attributes: &[],
        inputs: &[&[-2.0, 0.0, 0.5, 3.0]],
        outputs: &[&[0.0, 0.0, 0.5, 3.0]],
    },
    variants: &[
        Variant::forward("naive", naive).in_place(&[("x", "y")]),
        Variant::forward("unrolled", unrolled).in_place(&[("x", "y")]),
        Variant::vjp("vjp_naive", vjp_naive).in_place(&[("gy", "gx")]),
    ],
    properties: &[
        Property::Homogeneous("x"),
        Property::Convex("x"),
        Property::Idempotent,
        Property::RowsIndependent(&["x"]),
    ],
};

struct Relu;

impl Formula for Relu {
    fn forward<S: Scalar>(&self, _p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        vec![inputs[0].iter().map(|x| x.max(S::zero())).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        _p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let pass = |(x, gy): (&S, &S)| if x.value() > 0.0 { *gy } else { S::zero() };
        vec![inputs[0].iter().zip(&cotangents[0]).map(pass).collect()]
    }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("relu/naive.comp"), p);
    single(dispatch, p, target)
}

fn unrolled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("relu/unrolled.comp"), p);
    by_four(dispatch, p, target)
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("relu/vjp_naive.comp"), p);
    single(dispatch, p, target)
}
