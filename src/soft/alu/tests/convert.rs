//! Conversions, comparisons of integers, selection, logic.

use rspirv::spirv::Op;

use super::floats::{FLOATS, assert_same, double, rounded, single};
use super::ints::{INTS, low, operands, signed};
use super::{mask, run, values};
use crate::soft::program::What;
use crate::soft::scalar::Scalar;

#[test]
fn integers_keep_their_value_or_their_low_bits() {
    for from in INTS {
        for to in INTS {
            let a = values(from, 1);
            let src = [(from, &a[..])];
            let zeros = run(What::Core(Op::UConvert), from, to, &src);
            let signs = run(What::Core(Op::SConvert), from, to, &src);
            let to_unsigned = run(What::Core(Op::SatConvertSToU), from, to, &src);
            let to_signed = run(What::Core(Op::SatConvertUToS), from, to, &src);
            for i in 0..a.len() {
                let (unsigned, signed) = (i128::from(a[i]), signed(from, a[i]));
                let largest = i128::from(mask(to));
                assert_eq!(zeros[i], low(to, unsigned));
                assert_eq!(signs[i], low(to, signed));
                assert_eq!(to_unsigned[i], low(to, signed.clamp(0, largest)));
                assert_eq!(to_signed[i], low(to, unsigned.min(largest >> 1)));
            }
        }
    }
}

#[test]
fn integers_become_the_nearest_float() {
    for from in INTS {
        for to in FLOATS {
            let a = values(from, 1);
            let src = [(from, &a[..])];
            let unsigned = run(What::Core(Op::ConvertUToF), from, to, &src);
            let with_sign = run(What::Core(Op::ConvertSToF), from, to, &src);
            for i in 0..a.len() {
                let text = || format!("{from:?} {:#x} to {to:?}", a[i]);
                assert_same(to, unsigned[i], nearest(to, i128::from(a[i])), text);
                assert_same(to, with_sign[i], nearest(to, signed(from, a[i])), text);
            }
        }
    }
}

fn nearest(to: Scalar, value: i128) -> u64 {
    match to {
        Scalar::F32 => (value as f32).to_bits().into(),
        _ => rounded(to, value as f64),
    }
}

#[test]
fn floats_become_the_nearest_float() {
    for from in FLOATS {
        for to in FLOATS {
            if from == to {
                continue;
            }
            let a = values(from, 1);
            let got = run(What::Core(Op::FConvert), from, to, &[(from, &a)]);
            for i in 0..a.len() {
                let text = || format!("{from:?} {:#x} to {to:?}", a[i]);
                assert_same(to, got[i], rounded(to, double(from, a[i])), text);
            }
        }
    }
}

#[test]
fn floats_become_integers_towards_zero_and_stop_at_the_bounds() {
    for from in FLOATS {
        let mut a = values(from, 1);
        let near = [-2147483648.5, -129.0, -128.9, -1.0, -0.9, 0.9, 127.9, 128.0, 255.9, 256.0];
        let powers = [15, 16, 31, 32, 63, 64].map(|n| f64::powi(2.0, n));
        a.extend(near.iter().chain(&powers).map(|&value| rounded(from, value)));
        a.extend(powers.iter().map(|&value| rounded(from, -value)));
        for to in INTS {
            let unsigned = run(What::Core(Op::ConvertFToU), from, to, &[(from, &a)]);
            let with_sign = run(What::Core(Op::ConvertFToS), from, to, &[(from, &a)]);
            let largest = i128::from(mask(to));
            for i in 0..a.len() {
                #[expect(clippy::cast_possible_truncation, reason = "saturates, towards zero")]
                let whole = double(from, a[i]) as i128;
                let bounded = whole.clamp(-(largest >> 1) - 1, largest >> 1);
                assert_eq!(unsigned[i], low(to, whole.clamp(0, largest)), "{from:?} {whole}");
                assert_eq!(with_sign[i], low(to, bounded), "{from:?} {whole}");
            }
        }
    }
}

#[test]
fn quantized_floats_have_no_subnormals() {
    let a = [1.0f32, 1.0004, 65519.0, 65520.0, 6.1035156e-5, 6.1e-5, -6.0e-5, -1e-30];
    let expected = [1.0, 1.0, 65504.0, f32::INFINITY, 6.1035156e-5, 0.0, -0.0, -0.0];
    let bits = a.map(|value| u64::from(value.to_bits()));
    let got = run(What::Core(Op::QuantizeToF16), Scalar::F32, Scalar::F32, &[(Scalar::F32, &bits)]);
    for i in 0..a.len() {
        assert_eq!(single(got[i]).to_bits(), f32::to_bits(expected[i]), "{}", a[i]);
    }
}

#[test]
fn a_bitcast_keeps_the_bits() {
    for (from, to) in
        [(Scalar::I16, Scalar::F16), (Scalar::I32, Scalar::F32), (Scalar::F64, Scalar::I64)]
    {
        let a = values(from, 1);
        assert_eq!(run(What::Core(Op::Bitcast), from, to, &[(from, &a)]), a);
    }
}

#[test]
fn comparisons_of_integers() {
    for scalar in INTS {
        let [a, b] = operands(scalar);
        let test = |op| run(What::Core(op), scalar, Scalar::Bool, &[(scalar, &a), (scalar, &b)]);
        let check = |op, reference: fn(i128, i128) -> bool| {
            let got = test(op);
            for i in 0..a.len() {
                let expected = reference(i128::from(a[i]), i128::from(b[i]));
                assert_eq!(got[i], u64::from(expected), "{op:?} {scalar:?}");
            }
        };
        check(Op::IEqual, |a, b| a == b);
        check(Op::INotEqual, |a, b| a != b);
        check(Op::ULessThan, |a, b| a < b);
        check(Op::ULessThanEqual, |a, b| a <= b);
        check(Op::UGreaterThan, |a, b| a > b);
        check(Op::UGreaterThanEqual, |a, b| a >= b);
        let check_signed = |op, reference: fn(i128, i128) -> bool| {
            let got = test(op);
            for i in 0..a.len() {
                let expected = reference(signed(scalar, a[i]), signed(scalar, b[i]));
                assert_eq!(got[i], u64::from(expected), "{op:?} {scalar:?}");
            }
        };
        check_signed(Op::SLessThan, |a, b| a < b);
        check_signed(Op::SLessThanEqual, |a, b| a <= b);
        check_signed(Op::SGreaterThan, |a, b| a > b);
        check_signed(Op::SGreaterThanEqual, |a, b| a >= b);
    }
}

#[test]
fn logic_and_selection() {
    let (a, b) = ([0, 0, 1, 1], [0, 1, 0, 1]);
    let logic = |op, arity: usize| {
        let src = [(Scalar::Bool, &a[..]), (Scalar::Bool, &b[..])];
        run(What::Core(op), Scalar::Bool, Scalar::Bool, &src[..arity])
    };
    assert_eq!(logic(Op::LogicalAnd, 2), [0, 0, 0, 1]);
    assert_eq!(logic(Op::LogicalOr, 2), [0, 1, 1, 1]);
    assert_eq!(logic(Op::LogicalEqual, 2), [1, 0, 0, 1]);
    assert_eq!(logic(Op::LogicalNotEqual, 2), [0, 1, 1, 0]);
    assert_eq!(logic(Op::LogicalNot, 1), [1, 1, 0, 0]);
    for scalar in INTS.into_iter().chain(FLOATS).chain([Scalar::Bool]) {
        let (yes, no) = (values(scalar, 1), values(scalar, 2));
        let condition: Vec<u64> = (0..83).map(|i| i / 3 % 2).collect();
        let src = [(Scalar::Bool, &condition[..]), (scalar, &yes), (scalar, &no)];
        let got = run(What::Core(Op::Select), scalar, scalar, &src);
        for i in 0..83 {
            assert_eq!(got[i], if condition[i] == 1 { yes[i] } else { no[i] });
        }
    }
}
