//! Likely causes from the pattern of an error.

use crate::tensor::{Dtype, Tensor};

use super::compare::Expected;
use super::execute::Slot;

/// Sentences about what could have produced these wrong elements, the likeliest first.
#[must_use]
pub(super) fn causes(
    expected: &Expected,
    got: &Tensor,
    bad: &[usize],
    slots: &[Slot],
) -> Vec<String> {
    let values = got.values();
    let pairs: Vec<(f64, f64)> = bad.iter().map(|i| (values[*i], expected.values[*i])).collect();
    let mut causes = Vec::new();
    causes.extend(poison(&pairs));
    causes.extend(factor(&pairs, &expected.shape));
    causes.extend(per_axis_factor(expected, &values, bad));
    causes.extend(permutation(expected, &values, bad));
    causes.extend(rank_one(expected, &values, bad));
    causes.extend(zero_or_other_buffer(expected, &values, bad, slots));
    causes.extend(low_precision(got, &values));
    causes
}

/// Ratios closer than this are taken to be one number.
const SPREAD: f64 = 2e-3;

fn poison(pairs: &[(f64, f64)]) -> Option<String> {
    let nan = pairs.iter().filter(|(got, _)| got.is_nan()).count();
    let huge =
        pairs.iter().filter(|(got, _)| got.abs() >= 2f64.powi(90) && got.is_finite()).count();
    if nan > 0 {
        return Some(format!("{nan} NaN: never written, or made from memory that nobody wrote"));
    }
    (huge > 0).then(|| format!("{huge} near 2^100: made from a guard or from unwritten memory"))
}

fn ratios(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let ratios: Vec<f64> =
        pairs.filter(|(_, want)| *want != 0.0).map(|(got, want)| got / want).collect();
    let first = *ratios.first()?;
    let same = ratios.iter().all(|r| (r - first).abs() <= SPREAD * first.abs());
    (ratios.len() > 1 && same && first.is_finite()).then_some(first)
}

/// got / expected is the same number everywhere.
fn factor(pairs: &[(f64, f64)], shape: &[usize]) -> Option<String> {
    let ratio = ratios(pairs.iter().copied())?;
    if ratio == 0.0 {
        return None;
    }
    Some(match name_factor(ratio, shape) {
        Some(name) => format!("off by the factor {ratio:.6}, which is {name}"),
        None => format!("off by the constant factor {ratio:.6}"),
    })
}

fn name_factor(ratio: f64, shape: &[usize]) -> Option<String> {
    let mut known: Vec<(f64, String)> =
        vec![(-1.0, "a sign".into()), (2.0, "2".into()), (0.5, "1/2".into())];
    for n in shape.iter().filter(|n| **n > 1) {
        let size = *n as f64;
        known.push((size, format!("the extent {n}")));
        known.push((1.0 / size, format!("1 over the extent {n}")));
        known.push((size.sqrt(), format!("the root of the extent {n}")));
        known.push((1.0 / size.sqrt(), format!("1 over the root of the extent {n}")));
        known.push((size / (size - 1.0), format!("n/(n-1) for the extent {n}")));
        known.push(((size - 1.0) / size, format!("(n-1)/n for the extent {n}")));
    }
    let near = |(value, _): &&(f64, String)| (ratio / value - 1.0).abs() < SPREAD;
    known.iter().find(near).map(|(_, name)| name.clone())
}

/// got / expected is constant along the rows or along the columns, but not over all.
fn per_axis_factor(expected: &Expected, values: &[f64], bad: &[usize]) -> Option<String> {
    let cols = *expected.shape.last()?;
    let rows = values.len() / cols.max(1);
    if cols < 2 || rows < 2 || bad.len() < 4 {
        return None;
    }
    let all = ratios(bad.iter().map(|i| (values[*i], expected.values[*i])));
    if all.is_some() {
        return None;
    }
    let line = |matches: &dyn Fn(usize) -> bool| {
        let of = bad.iter().filter(|i| matches(**i)).map(|i| (values[*i], expected.values[*i]));
        ratios(of).is_some()
    };
    let mut bad_rows: Vec<usize> = bad.iter().map(|i| i / cols).collect();
    bad_rows.dedup();
    if bad_rows.iter().all(|row| line(&|i| i / cols == *row)) {
        return Some("each row is off by its own factor: a per-row normaliser".to_owned());
    }
    let mut bad_cols: Vec<usize> = bad.iter().map(|i| i % cols).collect();
    bad_cols.sort_unstable();
    bad_cols.dedup();
    let by_column = bad_cols.iter().all(|col| line(&|i| i % cols == *col));
    by_column.then(|| "each column is off by its own factor: a per-column scale".to_owned())
}

/// The right values in the wrong places.
fn permutation(expected: &Expected, values: &[f64], bad: &[usize]) -> Option<String> {
    if bad.len() < 2 {
        return None;
    }
    let near = |a: f64, at: usize| {
        (a - expected.values[at]).abs() <= expected.bounds[at].max(1e-6 * a.abs())
    };
    let cols = expected.shape.last().copied().unwrap_or(1).max(1);
    let rows = values.len() / cols;
    let len = values.len();
    let matches = |from: &dyn Fn(usize) -> Option<usize>| {
        bad.iter().all(|i| from(*i).is_some_and(|j| near(values[*i], j)))
    };
    if rows > 1 && matches(&|i| Some((i % rows) * cols + i / rows)) {
        return Some("the transpose of what was expected".to_owned());
    }
    for (shift, name) in [(1i64, "one element early"), (-1, "one element late")] {
        let shifted = |i: usize| usize::try_from(i as i64 + shift).ok().filter(|j| *j < len);
        if matches(&shifted) {
            return Some(format!("every value stands {name}"));
        }
    }
    if matches(&|i| Some(len - 1 - i)) {
        return Some("the values stand in reverse order".to_owned());
    }
    let sorted = |mut v: Vec<f64>| {
        v.sort_by(f64::total_cmp);
        v
    };
    let got = sorted(values.to_vec());
    let want = sorted(expected.values.clone());
    let same = got.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs());
    same.then(|| "the right values in other places: a permutation".to_owned())
}

/// The error matrix is an outer product: one slice of a sum is missing or counted twice.
fn rank_one(expected: &Expected, values: &[f64], bad: &[usize]) -> Option<String> {
    let cols = *expected.shape.last()?;
    let rows = values.len() / cols.max(1);
    if rows < 3 || cols < 3 || bad.len() < values.len() / 2 {
        return None;
    }
    let error = |i: usize| values[i] - expected.values[i];
    let pivot = (0..values.len()).max_by(|a, b| error(*a).abs().total_cmp(&error(*b).abs()))?;
    let (row, col) = (pivot / cols, pivot % cols);
    let scale = error(pivot).abs();
    let outer = (0..values.len()).all(|i| {
        let predicted = error(i / cols * cols + col) * error(row * cols + i % cols) / error(pivot);
        (predicted - error(i)).abs() <= 1e-4 * scale
    });
    outer.then(|| "the error has rank 1: one term of a sum is missing or extra".to_owned())
}

fn zero_or_other_buffer(
    expected: &Expected,
    values: &[f64],
    bad: &[usize],
    slots: &[Slot],
) -> Option<String> {
    if bad.iter().all(|i| values[*i] == 0.0) {
        return Some("zero where bad: never accumulated".to_owned());
    }
    let same = slots.iter().filter(|s| s.name != expected.name).find(|slot| {
        slot.contents.as_ref().is_some_and(|other| {
            let other = other.values();
            other.len() == values.len() && bad.iter().all(|i| values[*i] == other[*i])
        })
    });
    same.map(|slot| format!("equal to {}: stale, aliased or not applied", slot.name))
}

fn low_precision(got: &Tensor, values: &[f64]) -> Option<String> {
    let informative = values.iter().filter(|v| **v != 0.0 && v.fract() != 0.0);
    if got.dtype() != Dtype::F32 || informative.clone().count() <= 8 {
        return None;
    }
    let half = [Dtype::F16, Dtype::BF16]
        .into_iter()
        .find(|half| informative.clone().all(|v| half.round(*v) == *v))?;
    Some(format!("every value is representable in {half}: a low-precision store"))
}

#[cfg(test)]
mod tests {
    use super::{Expected, causes};
    use crate::check::compare::Nan;
    use crate::tensor::{Dtype, Tensor};

    fn say(shape: &[usize], want: &[f64], got: &[f64]) -> String {
        let expected = Expected {
            name: "y".into(),
            dtype: Dtype::F32,
            shape: shape.to_vec(),
            values: want.to_vec(),
            bounds: vec![1e-6; want.len()],
            nan: Nan::Open,
        };
        let got = Tensor::new(Dtype::F32, shape, got);
        let bad = expected.compare(&got).bad;
        causes(&expected, &got, &bad, &[]).join("; ")
    }

    #[test]
    fn each_pattern_is_recognised() {
        let want = [1.5, -2.25, 3.75, 4.5, 5.25, -6.75];
        let scaled = |f: f64| want.map(|v| v * f);
        assert!(say(&[2, 3], &want, &scaled(-1.0)).contains("a sign"));
        assert!(say(&[2, 3], &want, &scaled(1.0 / 3.0)).contains("1 over the extent 3"));
        assert!(say(&[2, 3], &want, &scaled(1.5)).contains("n/(n-1) for the extent 3"));
        let rows = [3.0, -4.5, 7.5, 13.5, 15.75, -20.25];
        assert!(say(&[2, 3], &want, &rows).contains("per-row normaliser"));
        let early = [-2.25, 3.75, 4.5, 5.25, -6.75, -6.75];
        assert!(say(&[6], &want, &early).contains("one element early"));
        let reversed = [-6.75, 5.25, 4.5, 3.75, -2.25, 1.5];
        assert!(say(&[6], &want, &reversed).contains("reverse"));
        let transposed = [1.5, 4.5, -2.25, 5.25, 3.75, -6.75];
        assert!(say(&[2, 3], &want, &transposed).contains("transpose"));
        assert!(say(&[2, 3], &want, &[0.0; 6]).contains("never accumulated"));
        assert!(say(&[2, 3], &want, &[f64::NAN; 6]).contains("NaN"));
    }
}
