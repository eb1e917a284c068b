//! Broadcasting of a second operand over rows, columns or both, shared by the elementwise ops.

use super::{Attribute, Dispatch, Problem};

/// Bit 0: one row serves all rows. Bit 1: one column serves all columns.
pub(super) const BROADCAST: Attribute =
    Attribute { name: "broadcast", values: &[0.0, 1.0, 2.0, 3.0] };

/// Shape of the full operands.
#[must_use]
pub(super) fn full(p: &Problem<'_>) -> Vec<usize> {
    vec![p.dim("rows"), p.dim("cols")]
}

/// Shape of the operand that is broadcast.
#[must_use]
pub(super) fn narrow(p: &Problem<'_>) -> Vec<usize> {
    let (over_rows, over_cols) = sides(p);
    vec![if over_rows { 1 } else { p.dim("rows") }, if over_cols { 1 } else { p.dim("cols") }]
}

/// Flat index into the broadcast operand for a flat index into a full one.
#[must_use]
pub(super) fn narrow_index(p: &Problem<'_>, flat: usize) -> usize {
    let cols = p.dim("cols");
    let (row_stride, col_stride) = strides(p);
    (flat / cols) * row_stride + (flat % cols) * col_stride
}

/// Adds the push constants that the kernels need to follow [`narrow_index`].
#[must_use]
pub(super) fn push(dispatch: Dispatch, p: &Problem<'_>) -> Dispatch {
    let (row_stride, col_stride) = strides(p);
    dispatch
        .push("cols", p.dim("cols"))
        .push("b_row_stride", row_stride)
        .push("b_col_stride", col_stride)
}

fn strides(p: &Problem<'_>) -> (usize, usize) {
    let (over_rows, over_cols) = sides(p);
    let row_length = if over_cols { 1 } else { p.dim("cols") };
    (if over_rows { 0 } else { row_length }, usize::from(!over_cols))
}

fn sides(p: &Problem<'_>) -> (bool, bool) {
    let bits = p.attribute("broadcast");
    (bits == 1.0 || bits == 3.0, bits >= 2.0)
}
