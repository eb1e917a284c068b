//! Guards: rows of operands, each with whether the result is defined.

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::ints::{INTS, operands, signed, width};
use super::run_guard;
use crate::soft::alu::guard;
use crate::soft::program::What;
use crate::soft::scalar::Scalar;

#[test]
fn divisions() {
    for scalar in INTS {
        let [a, b] = operands(scalar);
        let flags = |op| {
            let guard = guard(What::Core(op), scalar, scalar).expect("can be undefined");
            run_guard(guard, &[(scalar, &a), (scalar, &b)])
        };
        let (unsigned, quotient, rest) = (flags(Op::UMod), flags(Op::SDiv), flags(Op::SRem));
        assert!(unsigned.0 && quotient.0 && rest.0);
        let least = -(1i128 << (width(scalar) - 1));
        for i in 0..a.len() {
            let (x, y) = (signed(scalar, a[i]), signed(scalar, b[i]));
            assert_eq!(unsigned.1[i], y == 0);
            assert_eq!(quotient.1[i], y == 0 || (x == least && y == -1), "{x} / {y}");
            assert_eq!(rest.1[i], x < 0 || y <= 0, "{x} % {y}");
        }
    }
}

#[test]
fn a_column_without_a_fault_has_none() {
    let divide = guard(What::Core(Op::UDiv), Scalar::I32, Scalar::I32).expect("by zero");
    let src = [(Scalar::I32, &[0u64, 5, 7][..]), (Scalar::I32, &[1, 2, 0xffff_ffff])];
    assert_eq!(run_guard(divide, &src), (false, vec![false; 3]));
}

#[test]
fn shifts_and_fields() {
    for scalar in INTS {
        let bits = u64::from(width(scalar));
        let shift = guard(What::Core(Op::ShiftLeftLogical), scalar, scalar).expect("too far");
        let amounts = [0, bits - 1, bits, bits + 1, 0xffff_ffff];
        let base = [0; 5];
        let flags = run_guard(shift, &[(scalar, &base), (Scalar::I32, &amounts)]);
        assert_eq!(flags, (true, vec![false, false, true, true, true]));
        let offsets = [0, bits, bits, 1, 0xffff_ffff];
        let counts = [bits, 0, 1, bits, 2];
        let (offsets, counts) = ((Scalar::I32, &offsets[..]), (Scalar::I32, &counts[..]));
        let expected = (true, vec![false, false, true, true, true]);
        let extract = guard(What::Core(Op::BitFieldUExtract), scalar, scalar).expect("too far");
        assert_eq!(run_guard(extract, &[(scalar, &base), offsets, counts]), expected);
        let insert = guard(What::Core(Op::BitFieldInsert), scalar, scalar).expect("too far");
        assert_eq!(
            run_guard(insert, &[(scalar, &base), (scalar, &base), offsets, counts]),
            expected
        );
    }
}

#[test]
fn conversions() {
    let rows = |op, to, rows: &[(f32, bool)]| {
        let guard = guard(What::Core(op), Scalar::F32, to).expect("out of range");
        let bits: Vec<u64> = rows.iter().map(|row| row.0.to_bits().into()).collect();
        let flags = run_guard(guard, &[(Scalar::F32, &bits)]).1;
        for (i, (value, expected)) in rows.iter().enumerate() {
            assert_eq!(flags[i], *expected, "{op:?} {value} to {to:?}");
        }
    };
    let special = [(f32::NAN, true), (f32::INFINITY, true), (-0.9, false), (0.0, false)];
    for to in INTS {
        rows(Op::ConvertFToS, to, &special);
        rows(Op::ConvertFToU, to, &special);
        rows(Op::ConvertFToU, to, &[(-1.0, true)]);
    }
    rows(
        Op::ConvertFToS,
        Scalar::I8,
        &[(127.9, false), (128.0, true), (-128.9, false), (-129.0, true)],
    );
    rows(Op::ConvertFToU, Scalar::I8, &[(255.9, false), (256.0, true)]);
    rows(Op::ConvertFToS, Scalar::I32, &[(2147483520.0, false), (2147483648.0, true)]);
    rows(Op::ConvertFToS, Scalar::I32, &[(-2147483648.0, false), (-2147483904.0, true)]);
    rows(Op::ConvertFToU, Scalar::I32, &[(4294967040.0, false), (4294967296.0, true)]);
}

#[test]
fn mathematics() {
    let rows = |op, rows: &[(&[f32], bool)]| {
        let guard = guard(What::Extended(op), Scalar::F32, Scalar::F32).expect("a domain");
        for (operands, expected) in rows {
            let bits: Vec<[u64; 1]> = operands.iter().map(|x| [x.to_bits().into()]).collect();
            let src: Vec<_> = bits.iter().map(|column| (Scalar::F32, &column[..])).collect();
            assert_eq!(run_guard(guard, &src).0, *expected, "{op:?} {operands:?}");
        }
    };
    for op in [Extended::Log, Extended::Log2, Extended::Sqrt, Extended::InverseSqrt] {
        rows(op, &[(&[-1.0], true), (&[0.0], false), (&[-0.0], false), (&[f32::NAN], false)]);
    }
    for op in [Extended::Asin, Extended::Acos] {
        rows(op, &[(&[1.0], false), (&[-1.0], false), (&[1.0001], true), (&[-2.0], true)]);
    }
    rows(Extended::Acosh, &[(&[0.9], true), (&[1.0], false)]);
    rows(Extended::Atanh, &[(&[1.0], true), (&[-0.9], false)]);
    rows(Extended::Atan2, &[(&[0.0, -0.0], true), (&[0.0, 1.0], false)]);
    rows(Extended::Pow, &[(&[-1.0, 2.0], true), (&[0.0, 2.0], false), (&[0.0, 0.0], true)]);
    rows(Extended::FClamp, &[(&[0.0, 1.0, 0.0], true), (&[0.0, 1.0, 1.0], false)]);
    rows(Extended::SmoothStep, &[(&[1.0, 1.0, 0.0], true), (&[0.0, 1.0, 5.0], false)]);
    assert!(guard(What::Extended(Extended::Exp), Scalar::F32, Scalar::F32).is_none());
    assert!(guard(What::Core(Op::IAdd), Scalar::I32, Scalar::I32).is_none());
}

#[test]
fn clamps_of_integers() {
    let src = [(Scalar::I8, &[0, 0][..]), (Scalar::I8, &[1, 0xff]), (Scalar::I8, &[0xff, 1])];
    let unsigned = guard(What::Extended(Extended::UClamp), Scalar::I8, Scalar::I8).expect("bounds");
    let with_sign =
        guard(What::Extended(Extended::SClamp), Scalar::I8, Scalar::I8).expect("bounds");
    assert_eq!(run_guard(unsigned, &src).1, [false, true]);
    assert_eq!(run_guard(with_sign, &src).1, [true, false]);
}
