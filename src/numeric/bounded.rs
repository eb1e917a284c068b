//! A value that carries a bound on the error of an f32 computation of it.
//!
//! This is running error analysis (Wilkinson; Higham, "Accuracy and Stability of Numerical
//! Algorithms", section 3.3) against the exact result: `value` is what the reference says and
//! `error` bounds `|kernel - value|` for any kernel that follows the same formula, fused or not,
//! with or without subnormals.
//!
//! Single operations allow any rounding direction. Sums allow any order, but round to nearest: a
//! directed rounding adds up with one sign and is reported as what it is. A kernel that the driver
//! reassociates outside of a sum follows another formula; `precise` prevents it. Branches on a
//! computed value are not covered: references branch on inputs and exact selections only.

use std::f64::consts::PI;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Builtin, ErrorModel, F32_EPS, F32_MIN_NORMAL, Scalar, Structure};

/// Integers up to here are exact in f32.
const EXACT_INTEGER: f64 = 16_777_216.0;

/// The approximation 7.1.26 of Abramowitz and Stegun, which the kernels use for erf, is off by at
/// most 1.5e-7. Its evaluation multiplies the errors of a division (the slope in t reaches 3.44),
/// of five steps of Horner's rule and of an exponential: 1.63e-6 with each at its limit.
const ERF_ERROR: f64 = 1.5e-7 + 64.0 * F32_EPS;

/// The smallest subnormal: what a relative error can't express below the normal range.
const SUBNORMAL: f64 = F32_MIN_NORMAL * F32_EPS * 2.0;

/// A reference value with its error bound.
#[derive(Clone, Copy, Debug)]
pub struct Bounded<'m> {
    /// The exact result, or an infinity where f32 must have overflowed.
    pub value: f64,
    /// Bound on the kernel's distance from it; infinite where nothing can be said.
    pub error: f64,
    model: Option<(&'m ErrorModel, Structure)>,
}

impl<'m> Bounded<'m> {
    /// An operand that both sides know exactly.
    #[must_use]
    pub const fn exact(value: f64, model: &'m ErrorModel, structure: Structure) -> Self {
        Self { value, error: 0.0, model: Some((model, structure)) }
    }

    /// An operand that the kernel knows up to `error`.
    #[must_use]
    pub const fn with_error(mut self, error: f64) -> Self {
        self.error = error;
        self
    }

    fn joined(self, other: Self) -> Option<(&'m ErrorModel, Structure)> {
        join(self.model, other.model)
    }

    /// A new value with the error propagated so far and that of one more rounding step.
    fn rounded(
        value: f64,
        propagated: f64,
        step: f64,
        model: Option<(&'m ErrorModel, Structure)>,
    ) -> Self {
        let mut error = propagated + step;
        // A result below the normal range may be flushed to zero.
        if value.abs() - error < F32_MIN_NORMAL {
            error += value.abs().min(F32_MIN_NORMAL);
        }
        let mut value = value;
        if value.is_finite() {
            if value.abs() - error > f64::from(f32::MAX) {
                value = f64::INFINITY.copysign(value);
                error = 0.0;
            } else if value.abs() + error > f64::from(f32::MAX) || !error.is_finite() {
                error = f64::INFINITY;
            }
        } else {
            error = if error.is_finite() { 0.0 } else { f64::INFINITY };
        }
        Self { value, error, model }
    }

    fn is_exact_integer(self) -> bool {
        self.error == 0.0 && self.value.abs() <= EXACT_INTEGER && self.value.fract() == 0.0
    }

    /// One correctly or faithfully rounded operation; exact on integers that f32 holds.
    fn basic(value: f64, propagated: f64, a: Self, b: Self) -> Self {
        let exact = a.is_exact_integer()
            && b.is_exact_integer()
            && value.abs() <= EXACT_INTEGER
            && value.fract() == 0.0;
        let step = if exact || value.is_infinite() {
            0.0
        } else {
            2.0 * F32_EPS * (value.abs() + propagated) + SUBNORMAL
        };
        Self::rounded(value, propagated, step, a.joined(b))
    }

    fn builtin(self, builtin: Builtin, value: f64, propagated: f64) -> Self {
        let model = self.model.map_or(&ErrorModel::SPEC, |(model, _)| model);
        let step = if value.is_infinite() {
            0.0
        } else {
            // An argument that is itself uncertain may use what the specification allows beside it.
            let at = |x| model.allowed(builtin, x, value.abs() + propagated);
            let (low, high) = (self.value - self.error, self.value + self.error);
            at(self.value).max(at(low)).max(at(high)) + SUBNORMAL
        };
        Self::rounded(value, propagated, step, self.model)
    }
}

/// Structured data stays structured in whatever it is combined with.
fn join<'m>(
    a: Option<(&'m ErrorModel, Structure)>,
    b: Option<(&'m ErrorModel, Structure)>,
) -> Option<(&'m ErrorModel, Structure)> {
    match (a, b) {
        (Some((model, Structure::Random)), Some((_, Structure::Structured))) => {
            Some((model, Structure::Structured))
        }
        (a, b) => a.or(b),
    }
}

impl Add for Bounded<'_> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::basic(self.value + o.value, self.error + o.error, self, o)
    }
}

impl Sub for Bounded<'_> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::basic(self.value - o.value, self.error + o.error, self, o)
    }
}

impl Mul for Bounded<'_> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let propagated =
            scaled(self.value, o.error) + scaled(o.value, self.error) + scaled(self.error, o.error);
        Self::basic(self.value * o.value, propagated, self, o)
    }
}

/// `|factor| * error`, where an exact operand contributes nothing even next to an infinity, and a
/// boundless one everything even next to a zero.
fn scaled(factor: f64, error: f64) -> f64 {
    if error == 0.0 || (factor == 0.0 && error.is_finite()) {
        0.0
    } else if error.is_infinite() {
        f64::INFINITY
    } else {
        factor.abs() * error
    }
}

impl Div for Bounded<'_> {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let value = self.value / o.value;
        let distance = o.value.abs() - o.error;
        // The specification bounds division for divisors between 2^-126 and 2^126 only.
        let covered = (F32_MIN_NORMAL..=1.0 / F32_MIN_NORMAL).contains(&distance)
            && o.value.abs() + o.error <= 1.0 / F32_MIN_NORMAL;
        let propagated = if !covered {
            f64::INFINITY
        } else if self.error == 0.0 && o.error == 0.0 {
            0.0
        } else {
            (self.error + scaled(value, o.error)) / distance
        };
        let model = self.joined(o);
        let errors = model.map_or(&ErrorModel::SPEC, |(model, _)| model);
        let step = if value.is_infinite() {
            0.0
        } else {
            errors.allowed(Builtin::Div, self.value, value.abs() + propagated) + SUBNORMAL
        };
        Self::rounded(value, propagated, step, model)
    }
}

impl Neg for Bounded<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, ..self }
    }
}

impl Scalar for Bounded<'_> {
    fn constant(value: f64) -> Self {
        Self { value, error: 0.0, model: None }
    }

    fn value(self) -> f64 {
        self.value
    }

    fn exp(self) -> Self {
        let value = libm::exp(self.value);
        self.builtin(Builtin::Exp, value, scaled(value, libm::expm1(self.error)))
    }

    fn ln(self) -> Self {
        let value = libm::log(self.value);
        let relative = if self.error == 0.0 { 0.0 } else { self.error / self.value.abs() };
        let propagated = if relative < 1.0 { -libm::log1p(-relative) } else { f64::INFINITY };
        self.builtin(Builtin::Log, value, propagated)
    }

    fn sqrt(self) -> Self {
        // Arguments are non-negative by construction, such as sums of squares, so a kernel's stays
        // so however far it is off.
        let value = libm::sqrt(self.value);
        let below = value - libm::sqrt((self.value - self.error).max(0.0));
        let above = libm::sqrt(self.value + self.error) - value;
        let propagated = if self.error == 0.0 { 0.0 } else { below.max(above) };
        self.builtin(Builtin::Sqrt, value, propagated)
    }

    fn tanh(self) -> Self {
        let value = libm::tanh(self.value);
        // The slope is largest at the point of the interval that is nearest to zero.
        let nearest = (self.value.abs() - self.error).max(0.0);
        let slope = 1.0 - libm::pow(libm::tanh(nearest), 2.0);
        self.builtin(Builtin::Tanh, value, scaled(slope, self.error))
    }

    fn erf(self) -> Self {
        let value = libm::erf(self.value);
        let propagated = scaled(2.0 / libm::sqrt(PI), self.error);
        Self::rounded(value, propagated, ERF_ERROR, self.model)
    }

    fn max(self, other: Self) -> Self {
        let value = if other.value > self.value { other.value } else { self.value };
        // GLSL leaves max() of a NaN open.
        let doubtful = self.value.is_nan() || other.value.is_nan();
        let error = if doubtful { f64::INFINITY } else { self.error.max(other.error) };
        Self { value, error, model: self.joined(other) }
    }

    fn uncertain(self, relative: f64) -> Self {
        self.with_error(self.error + scaled(self.value, relative))
    }

    fn sum(terms: impl IntoIterator<Item = Self>) -> Self {
        let (mut value, mut magnitude, mut propagated) = (0.0, 0.0, 0.0);
        let (mut count, mut exact, mut model) = (0, true, None);
        for term in terms {
            value += term.value;
            magnitude += term.value.abs();
            propagated += term.error;
            exact &= term.is_exact_integer();
            model = join(model, term.model);
            count += 1;
        }
        exact &= magnitude <= EXACT_INTEGER;
        let structure = model.map_or(Structure::Structured, |(_, structure)| structure);
        let factor = ErrorModel::sum_factor(structure, count);
        let step = if exact || count < 2 || value.is_infinite() {
            0.0
        } else {
            // Each partial sum may be flushed to zero where it is subnormal.
            factor * F32_EPS * (magnitude + propagated) + count as f64 * F32_MIN_NORMAL
        };
        // An intermediate sum may overflow although the result doesn't.
        if value.is_finite() && magnitude > f64::from(f32::MAX) {
            propagated = f64::INFINITY;
        }
        Self::rounded(value, propagated, step, model)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounded, ErrorModel, F32_EPS, Scalar, Structure};

    fn exact(value: f64) -> Bounded<'static> {
        Bounded::exact(value, &ErrorModel::SPEC, Structure::Random)
    }

    #[test]
    fn integers_that_f32_holds_cost_nothing() {
        let dot = Scalar::sum((0..100).map(|i| exact(f64::from(i)) * exact(3.0)));
        assert_eq!((dot.value, dot.error), (14_850.0, 0.0));
    }

    #[test]
    fn a_sum_follows_the_table_of_bounds() {
        let sum: Bounded<'_> = Scalar::sum((0..64).map(|_| exact(0.1)));
        let want = (4.0 + 16.0) * F32_EPS * 6.4;
        assert!((sum.error / want - 1.0).abs() < 1e-9, "{} and {want}", sum.error);
    }

    #[test]
    fn overflow_is_an_infinity_and_doubt_is_no_bound() {
        assert!(exact(100.0).exp().value.is_infinite());
        assert_eq!(exact(100.0).exp().error, 0.0);
        let near = exact(f64::from(f32::MAX)) * exact(1.0 - 1e-8);
        assert!(near.error.is_infinite());
    }

    #[test]
    fn cancellation_keeps_the_error_of_its_operands() {
        let third = exact(1.0) / exact(3.0);
        let difference = third - third;
        assert_eq!(difference.value, 0.0);
        assert!(difference.error >= 2.0 * third.error);
    }

    #[test]
    fn a_root_is_bounded_on_both_sides() {
        assert!(exact(0.0).with_error(1e-6).sqrt().error >= 1e-3);
        assert!(exact(1e-6).with_error(1e-5).sqrt().error >= 11e-6f64.sqrt() - 1e-3);
    }

    #[test]
    fn doubt_survives_a_zero_and_a_nan() {
        let boundless = exact(1.0).with_error(f64::INFINITY);
        assert!((exact(0.0) * boundless).error.is_infinite());
        assert!(exact(0.0).max(exact(f64::NAN)).error.is_infinite());
    }

    #[test]
    fn structure_is_contagious() {
        let structured = Bounded::exact(0.1, &ErrorModel::SPEC, Structure::Structured);
        let sum: Bounded<'_> = Scalar::sum((0..4096).map(|_| exact(1.0) * structured));
        assert!(sum.error > 4098.0 * F32_EPS * 409.6);
    }

    #[test]
    fn an_infinity_stays_certain() {
        let infinite = exact(100.0).exp();
        assert_eq!((infinite + exact(1.0)).error, 0.0);
        assert_eq!((infinite * exact(2.0)).error, 0.0);
    }

    #[test]
    fn a_logarithm_near_the_edge_of_its_two_rules_gets_the_wider() {
        let near = exact(2.000_000_1).with_error(1e-6).ln();
        assert!(near.error >= 1.0 / 2_097_152.0 + 4.9e-7);
    }

    #[test]
    fn a_division_by_what_may_be_zero_has_no_bound() {
        let doubtful = exact(1e-9).with_error(1e-8);
        assert!((exact(1.0) / doubtful).error.is_infinite());
    }
}
