//! Adding one bias per column: `y[r, c] = x[r, c] + bias[c]`.
//!
//! VJP: `gx = gy`; `gbias` is `gy` summed over the rows.
//!
//! Ladder:
//! - `naive`: one invocation per element.
//! - `row_per_workgroup`: no division: the workgroup knows its row.
//! - `vjp_naive`: one invocation per column loops over all rows.
//! - `vjp_shared`: one workgroup per column, a tree of sums in shared memory: parallel over rows,
//!   but neighbours read a row apart.
//! - `vjp_split`: one invocation per column and chunk of 64 rows, then one per column over the
//!   chunks: parallel over rows with neighbours that read side by side.

use super::{
    Dim, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Property, Target, Unsupported,
    Variant,
};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// Rows that one invocation of `vjp_split` adds up.
const CHUNK_ROWS: usize = 64;

/// The record.
pub const OP: Op = Op {
    name: "bias_add",
    formula: "y = x + bias, one bias per column",
    dims: &[Dim::new("rows", CHUNK_ROWS), Dim::new("cols", 64)],
    attributes: &[],
    dtypes: &[Dtype::F32],
    operands: &[
        Operand::input("x", matrix),
        Operand::input("bias", |p| vec![p.dim("cols")]),
        Operand::output("y", matrix),
    ],
    reference: &BiasAdd,
    // 1 + 10, 2 + 20; 3 + 10, 4 + 20.
    example: Example {
        dims: &[2, 2],
        attributes: &[],
        inputs: &[&[1.0, 2.0, 3.0, 4.0], &[10.0, 20.0]],
        outputs: &[&[11.0, 22.0, 13.0, 24.0]],
    },
    variants: &[
        Variant::forward("naive", naive).in_place(&[("x", "y")]),
        Variant::forward("row_per_workgroup", row_per_workgroup).in_place(&[("x", "y")]),
        Variant::vjp("vjp_naive", vjp_naive).in_place(&[("gy", "gx")]),
        Variant::vjp("vjp_shared", vjp_shared).in_place(&[("gy", "gx")]),
        Variant::vjp("vjp_split", vjp_split).in_place(&[("gy", "gx")]),
    ],
    properties: &[Property::Linear(&["x", "bias"]), Property::RowsIndependent(&["x"])],
};

fn matrix(p: &Problem<'_>) -> Vec<usize> {
    vec![p.dim("rows"), p.dim("cols")]
}

struct BiasAdd;

impl Formula for BiasAdd {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let (x, bias) = (&inputs[0], &inputs[1]);
        vec![(0..x.len()).map(|i| x[i] + bias[i % p.dim("cols")]).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        _inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let gy = &cotangents[0];
        let (rows, cols) = (p.dim("rows"), p.dim("cols"));
        let gbias = (0..cols).map(|c| S::sum((0..rows).map(|r| gy[r * cols + c]))).collect();
        vec![gy.clone(), gbias]
    }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let len = p.dim("rows") * p.dim("cols");
    let dispatch = Dispatch::new(kernel!("bias_add/naive.comp")).element(p.dtype);
    let dispatch = dispatch.invocations(len, target).push("len", len).push("cols", p.dim("cols"));
    Ok(Plan::unless_empty(len, dispatch))
}

fn row_per_workgroup(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let (rows, cols) = (p.dim("rows"), p.dim("cols"));
    let dispatch = Dispatch::new(kernel!("bias_add/row_per_workgroup.comp")).element(p.dtype);
    let dispatch = dispatch.workgroups(rows, target).push("rows", rows).push("cols", cols);
    Ok(Plan::unless_empty(rows * cols, dispatch))
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let (rows, cols) = (p.dim("rows"), p.dim("cols"));
    let plan = copy(p, target);
    if cols == 0 {
        return Ok(plan);
    }
    let reduce = Dispatch::new(kernel!("bias_add/vjp_bias_naive.comp")).element(p.dtype);
    Ok(plan.then(reduce.invocations(cols, target).push("rows", rows).push("cols", cols)))
}

fn vjp_shared(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let (rows, cols) = (p.dim("rows"), p.dim("cols"));
    let plan = copy(p, target);
    if cols == 0 {
        return Ok(plan);
    }
    let reduce = Dispatch::new(kernel!("bias_add/vjp_bias_shared.comp")).element(p.dtype);
    Ok(plan.then(reduce.workgroups(cols, target).push("rows", rows).push("cols", cols)))
}

fn vjp_split(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let (rows, cols) = (p.dim("rows"), p.dim("cols"));
    if rows == 0 {
        // No chunk at all: a sum of nothing.
        return Ok(Plan::empty().zero("gbias"));
    }
    if cols == 0 {
        return Ok(Plan::empty());
    }
    let chunks = rows.div_ceil(CHUNK_ROWS);
    let part = Dispatch::new(kernel!("bias_add/vjp_bias_chunk.comp"))
        .element(p.dtype)
        .invocations(chunks * cols, target)
        .push("rows", rows)
        .push("cols", cols)
        .push("chunk_rows", CHUNK_ROWS)
        .push("partial_len", chunks * cols);
    let join = Dispatch::new(kernel!("bias_add/vjp_bias_join.comp"))
        .element(p.dtype)
        .invocations(cols, target)
        .push("chunks", chunks)
        .push("cols", cols);
    let plan = copy(p, target).scratch("partial", Dtype::F32, chunks * cols);
    Ok(plan.then(part).barrier().then(join))
}

/// `gx = gy`, before anything else: in place it writes what the sums read.
fn copy(p: &Problem<'_>, target: &Target<'_>) -> Plan {
    let len = p.dim("rows") * p.dim("cols");
    let dispatch = Dispatch::new(kernel!("bias_add/vjp_x.comp")).element(p.dtype);
    let plan = Plan::unless_empty(len, dispatch.invocations(len, target).push("len", len));
    if len == 0 { plan } else { plan.barrier() }
}
