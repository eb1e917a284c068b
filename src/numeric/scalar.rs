//! The arithmetic that references are written in.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number that a reference computes with.
///
/// Sums of many terms go through [`Scalar::sum`], since their error depends on how many there are
/// and not on the order that a kernel happens to choose.
pub trait Scalar:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// A number that both the reference and the kernel know exactly.
    fn constant(value: f64) -> Self;
    /// The value, for decisions such as which of two is larger.
    fn value(self) -> f64;
    /// `e^x`.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
    /// The larger of two; the first where they are equal.
    fn max(self, other: Self) -> Self;
    /// The sum of any number of terms, in any order.
    fn sum(terms: impl IntoIterator<Item = Self>) -> Self;

    /// The same, where a kernel may have it only up to this relative error.
    #[must_use]
    fn uncertain(self, _relative: f64) -> Self {
        self
    }

    /// Zero.
    #[must_use]
    fn zero() -> Self {
        Self::constant(0.0)
    }
}

impl Scalar for f64 {
    fn constant(value: f64) -> Self {
        value
    }

    fn value(self) -> f64 {
        self
    }

    fn exp(self) -> Self {
        libm::exp(self)
    }

    fn ln(self) -> Self {
        libm::log(self)
    }

    fn sqrt(self) -> Self {
        libm::sqrt(self)
    }

    fn tanh(self) -> Self {
        libm::tanh(self)
    }

    fn erf(self) -> Self {
        libm::erf(self)
    }

    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    fn sum(terms: impl IntoIterator<Item = Self>) -> Self {
        terms.into_iter().sum()
    }
}
