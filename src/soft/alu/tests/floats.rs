//! Float arithmetic and comparisons against the machine's doubles.

use std::cmp::Ordering;

use half::{bf16, f16};
use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::{pairs, run, values};
use crate::soft::program::What;
use crate::soft::scalar::Scalar;

pub(super) const FLOATS: [Scalar; 4] = [Scalar::F16, Scalar::Bf16, Scalar::F32, Scalar::F64];

pub(super) fn half_bits(bits: u64) -> u16 {
    u16::try_from(bits).expect("16 bits")
}

pub(super) fn single(bits: u64) -> f32 {
    f32::from_bits(u32::try_from(bits).expect("32 bits"))
}

pub(super) fn double(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F16 => f16::from_bits(half_bits(bits)).to_f64(),
        Scalar::Bf16 => bf16::from_bits(half_bits(bits)).to_f64(),
        Scalar::F32 => single(bits).into(),
        _ => f64::from_bits(bits),
    }
}

/// Rounds once. The conversions of `half` drop a double's low word first.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the point")]
pub(super) fn rounded(scalar: Scalar, value: f64) -> u64 {
    match scalar {
        Scalar::F16 => f16::from_f32(with_digits(value, 10, -14) as f32).to_bits().into(),
        Scalar::Bf16 => bf16::from_f32(with_digits(value, 7, -126) as f32).to_bits().into(),
        Scalar::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// The nearest multiple of the last digit, of which there are no more from some exponent down.
fn with_digits(value: f64, digits: i32, least_exponent: i32) -> f64 {
    if !value.is_finite() {
        return value;
    }
    let biased = i32::try_from(value.to_bits() >> 52 & 0x7ff).expect("11 bits");
    let last = f64::powi(2.0, (biased - 1023).max(least_exponent) - digits);
    ((value / last).round_ties_even() * last).copysign(value)
}

/// Bits are equal, or both are NaN.
pub(super) fn assert_same(scalar: Scalar, got: u64, expected: u64, text: impl Fn() -> String) {
    let both_nan = double(scalar, got).is_nan() && double(scalar, expected).is_nan();
    assert!(got == expected || both_nan, "{}: {got:#x}, not {expected:#x}", text());
}

fn check(what: What, reference: impl Fn(f64, f64) -> f64) {
    for scalar in FLOATS {
        let [a, b] = pairs(&values(scalar, 1), &values(scalar, 2));
        let got = run(what, scalar, scalar, &[(scalar, &a), (scalar, &b)]);
        for i in 0..a.len() {
            let expected = rounded(scalar, reference(double(scalar, a[i]), double(scalar, b[i])));
            let text = || format!("{what:?} {scalar:?} {:#x} {:#x}", a[i], b[i]);
            assert_same(scalar, got[i], expected, text);
        }
    }
}

#[test]
fn arithmetic_rounds_once() {
    // A double has more than twice the digits of the narrower types, so that rounding its result
    // is rounding once.
    check(What::Core(Op::FAdd), |a, b| a + b);
    check(What::Core(Op::FSub), |a, b| a - b);
    check(What::Core(Op::FMul), |a, b| a * b);
    check(What::Core(Op::FDiv), |a, b| a / b);
    check(What::Core(Op::FRem), |a, b| a % b);
    check(What::Core(Op::FNegate), |a, _| -a);
    check(What::Extended(Extended::Sqrt), |a, _| a.sqrt());
}

#[test]
fn a_modulus_has_the_divisors_sign() {
    let rows = [(5.5f32, 2.0f32, 1.5f32), (-5.5, 2.0, 0.5), (5.5, -2.0, -0.5), (-5.5, -2.0, -1.5)];
    for (a, b, expected) in rows {
        let [a, b] = [a, b].map(|value| [u64::from(value.to_bits())]);
        let src = [(Scalar::F32, &a[..]), (Scalar::F32, &b)];
        let got = run(What::Core(Op::FMod), Scalar::F32, Scalar::F32, &src);
        assert_eq!(single(got[0]), expected);
    }
}

#[test]
fn fused_multiplication_rounds_once() {
    for scalar in [Scalar::F16, Scalar::F32, Scalar::F64] {
        let column = values(scalar, 7);
        let [a, b] = pairs(&column[..60], &column[20..80]);
        let c: Vec<u64> = (0..a.len()).map(|i| column[(i * 7 + i / 60) % column.len()]).collect();
        let src = [(scalar, &a[..]), (scalar, &b), (scalar, &c)];
        let got = run(What::Extended(Extended::Fma), scalar, scalar, &src);
        for i in 0..a.len() {
            let [x, y, z] = [a[i], b[i], c[i]].map(|bits| double(scalar, bits));
            let expected = match scalar {
                Scalar::F16 => rounded(scalar, x * y + z),
                Scalar::F32 => single(a[i]).mul_add(single(b[i]), single(c[i])).to_bits().into(),
                _ => x.mul_add(y, z).to_bits(),
            };
            assert_same(scalar, got[i], expected, || format!("{scalar:?} {x:e} * {y:e} + {z:e}"));
        }
    }
}

/// Smaller, equal, greater, unordered: where an operation is true.
const COMPARISONS: [(Op, [bool; 4]); 14] = [
    (Op::FOrdEqual, [false, true, false, false]),
    (Op::FUnordEqual, [false, true, false, true]),
    (Op::FOrdNotEqual, [true, false, true, false]),
    (Op::FUnordNotEqual, [true, false, true, true]),
    (Op::FOrdLessThan, [true, false, false, false]),
    (Op::FUnordLessThan, [true, false, false, true]),
    (Op::FOrdGreaterThan, [false, false, true, false]),
    (Op::FUnordGreaterThan, [false, false, true, true]),
    (Op::FOrdLessThanEqual, [true, true, false, false]),
    (Op::FUnordLessThanEqual, [true, true, false, true]),
    (Op::FOrdGreaterThanEqual, [false, true, true, false]),
    (Op::FUnordGreaterThanEqual, [false, true, true, true]),
    (Op::Ordered, [true, true, true, false]),
    (Op::Unordered, [false, false, false, true]),
];

#[test]
fn comparisons() {
    for scalar in FLOATS {
        let [a, b] = pairs(&values(scalar, 1), &values(scalar, 2));
        for (op, holds) in COMPARISONS {
            let src = [(scalar, &a[..]), (scalar, &b)];
            let got = run(What::Core(op), scalar, Scalar::Bool, &src);
            for i in 0..a.len() {
                let order = double(scalar, a[i]).partial_cmp(&double(scalar, b[i]));
                let expected = match order {
                    Some(Ordering::Less) => holds[0],
                    Some(Ordering::Equal) => holds[1],
                    Some(Ordering::Greater) => holds[2],
                    None => holds[3],
                };
                assert_eq!(got[i], u64::from(expected), "{op:?} {scalar:?}");
            }
        }
    }
}

#[test]
fn kinds_of_floats() {
    for scalar in FLOATS {
        let a = values(scalar, 1);
        let src = [(scalar, &a[..])];
        let nan = run(What::Core(Op::IsNan), scalar, Scalar::Bool, &src);
        let infinite = run(What::Core(Op::IsInf), scalar, Scalar::Bool, &src);
        for i in 0..a.len() {
            assert_eq!(nan[i] == 1, double(scalar, a[i]).is_nan());
            assert_eq!(infinite[i] == 1, double(scalar, a[i]).is_infinite());
        }
    }
}

#[test]
fn extremes_prefer_numbers_to_nan() {
    for op in [Extended::FMin, Extended::NMin] {
        check(What::Extended(op), |a, b| if b < a || a.is_nan() { b } else { a });
    }
    for op in [Extended::FMax, Extended::NMax] {
        check(What::Extended(op), |a, b| if b > a || a.is_nan() { b } else { a });
    }
}
