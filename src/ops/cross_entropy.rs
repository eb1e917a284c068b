//! Softmax cross-entropy with one true class per row:
//! `loss = log(sum_i exp(x_i - max x)) + (max x - x_target)` for each row x of logits.
//!
//! VJP: `glogits = (softmax(x) - onehot(target)) * gloss`; the target has no gradient.
//!
//! Ladder:
//! - `naive`: one invocation per row.
//! - `shared`: one workgroup per row; maximum and sum by trees in shared memory.
//! - `vjp_naive`, `vjp_shared`: likewise. Softmax is computed anew: `exp(x - x_target - loss)`
//!   would magnify the rounding error of a large loss.

use super::rows::row_of;
use super::softmax::{exponentials, softmax};
use super::{
    Dim, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Property, Target, Unsupported,
    Variant,
};
use crate::glsl::Source;
use crate::kernel;
use crate::numeric::{Domain, Scalar};
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "cross_entropy",
    formula: "loss = log(sum of exp(logits)) - logits[target], for each row",
    dims: &[Dim::new("rows", 64), Dim::at_least_one("classes", 64)],
    attributes: &[],
    dtypes: &[Dtype::F32],
    operands: &[
        Operand::input("logits", |p| vec![p.dim("rows"), p.dim("classes")]),
        Operand::input("target", |p| vec![p.dim("rows")])
            .constant()
            .stored_as(Dtype::U32)
            .drawn_from(|p| Domain::Index { below: p.dim("classes") }),
        Operand::output("loss", |p| vec![p.dim("rows")]),
    ],
    reference: &CrossEntropy,
    // e^0 + e^(ln 3) = 4 in both rows: ln 4 - 0 = 1.386294 and ln 4 - ln 3 = 0.287682.
    example: Example {
        dims: &[2, 2],
        attributes: &[],
        inputs: &[&[0.0, 1.098_612_288_668_109_8, 0.0, 1.098_612_288_668_109_8], &[0.0, 1.0]],
        outputs: &[&[1.386_294_361, 0.287_682_072]],
    },
    variants: &[
        Variant::forward("naive", |p, t| by_invocation(kernel!("cross_entropy/naive.comp"), p, t)),
        Variant::forward("shared", |p, t| by_workgroup(kernel!("cross_entropy/shared.comp"), p, t)),
        Variant::vjp("vjp_naive", |p, t| {
            by_invocation(kernel!("cross_entropy/vjp_naive.comp"), p, t)
        })
        .in_place(&[("logits", "glogits")]),
        Variant::vjp("vjp_shared", |p, t| {
            by_workgroup(kernel!("cross_entropy/vjp_shared.comp"), p, t)
        })
        .in_place(&[("logits", "glogits")]),
    ],
    properties: &[
        Property::ShiftInvariant("logits"),
        Property::RowsIndependent(&["logits", "target"]),
        Property::Convex("logits"),
    ],
};

struct CrossEntropy;

impl Formula for CrossEntropy {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let loss = |r: usize| {
            let row = row_of(&inputs[0], r, p.dim("classes"));
            let (top, _, total) = exponentials(row);
            total.ln() + (top - row[class(inputs[1][r])])
        };
        vec![(0..p.dim("rows")).map(loss).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let mut glogits = Vec::with_capacity(inputs[0].len());
        for r in 0..p.dim("rows") {
            let (hit, gloss) = (class(inputs[1][r]), cotangents[0][r]);
            let probabilities = softmax(row_of(&inputs[0], r, p.dim("classes")));
            glogits.extend(probabilities.into_iter().enumerate().map(|(c, probability)| {
                let onehot = S::constant(if c == hit { 1.0 } else { 0.0 });
                (probability - onehot) * gloss
            }));
        }
        vec![glogits]
    }
}

/// The class that an index operand names.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "indices arrive as whole numbers that are not negative"
)]
fn class<S: Scalar>(index: S) -> usize {
    index.value() as usize
}

fn over_rows(source: Source, p: &Problem<'_>) -> Dispatch {
    Dispatch::new(source).push("rows", p.dim("rows")).push("classes", p.dim("classes"))
}

fn by_invocation(
    source: Source,
    p: &Problem<'_>,
    target: &Target<'_>,
) -> Result<Plan, Unsupported> {
    let dispatch = over_rows(source, p).invocations(p.dim("rows"), target);
    Ok(Plan::unless_empty(p.dim("rows"), dispatch))
}

fn by_workgroup(source: Source, p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let dispatch = over_rows(source, p).workgroups(p.dim("rows"), target);
    Ok(Plan::unless_empty(p.dim("rows"), dispatch))
}
