//! Reverse-mode differentiation over any scalar: a computation that remembers its steps.
//!
//! The sweep back does its arithmetic in the traced scalar. Over [`Bounded`](super::Bounded) the
//! gradients therefore come with bounds, over [`Shuffled`](super::Shuffled) the sums that the chain
//! rule makes are added in any order.

use std::cell::RefCell;
use std::f64::consts::PI;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::Scalar;

/// The steps of one computation.
#[derive(Debug)]
pub struct Trace<S>(RefCell<Vec<Step<S>>>);

/// A number and the step of a trace that made it; none for what doesn't depend on an input.
#[derive(Debug)]
pub struct Traced<'t, S> {
    value: S,
    step: Option<(&'t Trace<S>, usize)>,
}

/// How a step came about, with what its derivative needs. Operands are earlier steps; one that
/// doesn't depend on an input has none.
#[derive(Debug)]
enum Rule<S> {
    Input,
    Sum(Box<[usize]>),
    Sub([Option<usize>; 2]),
    Neg(usize),
    Mul([Option<usize>; 2], [S; 2]),
    /// The operands and the divisor; the quotient is the step's own value.
    Div([Option<usize>; 2], S),
    Exp(usize),
    Ln(usize, S),
    Sqrt(usize),
    Tanh(usize),
    Erf(usize, S),
}

#[derive(Debug)]
struct Step<S> {
    value: S,
    rule: Rule<S>,
}

impl<S> Clone for Traced<'_, S>
where
    S: Copy,
{
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Traced<'_, S> where S: Copy {}

impl<S: Scalar> Default for Trace<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Scalar> Trace<S> {
    /// Without a step.
    #[must_use]
    pub const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// A number to differentiate by.
    pub fn input(&self, value: S) -> Traced<'_, S> {
        self.step(value, Rule::Input)
    }

    fn step(&self, value: S, rule: Rule<S>) -> Traced<'_, S> {
        let mut steps = self.0.borrow_mut();
        steps.push(Step { value, rule });
        Traced { value, step: Some((self, steps.len() - 1)) }
    }

    /// Lets the sweep back use `value` where it would use the result of that step.
    pub fn saved(&self, of: Traced<'_, S>, value: S) {
        if let Some((_, at)) = of.step {
            self.0.borrow_mut()[at].value = value;
        }
    }

    /// What each of `inputs` adds to the results, each of which counts as often as its weight says:
    /// the chain rule from the last step to the first.
    #[must_use]
    pub fn gradients<'t>(
        &'t self,
        results: impl IntoIterator<Item = (Traced<'t, S>, S)>,
        inputs: &[Traced<'t, S>],
    ) -> Vec<S> {
        let steps = self.0.borrow();
        let mut sweep = Sweep { heads: vec![None; steps.len()], terms: Vec::new() };
        for (result, weight) in results {
            sweep.add(result.step.map(|(_, at)| at), weight);
        }
        for at in (0..steps.len()).rev() {
            // Inputs keep their terms until they are asked for.
            if sweep.heads[at].is_some() && !matches!(steps[at].rule, Rule::Input) {
                let cotangent = sweep.total(at);
                sweep.pass_on(&steps[at], cotangent);
            }
        }
        let of = |input: &Traced<'_, S>| input.step.map_or(S::zero(), |(_, at)| sweep.total(at));
        inputs.iter().map(of).collect()
    }
}

/// Terms of the cotangent of every step, as linked lists: a kernel may add them in any order, so
/// they are summed at once when all are known.
struct Sweep<S> {
    heads: Vec<Option<usize>>,
    terms: Vec<(S, Option<usize>)>,
}

impl<S: Scalar> Sweep<S> {
    fn add(&mut self, to: Option<usize>, term: S) {
        if let Some(to) = to {
            self.terms.push((term, self.heads[to]));
            self.heads[to] = Some(self.terms.len() - 1);
        }
    }

    fn total(&self, at: usize) -> S {
        let mut next = self.heads[at];
        S::sum(std::iter::from_fn(|| {
            let (term, behind) = self.terms[next?];
            next = behind;
            Some(term)
        }))
    }

    /// The chain rule for one step.
    fn pass_on(&mut self, step: &Step<S>, g: S) {
        let (one, y) = (S::constant(1.0), step.value);
        match &step.rule {
            Rule::Input => {}
            Rule::Sum(operands) => operands.iter().for_each(|at| self.add(Some(*at), g)),
            Rule::Sub([a, b]) => {
                self.add(*a, g);
                self.add(*b, -g);
            }
            Rule::Neg(a) => self.add(Some(*a), -g),
            Rule::Mul([a, b], [x, z]) => {
                self.add(*a, g * *z);
                self.add(*b, g * *x);
            }
            Rule::Div([a, b], divisor) => {
                self.add(*a, g / *divisor);
                self.add(*b, -(g * y / *divisor));
            }
            Rule::Exp(a) => self.add(Some(*a), g * y),
            Rule::Ln(a, x) => self.add(Some(*a), g / *x),
            Rule::Sqrt(a) => self.add(Some(*a), g * (S::constant(0.5) / y)),
            Rule::Tanh(a) => self.add(Some(*a), g * (one - y * y)),
            Rule::Erf(a, x) => {
                let top = S::constant(2.0) / S::constant(PI).sqrt();
                self.add(Some(*a), g * (top * (-(*x * *x)).exp()));
            }
        }
    }
}

/// A number that isn't differentiated by.
impl<S> From<S> for Traced<'_, S> {
    fn from(value: S) -> Self {
        Self { value, step: None }
    }
}

impl<S: Scalar> Traced<'_, S> {
    fn at(self) -> Option<usize> {
        self.step.map(|(_, at)| at)
    }

    fn unary(self, value: S, rule: impl FnOnce(usize) -> Rule<S>) -> Self {
        match self.step {
            Some((trace, at)) => trace.step(value, rule(at)),
            None => Self { value, step: None },
        }
    }

    fn binary(self, o: Self, value: S, rule: impl FnOnce([Option<usize>; 2]) -> Rule<S>) -> Self {
        match self.step.or(o.step) {
            Some((trace, _)) => trace.step(value, rule([self.at(), o.at()])),
            None => Self { value, step: None },
        }
    }
}

impl<S: Scalar> Add for Traced<'_, S> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        let sum =
            |operands: [Option<usize>; 2]| Rule::Sum(operands.into_iter().flatten().collect());
        self.binary(o, self.value + o.value, sum)
    }
}

impl<S: Scalar> Sub for Traced<'_, S> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self.binary(o, self.value - o.value, Rule::Sub)
    }
}

impl<S: Scalar> Mul for Traced<'_, S> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let factors = [self.value, o.value];
        self.binary(o, self.value * o.value, |operands| Rule::Mul(operands, factors))
    }
}

impl<S: Scalar> Div for Traced<'_, S> {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        self.binary(o, self.value / o.value, |operands| Rule::Div(operands, o.value))
    }
}

impl<S: Scalar> Neg for Traced<'_, S> {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(-self.value, Rule::Neg)
    }
}

impl<S: Scalar> Scalar for Traced<'_, S> {
    fn constant(value: f64) -> Self {
        Self { value: S::constant(value), step: None }
    }

    fn value(self) -> f64 {
        self.value.value()
    }

    fn exp(self) -> Self {
        self.unary(self.value.exp(), Rule::Exp)
    }

    fn ln(self) -> Self {
        self.unary(self.value.ln(), |at| Rule::Ln(at, self.value))
    }

    fn sqrt(self) -> Self {
        self.unary(self.value.sqrt(), Rule::Sqrt)
    }

    fn tanh(self) -> Self {
        self.unary(self.value.tanh(), Rule::Tanh)
    }

    fn erf(self) -> Self {
        self.unary(self.value.erf(), |at| Rule::Erf(at, self.value))
    }

    /// The gradient is the larger one's, and the first one's where they are equal.
    fn max(self, other: Self) -> Self {
        let larger = if other.value() > self.value() { other } else { self };
        Self { value: self.value.max(other.value), step: larger.step }
    }

    fn uncertain(self, relative: f64) -> Self {
        Self { value: self.value.uncertain(relative), ..self }
    }

    fn sum(terms: impl IntoIterator<Item = Self>) -> Self {
        let mut trace = None;
        let mut operands = Vec::new();
        let value = S::sum(terms.into_iter().map(|term| {
            if let Some((of, at)) = term.step {
                trace = Some(of);
                operands.push(at);
            }
            term.value
        }));
        match trace {
            Some(trace) => trace.step(value, Rule::Sum(operands.into_boxed_slice())),
            None => Self { value, step: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Trace, Traced};
    use crate::numeric::{Bounded, Dual, ErrorModel, Scalar, Structure};

    /// Every rule at once, with fan-out and a constant beside each operand.
    fn everything<S: Scalar>(x: S, z: S) -> S {
        let two = S::constant(2.0);
        let quotient = (x - two) / (z * z + two) - two / z;
        let bent = quotient.tanh() + x.erf() * (two * z).ln() + (-x).exp() / x.sqrt();
        S::sum([bent, x.max(z), two.max(x), x, two]) - (two - z)
    }

    #[test]
    fn the_sweep_back_agrees_with_dual_numbers() {
        for (x, z) in [(0.7, 1.3), (2.5, 0.4), (1.0, 1.0)] {
            let trace = Trace::new();
            let (tx, tz) = (trace.input(x), trace.input(z));
            let result = everything(tx, tz);
            let got = trace.gradients([(result, 3.0)], &[tx, tz]);
            let dual = |tx, tz| 3.0 * everything(Dual::new(x, tx), Dual::new(z, tz)).tangent;
            for (got, want) in got.into_iter().zip([dual(1.0, 0.0), dual(0.0, 1.0)]) {
                assert!((got - want).abs() <= 1e-13 * want.abs(), "{got} and {want} at {x}, {z}");
            }
        }
    }

    #[test]
    fn what_nothing_depends_on_has_no_gradient() {
        let trace = Trace::new();
        let (used, idle) = (trace.input(1.5), trace.input(2.0));
        let constant = Traced::constant(3.0) * Traced::constant(4.0);
        let results = [(used * used, 1.0), (constant, 1.0)];
        assert_eq!(trace.gradients(results, &[used, idle]), [3.0, 0.0]);
    }

    #[test]
    fn gradients_over_bounds_have_bounds() {
        let exact = |v| Bounded::exact(v, &ErrorModel::SPEC, Structure::Random);
        let trace = Trace::new();
        let x = trace.input(exact(0.3));
        let gradients = trace.gradients([(x.tanh(), exact(1.0))], &[x]);
        let want = 1.0 - 0.3f64.tanh().powi(2);
        assert!((gradients[0].value - want).abs() < 1e-15);
        assert!(gradients[0].error > 1e-8 && gradients[0].error < 1e-5, "{:?}", gradients[0]);
    }

    #[test]
    fn a_saved_result_takes_the_place_of_the_computed_one() {
        let trace = Trace::new();
        let x = trace.input(1.0);
        let y = x.exp();
        trace.saved(y, 2.75);
        assert_eq!(trace.gradients([(y, 2.0)], &[x]), [5.5]);
    }
}
