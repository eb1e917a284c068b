//! Multiplication by a number: `y = alpha x`.
//!
//! VJP: `gx = alpha gy`.
//!
//! Ladder:
//! - `naive`: one invocation per element.
//! - `unrolled`: four consecutive elements per invocation, a quarter of the workgroups.

use super::elementwise::{LEN, UNARY, by_four, kernel, single};
use super::{
    Attribute, Example, Formula, Op, Plan, Problem, Property, Target, Unsupported, Variant,
};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "scale",
    formula: "y = alpha x",
    dims: &[LEN],
    attributes: &[Attribute { name: "alpha", values: &[1.75, -0.5] }],
    dtypes: &[Dtype::F32, Dtype::F16],
    operands: UNARY,
    reference: &Scale,
    // 1.5 times 2, -4 and 0.5.
    example: Example {
        dims: &[3],
        attributes: &[1.5],
        inputs: &[&[2.0, -4.0, 0.5]],
        outputs: &[&[3.0, -6.0, 0.75]],
    },
    variants: &[
        Variant::forward("naive", naive).in_place(&[("x", "y")]),
        Variant::forward("unrolled", unrolled).in_place(&[("x", "y")]),
        Variant::vjp("vjp_naive", vjp_naive).in_place(&[("gy", "gx")]),
    ],
    properties: &[
        Property::Linear(&["x"]),
        Property::Odd(&["x"]),
        Property::RowsIndependent(&["x"]),
    ],
};

struct Scale;

/// As the push constant holds it, so that reference and kernel start from the same number.
fn alpha(p: &Problem<'_>) -> f64 {
    Dtype::F32.round(p.attribute("alpha"))
}

impl Formula for Scale {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        vec![inputs[0].iter().map(|x| S::constant(alpha(p)) * *x).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        _inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        vec![cotangents[0].iter().map(|gy| S::constant(alpha(p)) * *gy).collect()]
    }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("scale/naive.comp"), p).push("alpha", alpha(p));
    single(dispatch, p, target)
}

fn unrolled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("scale/unrolled.comp"), p).push("alpha", alpha(p));
    by_four(dispatch, p, target)
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("scale/vjp_naive.comp"), p).push("alpha", alpha(p));
    single(dispatch, p, target)
}
