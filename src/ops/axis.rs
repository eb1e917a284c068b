//! Reductions over the middle axis of `x[outer, axis, inner]`, shared by sum and mean.

use super::{Dispatch, Plan, Problem, Target, Unsupported};
use crate::glsl::Source;

/// Shape of what is reduced.
#[must_use]
pub(super) fn whole(p: &Problem<'_>) -> Vec<usize> {
    vec![p.dim("outer"), p.dim("axis"), p.dim("inner")]
}

/// Shape of the result.
#[must_use]
pub(super) fn reduced(p: &Problem<'_>) -> Vec<usize> {
    vec![p.dim("outer"), p.dim("inner")]
}

/// Number of results.
#[must_use]
pub(super) fn reduced_len(p: &Problem<'_>) -> usize {
    p.dim("outer") * p.dim("inner")
}

/// Flat indices of the elements that result `i` is made of.
pub(super) fn terms(p: &Problem<'_>, i: usize) -> impl Iterator<Item = usize> + use<> {
    let (axis, inner) = (p.dim("axis"), p.dim("inner"));
    let first = i / inner * axis * inner + i % inner;
    (0..axis).map(move |a| first + a * inner)
}

/// Flat index of the result that element `i` is a part of.
#[must_use]
pub(super) fn result_of(p: &Problem<'_>, i: usize) -> usize {
    let (axis, inner) = (p.dim("axis"), p.dim("inner"));
    i / inner / axis * inner + i % inner
}

/// One invocation per result; zeros where the axis is empty.
pub(super) fn by_invocation(
    source: Source,
    p: &Problem<'_>,
    target: &Target<'_>,
) -> Result<Plan, Unsupported> {
    let dispatch = push(Dispatch::new(source), p, reduced_len(p));
    Ok(zero_or(p, dispatch.invocations(reduced_len(p), target)))
}

/// One workgroup per result; zeros where the axis is empty.
pub(super) fn by_workgroup(
    source: Source,
    p: &Problem<'_>,
    target: &Target<'_>,
) -> Result<Plan, Unsupported> {
    let dispatch = push(Dispatch::new(source), p, reduced_len(p));
    Ok(zero_or(p, dispatch.workgroups(reduced_len(p), target)))
}

/// One invocation per element of the gradient.
pub(super) fn vjp(
    source: Source,
    p: &Problem<'_>,
    target: &Target<'_>,
) -> Result<Plan, Unsupported> {
    let len = reduced_len(p) * p.dim("axis");
    let dispatch = push(Dispatch::new(source), p, len);
    Ok(Plan::unless_empty(len, dispatch.invocations(len, target)))
}

fn push(dispatch: Dispatch, p: &Problem<'_>, len: usize) -> Dispatch {
    dispatch.push("len", len).push("axis", p.dim("axis")).push("inner", p.dim("inner"))
}

fn zero_or(p: &Problem<'_>, dispatch: Dispatch) -> Plan {
    if reduced_len(p) > 0 && p.dim("axis") == 0 {
        return Plan::empty().zero("y");
    }
    Plan::unless_empty(reduced_len(p), dispatch)
}
