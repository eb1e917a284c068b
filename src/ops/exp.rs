//! Exponential: `y = e^x`.
//!
//! VJP: `gx = gy y`: the forward's output is the derivative, so that no second exponential is
//! needed. What overflows its storage is an infinity, and so is its gradient.
//!
//! Ladder:
//! - `naive`: one invocation per element.
//! - `unrolled`: four consecutive elements per invocation, a quarter of the workgroups.

use std::f64::consts::LN_2;

use super::elementwise::{LEN, UNARY, by_four, kernel, single};
use super::{Example, Formula, Op, Plan, Problem, Property, Target, Unsupported, Variant};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "exp",
    formula: "y = e^x",
    dims: &[LEN],
    attributes: &[],
    dtypes: &[Dtype::F32, Dtype::F16],
    operands: UNARY,
    reference: &Exp,
    // e^0 = 1; e^(ln 2) = 2; e^-(ln 2) = 1/2, with ln 2 = 0.693147180559945.
    example: Example {
        dims: &[3],
        attributes: &[],
        inputs: &[&[0.0, LN_2, -LN_2]],
        outputs: &[&[1.0, 2.0, 0.5]],
    },
    variants: &[
        Variant::forward("naive", naive).in_place(&[("x", "y")]),
        Variant::forward("unrolled", unrolled).in_place(&[("x", "y")]),
        Variant::vjp("vjp_naive", vjp_naive).in_place(&[("gy", "gx")]),
    ],
    properties: &[Property::Convex("x"), Property::RowsIndependent(&["x"])],
};

struct Exp;

impl Formula for Exp {
    fn forward<S: Scalar>(&self, _p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        vec![inputs[0].iter().map(|x| x.exp()).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        _p: &Problem<'_>,
        _inputs: &[Vec<S>],
        outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        vec![outputs[0].iter().zip(&cotangents[0]).map(|(y, gy)| *gy * *y).collect()]
    }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("exp/naive.comp"), p);
    single(dispatch, p, target)
}

fn unrolled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("exp/unrolled.comp"), p);
    by_four(dispatch, p, target)
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("exp/vjp_naive.comp"), p);
    single(dispatch, p, target)
}
