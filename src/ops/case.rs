//! Cases: which problems an op is checked with. Boundary shapes are generic over the record.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Op, Problem};
use crate::numeric::Regime;
use crate::tensor::Dtype;

/// How many cases to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cases {
    /// Boundary shapes around one tile.
    Quick,
    /// Those, several tiles, and all dimensions past their tiles at once.
    Full,
}

/// Values for an op's dimensions and attributes, a storage type, a regime and a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Extent of each dimension, in record order.
    pub dims: Vec<usize>,
    /// Value of each attribute, in record order.
    pub attributes: Vec<f64>,
    /// Storage type of the float operands.
    pub dtype: Dtype,
    /// Kind of input data.
    pub regime: Regime,
    /// Seed of all streams.
    pub seed: u64,
    /// Buffers of kernels from outside that are stored in another type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<(String, Dtype)>,
}

/// Why a case's text could not be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("case `{text}`: {reason}")]
pub struct CaseError {
    text: String,
    reason: String,
}

impl Case {
    /// The case as a problem of its op.
    #[must_use]
    pub fn problem<'a>(&'a self, op: &'a Op) -> Problem<'a> {
        let Self { dims, attributes, storage, .. } = self;
        Problem { op, dims, attributes, dtype: self.dtype, storage }
    }

    /// `rows=7,cols=11/broadcast=1/normal/f16`: dimensions, attributes that differ from the
    /// default, regime, and the storage type where it isn't f32. [`Case::parse`] reads it back.
    #[must_use]
    pub fn id(&self, op: &Op) -> String {
        let dims: Vec<String> =
            op.dims.iter().zip(&self.dims).map(|(d, n)| format!("{}={n}", d.name)).collect();
        let mut id = dims.join(",");
        for (attribute, value) in op.attributes.iter().zip(&self.attributes) {
            if *value != attribute.values[0] {
                let _ = write!(id, "/{}={value}", attribute.name);
            }
        }
        let _ = write!(id, "/{}", self.regime);
        if self.dtype != Dtype::F32 {
            let _ = write!(id, "/{}", self.dtype);
        }
        id
    }

    /// Reads [`Case::id`] back.
    ///
    /// # Errors
    /// A dimension, attribute, regime or type that the op doesn't have, or one that is missing.
    pub fn parse(op: &Op, text: &str, seed: u64) -> Result<Self, CaseError> {
        let fail = |reason: String| CaseError { text: text.to_owned(), reason };
        let mut dims = vec![None; op.dims.len()];
        let mut case = Self {
            dims: Vec::new(),
            attributes: op.default_attributes(),
            dtype: Dtype::F32,
            regime: Regime::Normal,
            seed,
            storage: Vec::new(),
        };
        for part in text.split(['/', ',']).filter(|part| !part.is_empty()) {
            if let Some((name, value)) = part.split_once('=') {
                let number = || fail(format!("`{value}` is no number"));
                if let Some(at) = op.dims.iter().position(|d| d.name == name) {
                    dims[at] = Some(value.parse().map_err(|_| number())?);
                } else if let Some(at) = op.attributes.iter().position(|a| a.name == name) {
                    let value = value.parse().map_err(|_| number())?;
                    let known = op.attributes[at].values;
                    if !known.contains(&value) {
                        return Err(fail(format!("{name} is one of {known:?}")));
                    }
                    case.attributes[at] = value;
                } else {
                    return Err(fail(format!("{} has no dimension or attribute {name}", op.name)));
                }
            } else if let Some(regime) = regimes().find(|r| r.name() == part) {
                case.regime = regime;
            } else if let Some(dtype) = op.dtypes.iter().find(|d| d.to_string() == part) {
                case.dtype = *dtype;
            } else {
                return Err(fail(format!(
                    "`{part}` is neither a regime nor a type of {}",
                    op.name
                )));
            }
        }
        for (dim, value) in op.dims.iter().zip(dims) {
            let value = value.ok_or_else(|| fail(format!("dimension {} is missing", dim.name)))?;
            if value < dim.least {
                return Err(fail(format!("{} must be at least {}", dim.name, dim.least)));
            }
            case.dims.push(value);
        }
        let elements = case.dims.iter().try_fold(1usize, |product, n| product.checked_mul(*n));
        if elements.is_none_or(|elements| elements > MOST_ELEMENTS) {
            return Err(fail(format!("more than {MOST_ELEMENTS} elements for a plain reference")));
        }
        Ok(case)
    }

    /// The cases of an op for a check that looks at `regimes`. The default attributes see every
    /// shape in every regime; other attribute values and storage types see every shape once and
    /// every regime once.
    #[must_use]
    pub fn generate(op: &Op, cases: Cases, regimes: &[Regime], seed: u64) -> Vec<Self> {
        let shapes = boundary_shapes(op, cases);
        let primes: Vec<usize> = PRIMES.iter().copied().take(op.dims.len()).collect();
        let defaults = op.default_attributes();
        let mut found = Vec::new();
        let mut push = |dims: &[usize], attributes: &[f64], dtype, regime| {
            let (dims, attributes) = (dims.to_vec(), attributes.to_vec());
            let case = Self { dims, attributes, dtype, regime, seed, storage: Vec::new() };
            if !found.contains(&case) {
                found.push(case);
            }
        };
        for dims in &shapes {
            for regime in regimes {
                push(dims, &defaults, op.dtypes[0], *regime);
            }
        }
        for (at, attribute) in op.attributes.iter().enumerate() {
            for value in &attribute.values[1..] {
                let mut attributes = defaults.clone();
                attributes[at] = *value;
                shapes.iter().for_each(|s| push(s, &attributes, op.dtypes[0], regimes[0]));
                regimes.iter().for_each(|r| push(&primes, &attributes, op.dtypes[0], *r));
            }
        }
        // All at once: switches such as two transpositions interact.
        let last: Vec<f64> =
            op.attributes.iter().filter_map(|a| a.values.last().copied()).collect();
        shapes.iter().for_each(|s| push(s, &last, op.dtypes[0], regimes[0]));
        for dtype in &op.dtypes[1..] {
            shapes.iter().for_each(|s| push(s, &defaults, *dtype, regimes[0]));
            regimes.iter().for_each(|r| push(&primes, &defaults, *dtype, *r));
        }
        found
    }
}

/// The regimes that a case of the op may name.
fn regimes() -> impl Iterator<Item = Regime> {
    Regime::FINITE.into_iter().chain([Regime::Infinities, Regime::AllHalves])
}

/// What the loops of a reference can be asked for; every generated case is far below.
const MOST_ELEMENTS: usize = 1 << 28;

/// Distinct primes, so that no two axes agree and nothing divides a tile.
const PRIMES: [usize; 6] = [7, 11, 5, 13, 3, 17];

/// Empty, 1, 2, primes, and each dimension at its tile - 1, tile and tile + 1.
fn boundary_shapes(op: &Op, cases: Cases) -> Vec<Vec<usize>> {
    let rank = op.dims.len();
    let primes: Vec<usize> = PRIMES.iter().copied().take(rank).collect();
    let mut shapes = vec![vec![1; rank], vec![2; rank], primes.clone()];
    for (at, dim) in op.dims.iter().enumerate() {
        let mut with = |extent: usize| {
            let mut shape: Vec<usize> = primes.iter().map(|p| (p / 2).max(2)).collect();
            shape[at] = extent;
            if extent >= dim.least && !shapes.contains(&shape) {
                shapes.push(shape);
            }
        };
        with(0);
        with(dim.tile.saturating_sub(1).max(1));
        with(dim.tile);
        with(dim.tile + 1);
        if cases == Cases::Full {
            with(2 * dim.tile + 1);
            with(4 * dim.tile + 3);
        }
    }
    if cases == Cases::Full {
        let past: Vec<usize> = op.dims.iter().map(|d| d.tile + 1).collect();
        if past.iter().product::<usize>() <= 100_000 {
            shapes.push(past);
        }
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::{Case, Cases};
    use crate::numeric::Regime;
    use crate::ops::{ALL, add};

    #[test]
    fn ids_read_back_as_they_were_written() {
        for op in ALL {
            for case in Case::generate(op, Cases::Full, &Regime::FINITE, 5) {
                let id = case.id(op);
                assert_eq!(Case::parse(op, &id, 5).as_ref(), Ok(&case), "{id}");
            }
        }
    }

    #[test]
    fn a_case_that_the_op_does_not_have_is_refused_with_its_reason() {
        let refuse = |text: &str| Case::parse(&add::OP, text, 0).expect_err(text).to_string();
        assert!(refuse("rows=1,depth=2").contains("no dimension or attribute depth"));
        assert!(refuse("rows=1").contains("cols is missing"));
        assert!(refuse("rows=1,cols=2/loud").contains("neither a regime nor a type"));
        assert!(refuse("rows=x,cols=2").contains("no number"));
        assert!(refuse("rows=1,cols=2/broadcast=7").contains("one of"));
        assert!(refuse("rows=3000000000,cols=3000000000").contains("more than"));
    }
}
