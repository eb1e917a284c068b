//! Input regimes: the data that finds what standard normal draws alone would miss.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Stream, Structure};

/// A kind of input data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regime {
    /// N(0, 1).
    Normal,
    /// N(0, 1) x 1e-3: absolute constants such as an epsilon show.
    Tiny,
    /// 1000 + N(0, 1): cancellation shows.
    Offset,
    /// N(0, 1) x 100: overflow shows.
    Large,
    /// Small integers: linear ops become exact.
    Integers,
    /// One 1 among zeros: index faults show one by one.
    OneHot,
    /// Three values only: ties.
    Ties,
    /// -200 - |N(0, 1)|: a maximum that starts from 0 leaves an exponential nothing but underflow.
    Negative,
    /// Half of the elements +0 or -0.
    SignedZeros,
    /// A few infinities; only where the op defines the result.
    Infinities,
    /// All 65,536 values of f16 in the order of their bits, again and again.
    AllHalves,
}

impl Regime {
    /// The regimes that every op is checked with.
    pub const FINITE: [Self; 9] = [
        Self::Normal,
        Self::Tiny,
        Self::Offset,
        Self::Large,
        Self::Integers,
        Self::OneHot,
        Self::Ties,
        Self::Negative,
        Self::SignedZeros,
    ];

    /// The name in case ids.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Tiny => "tiny",
            Self::Offset => "offset",
            Self::Large => "large",
            Self::Integers => "integers",
            Self::OneHot => "one-hot",
            Self::Ties => "ties",
            Self::Negative => "negative",
            Self::SignedZeros => "signed-zeros",
            Self::Infinities => "infinities",
            Self::AllHalves => "all-halves",
        }
    }

    /// Whether rounding errors may be taken to cancel like a random walk.
    #[must_use]
    pub const fn structure(self) -> Structure {
        match self {
            Self::Normal | Self::Tiny | Self::Large => Structure::Random,
            _ => Structure::Structured,
        }
    }

    /// Draws one operand.
    #[must_use]
    pub fn draw(self, domain: Domain, len: usize, stream: &mut Stream) -> Vec<f64> {
        match domain {
            Domain::Index { below } => (0..len).map(|_| stream.index(below) as f64).collect(),
            Domain::Real => self.reals(len, stream),
            Domain::NonNegative => self.reals(len, stream).into_iter().map(f64::abs).collect(),
            Domain::Unit => (0..len).map(|_| stream.unit()).collect(),
        }
    }

    fn reals(self, len: usize, stream: &mut Stream) -> Vec<f64> {
        let mut draw = |f: &mut dyn FnMut(&mut Stream) -> f64| -> Vec<f64> {
            (0..len).map(|_| f(stream)).collect()
        };
        match self {
            Self::Normal => draw(&mut Stream::normal),
            Self::Tiny => draw(&mut |s| 1e-3 * s.normal()),
            Self::Offset => draw(&mut |s| 1000.0 + s.normal()),
            Self::Large => draw(&mut |s| 100.0 * s.normal()),
            Self::Integers => draw(&mut |s| s.index(9) as f64 - 4.0),
            Self::Ties => draw(&mut |s| [-1.0, 0.5, 2.0][s.index(3)]),
            Self::Negative => draw(&mut |s| -200.0 - s.normal().abs()),
            Self::SignedZeros => draw(&mut |s| match s.index(4) {
                0 => 0.0,
                1 => -0.0,
                _ => s.normal(),
            }),
            Self::Infinities => draw(&mut |s| match s.index(16) {
                0 => f64::INFINITY,
                1 => f64::NEG_INFINITY,
                _ => s.normal(),
            }),
            Self::AllHalves => {
                let halves = (0..=u16::MAX).map(|bits| half::f16::from_bits(bits).to_f64());
                halves.cycle().take(len).collect()
            }
            Self::OneHot => {
                let mut values = vec![0.0; len];
                if len > 0 {
                    values[stream.index(len)] = 1.0;
                }
                values
            }
        }
    }
}

impl fmt::Display for Regime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which numbers an operand may hold, whatever the regime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Any.
    Real,
    /// Zero or more, such as a second moment.
    NonNegative,
    /// In [0, 1), whatever the regime.
    Unit,
    /// A whole number below a limit, with duplicates; `below` is at least 1.
    Index {
        /// The limit.
        below: usize,
    },
}
