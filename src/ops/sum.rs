//! Sum over an axis: `y[o, i] = sum_a x[o, a, i]`.
//!
//! VJP: `gx[o, a, i] = gy[o, i]`, a broadcast.
//!
//! Ladder:
//! - `naive`: one invocation per result, which walks the axis alone.
//! - `shared`: one workgroup per result, so that long axes with few results keep a device busy; a
//!   tree in shared memory adds what its invocations found.
//! - `split`: one invocation per run of 16 along the axis, then `naive` over the runs: busy too,
//!   and neighbours along `inner` still read neighbouring memory.
//! - `vjp_naive`: one invocation per gradient element.

use super::axis::{
    by_invocation, by_workgroup, reduced, reduced_len, result_of, terms, vjp, whole,
};
use super::{
    Dim, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Property, Target, Unsupported,
    Variant,
};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// Elements along the axis that one invocation of `split` adds.
const RUN: usize = 16;

/// The record.
pub const OP: Op = Op {
    name: "sum",
    formula: "y[outer, inner] = sum of x[outer, axis, inner] over axis",
    dims: &[Dim::new("outer", 8), Dim::new("axis", 64), Dim::new("inner", 16)],
    attributes: &[],
    dtypes: &[Dtype::F32],
    operands: &[Operand::input("x", whole), Operand::output("y", reduced)],
    reference: &Sum,
    // 1 + 3, 2 + 4; 5 + 7, 6 + 8: the axis in the middle is summed.
    example: Example {
        dims: &[2, 2, 2],
        attributes: &[],
        inputs: &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]],
        outputs: &[&[4.0, 6.0, 12.0, 14.0]],
    },
    variants: &[
        Variant::forward("naive", |p, t| by_invocation(kernel!("sum/naive.comp"), p, t)),
        Variant::forward("shared", |p, t| by_workgroup(kernel!("sum/shared.comp"), p, t)),
        Variant::forward("split", split),
        Variant::vjp("vjp_naive", |p, t| vjp(kernel!("sum/vjp_naive.comp"), p, t)),
    ],
    properties: &[
        Property::Linear(&["x"]),
        Property::RowsIndependent(&["x"]),
        Property::Repeated { operand: "x", dim: "axis", factor: 2 },
    ],
};

struct Sum;

impl Formula for Sum {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let x = &inputs[0];
        vec![(0..reduced_len(p)).map(|i| S::sum(terms(p, i).map(|j| x[j]))).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let gy = &cotangents[0];
        vec![(0..inputs[0].len()).map(|j| gy[result_of(p, j)]).collect()]
    }
}

fn split(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let (axis, inner, len) = (p.dim("axis"), p.dim("inner"), reduced_len(p));
    if len * axis == 0 {
        return by_invocation(kernel!("sum/naive.comp"), p, target);
    }
    let parts = axis.div_ceil(RUN);
    let runs = Dispatch::new(kernel!("sum/split.comp"))
        .invocations(len * parts, target)
        .push("len", len * parts)
        .push("axis", axis)
        .push("inner", inner)
        .push("parts", parts)
        .push("run", RUN);
    let finish = Dispatch::new(kernel!("sum/naive.comp"))
        .invocations(len, target)
        .bind("x", "partial")
        .push("len", len)
        .push("axis", parts)
        .push("inner", inner);
    Ok(Plan::one(runs).barrier().then(finish).scratch("partial", Dtype::F32, len * parts))
}
