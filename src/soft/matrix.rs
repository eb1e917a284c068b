//! Cooperative matrices: a subgroup holds one together. Component `i` of the invocation `lane` in a
//! subgroup of `size` is the element `i * size + lane` of the matrix, row by row; elements beyond
//! the last one are padding.

use super::program::Slot;
use super::scalar::Scalar;

/// `OpCooperativeMatrixMulAddKHR`: `dst = a * b + c` with `a` of `m` x `k`.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) m: u32,
    pub(crate) n: u32,
    pub(crate) k: u32,
    pub(crate) dst: Vec<Slot>,
    pub(crate) a: (Scalar, Vec<Slot>),
    pub(crate) b: (Scalar, Vec<Slot>),
    pub(crate) c: (Scalar, Vec<Slot>),
    pub(crate) to: Scalar,
    /// The operand mask of the instruction: which matrices are signed, and saturation.
    pub(crate) operands: u32,
}
