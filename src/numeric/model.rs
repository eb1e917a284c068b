//! How far a device's arithmetic may be from exact.

use serde::{Deserialize, Serialize};

use super::F32_EPS;

/// A function of the device whose error the specification bounds and calibration sharpens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Builtin {
    /// `x / y`.
    Div,
    /// `sqrt(x)`.
    Sqrt,
    /// `inversesqrt(x)`.
    InverseSqrt,
    /// `exp(x)`.
    Exp,
    /// `log(x)`.
    Log,
    /// `tanh(x)`.
    Tanh,
}

impl Builtin {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Self; 6] =
        [Self::Div, Self::Sqrt, Self::InverseSqrt, Self::Exp, Self::Log, Self::Tanh];

    /// The name in GLSL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Div => "div",
            Self::Sqrt => "sqrt",
            Self::InverseSqrt => "inversesqrt",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Tanh => "tanh",
        }
    }

    /// The absolute error that the specification allows at argument `x` with result `y`.
    ///
    /// Source: Vulkan specification, appendix "Precision and Operation of SPIR-V Instructions".
    /// Division 2.5 ULP; inversesqrt 2 ULP; sqrt inherited from `1 / inversesqrt(x)`, 4.5 ULP;
    /// exp `3 + 2|x|` ULP; log 3 ULP outside [0.5, 2] and 2^-21 inside. tanh is inherited from
    /// `sinh / cosh`: each holds two exponentials, which gives the relative error below of a
    /// numerator that does not vanish with x, and so an absolute one.
    /// One ULP is at most `2u|y|` with u = 2^-24.
    #[must_use]
    pub fn spec(self, x: f64, y: f64) -> f64 {
        let u = F32_EPS;
        match self {
            Self::Div => 5.0 * u * y.abs(),
            Self::Sqrt => 9.0 * u * y.abs(),
            Self::InverseSqrt => 4.0 * u * y.abs(),
            Self::Exp => (6.0 + 4.0 * x.abs()) * u * y.abs(),
            Self::Log if (0.5..=2.0).contains(&x) => 1.0 / 2_097_152.0,
            Self::Log => 6.0 * u * y.abs(),
            // Past 10 the quotient is 1 to the last digit, whatever the exponentials lost.
            Self::Tanh => (21.0 + 8.0 * x.abs().min(10.0)) * u,
        }
    }
}

/// Whether data is random, so that rounding errors partly cancel, or built so that they add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// Independent draws: errors of K additions grow with sqrt K.
    Random,
    /// Constant or patterned data: errors may all have one sign.
    Structured,
}

/// The error model that bounds are made of: the specification's, sharpened by calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorModel {
    /// Worst observed error of each [`Builtin`] as a fraction of [`Builtin::spec`], in the order of
    /// [`Builtin::ALL`].
    observed: [f64; 6],
}

impl ErrorModel {
    /// A device that uses up all that the specification allows.
    pub const SPEC: Self = Self { observed: [1.0; 6] };

    /// A model from calibration: worst observed fractions in the order of [`Builtin::ALL`].
    #[must_use]
    pub const fn calibrated(observed: [f64; 6]) -> Self {
        Self { observed }
    }

    /// Worst observed error as a fraction of what the specification allows.
    #[must_use]
    pub fn observed(&self, builtin: Builtin) -> f64 {
        self.observed[builtin as usize]
    }

    /// The absolute error that a check allows: `min(spec, 4 x calibrated)`, since a calibration on
    /// 2^20 points has not seen the worst one; never below half an ULP, which rounding costs.
    #[must_use]
    pub fn allowed(&self, builtin: Builtin, x: f64, y: f64) -> f64 {
        let fraction = (4.0 * self.observed(builtin)).min(1.0);
        (fraction * builtin.spec(x, y)).max(F32_EPS * y.abs())
    }

    /// Factor of `u * sum|x_i|` for a sum of `count` terms in any order: `4 + 2 sqrt K` for random
    /// data, where errors cancel as a random walk; `gamma_(K+2)` where they need not.
    #[must_use]
    pub fn sum_factor(structure: Structure, count: usize) -> f64 {
        let k = count as f64;
        let random = 4.0 + 2.0 * libm::sqrt(k);
        match structure {
            Structure::Random => random,
            Structure::Structured => {
                let worst = (k + 2.0) / (1.0 - (k + 2.0) * F32_EPS);
                worst.max(random)
            }
        }
    }
}
