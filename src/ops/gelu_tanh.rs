//! Gaussian error linear unit by its approximation with tanh:
//! `y = x (1 + tanh u) / 2`, `u = sqrt(2 / pi) (x + 0.044715 x^3)`.
//!
//! VJP: `gx = gy ((1 + tanh u) / 2 + x (1 - tanh^2 u) u' / 2)`,
//! `u' = sqrt(2 / pi) (1 + 3 * 0.044715 x^2)`.
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
    name: "gelu_tanh",
    formula: "y = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2",
    dims: &[LEN],
    attributes: &[],
    dtypes: &[Dtype::F32, Dtype::F16],
    operands: UNARY,
    reference: &GeluTanh,
    // u(1) = 0.7978845608 * 1.044715 = 0.8335624193; its tanh is 0.6823839830, so
    // y(1) = 0.8411919915 and y(-1) = y(1) - 1.
    example: Example {
        dims: &[3],
        attributes: &[],
        inputs: &[&[0.0, 1.0, -1.0]],
        outputs: &[&[0.0, 0.841_191_991, -0.158_808_009]],
    },
    variants: &[
        Variant::forward("naive", naive).in_place(&[("x", "y")]),
        Variant::forward("unrolled", unrolled).in_place(&[("x", "y")]),
        Variant::vjp("vjp_naive", vjp_naive).in_place(&[("gy", "gx")]),
    ],
    properties: &[Property::RowsIndependent(&["x"])],
};

/// The reference.
pub struct GeluTanh;

/// `tanh u`.
fn gate<S: Scalar>(x: S) -> S {
    (root::<S>() * (x + cubic::<S>() * x * x * x)).tanh()
}

/// `sqrt(2 / pi)`. Computed, as is [`cubic`], so that the bound holds the kernel's rounding of it.
fn root<S: Scalar>() -> S {
    S::constant(2.0 / PI).sqrt()
}

/// 0.044715 as a quotient of integers.
fn cubic<S: Scalar>() -> S {
    S::constant(44_715.0) / S::constant(1e6)
}

impl Formula for GeluTanh {
    fn forward<S: Scalar>(&self, _p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        vec![
            inputs[0]
                .iter()
                .map(|x| S::constant(0.5) * *x * (S::constant(1.0) + gate(*x)))
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
        let (half, one) = (S::constant(0.5), S::constant(1.0));
        let slope = |x: S| {
            let gate = gate(x);
            let inner = root::<S>() * (one + S::constant(3.0) * cubic::<S>() * x * x);
            half * (one + gate) + half * x * (one - gate * gate) * inner
        };
        vec![inputs[0].iter().zip(&cotangents[0]).map(|(x, gy)| *gy * slope(*x)).collect()]
    }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("gelu_tanh/naive.comp"), p);
    single(dispatch, p, target)
}

fn unrolled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("gelu_tanh/unrolled.comp"), p);
    by_four(dispatch, p, target)
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = kernel(kernel!("gelu_tanh/vjp_naive.comp"), p);
    single(dispatch, p, target)
}
