//! Softmax over columns: `y_i = exp(x_i - max x) / sum_j exp(x_j - max x)` within each row.
//!
//! VJP, from the saved result or from one computed anew: `gx_i = y_i (gy_i - sum_j y_j gy_j)`.
//!
//! Ladder:
//! - `naive`: one invocation per row, which reads it three times.
//! - `shared`: one workgroup per row; maximum and sum by trees in shared memory.
//! - `subgroup`: the same by subgroup arithmetic, with one barrier where a tree has one per level.
//! - `online`: maximum and sum in one pass: the sum so far is rescaled where the maximum grows, so
//!   the row is read twice.
//! - `vjp_naive`, `vjp_shared`: as the forwards of those names, from the saved y.
//! - `vjp_recompute`: `vjp_shared` from x, for a forward that saves no y: more arithmetic, less
//!   memory.

use super::rows::{by_invocation, by_workgroup, matrix, row_of};
use super::{Dim, Example, Feature, Formula, Need, Op, Operand, Problem, Property, Variant};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "softmax",
    formula: "y = exp(x - max x) / sum of exp(x - max x), within each row",
    dims: &[Dim::new("rows", 64), Dim::at_least_one("cols", 64)],
    attributes: &[],
    dtypes: &[Dtype::F32, Dtype::F16],
    operands: &[Operand::input("x", matrix), Operand::output("y", matrix)],
    reference: &Softmax,
    // e^0 = 1 and e^(ln 3) = 3 are 1/4 and 3/4 of their sum; equal numbers share equally.
    example: Example {
        dims: &[2, 2],
        attributes: &[],
        inputs: &[&[0.0, 1.098_612_288_668_109_8, 5.0, 5.0]],
        outputs: &[&[0.25, 0.75, 0.5, 0.5]],
    },
    variants: &[
        Variant::forward("naive", |p, t| by_invocation(kernel!("softmax/naive.comp"), p, t))
            .in_place(&[("x", "y")]),
        Variant::forward("shared", |p, t| by_workgroup(kernel!("softmax/shared.comp"), p, t))
            .in_place(&[("x", "y")]),
        Variant::forward("subgroup", |p, t| by_workgroup(kernel!("softmax/subgroup.comp"), p, t))
            .in_place(&[("x", "y")])
            .needing(&[Need::Feature(Feature::GroupNonUniformArithmetic)]),
        Variant::forward("online", |p, t| by_workgroup(kernel!("softmax/online.comp"), p, t))
            .in_place(&[("x", "y")]),
        Variant::vjp("vjp_naive", |p, t| by_invocation(kernel!("softmax/vjp_naive.comp"), p, t))
            .in_place(&[("gy", "gx"), ("y", "gx")]),
        Variant::vjp("vjp_shared", |p, t| by_workgroup(kernel!("softmax/vjp_shared.comp"), p, t))
            .in_place(&[("gy", "gx"), ("y", "gx")]),
        Variant::vjp("vjp_recompute", |p, t| {
            by_workgroup(kernel!("softmax/vjp_recompute.comp"), p, t)
        })
        .in_place(&[("gy", "gx"), ("x", "gx")]),
    ],
    properties: &[
        Property::ShiftInvariant("x"),
        Property::RowsIndependent(&["x"]),
        Property::RowsSumToOne,
    ],
};

/// The reference.
pub struct Softmax;

impl Formula for Softmax {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let (rows, cols) = (p.dim("rows"), p.dim("cols"));
        vec![(0..rows).flat_map(|r| softmax(row_of(&inputs[0], r, cols))).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        _inputs: &[Vec<S>],
        outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let (rows, cols) = (p.dim("rows"), p.dim("cols"));
        let mut gx = Vec::with_capacity(rows * cols);
        for r in 0..rows {
            let (y, gy) = (row_of(&outputs[0], r, cols), row_of(&cotangents[0], r, cols));
            let dot = S::sum(y.iter().zip(gy).map(|(y, gy)| *y * *gy));
            gx.extend(y.iter().zip(gy).map(|(y, gy)| *y * (*gy - dot)));
        }
        vec![gx]
    }
}

/// The largest element of a row, the exponentials of all distances to it, and their sum.
pub(super) fn exponentials<S: Scalar>(row: &[S]) -> (S, Vec<S>, S) {
    let top = row[1..].iter().fold(row[0], |top, x| top.max(*x));
    let terms: Vec<S> = row.iter().map(|x| (*x - top).exp()).collect();
    let total = S::sum(terms.iter().copied());
    (top, terms, total)
}

/// Softmax of one row, which has at least one element.
pub(super) fn softmax<S: Scalar>(row: &[S]) -> Vec<S> {
    let (_, terms, total) = exponentials(row);
    terms.into_iter().map(|term| term / total).collect()
}
