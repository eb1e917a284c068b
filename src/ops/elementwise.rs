//! What the ops on vectors of one length share: their dimension and the shapes of their dispatches.

use super::{Dim, Dispatch, Operand, Plan, Problem, Target, Unsupported};
use crate::glsl::Source;

/// The only dimension. A workgroup of 64 that takes four elements an invocation covers one tile.
pub const LEN: Dim = Dim::new("len", 256);

/// The operands of a function of one number that has a derivative.
pub const UNARY: &[Operand] = &[Operand::input("x", vector), Operand::output("y", vector)];

/// Shape of every operand.
#[must_use]
pub fn vector(p: &Problem<'_>) -> Vec<usize> {
    vec![p.dim("len")]
}

/// A dispatch of an elementwise kernel, which takes the push constant `len`.
#[must_use]
pub fn kernel(source: Source, p: &Problem<'_>) -> Dispatch {
    Dispatch::new(source).element(p.dtype).push("len", p.dim("len"))
}

/// One invocation per element.
pub fn single(
    dispatch: Dispatch,
    p: &Problem<'_>,
    target: &Target<'_>,
) -> Result<Plan, Unsupported> {
    Ok(Plan::unless_empty(p.dim("len"), dispatch.invocations(p.dim("len"), target)))
}

/// One invocation per four consecutive elements.
pub fn by_four(
    dispatch: Dispatch,
    p: &Problem<'_>,
    target: &Target<'_>,
) -> Result<Plan, Unsupported> {
    let invocations = p.dim("len").div_ceil(4);
    Ok(Plan::unless_empty(p.dim("len"), dispatch.invocations(invocations, target)))
}
