//! Layer normalisation: `y = xhat * gamma + beta` with `xhat = (x - mean) / d` and
//! `d = sqrt(variance + eps)`, mean and variance (of n, not n - 1) within each row.
//!
//! VJP, with `g = gy * gamma` and means within the row:
//! `gx = (g - mean(g) - xhat * mean(g * xhat)) / d`; `ggamma` is `gy * xhat` and `gbeta` is `gy`,
//! both summed over rows. Mean and variance are computed anew from x.
//!
//! Ladder:
//! - `naive`: one invocation per row; the variance in a second pass, since `mean(x^2) - mean^2`
//!   cancels.
//! - `shared`: one workgroup per row; sums by trees in shared memory.
//! - `vjp_naive`, `vjp_shared`: a first kernel as the forward of that name, which leaves mean and d
//!   of each row for a second one that sums over rows, by column.

use super::rows::{matrix, mean, over_matrix, per_col, row_of};
use super::{
    Attribute, Dim, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Property, Target,
    Unsupported, Variant,
};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// What keeps the root away from zero, in values that a push constant holds exactly.
pub(super) const EPS: Attribute = Attribute { name: "eps", values: &[1e-5_f32 as f64, 0.125] };

/// The record.
pub const OP: Op = Op {
    name: "layernorm",
    formula: "y = (x - mean) / sqrt(variance + eps) * gamma + beta, within each row",
    dims: &[Dim::new("rows", 64), Dim::new("cols", 64)],
    attributes: &[EPS],
    dtypes: &[Dtype::F32],
    operands: &[
        Operand::input("x", matrix),
        Operand::input("gamma", per_col),
        Operand::input("beta", per_col),
        Operand::output("y", matrix),
    ],
    reference: &LayerNorm,
    // Mean 2, variance 1, sqrt(1 + 3) = 2: xhat is -1/2, 1/2. Times 2, 4 plus 10, 20: 9 and 22.
    example: Example {
        dims: &[1, 2],
        attributes: &[3.0],
        inputs: &[&[1.0, 3.0], &[2.0, 4.0], &[10.0, 20.0]],
        outputs: &[&[9.0, 22.0]],
    },
    variants: &[
        Variant::forward("naive", naive).in_place(&[("x", "y")]),
        Variant::forward("shared", shared).in_place(&[("x", "y")]),
        Variant::vjp("vjp_naive", vjp_naive),
        Variant::vjp("vjp_shared", vjp_shared),
    ],
    properties: &[Property::ShiftInvariant("x"), Property::RowsIndependent(&["x"])],
};

/// The reference.
pub struct LayerNorm;

impl Formula for LayerNorm {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let (x, gamma, beta) = (&inputs[0], &inputs[1], &inputs[2]);
        let mut y = Vec::with_capacity(x.len());
        for r in 0..p.dim("rows") {
            let (xhat, _) = normalized(p, row_of(x, r, p.dim("cols")));
            y.extend(xhat.iter().zip(gamma).zip(beta).map(|((x, g), b)| *x * *g + *b));
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
            let (xhat, deviation) = normalized(p, row_of(x, r, cols));
            let g: Vec<S> =
                row_of(gy, r, cols).iter().zip(gamma).map(|(gy, gamma)| *gy * *gamma).collect();
            let plain = mean(g.iter().copied());
            let weighted = mean(g.iter().zip(&xhat).map(|(g, x)| *g * *x));
            gx.extend(g.iter().zip(&xhat).map(|(g, x)| (*g - plain - *x * weighted) / deviation));
            xhats.extend(xhat);
        }
        let column = |c: usize| (0..rows).map(move |r| r * cols + c);
        let ggamma = (0..cols).map(|c| S::sum(column(c).map(|i| gy[i] * xhats[i]))).collect();
        let gbeta = (0..cols).map(|c| S::sum(column(c).map(|i| gy[i]))).collect();
        vec![gx, ggamma, gbeta]
    }
}

/// A row with mean 0 and, but for eps, variance 1; and what it was divided by.
fn normalized<S: Scalar>(p: &Problem<'_>, row: &[S]) -> (Vec<S>, S) {
    let middle = mean(row.iter().copied());
    let centred: Vec<S> = row.iter().map(|x| *x - middle).collect();
    let variance = mean(centred.iter().map(|d| *d * *d));
    let deviation = (variance + S::constant(p.attribute("eps"))).sqrt();
    (centred.into_iter().map(|d| d / deviation).collect(), deviation)
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = over_matrix(kernel!("layernorm/naive.comp"), p);
    let dispatch = dispatch.push("eps", p.attribute("eps")).invocations(p.dim("rows"), target);
    Ok(Plan::unless_empty(p.dim("rows") * p.dim("cols"), dispatch))
}

fn shared(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = over_matrix(kernel!("layernorm/shared.comp"), p);
    let dispatch = dispatch.push("eps", p.attribute("eps")).workgroups(p.dim("rows"), target);
    Ok(Plan::unless_empty(p.dim("rows") * p.dim("cols"), dispatch))
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let x = over_matrix(kernel!("layernorm/vjp_x_naive.comp"), p);
    let parameters = over_matrix(kernel!("layernorm/vjp_parameters_naive.comp"), p);
    Ok(vjp(p, x.invocations(p.dim("rows"), target), parameters.invocations(p.dim("cols"), target)))
}

fn vjp_shared(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let x = over_matrix(kernel!("layernorm/vjp_x_shared.comp"), p);
    let parameters = over_matrix(kernel!("layernorm/vjp_parameters_shared.comp"), p);
    Ok(vjp(p, x.workgroups(p.dim("rows"), target), parameters.workgroups(p.dim("cols"), target)))
}

/// The two kernels in order. Without rows the gradients of gamma and beta are empty sums.
fn vjp(p: &Problem<'_>, x: Dispatch, parameters: Dispatch) -> Plan {
    let (rows, cols) = (p.dim("rows"), p.dim("cols"));
    if cols == 0 {
        return Plan::empty();
    }
    if rows == 0 {
        return Plan::empty().zero("ggamma").zero("gbeta");
    }
    Plan::one(x.push("eps", p.attribute("eps")))
        .barrier()
        .then(parameters)
        .scratch("mean", Dtype::F32, rows)
        .scratch("deviation", Dtype::F32, rows)
}
