//! Gradient descent in place: `p -= lr (g + decay p)`.
//!
//! The decay is coupled: it is the gradient of `decay |p|^2 / 2`, scaled by the rate as any other.
//! There is no VJP: nothing is differentiated through the update of a parameter.
//!
//! Ladder:
//! - `naive`: one invocation per element.
//! - `unrolled`: four consecutive elements per invocation, a quarter of the workgroups.

use super::elementwise::{LEN, by_four, kernel, single, vector};
use super::{
    Attribute, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Property, Role, Target,
    Unsupported, Variant,
};
use crate::glsl::Source;
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "sgd",
    formula: "p = p - lr (g + decay p)",
    dims: &[LEN],
    attributes: &[
        Attribute { name: "lr", values: &[0.1] },
        Attribute { name: "decay", values: &[0.0, 0.01] },
    ],
    dtypes: &[Dtype::F32],
    operands: &[
        Operand { role: Role::InOut, ..Operand::input("p", vector).constant() },
        Operand::input("g", vector).constant(),
    ],
    reference: &Sgd,
    // 2 - 0.5 (3 + 0.25 * 2) = 0.25; -4 - 0.5 (1 - 0.25 * 4) = -4.
    example: Example {
        dims: &[2],
        attributes: &[0.5, 0.25],
        inputs: &[&[2.0, -4.0], &[3.0, 1.0]],
        outputs: &[&[0.25, -4.0]],
    },
    variants: &[Variant::forward("naive", naive), Variant::forward("unrolled", unrolled)],
    properties: &[Property::Odd(&["p", "g"]), Property::RowsIndependent(&["p", "g"])],
};

struct Sgd;

/// An attribute as the push constant holds it.
fn rounded(p: &Problem<'_>, attribute: &str) -> f64 {
    Dtype::F32.round(p.attribute(attribute))
}

impl Formula for Sgd {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let (lr, decay) = (S::constant(rounded(p, "lr")), S::constant(rounded(p, "decay")));
        let step = |(p, g): (&S, &S)| *p - lr * (*g + decay * *p);
        vec![inputs[0].iter().zip(&inputs[1]).map(step).collect()]
    }

    /// No operand has a gradient, so there is none to return.
    fn vjp<S: Scalar>(
        &self,
        _p: &Problem<'_>,
        _inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        _cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        Vec::new()
    }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    single(update(kernel!("sgd/naive.comp"), p), p, target)
}

fn unrolled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    by_four(update(kernel!("sgd/unrolled.comp"), p), p, target)
}

fn update(source: Source, p: &Problem<'_>) -> Dispatch {
    kernel(source, p).push("lr", rounded(p, "lr")).push("decay", rounded(p, "decay"))
}
