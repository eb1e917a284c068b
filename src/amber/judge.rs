//! Whether buffers hold what a script expects.

use super::number::Number;
use super::script::{Buffer, Comparator, Expect, Tolerance};
use crate::check::Mismatch;

/// Amber's own allowance where a script asks for equal floats: a millionth of a hundredth.
const EQUAL: Tolerance = Tolerance::Percent(1e-6);

/// An expectation that doesn't hold: the sentence and the numbers.
pub(super) struct Failed {
    pub(super) message: String,
    pub(super) mismatch: Mismatch,
}

/// Compares the numbers of a buffer with those of an `EXPECT`.
pub(super) fn expect(buffer: &Buffer, bytes: &[u8], expect: &Expect) -> Option<Failed> {
    let each = buffer.element.fields.len();
    let stride = buffer.element.stride as u64;
    let first = usize::try_from(expect.offset_bytes / stride).unwrap_or(usize::MAX) * each;
    let mut bad = Vec::new();
    for (at, value) in expect.values.iter().enumerate() {
        let field = buffer.element.fields[at % each];
        let got = buffer.number(bytes, first + at);
        let want = value.stored(field.dtype).unwrap_or(*value);
        let tolerance = match expect.comparator {
            Comparator::Eq | Comparator::Ne => tolerance(expect, at % each, want),
            _ => Tolerance::Absolute(0.0),
        };
        if !holds(got, want, expect.comparator, tolerance) {
            bad.push((first + at, got, want, tolerance));
        }
    }
    let (index, got, want, tolerance) = *bad.first()?;
    let total = expect.values.len();
    let sign = sign(expect.comparator);
    let place = place(buffer, index);
    let message = format!("`{}`{place:?} is {got}, expected {sign}{want}", buffer.name);
    Some(Failed {
        message,
        mismatch: Mismatch {
            buffer: buffer.name.clone(),
            bad: bad.len(),
            total,
            index: place,
            got: got.to_string(),
            expected: format!("{sign}{want}"),
            bound: shown(tolerance),
        },
    })
}

/// Compares all numbers of two buffers of one format.
pub(super) fn compare(
    buffer: &Buffer,
    want_name: &str,
    (got, want): (&[u8], &[u8]),
    tolerance: Option<f64>,
) -> Option<Failed> {
    let count = buffer.len * buffer.element.fields.len();
    let pair = |index| (buffer.number(got, index), buffer.number(want, index));
    let differs = |index: &usize| {
        let field = buffer.element.fields[index % buffer.element.fields.len()];
        let at = index / buffer.element.fields.len() * buffer.element.stride + field.offset;
        let range = at..at + field.dtype.block_bytes();
        got[range.clone()] != want[range]
    };
    let bad: Vec<usize> = (0..count).filter(differs).collect();
    let mut worst = *bad.first()?;
    let mut message = format!("differs from `{want_name}` in {} of {count} numbers", bad.len());
    if let Some(allowed) = tolerance {
        let off = |index: usize| {
            let (got, want) = pair(index);
            (got.value() - want.value()).abs()
        };
        // What is equal adds nothing, NaN and infinities of the same bits included.
        let sum: f64 = bad.iter().map(|index| off(*index).powi(2)).sum();
        let rmse = (sum / count as f64).sqrt();
        if rmse <= allowed {
            return None;
        }
        worst = bad.iter().copied().max_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(worst);
        message =
            format!("is {rmse:e} from `{want_name}` by root mean square, {allowed:e} allowed");
    }
    let (got, want) = pair(worst);
    Some(Failed {
        message: format!("`{}` {message}", buffer.name),
        mismatch: Mismatch {
            buffer: buffer.name.clone(),
            bad: bad.len(),
            total: count,
            index: place(buffer, worst),
            got: got.to_string(),
            expected: want.to_string(),
            bound: tolerance.map_or("0".to_owned(), |allowed| format!("{allowed} (rms)")),
        },
    })
}

/// The element, and the number within it where there are several.
fn place(buffer: &Buffer, index: usize) -> Vec<usize> {
    match buffer.element.fields.len() {
        1 => vec![index],
        each => vec![index / each, index % each],
    }
}

/// One tolerance is that of every number of an element; of several, each has its own.
fn tolerance(expect: &Expect, field: usize, want: Number) -> Tolerance {
    match expect.tolerances.as_slice() {
        [] if matches!(want, Number::Int(_)) => Tolerance::Absolute(0.0),
        [one] => *one,
        several => several.get(field).copied().unwrap_or(EQUAL),
    }
}

fn holds(got: Number, want: Number, comparator: Comparator, tolerance: Tolerance) -> bool {
    let order = got.order(want);
    match comparator {
        Comparator::Eq => is_near(got, want, tolerance),
        Comparator::Ne => !is_near(got, want, tolerance),
        Comparator::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
        Comparator::Le => order.is_some_and(std::cmp::Ordering::is_le),
        Comparator::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
        Comparator::Ge => order.is_some_and(std::cmp::Ordering::is_ge),
    }
}

/// A NaN is near another one and nothing else.
fn is_near(got: Number, want: Number, tolerance: Tolerance) -> bool {
    if got.is_nan() || want.is_nan() {
        return got.is_nan() && want.is_nan();
    }
    let allowed = match tolerance {
        Tolerance::Absolute(by) => by,
        Tolerance::Percent(by) => by / 100.0 * want.value().abs(),
    };
    got == want || (got.value() - want.value()).abs() <= allowed && allowed > 0.0
}

const fn sign(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::Eq => "",
        Comparator::Ne => "!= ",
        Comparator::Lt => "< ",
        Comparator::Le => "<= ",
        Comparator::Gt => "> ",
        Comparator::Ge => ">= ",
    }
}

fn shown(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::Absolute(by) => by.to_string(),
        Tolerance::Percent(by) => format!("{by}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Tolerance, holds};
    use crate::amber::{Comparator, Number};

    #[test]
    fn a_nan_is_equal_to_a_nan_and_has_no_order() {
        let nan = Number::Float(f64::NAN);
        let none = Tolerance::Absolute(0.0);
        assert!(holds(nan, nan, Comparator::Eq, none));
        for comparator in [Comparator::Eq, Comparator::Lt, Comparator::Ge] {
            assert!(!holds(nan, Number::Float(1.0), comparator, none), "{comparator:?}");
        }
        assert!(holds(nan, Number::Float(1.0), Comparator::Ne, none));
    }

    #[test]
    fn tolerances_are_absolute_or_hundredths_of_what_is_expected() {
        let near = |got: f64, want: f64, by| {
            holds(Number::Float(got), Number::Float(want), Comparator::Eq, by)
        };
        assert!(near(10.5, 10.0, Tolerance::Percent(5.0)));
        assert!(!near(10.6, 10.0, Tolerance::Percent(5.0)));
        assert!(near(-10.5, -10.0, Tolerance::Absolute(0.5)));
        assert!(near(f64::INFINITY, f64::INFINITY, Tolerance::Percent(1.0)));
        assert!(!near(f64::INFINITY, 1.0, Tolerance::Absolute(1e30)));
        let big = |n: i128| Number::Int(n);
        let (a, b) = (big(u64::MAX.into()), big(i128::from(u64::MAX) - 1));
        assert!(!holds(a, b, Comparator::Eq, Tolerance::Absolute(0.0)));
    }
}
