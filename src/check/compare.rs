//! Element by element: is what the kernel wrote within its bound?

use crate::numeric::{Bounded, max_finite, min_normal, next_after, ulp_of};
use crate::ops::{Operand, Problem};
use crate::tensor::{Dtype, Tensor, unravel};

use super::finding::Mismatch;

/// What a buffer should hold.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The buffer's name.
    pub name: String,
    /// How it is stored.
    pub dtype: Dtype,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Exact values.
    pub values: Vec<f64>,
    /// How far the kernel may be from each, before rounding to storage; infinite where nothing is
    /// promised.
    pub bounds: Vec<f64>,
    /// What a NaN among the values means.
    pub nan: Nan,
}

/// What is demanded where an expected value is a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nan {
    /// Nothing: the reference doesn't define the result.
    Open,
    /// A NaN: another run of the kernel had one there.
    Kept,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Flat indices of wrong elements, ascending.
    pub bad: Vec<usize>,
    /// The largest error as a fraction of its bound; infinite for a NaN or a broken exact match.
    pub worst: f64,
    /// Where that is.
    pub worst_at: usize,
}

impl Expected {
    /// From a bounded reference.
    #[must_use]
    pub fn new(
        problem: &Problem<'_>,
        operand: &Operand,
        name: &str,
        values: &[Bounded<'_>],
    ) -> Self {
        Self {
            name: name.to_owned(),
            dtype: problem.dtype_of(operand),
            shape: (operand.shape)(problem),
            values: values.iter().map(|b| b.value).collect(),
            bounds: values.iter().map(|b| b.error).collect(),
            nan: Nan::Open,
        }
    }

    /// Exactly what another run of the kernel wrote.
    #[must_use]
    pub fn exactly(name: &str, tensor: &Tensor) -> Self {
        Self {
            name: name.to_owned(),
            dtype: tensor.dtype(),
            shape: tensor.shape().to_vec(),
            values: tensor.values(),
            bounds: vec![0.0; tensor.len()],
            nan: Nan::Kept,
        }
    }

    /// Holds a kernel's result against it.
    #[must_use]
    pub fn compare(&self, got: &Tensor) -> Comparison {
        let mut comparison = Comparison::default();
        for (at, got) in got.values().into_iter().enumerate() {
            let (want, bound) = (self.values[at], self.bounds[at]);
            let lost_nan = self.nan == Nan::Kept && want.is_nan() && !got.is_nan();
            let fraction = if lost_nan && bound.is_finite() {
                f64::INFINITY
            } else {
                excess(self.dtype, want, bound, got)
            };
            if !(fraction <= 1.0) {
                comparison.bad.push(at);
            }
            if !(fraction <= comparison.worst) {
                comparison.worst = if fraction.is_nan() { f64::INFINITY } else { fraction };
                comparison.worst_at = at;
            }
        }
        comparison
    }

    /// The evidence for a finding.
    #[must_use]
    pub fn mismatch(&self, got: &Tensor, comparison: &Comparison) -> Mismatch {
        let at = comparison.worst_at;
        Mismatch {
            buffer: self.name.clone(),
            bad: comparison.bad.len(),
            total: self.values.len(),
            index: unravel(&self.shape, at),
            got: format!("{:.9e}", got.values()[at]),
            expected: format!("{:.9e}", self.values[at]),
            bound: format!("{:.2e}", self.bounds[at]),
        }
    }
}

/// The error as a fraction of what is allowed; above 1, or NaN, is wrong.
///
/// The kernel's f32 result may be anywhere in `want +- bound`. Storage as f16 or bf16 rounds that interval
/// outwards, since the specification leaves the rounding direction of a conversion open and lets
/// results below the normal range be flushed to zero.
#[must_use]
pub fn excess(dtype: Dtype, want: f64, bound: f64, got: f64) -> f64 {
    if bound == f64::INFINITY || want.is_nan() {
        return 0.0;
    }
    if matches!(dtype, Dtype::F16 | Dtype::BF16) && want.is_finite() {
        return excess_half(dtype, want, bound, got);
    }
    if want.is_infinite() || got.is_infinite() {
        return if want == got { 0.0 } else { f64::INFINITY };
    }
    let error = (got - want).abs();
    if error == 0.0 { 0.0 } else { error / bound }
}

fn excess_half(dtype: Dtype, want: f64, bound: f64, got: f64) -> f64 {
    let mut low = outward(dtype, want - bound, f64::NEG_INFINITY);
    let mut high = outward(dtype, want + bound, f64::INFINITY);
    if want.abs() - bound < min_normal(dtype) {
        low = low.min(0.0);
        high = high.max(0.0);
    }
    if got >= low && got <= high {
        let allowed = bound + ulp_of(dtype, want);
        let error = (got - want).abs();
        return if error.is_finite() { (error / allowed).min(1.0) } else { 1.0 };
    }
    if got.is_finite() { ((got - want).abs() / (high - low)).max(1.5) } else { f64::INFINITY }
}

/// The number of a 16-bit format at or beyond `value` in a direction.
fn outward(dtype: Dtype, value: f64, towards: f64) -> f64 {
    let rounded = dtype.round(value);
    let inside = if towards > 0.0 { rounded < value } else { rounded > value };
    if !inside {
        return rounded;
    }
    if rounded.is_infinite() {
        // Rounding towards zero stops at the largest finite number.
        return max_finite(dtype).copysign(rounded);
    }
    next_after(dtype, rounded, towards)
}

#[cfg(test)]
mod tests {
    use super::{Dtype, Expected, Tensor, excess};

    #[test]
    fn nan_never_passes_and_classes_come_first() {
        assert!(!(excess(Dtype::F32, 1.0, 1e-3, f64::NAN) <= 1.0));
        assert!(!(excess(Dtype::F32, f64::INFINITY, 0.0, f64::MAX) <= 1.0));
        assert!(excess(Dtype::F32, f64::INFINITY, 0.0, f64::INFINITY) <= 1.0);
        assert!(!(excess(Dtype::F16, 1.0, 1e-3, f64::NAN) <= 1.0));
    }

    #[test]
    fn an_exact_result_must_be_hit() {
        assert!(!(excess(Dtype::F32, 3.0, 0.0, 3.000_000_1) <= 1.0));
        assert!(excess(Dtype::F32, 0.0, 0.0, -0.0) <= 1.0);
    }

    #[test]
    fn a_run_that_had_a_nan_demands_one_and_only_there() {
        let tensor = |values: &[f64]| Tensor::new(Dtype::F32, &[2], values);
        let want = Expected::exactly("y", &tensor(&[f64::NAN, 1.0]));
        assert!(want.compare(&tensor(&[f64::NAN, 1.0])).bad.is_empty());
        assert_eq!(want.compare(&tensor(&[2.0, f64::NAN])).bad, [0, 1]);
    }

    #[test]
    fn halves_may_round_either_way_and_no_further() {
        let third = 1.0 / 3.0;
        let near = Dtype::F16.round(third);
        let ulp = 2.0f64.powi(-12);
        for (got, ok) in
            [(near, true), (near + ulp, true), (near - ulp, false), (near + 2.0 * ulp, false)]
        {
            assert_eq!(excess(Dtype::F16, third, 0.0, got) <= 1.0, ok, "{got}");
        }
        assert!(excess(Dtype::F16, 65_519.0, 0.0, 65_504.0) <= 1.0);
        assert!(excess(Dtype::F16, 70_000.0, 0.0, f64::INFINITY) <= 1.0);
        assert!(excess(Dtype::F16, 70_000.0, 0.0, 65_504.0) <= 1.0);
        assert!(excess(Dtype::F16, -70_000.0, 0.0, -65_504.0) <= 1.0);
        assert!(!(excess(Dtype::F16, 70_000.0, 0.0, 65_472.0) <= 1.0));
        assert!(excess(Dtype::F16, 1e-6, 0.0, 0.0) <= 1.0, "a subnormal may be flushed");
    }

    #[test]
    fn so_may_bf16() {
        let third = 1.0 / 3.0;
        let near = Dtype::BF16.round(third);
        let ulp = 2.0f64.powi(-9);
        for (got, ok) in
            [(near, true), (near - ulp, true), (near + ulp, false), (near - 2.0 * ulp, false)]
        {
            assert_eq!(excess(Dtype::BF16, third, 0.0, got) <= 1.0, ok, "{got}");
        }
        let largest = half::bf16::MAX.to_f64();
        assert!(excess(Dtype::BF16, 3.4e38, 0.0, largest) <= 1.0);
        assert!(excess(Dtype::BF16, 3.4e38, 0.0, f64::INFINITY) <= 1.0);
        assert!(!(excess(Dtype::BF16, 3.3e38, 0.0, f64::INFINITY) <= 1.0));
        assert!(excess(Dtype::BF16, 1e-39, 0.0, 0.0) <= 1.0, "a subnormal may be flushed");
    }
}
