//! Transposition of matrices: `y[b, c, r] = x[b, r, c]`.
//!
//! VJP: `gx[b, r, c] = gy[b, c, r]`, a transposition with rows and columns exchanged, by the same
//! kernels.
//!
//! Ladder:
//! - `naive`: one invocation per element; neighbours write side by side and read a row apart.
//! - `tiled`: a workgroup turns a tile in shared memory, so that reads and writes both run along
//!   rows.
//! - `vjp_naive`, `vjp_tiled`: likewise.

use super::{
    Dim, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Property, Target, Unsupported,
    Variant,
};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// Edge of a tile, as in glsl/transpose/tiled.comp.
const TILE: usize = 16;

/// The record.
pub const OP: Op = Op {
    name: "transpose",
    formula: "y[batch, col, row] = x[batch, row, col]",
    dims: &[Dim::new("batch", 2), Dim::new("rows", TILE), Dim::new("cols", TILE)],
    attributes: &[],
    dtypes: &[Dtype::F32, Dtype::F16],
    operands: &[
        Operand::input("x", |p| vec![p.dim("batch"), p.dim("rows"), p.dim("cols")]),
        Operand::output("y", |p| vec![p.dim("batch"), p.dim("cols"), p.dim("rows")]),
    ],
    reference: &Transpose,
    // 1 2 3 over 4 5 6 has the columns 1 4, 2 5 and 3 6; the second matrix stays behind the first.
    example: Example {
        dims: &[2, 2, 3],
        attributes: &[],
        inputs: &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]],
        outputs: &[&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0, 7.0, 10.0, 8.0, 11.0, 9.0, 12.0]],
    },
    variants: &[
        Variant::forward("naive", |p, t| naive(&Turn::forward(p), p, t)),
        Variant::forward("tiled", |p, t| tiled(&Turn::forward(p), p, t)),
        Variant::vjp("vjp_naive", |p, t| naive(&Turn::vjp(p), p, t)),
        Variant::vjp("vjp_tiled", |p, t| tiled(&Turn::vjp(p), p, t)),
    ],
    properties: &[
        Property::Selects("x"),
        Property::Linear(&["x"]),
        Property::Odd(&["x"]),
        Property::RowsIndependent(&["x"]),
        Property::Involution("rows", "cols"),
    ],
};

struct Transpose;

impl Formula for Transpose {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        vec![turned(&inputs[0], p.dim("rows"), p.dim("cols"))]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        _inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        vec![turned(&cotangents[0], p.dim("cols"), p.dim("rows"))]
    }
}

/// Every matrix of `rows x cols` in `x`, transposed.
fn turned<S: Scalar>(x: &[S], rows: usize, cols: usize) -> Vec<S> {
    let mut y = x.to_vec();
    for (i, value) in x.iter().enumerate() {
        let (batch, row, col) = (i / (rows * cols), i / cols % rows, i % cols);
        y[(batch * cols + col) * rows + row] = *value;
    }
    y
}

/// Which buffers a kernel turns, and the shape of what it reads.
struct Turn {
    from: &'static str,
    to: &'static str,
    rows: usize,
    cols: usize,
}

impl Turn {
    fn forward(p: &Problem<'_>) -> Self {
        Self { from: "x", to: "y", rows: p.dim("rows"), cols: p.dim("cols") }
    }

    fn vjp(p: &Problem<'_>) -> Self {
        Self { from: "gy", to: "gx", rows: p.dim("cols"), cols: p.dim("rows") }
    }

    fn apply(&self, dispatch: Dispatch) -> Dispatch {
        dispatch
            .bind("x", self.from)
            .bind("y", self.to)
            .push("rows", self.rows)
            .push("cols", self.cols)
    }
}

fn naive(turn: &Turn, p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let len = p.dim("batch") * turn.rows * turn.cols;
    let dispatch = Dispatch::new(kernel!("transpose/naive.comp")).element(p.dtype);
    let dispatch = dispatch.invocations(len, target).push("len", len);
    Ok(Plan::unless_empty(len, turn.apply(dispatch)))
}

fn tiled(turn: &Turn, p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let batch = p.dim("batch");
    let tiles = batch * turn.rows.div_ceil(TILE) * turn.cols.div_ceil(TILE);
    let dispatch = Dispatch::new(kernel!("transpose/tiled.comp")).element(p.dtype);
    let dispatch = dispatch.workgroups(tiles, target).push("batch_count", batch);
    Ok(Plan::unless_empty(tiles, turn.apply(dispatch)))
}
