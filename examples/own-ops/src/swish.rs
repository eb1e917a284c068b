//! `y = x (1 + tanh(x / 2)) / 2`, which is x times its logistic function. The VJP is derived.

use vklab::glsl::Source;
use vklab::kernel;
use vklab::numeric::Scalar;
use vklab::ops::{Elementwise, Op};

/// The record.
pub const OP: Op = Swish::OP;

struct Swish;

impl Elementwise for Swish {
    const NAME: &'static str = "swish";
    const FORMULA: &'static str = "y = x (1 + tanh(x / 2)) / 2";
    const FORWARD: Source = kernel!("swish/naive.comp");
    const VJP: Option<Source> = Some(kernel!("swish/vjp_naive.comp"));

    fn y<S: Scalar>([x]: [S; 1]) -> S {
        S::constant(0.5) * x * (S::constant(1.0) + (S::constant(0.5) * x).tanh())
    }
}
