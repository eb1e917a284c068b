//! Mean over an axis: `y[o, i] = (sum_a x[o, a, i]) / axis`.
//!
//! VJP: `gx[o, a, i] = gy[o, i] / axis`. The mean over an empty axis is undefined.
//!
//! Ladder:
//! - `naive`: one invocation per result, which walks the axis alone.
//! - `shared`: one workgroup per result; a tree in shared memory adds what its invocations found.
//! - `vjp_naive`: one invocation per gradient element.

use super::axis::{
    by_invocation, by_workgroup, reduced, reduced_len, result_of, terms, vjp, whole,
};
use super::{Dim, Example, Formula, Op, Operand, Problem, Property, Variant};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "mean",
    formula: "y[outer, inner] = mean of x[outer, axis, inner] over axis",
    dims: &[Dim::new("outer", 8), Dim::at_least_one("axis", 64), Dim::new("inner", 16)],
    attributes: &[],
    dtypes: &[Dtype::F32],
    operands: &[Operand::input("x", whole), Operand::output("y", reduced)],
    reference: &Mean,
    // (1 + 3) / 2, (2 + 4) / 2; (5 + 7) / 2, (6 + 8) / 2.
    example: Example {
        dims: &[2, 2, 2],
        attributes: &[],
        inputs: &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]],
        outputs: &[&[2.0, 3.0, 6.0, 7.0]],
    },
    variants: &[
        Variant::forward("naive", |p, t| by_invocation(kernel!("mean/naive.comp"), p, t)),
        Variant::forward("shared", |p, t| by_workgroup(kernel!("mean/shared.comp"), p, t)),
        Variant::vjp("vjp_naive", |p, t| vjp(kernel!("mean/vjp_naive.comp"), p, t)),
    ],
    // Not Linear: the quotient of a small integer is rounded.
    properties: &[
        Property::Homogeneous("x"),
        Property::RowsIndependent(&["x"]),
        Property::Repeated { operand: "x", dim: "axis", factor: 1 },
    ],
};

struct Mean;

impl Formula for Mean {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let x = &inputs[0];
        let mean = |i| S::sum(terms(p, i).map(|j| x[j])) / axis_length(p);
        vec![(0..reduced_len(p)).map(mean).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let gy = &cotangents[0];
        vec![(0..inputs[0].len()).map(|j| gy[result_of(p, j)] / axis_length(p)).collect()]
    }
}

fn axis_length<S: Scalar>(p: &Problem<'_>) -> S {
    S::constant(p.dim("axis") as f64)
}
