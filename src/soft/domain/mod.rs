//! Value domains: what a number is beside its bits.
//!
//! The machine computes bits. A domain says what else goes with them, register by register and
//! element by element, as an observer that keeps a second column: in [`Plain`] there is nothing; in
//! [`Dual`] a number has a tangent, so that one run of a kernel gives `Jv` beside its results.
//!
//! A further domain brings an observer of its own. One that shadows every number in f64 would keep
//! values where dual numbers keep tangents, in the same [`columns`] and [`cells`], and compute them
//! where [`rules`] has partial derivatives.

mod cells;
mod columns;
mod dual;
mod groups;
mod matrix;
mod memory;
mod numbers;
mod observer;
mod rules;
#[cfg(test)]
mod tests;

use super::observer::Observer;

pub use dual::{Dual, Tangent, Tie};

/// What goes with the bits of a number.
pub(super) trait Domain {
    /// What keeps it; none where bits are all there is.
    fn observer(&self) -> Option<Box<dyn Observer>>;
}

/// Bits alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plain;

impl Domain for Plain {
    fn observer(&self) -> Option<Box<dyn Observer>> {
        None
    }
}

impl Domain for Dual {
    fn observer(&self) -> Option<Box<dyn Observer>> {
        Some(Box::new(observer::Tangents::new(self.clone())))
    }
}
