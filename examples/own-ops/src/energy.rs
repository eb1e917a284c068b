//! `y = scale * sum of x^2`, one number. VJP, written: `gx = 2 scale x gy`.
//!
//! Ladder:
//! - `naive`: one invocation adds everything.
//! - `two_pass`: each workgroup adds a span into scratch memory; behind a barrier one workgroup adds
//!   what they left.
//! - `vjp_naive`: one invocation per element.

use vklab::numeric::Scalar;
use vklab::ops::{
    Attribute, Dim, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Target, Unsupported,
    Variant,
};
use vklab::tensor::Dtype;
use vklab::{kernel, push_block};

/// The record.
pub const OP: Op = Op {
    name: "energy",
    formula: "y = scale * sum of x^2",
    dims: &[Dim::new("len", 256)],
    attributes: &[Attribute { name: "scale", values: &[0.5, -3.0] }],
    dtypes: &[Dtype::F32],
    operands: &[Operand::input("x", |p| vec![p.dim("len")]), Operand::output("y", |_| vec![1])],
    reference: &Energy,
    // (9 + 16) / 2.
    example: Example {
        dims: &[2],
        attributes: &[0.5],
        inputs: &[&[3.0, -4.0]],
        outputs: &[&[12.5]],
    },
    variants: &[
        Variant::forward("naive", naive),
        Variant::forward("two_pass", two_pass),
        Variant::vjp("vjp_naive", vjp_naive),
    ],
    properties: &[],
};

struct Energy;

impl Formula for Energy {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let sum = S::sum(inputs[0].iter().map(|x| *x * *x));
        vec![vec![S::constant(p.attribute("scale")) * sum]]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let slope = S::constant(2.0) * S::constant(p.attribute("scale")) * cotangents[0][0];
        vec![inputs[0].iter().map(|x| slope * *x).collect()]
    }
}

push_block! {
    /// What the kernels are given, as they declare it.
    struct Given {
        len: u32,
        scale: f32,
    }
}

/// Elements that one invocation of the first pass adds: a specialization constant of the kernel.
const SPAN: u32 = 4;

#[expect(clippy::cast_possible_truncation, reason = "attributes are short numbers")]
fn given(p: &Problem<'_>, len: usize) -> Given {
    // More elements than u32 counts fit no buffer.
    Given { len: u32::try_from(len).unwrap_or(u32::MAX), scale: p.attribute("scale") as f32 }
}

fn naive(p: &Problem<'_>, _target: &Target<'_>) -> Result<Plan, Unsupported> {
    let block = given(p, p.dim("len"));
    Ok(Plan::one(Dispatch::new(kernel!("energy/naive.comp")).push_block(&block)))
}

fn two_pass(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let len = p.dim("len");
    if len == 0 {
        return Ok(Plan::empty().zero("y"));
    }
    let parts = len.div_ceil(target.workgroup as usize * SPAN as usize);
    let first = Dispatch::new(kernel!("energy/parts.comp"))
        .push("len", len)
        .spec("SPAN", SPAN)
        .workgroups(parts, target);
    let second = Dispatch::new(kernel!("energy/total.comp"))
        .push_block(&given(p, parts))
        .workgroups(1, target);
    Ok(Plan::one(first).barrier().then(second).scratch("part", Dtype::F32, parts))
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let len = p.dim("len");
    let dispatch = Dispatch::new(kernel!("energy/vjp_naive.comp"))
        .push_block(&given(p, len))
        .invocations(len, target);
    Ok(Plan::unless_empty(len, dispatch))
}
