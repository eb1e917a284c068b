//! Operands of shape `[rows, cols]` whose rows are worked on one by one, shared by softmax and the
//! norms.

use super::{Dispatch, Plan, Problem, Target, Unsupported};
use crate::glsl::Source;
use crate::numeric::Scalar;

/// Shape of an operand with one value per element.
#[must_use]
pub(super) fn matrix(p: &Problem<'_>) -> Vec<usize> {
    vec![p.dim("rows"), p.dim("cols")]
}

/// Shape of an operand with one value per column.
#[must_use]
pub(super) fn per_col(p: &Problem<'_>) -> Vec<usize> {
    vec![p.dim("cols")]
}

/// Row `row` of a matrix with `cols` columns.
#[must_use]
pub(super) fn row_of<S>(values: &[S], row: usize, cols: usize) -> &[S] {
    &values[row * cols..(row + 1) * cols]
}

/// The arithmetic mean.
pub(super) fn mean<S: Scalar>(terms: impl ExactSizeIterator<Item = S>) -> S {
    let count = terms.len() as f64;
    S::sum(terms) / S::constant(count)
}

/// A kernel over matrices of the problem's shape, which pushes `rows` and `cols`.
#[must_use]
pub(super) fn over_matrix(source: Source, p: &Problem<'_>) -> Dispatch {
    let dispatch = Dispatch::new(source).element(p.dtype);
    dispatch.push("rows", p.dim("rows")).push("cols", p.dim("cols"))
}

/// A plan of one kernel with one invocation per row.
pub(super) fn by_invocation(
    source: Source,
    p: &Problem<'_>,
    target: &Target<'_>,
) -> Result<Plan, Unsupported> {
    let dispatch = over_matrix(source, p).invocations(p.dim("rows"), target);
    Ok(Plan::unless_empty(p.dim("rows") * p.dim("cols"), dispatch))
}

/// A plan of one kernel with one workgroup per row.
pub(super) fn by_workgroup(
    source: Source,
    p: &Problem<'_>,
    target: &Target<'_>,
) -> Result<Plan, Unsupported> {
    let dispatch = over_matrix(source, p).workgroups(p.dim("rows"), target);
    Ok(Plan::unless_empty(p.dim("rows") * p.dim("cols"), dispatch))
}
