//! Addition with broadcasting: `y = a + b`.
//!
//! VJP: `ga = gy`; `gb` is `gy` summed over the axes that b was broadcast over.
//!
//! Ladder:
//! - `naive`: one invocation per element.
//! - `unrolled`: four consecutive elements per invocation, so that a quarter of the invocations
//!   compute the index arithmetic of a row.
//! - `vjp_naive`: one invocation per gradient element; those of `gb` loop over what they serve.

use super::broadcast::{BROADCAST, full, narrow, narrow_index, push};
use super::{
    Dim, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Property, Target, Unsupported,
    Variant,
};
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "add",
    formula: "y = a + b, b broadcast over rows, columns or both",
    dims: &[Dim::new("rows", 8), Dim::new("cols", 64)],
    attributes: &[BROADCAST],
    dtypes: &[Dtype::F32, Dtype::F16],
    operands: &[Operand::input("a", full), Operand::input("b", narrow), Operand::output("y", full)],
    reference: &Add,
    // 1 + 10, 2 + 20; 3 + 10, 4 + 20: one row of b serves both rows.
    example: Example {
        dims: &[2, 2],
        attributes: &[1.0],
        inputs: &[&[1.0, 2.0, 3.0, 4.0], &[10.0, 20.0]],
        outputs: &[&[11.0, 22.0, 13.0, 24.0]],
    },
    variants: &[
        Variant::forward("naive", naive).in_place(&[("a", "y")]),
        Variant::forward("unrolled", unrolled).in_place(&[("a", "y")]),
        Variant::vjp("vjp_naive", vjp_naive).in_place(&[("gy", "ga")]),
    ],
    properties: &[Property::Linear(&["a", "b"]), Property::RowsIndependent(&["a", "b"])],
};

struct Add;

impl Formula for Add {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let (a, b) = (&inputs[0], &inputs[1]);
        vec![(0..a.len()).map(|i| a[i] + b[narrow_index(p, i)]).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let gy = &cotangents[0];
        let gb = (0..inputs[1].len())
            .map(|j| S::sum((0..gy.len()).filter(|i| narrow_index(p, *i) == j).map(|i| gy[i])))
            .collect();
        vec![gy.clone(), gb]
    }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let len = p.dim("rows") * p.dim("cols");
    let dispatch = Dispatch::new(kernel!("add/naive.comp")).element(p.dtype);
    Ok(Plan::unless_empty(len, push(dispatch.invocations(len, target).push("len", len), p)))
}

fn unrolled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let len = p.dim("rows") * p.dim("cols");
    let dispatch = Dispatch::new(kernel!("add/unrolled.comp")).element(p.dtype).push("len", len);
    Ok(Plan::unless_empty(len, push(dispatch.invocations(len.div_ceil(4), target), p)))
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let len = p.dim("rows") * p.dim("cols");
    let narrow_len = narrow(p).iter().product();
    let mut plan = Plan::empty();
    if len > 0 {
        let copy = Dispatch::new(kernel!("add/vjp_a.comp")).element(p.dtype);
        // In place, the copy writes what the sum reads.
        plan = plan.then(copy.invocations(len, target).push("len", len)).barrier();
    }
    if narrow_len > 0 {
        let reduce = Dispatch::new(kernel!("add/vjp_b.comp")).element(p.dtype);
        let reduce = reduce.invocations(narrow_len, target).push("narrow_len", narrow_len);
        plan = plan.then(push(reduce.push("rows", p.dim("rows")), p));
    }
    Ok(plan)
}
