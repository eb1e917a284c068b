//! Forward-mode differentiation: a value and its tangent.

use std::f64::consts::PI;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::Scalar;

/// `value + tangent * eps` with `eps^2 = 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// The primal value.
    pub value: f64,
    /// Its derivative along the chosen direction.
    pub tangent: f64,
}

impl Dual {
    /// A primal with its tangent.
    #[must_use]
    pub const fn new(value: f64, tangent: f64) -> Self {
        Self { value, tangent }
    }

    fn chain(self, value: f64, slope: f64) -> Self {
        // A zero tangent stays zero even where the slope is infinite, as at sqrt(0).
        let tangent = if self.tangent == 0.0 { 0.0 } else { slope * self.tangent };
        Self { value, tangent }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.value + o.value, self.tangent + o.tangent)
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.value - o.value, self.tangent - o.tangent)
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::new(self.value * o.value, self.tangent * o.value + self.value * o.tangent)
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let value = self.value / o.value;
        Self::new(value, (self.tangent - value * o.tangent) / o.value)
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.value, -self.tangent)
    }
}

impl Scalar for Dual {
    fn constant(value: f64) -> Self {
        Self::new(value, 0.0)
    }

    fn value(self) -> f64 {
        self.value
    }

    fn exp(self) -> Self {
        let value = libm::exp(self.value);
        self.chain(value, value)
    }

    fn ln(self) -> Self {
        self.chain(libm::log(self.value), 1.0 / self.value)
    }

    fn sqrt(self) -> Self {
        let value = libm::sqrt(self.value);
        self.chain(value, 0.5 / value)
    }

    fn tanh(self) -> Self {
        let value = libm::tanh(self.value);
        self.chain(value, 1.0 - value * value)
    }

    fn erf(self) -> Self {
        let slope = 2.0 / libm::sqrt(PI) * libm::exp(-self.value * self.value);
        self.chain(libm::erf(self.value), slope)
    }

    fn max(self, other: Self) -> Self {
        if other.value > self.value { other } else { self }
    }

    fn sum(terms: impl IntoIterator<Item = Self>) -> Self {
        terms.into_iter().fold(Self::zero(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dual, Scalar};

    type Rule = (&'static str, fn(Dual) -> Dual);

    #[test]
    fn every_rule_agrees_with_a_central_difference() {
        let rules: [Rule; 7] = [
            ("exp", Dual::exp),
            ("ln", Dual::ln),
            ("sqrt", Dual::sqrt),
            ("tanh", Dual::tanh),
            ("erf", Dual::erf),
            ("square", |x| x * x),
            ("ratio", |x| (x - Dual::constant(3.0)) / (x + Dual::constant(1.0))),
        ];
        let (x, h) = (0.7, 1e-6);
        for (name, rule) in rules {
            let at = |x| rule(Dual::constant(x)).value;
            let want = (at(x + h) - at(x - h)) / (2.0 * h);
            let got = rule(Dual::new(x, 1.0)).tangent;
            assert!((got - want).abs() < 1e-8, "{name}: {got} and {want}");
        }
    }
}
