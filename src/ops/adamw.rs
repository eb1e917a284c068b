//! AdamW in place: moments of the gradient, then a step of the parameter.
//!
//! ```text
//! m = beta1 m + (1 - beta1) g
//! v = beta2 v + (1 - beta2) g^2
//! p = p - lr decay p - lr (m / c1) / (sqrt(v / c2) + eps),   ci = 1 - betai^step
//! ```
//! Source: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019. The decay does not
//! pass through the moments. The corrections c1 and c2 depend on the step alone, so the host
//! computes them once, in f64, and pushes them. `step` counts from 1.
//!
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
use crate::numeric::{Domain, Scalar};
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "adamw",
    formula: "m, v = moments of g; p = p - lr decay p - lr (m / c1) / (sqrt(v / c2) + eps)",
    dims: &[LEN],
    attributes: &[
        Attribute { name: "lr", values: &[1e-3] },
        Attribute { name: "beta1", values: &[0.9] },
        Attribute { name: "beta2", values: &[0.999] },
        Attribute { name: "eps", values: &[1e-8, 1e-3] },
        Attribute { name: "decay", values: &[0.01, 0.0] },
        Attribute { name: "step", values: &[1.0, 10.0] },
    ],
    dtypes: &[Dtype::F32],
    operands: &[
        updated("p"),
        updated("m"),
        updated("v").drawn_from(|_| Domain::NonNegative),
        Operand::input("g", vector).constant(),
    ],
    reference: &AdamW,
    // m = 0.5 * 1 + 0.5 * 2 = 1.5; v = 0.5 * 2 + 0.5 * 4 = 3; c1 = c2 = 1 - 0.5^2 = 0.75.
    // p = 2 - 0.5 * 0.25 * 2 - 0.5 (1.5 / 0.75) / (sqrt(3 / 0.75) + 2) = 2 - 0.25 - 0.25.
    example: Example {
        dims: &[1],
        attributes: &[0.5, 0.5, 0.5, 2.0, 0.25, 2.0],
        inputs: &[&[2.0], &[1.0], &[2.0], &[2.0]],
        outputs: &[&[1.5], &[1.5], &[3.0]],
    },
    variants: &[Variant::forward("naive", naive), Variant::forward("unrolled", unrolled)],
    properties: &[
        Property::Odd(&["p", "m", "g"]),
        Property::RowsIndependent(&["p", "m", "v", "g"]),
    ],
};

/// An operand that is read and written and has no gradient.
const fn updated(name: &'static str) -> Operand {
    Operand { role: Role::InOut, ..Operand::input(name, vector).constant() }
}

struct AdamW;

/// The numbers of one step, each as the push constant holds it.
struct Constants {
    lr: f64,
    betas: [f64; 2],
    rests: [f64; 2],
    corrections: [f64; 2],
    eps: f64,
    decay: f64,
}

impl Constants {
    fn new(p: &Problem<'_>) -> Self {
        let rounded = |name: &str| Dtype::F32.round(p.attribute(name));
        let betas = [rounded("beta1"), rounded("beta2")];
        let power = |beta: f64| libm::pow(beta, p.attribute("step"));
        Self {
            lr: rounded("lr"),
            betas,
            rests: betas.map(|beta| Dtype::F32.round(1.0 - beta)),
            corrections: betas.map(|beta| Dtype::F32.round(1.0 - power(beta))),
            eps: rounded("eps"),
            decay: rounded("decay"),
        }
    }
}

impl Formula for AdamW {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let c = Constants::new(p);
        let [beta1, beta2] = c.betas.map(S::constant);
        let [rest1, rest2] = c.rests.map(S::constant);
        let [correction1, correction2] = c.corrections.map(S::constant);
        let (lr, eps, decay) = (S::constant(c.lr), S::constant(c.eps), S::constant(c.decay));
        let (mut params, mut means, mut squares) = (Vec::new(), Vec::new(), Vec::new());
        let [param, mean, square, grad] = [0, 1, 2, 3].map(|operand| inputs[operand].iter());
        for (((param, mean), square), grad) in param.zip(mean).zip(square).zip(grad) {
            let mean = beta1 * *mean + rest1 * *grad;
            let square = beta2 * *square + rest2 * (*grad * *grad);
            let ratio = mean / correction1 / ((square / correction2).sqrt() + eps);
            params.push(*param - lr * decay * *param - lr * ratio);
            means.push(mean);
            squares.push(square);
        }
        vec![params, means, squares]
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
    single(update(kernel!("adamw/naive.comp"), p), p, target)
}

fn unrolled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    by_four(update(kernel!("adamw/unrolled.comp"), p), p, target)
}

fn update(source: Source, p: &Problem<'_>) -> Dispatch {
    let c = Constants::new(p);
    kernel(source, p)
        .push("lr", c.lr)
        .push("beta1", c.betas[0])
        .push("beta2", c.betas[1])
        .push("eps", c.eps)
        .push("decay", c.decay)
        .push("one_minus_beta1", c.rests[0])
        .push("one_minus_beta2", c.rests[1])
        .push("correction1", c.corrections[0])
        .push("correction2", c.corrections[1])
}
