//! A problem: an op with its dimensions and attributes filled in.

use super::{Op, Operand};
use crate::tensor::Dtype;

/// What a plan, a shape or a reference is asked about.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// The op.
    pub op: &'a Op,
    /// Extent of each of its dimensions.
    pub dims: &'a [usize],
    /// Value of each of its attributes.
    pub attributes: &'a [f64],
    /// Storage type of its float operands.
    pub dtype: Dtype,
    /// Buffers that are stored in another type than the record and `dtype` say.
    pub storage: &'a [(String, Dtype)],
}

impl Problem<'_> {
    /// The extent of a dimension.
    ///
    /// # Panics
    /// When the record has no such dimension, which is a fault of the op's file.
    #[must_use]
    pub fn dim(&self, name: &str) -> usize {
        let at = self.op.dims.iter().position(|d| d.name == name);
        self.dims[at.unwrap_or_else(|| panic!("{} has no dimension {name}", self.op.name))]
    }

    /// The value of an attribute.
    ///
    /// # Panics
    /// When the record has no such attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> f64 {
        let at = self.op.attributes.iter().position(|a| a.name == name);
        self.attributes[at.unwrap_or_else(|| panic!("{} has no attribute {name}", self.op.name))]
    }

    /// Whether an attribute that counts as a switch is on.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.attribute(name) != 0.0
    }

    /// How an operand's elements are stored.
    #[must_use]
    pub fn dtype_of(&self, operand: &Operand) -> Dtype {
        self.stored(operand.name).unwrap_or(operand.dtype.unwrap_or(self.dtype))
    }

    /// How the elements of an operand's gradient or cotangent are stored.
    #[must_use]
    pub fn gradient_dtype_of(&self, operand: &Operand) -> Dtype {
        self.stored(&format!("g{}", operand.name)).unwrap_or_else(|| self.dtype_of(operand))
    }

    fn stored(&self, buffer: &str) -> Option<Dtype> {
        self.storage.iter().find(|(name, _)| name == buffer).map(|(_, dtype)| *dtype)
    }

    /// Operands that the op reads, in record order.
    pub fn inputs(&self) -> impl Iterator<Item = &'static Operand> + use<> {
        self.op.operands.iter().filter(|o| o.is_read())
    }

    /// Operands that the op writes, in record order.
    pub fn outputs(&self) -> impl Iterator<Item = &'static Operand> + use<> {
        self.op.operands.iter().filter(|o| o.is_written())
    }
}
