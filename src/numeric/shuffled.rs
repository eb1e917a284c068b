//! f32 on the host with every sum in an order of its own.
//!
//! A kernel may add in any order, so no single f32 run says how far from another a correct one may
//! be. Runs of one reference that differ in nothing but the order of their sums do.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Scalar, Stream};

/// Where the orders of sums come from: a seeded stream, drawn from once per term.
#[derive(Debug)]
pub struct Order(RefCell<Stream>);

impl Order {
    /// The orders of a seed and a path of names.
    #[must_use]
    pub fn new(seed: u64, path: &[&str]) -> Self {
        Self(RefCell::new(Stream::new(seed, path)))
    }

    /// Fisher and Yates's shuffle.
    fn shuffle(&self, terms: &mut [f32]) {
        let mut stream = self.0.borrow_mut();
        for last in (1..terms.len()).rev() {
            terms.swap(last, stream.index(last + 1));
        }
    }
}

/// An f32 that knows in which order to be summed.
#[derive(Clone, Copy, Debug)]
pub struct Shuffled<'o> {
    value: f32,
    order: Option<&'o Order>,
}

impl<'o> Shuffled<'o> {
    /// Rounds a number to f32.
    #[must_use]
    pub fn new(value: f64, order: &'o Order) -> Self {
        Self { order: Some(order), ..Self::constant(value) }
    }

    fn with(self, value: f32) -> Self {
        Self { value, ..self }
    }

    fn joined(self, other: Self, value: f32) -> Self {
        Self { value, order: self.order.or(other.order) }
    }
}

impl Add for Shuffled<'_> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        self.joined(o, self.value + o.value)
    }
}

impl Sub for Shuffled<'_> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self.joined(o, self.value - o.value)
    }
}

impl Mul for Shuffled<'_> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        self.joined(o, self.value * o.value)
    }
}

impl Div for Shuffled<'_> {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        self.joined(o, self.value / o.value)
    }
}

impl Neg for Shuffled<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.with(-self.value)
    }
}

impl Scalar for Shuffled<'_> {
    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the point")]
    fn constant(value: f64) -> Self {
        Self { value: value as f32, order: None }
    }

    fn value(self) -> f64 {
        f64::from(self.value)
    }

    fn exp(self) -> Self {
        self.with(libm::expf(self.value))
    }

    fn ln(self) -> Self {
        self.with(libm::logf(self.value))
    }

    fn sqrt(self) -> Self {
        self.with(libm::sqrtf(self.value))
    }

    fn tanh(self) -> Self {
        self.with(libm::tanhf(self.value))
    }

    fn erf(self) -> Self {
        self.with(libm::erff(self.value))
    }

    fn max(self, other: Self) -> Self {
        if other.value > self.value { other } else { self }
    }

    fn sum(terms: impl IntoIterator<Item = Self>) -> Self {
        let mut order = None;
        let values = terms.into_iter().map(|term| {
            order = order.or(term.order);
            term.value
        });
        let mut values: Vec<f32> = values.collect();
        if let Some(order) = order {
            order.shuffle(&mut values);
        }
        Self { value: values.iter().sum(), order }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Order, Shuffled};
    use crate::numeric::Scalar;

    /// 2^24 + 1 - 2^24 in f32 is 0 or 1, as the order has it.
    #[test]
    fn sums_differ_in_their_order_and_in_nothing_else() {
        let sums = |seed| -> Vec<u64> {
            let order = Order::new(seed, &["sum"]);
            let terms = [16_777_216.0, 1.0, -16_777_216.0].map(|x| Shuffled::new(x, &order));
            (0..32).map(|_| Shuffled::sum(terms).value().to_bits()).collect()
        };
        let seen: BTreeSet<u64> = sums(1).into_iter().collect();
        assert_eq!(seen, BTreeSet::from([0f64.to_bits(), 1f64.to_bits()]));
        assert_eq!(sums(1), sums(1));
        assert_ne!(sums(1), sums(2));
    }

    #[test]
    fn a_sum_of_constants_keeps_the_order_it_was_given() {
        let terms = [16_777_216.0, 1.0, -16_777_216.0].map(Shuffled::constant);
        assert_eq!(Shuffled::sum(terms).value(), 0.0);
    }
}
