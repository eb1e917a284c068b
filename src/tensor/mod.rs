//! Host data: element types, shapes and the bytes that travel to a device.

mod dtype;
mod glsl_types;
mod npy;
mod quantised;
mod scalar;

pub use dtype::{Dtype, UnknownDtype};
pub use npy::{write_npy, write_npy_f64};

use serde::{Deserialize, Serialize};

/// A dense row-major tensor in the storage format of its element type.
///
/// Values enter and leave as f64, which holds every element type here exactly but for 64-bit integers
/// beyond 2^53; [`Tensor::from_bytes`] keeps their bits. [`Tensor::new`] rounds to storage, so whoever
/// reads a tensor back sees what the device sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    /// Rounds `values` to the storage format.
    ///
    /// # Panics
    /// When `shape` doesn't multiply to the number of values, or they don't fill whole blocks.
    #[must_use]
    pub fn new(dtype: Dtype, shape: &[usize], values: &[f64]) -> Self {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "shape {shape:?}");
        assert!(dtype.bytes_for(values.len()).is_some(), "shape {shape:?} of {dtype}");
        Self { dtype, shape: shape.to_vec(), bytes: dtype.encode(values) }
    }

    /// Takes bytes that a device wrote.
    ///
    /// # Panics
    /// When `shape` doesn't fit the number of bytes.
    #[must_use]
    pub fn from_bytes(dtype: Dtype, shape: &[usize], bytes: Vec<u8>) -> Self {
        let len: usize = shape.iter().product();
        assert_eq!(dtype.bytes_for(len), Some(bytes.len()), "shape {shape:?} of {dtype}");
        Self { dtype, shape: shape.to_vec(), bytes }
    }

    /// Element type.
    #[must_use]
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Extent of each axis, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dtype.len_of(self.bytes.len())
    }

    /// Whether an axis has extent 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Little-endian storage.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Every element, exactly.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        self.dtype.decode(&self.bytes)
    }
}

/// The coordinates of a flat row-major index.
#[must_use]
pub fn unravel(shape: &[usize], mut flat: usize) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (axis, extent) in shape.iter().enumerate().rev() {
        let extent = (*extent).max(1);
        at[axis] = flat % extent;
        flat /= extent;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{Dtype, Tensor, unravel};

    #[test]
    fn a_tensor_shows_what_storage_holds() {
        let third = Tensor::new(Dtype::F16, &[2], &[1.0 / 3.0, -0.0]).values();
        assert_eq!(third[0], 0.333_251_953_125);
        assert!(third[1] == 0.0 && third[1].is_sign_negative());
    }

    #[test]
    fn unravel_inverts_the_row_major_index() {
        assert_eq!(unravel(&[2, 3, 4], 23), [1, 2, 3]);
        assert_eq!(unravel(&[5], 3), [3]);
        assert!(unravel(&[], 0).is_empty());
    }
}
