//! `GLSL.std.450` on floats against the machine's mathematics.

use rspirv::spirv::GlslStd450Op as Extended;

use super::floats::{FLOATS, assert_same, double, half_bits, rounded, single};
use super::{pairs, run, run_kernel, values};
use crate::soft::alu::unpack;
use crate::soft::program::What;
use crate::soft::scalar::Scalar;

type Unary = fn(f64) -> f64;

/// Operations whose result is a number that all types round alike.
const EXACT: [(Extended, Unary); 8] = [
    (Extended::Round, f64::round_ties_even),
    (Extended::RoundEven, f64::round_ties_even),
    (Extended::Trunc, f64::trunc),
    (Extended::Floor, f64::floor),
    (Extended::Ceil, f64::ceil),
    (Extended::Fract, |a| a - a.floor()),
    (Extended::FAbs, f64::abs),
    (Extended::FSign, |a| if a == 0.0 { a } else { a.signum() }),
];

const ROUNDED: [(Extended, Unary); 20] = [
    (Extended::Radians, f64::to_radians),
    (Extended::Degrees, f64::to_degrees),
    (Extended::Sin, f64::sin),
    (Extended::Cos, f64::cos),
    (Extended::Tan, f64::tan),
    (Extended::Asin, f64::asin),
    (Extended::Acos, f64::acos),
    (Extended::Atan, f64::atan),
    (Extended::Sinh, f64::sinh),
    (Extended::Cosh, f64::cosh),
    (Extended::Tanh, f64::tanh),
    (Extended::Asinh, f64::asinh),
    (Extended::Acosh, f64::acosh),
    (Extended::Atanh, f64::atanh),
    (Extended::Exp, f64::exp),
    (Extended::Exp2, f64::exp2),
    (Extended::Log, f64::ln),
    (Extended::Log2, f64::log2),
    (Extended::Sqrt, f64::sqrt),
    (Extended::InverseSqrt, |a| 1.0 / a.sqrt()),
];

#[test]
fn every_half() {
    let all: Vec<u64> = (0..=0xffff).collect();
    for (op, reference) in EXACT.into_iter().chain(ROUNDED) {
        let got = run(What::Extended(op), Scalar::F16, Scalar::F16, &[(Scalar::F16, &all)]);
        for (&bits, got) in all.iter().zip(got) {
            let expected = rounded(Scalar::F16, reference(double(Scalar::F16, bits)));
            assert_same(Scalar::F16, got, expected, || format!("{op:?} {bits:#x}"));
        }
    }
}

#[test]
fn exact_operations_on_all_types() {
    for scalar in FLOATS {
        let a = values(scalar, 1);
        for (op, reference) in EXACT {
            let got = run(What::Extended(op), scalar, scalar, &[(scalar, &a)]);
            for i in 0..a.len() {
                let expected = rounded(scalar, reference(double(scalar, a[i])));
                assert_same(scalar, got[i], expected, || format!("{op:?} {scalar:?} {:#x}", a[i]));
            }
        }
    }
}

/// How many floats lie between two, NaN being next to NaN.
fn apart(a: f32, b: f32) -> i64 {
    let rank = |x: f32| {
        let magnitude = i64::from(x.abs().to_bits());
        if x.is_sign_negative() { -magnitude } else { magnitude }
    };
    if a.is_nan() && b.is_nan() { 0 } else { (rank(a) - rank(b)).abs() }
}

#[test]
fn floats_are_almost_always_the_nearest() {
    let samples: Vec<u64> = (0..1u64 << 32).step_by(40_009).collect();
    for (op, reference) in ROUNDED {
        let got = run(What::Extended(op), Scalar::F32, Scalar::F32, &[(Scalar::F32, &samples)]);
        let mut off = 0;
        for (&bits, got) in samples.iter().zip(got) {
            let expected = single(rounded(Scalar::F32, reference(single(bits).into())));
            let distance = apart(single(got), expected);
            assert!(distance <= 1, "{op:?} {:e}: {:e}", single(bits), single(got));
            off += distance;
        }
        assert!(off <= 2, "{op:?}: {off} of {} differ", samples.len());
    }
}

#[test]
fn operations_of_two() {
    type Binary = fn(f64, f64) -> f64;
    let rows: [(Extended, Binary); 3] = [
        (Extended::Pow, f64::powf),
        (Extended::Atan2, f64::atan2),
        (Extended::Step, |edge, a| if a < edge { 0.0 } else { 1.0 }),
    ];
    for (op, reference) in rows {
        let [a, b] = pairs(&values(Scalar::F32, 1), &values(Scalar::F32, 2));
        let src = [(Scalar::F32, &a[..]), (Scalar::F32, &b)];
        let got = run(What::Extended(op), Scalar::F32, Scalar::F32, &src);
        for i in 0..a.len() {
            let (x, y) = (single(a[i]), single(b[i]));
            if op == Extended::Pow && x.is_sign_negative() {
                continue;
            }
            let expected = single(rounded(Scalar::F32, reference(x.into(), y.into())));
            assert!(
                apart(single(got[i]), expected) <= 1,
                "{op:?} {x:e} {y:e}: {:e}",
                single(got[i])
            );
        }
    }
}

fn f32s<const N: usize>(values: [f32; N]) -> [u64; N] {
    values.map(|value| value.to_bits().into())
}

#[test]
fn operations_of_three() {
    let three = |op, rows: &[[f32; 4]]| {
        for &[a, b, c, expected] in rows {
            let [a, b, c] = f32s([a, b, c]).map(|bits| [bits]);
            let src = [(Scalar::F32, &a[..]), (Scalar::F32, &b), (Scalar::F32, &c)];
            let got = run(What::Extended(op), Scalar::F32, Scalar::F32, &src);
            assert_eq!(single(got[0]), expected, "{op:?}");
        }
    };
    let clamps = [[5.0, 0.0, 1.0, 1.0], [-5.0, 0.0, 1.0, 0.0], [f32::NAN, 2.0, 3.0, 2.0]];
    three(Extended::FClamp, &clamps);
    three(Extended::NClamp, &clamps);
    three(Extended::FMix, &[[2.0, 4.0, 0.25, 2.5], [2.0, 4.0, 1.0, 4.0]]);
    three(
        Extended::SmoothStep,
        &[[0.0, 2.0, 1.0, 0.5], [0.0, 2.0, -1.0, 0.0], [0.0, 2.0, 0.5, 0.15625]],
    );
}

#[test]
fn parts_of_floats() {
    for scalar in FLOATS {
        let a = values(scalar, 1);
        let src = [(scalar, &a[..])];
        let fraction = run(What::Extended(Extended::Modf), scalar, scalar, &src);
        let whole = run(What::SecondExtended(Extended::ModfStruct), scalar, scalar, &src);
        let significand = run(What::Extended(Extended::FrexpStruct), scalar, scalar, &src);
        let exponent = run(What::SecondExtended(Extended::Frexp), scalar, Scalar::I32, &src);
        let scale = [(scalar, &significand[..]), (Scalar::I32, &exponent)];
        let again = run(What::Extended(Extended::Ldexp), scalar, scalar, &scale);
        for i in 0..a.len() {
            let x = double(scalar, a[i]);
            let text = || format!("{scalar:?} {x:e}");
            assert_same(scalar, whole[i], rounded(scalar, x.trunc()), text);
            let rest = if x.is_infinite() { 0f64.copysign(x) } else { (x % 1.0).copysign(x) };
            assert_same(scalar, fraction[i], rounded(scalar, rest), text);
            assert_same(scalar, again[i], a[i], text);
            let size = double(scalar, significand[i]).abs();
            assert!(x == 0.0 || !x.is_finite() || (0.5..1.0).contains(&size), "{}", text());
        }
    }
}

fn pack_one(op: Extended, components: &[f32]) -> u64 {
    let columns: Vec<[u64; 1]> = components.iter().map(|&value| f32s([value])).collect();
    let src: Vec<_> = columns.iter().map(|column| (Scalar::F32, &column[..])).collect();
    run(What::Extended(op), Scalar::F32, Scalar::I32, &src)[0]
}

fn unpack_one(op: Extended, component: u32, word: u64) -> f32 {
    let kernel = unpack(op, component).expect("a component");
    single(run_kernel(kernel, Scalar::F32, &[(Scalar::I32, &[word])])[0])
}

#[test]
fn packed_words() {
    assert_eq!(pack_one(Extended::PackHalf2x16, &[1.0, -2.0]), 0xc000_3c00);
    assert_eq!(pack_one(Extended::PackSnorm2x16, &[-1.0, 2.0]), 0x7fff_8001);
    assert_eq!(pack_one(Extended::PackUnorm2x16, &[-1.0, 1.0]), 0xffff_0000);
    assert_eq!(pack_one(Extended::PackSnorm4x8, &[0.0, 1.0, -1.0, -0.5]), 0xc081_7f00);
    assert_eq!(pack_one(Extended::PackUnorm4x8, &[0.0, 1.0, 0.5, 2.0]), 0xff80_ff00);
    assert_eq!(unpack_one(Extended::UnpackSnorm2x16, 0, 0x8000), -1.0);
    assert_eq!(unpack_one(Extended::UnpackSnorm4x8, 3, 0x8100_0000), -1.0);
    assert!(unpack(Extended::UnpackHalf2x16, 2).is_none());
}

#[test]
fn unpacking_undoes_packing() {
    let formats = [
        (Extended::PackHalf2x16, Extended::UnpackHalf2x16, 2),
        (Extended::PackSnorm2x16, Extended::UnpackSnorm2x16, 2),
        (Extended::PackUnorm2x16, Extended::UnpackUnorm2x16, 2),
        (Extended::PackSnorm4x8, Extended::UnpackSnorm4x8, 4),
        (Extended::PackUnorm4x8, Extended::UnpackUnorm4x8, 4),
    ];
    for (pack, unpack, count) in formats {
        for word in (0..1u64 << 32).step_by(999_983) {
            let parts: Vec<f32> = (0..count).map(|i| unpack_one(unpack, i, word)).collect();
            if parts.iter().any(|part| part.is_nan()) {
                continue;
            }
            let again = pack_one(pack, &parts);
            for (i, part) in (0..).zip(&parts) {
                assert_eq!(unpack_one(unpack, i, again), *part, "{pack:?} {word:#x}");
            }
        }
    }
    let half = half::f16::from_bits(half_bits(0x3555)).to_f32();
    assert_eq!(unpack_one(Extended::UnpackHalf2x16, 1, 0x3555_0000), half);
}
