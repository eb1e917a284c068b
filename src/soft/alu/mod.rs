//! What pure operations compute, a column at a time.

use super::program::{Guard, Kernel, What};
use super::scalar::Scalar;

/// How an operation is computed; none where it can't be.
pub(crate) fn resolve(_what: What, _from: Scalar, _to: Scalar) -> Option<Kernel> {
    None
}

/// When an operation has no defined result; none where it always has.
pub(crate) fn guard(_what: What, _from: Scalar, _to: Scalar) -> Option<Guard> {
    None
}
