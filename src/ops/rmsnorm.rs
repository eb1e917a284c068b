//! Root-mean-square normalisation: `y = xhat * gamma` with `xhat = x / d` and
//! `d = sqrt(mean(x^2) + eps)`, the mean within each row.
//!
//! VJP, with `g = gy * gamma`: `gx = (g - xhat * mean(g * xhat)) / d`; `ggamma` is `gy * xhat`
//! summed over rows. The root is computed anew from x.
//!
//! Ladder:
//! - `naive`: one invocation per row.
//! - `shared`: one workgroup per row; the sum by a tree in shared memory.
//! - `vjp_naive`, `vjp_shared`: a first kernel as the forward of that name, which leaves d of each
//!   row for a second one that sums over rows, by column.

use super::layernorm::EPS;
use super::rows::{matrix, mean, over_matrix, per_col, row_of};
use super::{
    Dim, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Property, Target, Unsupported,
    Variant,
};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "rmsnorm",
    formula: "y = x / sqrt(mean(x^2) + eps) * gamma, within each row",
    dims: &[Dim::new("rows", 64), Dim::new("cols", 64)],
    attributes: &[EPS],
    dtypes: &[Dtype::F32],
    operands: &[
        Operand::input("x", matrix),
        Operand::input("gamma", per_col),
        Operand::output("y", matrix),
    ],
    reference: &RmsNorm,
    // Mean square (1 + 49) / 2 = 25, sqrt(25 + 24) = 7: xhat is 1/7, 1. Times 14 and 3: 2 and 3.
    example: Example {
        dims: &[1, 2],
        attributes: &[24.0],
        inputs: &[&[1.0, 7.0], &[14.0, 3.0]],
        outputs: &[&[2.0, 3.0]],
    },
    variants: &[
        Variant::forward("naive", naive).in_place(&[("x", "y")]),
        Variant::forward("shared", shared).in_place(&[("x", "y")]),
        Variant::vjp("vjp_naive", vjp_naive),
        Variant::vjp("vjp_shared", vjp_shared),
    ],
    properties: &[
        Property::Homogeneous("gamma"),
        Property::Odd(&["x"]),
        Property::RowsIndependent(&["x"]),
    ],
};

struct RmsNorm;

impl Formula for RmsNorm {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let (x, gamma) = (&inputs[0], &inputs[1]);
        let mut y = Vec::with_capacity(x.len());
        for r in 0..p.dim("rows") {
            let (xhat, _) = normalized(p, row_of(x, r, p.dim("cols")));
            y.extend(xhat.iter().zip(gamma).map(|(x, g)| *x * *g));
        }
        vec![y]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let (rows, cols) = (p.dim("rows"), p.dim("cols"));
        let (x, gamma, gy) = (&inputs[0], &inputs[1], &cotangents[0]);
        let mut gx = Vec::with_capacity(x.len());
        let mut xhats = Vec::with_capacity(x.len());
        for r in 0..rows {
            let (xhat, root) = normalized(p, row_of(x, r, cols));
            let g: Vec<S> =
                row_of(gy, r, cols).iter().zip(gamma).map(|(gy, gamma)| *gy * *gamma).collect();
            let weighted = mean(g.iter().zip(&xhat).map(|(g, x)| *g * *x));
            gx.extend(g.iter().zip(&xhat).map(|(g, x)| (*g - *x * weighted) / root));
            xhats.extend(xhat);
        }
        let column = |c: usize| (0..rows).map(move |r| r * cols + c);
        let ggamma = (0..cols).map(|c| S::sum(column(c).map(|i| gy[i] * xhats[i]))).collect();
        vec![gx, ggamma]
    }
}

/// A row whose mean square is, but for eps, 1; and what it was divided by.
fn normalized<S: Scalar>(p: &Problem<'_>, row: &[S]) -> (Vec<S>, S) {
    let square = mean(row.iter().map(|x| *x * *x));
    let root = (square + S::constant(p.attribute("eps"))).sqrt();
    (row.iter().map(|x| *x / root).collect(), root)
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = over_matrix(kernel!("rmsnorm/naive.comp"), p);
    let dispatch = dispatch.push("eps", p.attribute("eps")).invocations(p.dim("rows"), target);
    Ok(Plan::unless_empty(p.dim("rows") * p.dim("cols"), dispatch))
}

fn shared(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = over_matrix(kernel!("rmsnorm/shared.comp"), p);
    let dispatch = dispatch.push("eps", p.attribute("eps")).workgroups(p.dim("rows"), target);
    Ok(Plan::unless_empty(p.dim("rows") * p.dim("cols"), dispatch))
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let x = over_matrix(kernel!("rmsnorm/vjp_x_naive.comp"), p);
    let gamma = over_matrix(kernel!("rmsnorm/vjp_gamma_naive.comp"), p);
    Ok(vjp(p, x.invocations(p.dim("rows"), target), gamma.invocations(p.dim("cols"), target)))
}

fn vjp_shared(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let x = over_matrix(kernel!("rmsnorm/vjp_x_shared.comp"), p);
    let gamma = over_matrix(kernel!("rmsnorm/vjp_gamma_shared.comp"), p);
    Ok(vjp(p, x.workgroups(p.dim("rows"), target), gamma.workgroups(p.dim("cols"), target)))
}

/// The two kernels in order. Without rows the gradient of gamma is an empty sum.
fn vjp(p: &Problem<'_>, x: Dispatch, gamma: Dispatch) -> Plan {
    let (rows, cols) = (p.dim("rows"), p.dim("cols"));
    if cols == 0 {
        return Plan::empty();
    }
    if rows == 0 {
        return Plan::empty().zero("ggamma");
    }
    Plan::one(x.push("eps", p.attribute("eps"))).barrier().then(gamma).scratch(
        "root",
        Dtype::F32,
        rows,
    )
}
