//! Embedding: `y[i] = table[index[i]]`, rows of a table gathered by number.
//!
//! VJP: `gtable[index[i]] += gy[i]`, added to what the gradient buffer held; a row that several
//! positions name receives all of their gradients.
//!
//! Ladder:
//! - `naive`: one invocation per element of y.
//! - `row_per_workgroup`: one workgroup per position, so that its index is read once and nothing is
//!   divided.
//! - `vjp_naive`: one invocation per element of the table searches all of the index in order: the
//!   same bits at every run, at the price of `vocab * count` comparisons a column.
//! - `vjp_atomic`: one invocation per element of gy adds into a zeroed total by compare-and-swap,
//!   in any order, and a second kernel adds the total to the gradient once. `count` additions.

use super::{
    Dim, Dispatch, Example, Formula, Gradient, Op, Operand, Plan, Problem, Property, Target,
    Unsupported, Variant,
};
use crate::kernel;
use crate::numeric::{Domain, Scalar};
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "embedding",
    formula: "y[i] = table[index[i]]",
    dims: &[Dim::at_least_one("vocab", 32), Dim::new("width", 64), Dim::new("count", 64)],
    attributes: &[],
    dtypes: &[Dtype::F32],
    operands: &[
        Operand {
            gradient: Gradient::Add,
            ..Operand::input("table", |p| vec![p.dim("vocab"), p.dim("width")])
        },
        Operand::input("index", |p| vec![p.dim("count")])
            .constant()
            .stored_as(Dtype::U32)
            .drawn_from(|p| Domain::Index { below: p.dim("vocab") }),
        Operand::output("y", |p| vec![p.dim("count"), p.dim("width")]),
    ],
    reference: &Embedding,
    // Rows 2, 0 and 2 of (1 2), (3 4), (5 6).
    example: Example {
        dims: &[3, 2, 3],
        attributes: &[],
        inputs: &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2.0, 0.0, 2.0]],
        outputs: &[&[5.0, 6.0, 1.0, 2.0, 5.0, 6.0]],
    },
    variants: &[
        Variant::forward("naive", naive),
        Variant::forward("row_per_workgroup", row_per_workgroup),
        Variant::vjp("vjp_naive", vjp_naive),
        Variant::vjp("vjp_atomic", vjp_atomic).unordered(),
    ],
    properties: &[
        Property::Selects("table"),
        Property::Linear(&["table"]),
        Property::RowsIndependent(&["index"]),
    ],
};

struct Embedding;

/// The row of the table that each position names.
fn rows<S: Scalar>(index: &[S]) -> Vec<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "index operands arrive as whole numbers below vocab"
    )]
    index.iter().map(|row| row.value() as usize).collect()
}

impl Formula for Embedding {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let width = p.dim("width");
        let mut y = Vec::new();
        for row in rows(&inputs[1]) {
            y.extend_from_slice(&inputs[0][row * width..(row + 1) * width]);
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
        let (width, gy) = (p.dim("width"), &cotangents[0]);
        let index = rows(&inputs[1]);
        let mut gtable = Vec::new();
        for row in 0..p.dim("vocab") {
            for col in 0..width {
                let named = (0..index.len()).filter(|at| index[*at] == row);
                gtable.push(S::sum(named.map(|at| gy[at * width + col])));
            }
        }
        vec![gtable]
    }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let len = p.dim("count") * p.dim("width");
    let dispatch = Dispatch::new(kernel!("embedding/naive.comp")).element(p.dtype);
    let dispatch = dispatch.invocations(len, target).push("len", len);
    Ok(Plan::unless_empty(len, dispatch.push("width", p.dim("width"))))
}

fn row_per_workgroup(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let (count, width) = (p.dim("count"), p.dim("width"));
    let dispatch = Dispatch::new(kernel!("embedding/row_per_workgroup.comp")).element(p.dtype);
    let dispatch = dispatch.workgroups(count, target).push("count", count).push("width", width);
    Ok(Plan::unless_empty(count * width, dispatch))
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let (count, width) = (p.dim("count"), p.dim("width"));
    let table_len = p.dim("vocab") * width;
    let dispatch = Dispatch::new(kernel!("embedding/vjp_naive.comp"))
        .element(p.dtype)
        .invocations(table_len, target)
        .push("table_len", table_len)
        .push("count", count)
        .push("width", width);
    // Nothing is added where there is no position.
    Ok(Plan::unless_empty(count * table_len, dispatch))
}

fn vjp_atomic(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let (len, width) = (p.dim("count") * p.dim("width"), p.dim("width"));
    if len == 0 {
        return Ok(Plan::empty());
    }
    let table_len = p.dim("vocab") * width;
    let scatter = Dispatch::new(kernel!("embedding/vjp_scatter.comp"))
        .element(p.dtype)
        .invocations(len, target)
        .push("len", len)
        .push("width", width);
    let add = Dispatch::new(kernel!("embedding/vjp_add.comp"))
        .element(p.dtype)
        .invocations(table_len, target)
        .push("table_len", table_len);
    let plan = Plan::empty().scratch("total", Dtype::U32, table_len).zero("total").barrier();
    Ok(plan.then(scatter).barrier().then(add))
}
