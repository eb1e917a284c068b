//! The numbers of expressions: ratios of integers as long as nothing is a float, so that
//! `ceil(n / 64)` and `n / 49 * 49` are what they say.

use std::cmp::Ordering;
use std::fmt;

/// A number in an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// Reduced; the denominator is positive.
    Ratio(i128, i128),
    /// Whatever a float literal took part in.
    Float(f64),
}

/// What an operation on numbers can't give.
pub(super) type Calculated = Result<Number, &'static str>;

const TOO_LARGE: &str = "the result is too large";
const BY_ZERO: &str = "division by zero";

impl Number {
    /// A whole number.
    pub(super) const fn whole(value: i128) -> Self {
        Self::Ratio(value, 1)
    }

    /// 1 or 0.
    pub(super) const fn truth(holds: bool) -> Self {
        Self::Ratio(if holds { 1 } else { 0 }, 1)
    }

    /// The nearest double.
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Self::Ratio(over, 1) => over as f64,
            Self::Ratio(over, under) => over as f64 / under as f64,
            Self::Float(value) => value,
        }
    }

    /// The integer that it is.
    pub(super) fn to_whole(self) -> Option<i128> {
        match self {
            Self::Ratio(over, 1) => Some(over),
            Self::Ratio(..) => None,
            Self::Float(value) => {
                let is_whole = value.fract() == 0.0 && value.abs() < 2f64.powi(63);
                #[expect(clippy::cast_possible_truncation, reason = "whole and within range")]
                is_whole.then_some(value as i128)
            }
        }
    }

    pub(super) fn is_zero(self) -> bool {
        self.to_f64() == 0.0
    }

    fn ratio(over: i128, under: i128) -> Option<Self> {
        let divisor = i128::try_from(gcd(over.unsigned_abs(), under.unsigned_abs())).ok()?;
        let (over, under) = (over.checked_div(divisor)?, under.checked_div(divisor)?);
        Some(if under < 0 {
            Self::Ratio(over.checked_neg()?, under.checked_neg()?)
        } else {
            Self::Ratio(over, under)
        })
    }

    fn combined(
        self,
        other: Self,
        exact: impl Fn((i128, i128), (i128, i128)) -> Option<Self>,
        rounded: impl Fn(f64, f64) -> f64,
    ) -> Calculated {
        let result = match (self, other) {
            (Self::Ratio(a, b), Self::Ratio(c, d)) => exact((a, b), (c, d)),
            (a, b) => Some(Self::Float(rounded(a.to_f64(), b.to_f64()))),
        };
        match result {
            Some(Self::Float(value)) if !value.is_finite() => Err(TOO_LARGE),
            other => other.ok_or(TOO_LARGE),
        }
    }

    pub(super) fn plus(self, other: Self) -> Calculated {
        let exact = |(a, b): (i128, i128), (c, d): (i128, i128)| {
            let over = a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?;
            Self::ratio(over, b.checked_mul(d)?)
        };
        self.combined(other, exact, |a, b| a + b)
    }

    pub(super) fn minus(self, other: Self) -> Calculated {
        self.plus(other.negated()?)
    }

    pub(super) fn times(self, other: Self) -> Calculated {
        let exact = |(a, b): (i128, i128), (c, d): (i128, i128)| {
            Self::ratio(a.checked_mul(c)?, b.checked_mul(d)?)
        };
        self.combined(other, exact, |a, b| a * b)
    }

    pub(super) fn over(self, other: Self) -> Calculated {
        if other.is_zero() {
            return Err(BY_ZERO);
        }
        let exact = |(a, b): (i128, i128), (c, d): (i128, i128)| {
            Self::ratio(a.checked_mul(d)?, b.checked_mul(c)?)
        };
        self.combined(other, exact, |a, b| a / b)
    }

    /// What is left after the quotient was rounded down.
    pub(super) fn modulo(self, other: Self) -> Calculated {
        self.minus(self.over(other)?.floor()?.times(other)?)
    }

    pub(super) fn negated(self) -> Calculated {
        match self {
            Self::Ratio(over, under) => {
                over.checked_neg().map(|over| Self::Ratio(over, under)).ok_or(TOO_LARGE)
            }
            Self::Float(value) => Ok(Self::Float(-value)),
        }
    }

    pub(super) fn floor(self) -> Calculated {
        Ok(match self {
            Self::Ratio(over, under) => Self::whole(over.div_euclid(under)),
            Self::Float(value) => Self::Float(value.floor()),
        })
    }

    pub(super) fn ceil(self) -> Calculated {
        self.negated()?.floor()?.negated()
    }

    /// The next multiple.
    pub(super) fn rounded_up(self, step: Self) -> Calculated {
        if !(step.to_f64() > 0.0) {
            return Err("multiples of what isn't positive");
        }
        self.over(step)?.ceil()?.times(step)
    }

    /// Of a power of two alone.
    pub(super) fn log2(self) -> Calculated {
        let power = self.to_whole().and_then(|whole| u128::try_from(whole).ok());
        match power.filter(|power| power.is_power_of_two()) {
            Some(power) => Ok(Self::whole(i128::from(power.trailing_zeros()))),
            None => Err("log2 of what is no power of two"),
        }
    }

    /// The least power of two, from 1 on, that isn't below it.
    pub(super) fn pow2_ceil(self) -> Calculated {
        if !(self.to_f64() > 0.0) {
            return Err("a power of two above what isn't positive");
        }
        let whole = self.ceil()?.to_whole().and_then(|whole| u128::try_from(whole).ok());
        let power = whole.and_then(u128::checked_next_power_of_two);
        power.and_then(|power| i128::try_from(power).ok()).map(Self::whole).ok_or(TOO_LARGE)
    }

    pub(super) fn compare(self, other: Self) -> Result<Ordering, &'static str> {
        match self.minus(other)? {
            Self::Ratio(over, _) => Ok(over.cmp(&0)),
            Self::Float(value) => value.partial_cmp(&0.0).ok_or("not a number"),
        }
    }
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratio(over, 1) => write!(f, "{over}"),
            other => write!(f, "{}", other.to_f64()),
        }
    }
}
