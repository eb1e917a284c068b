//! Integers against 128-bit ones.

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::{mask, pairs, run, values};
use crate::soft::program::What;
use crate::soft::scalar::Scalar;

pub(super) const INTS: [Scalar; 4] = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];

pub(super) fn width(scalar: Scalar) -> u32 {
    8 * scalar.bytes()
}

pub(super) fn signed(scalar: Scalar, bits: u64) -> i128 {
    let above = i128::from(bits > mask(scalar) >> 1) << width(scalar);
    i128::from(bits) - above
}

pub(super) fn low(scalar: Scalar, value: i128) -> u64 {
    u64::try_from(value & i128::from(mask(scalar))).expect("masked")
}

/// All pairs of bytes; else of values with which arithmetic goes wrong.
pub(super) fn operands(scalar: Scalar) -> [Vec<u64>; 2] {
    if scalar == Scalar::I8 {
        let all: Vec<u64> = (0..256).collect();
        return pairs(&all, &all);
    }
    pairs(&values(scalar, 1), &values(scalar, 2))
}

fn check(what: What, reference: impl Fn(Scalar, u64, u64) -> i128) {
    for scalar in INTS {
        let [a, b] = operands(scalar);
        let got = run(what, scalar, scalar, &[(scalar, &a), (scalar, &b)]);
        for i in 0..a.len() {
            let expected = low(scalar, reference(scalar, a[i], b[i]));
            assert_eq!(got[i], expected, "{what:?} {scalar:?} {:#x} {:#x}", a[i], b[i]);
        }
    }
}

/// Reads both operands with their sign.
fn check_signed(what: What, reference: impl Fn(i128, i128) -> i128) {
    check(what, |scalar, a, b| reference(signed(scalar, a), signed(scalar, b)));
}

fn check_unsigned(what: What, reference: impl Fn(i128, i128) -> i128) {
    check(what, |_, a, b| reference(i128::from(a), i128::from(b)));
}

#[test]
fn sums_and_products_wrap() {
    check_signed(What::Core(Op::IAdd), |a, b| a + b);
    check_signed(What::Core(Op::ISub), |a, b| a - b);
    check_signed(What::Core(Op::IMul), |a, b| a * b);
    check_signed(What::Core(Op::SNegate), |a, _| -a);
}

#[test]
fn quotients_and_remainders() {
    check_unsigned(What::Core(Op::UDiv), |a, b| a.checked_div(b).unwrap_or(0));
    check_unsigned(What::Core(Op::UMod), |a, b| a.checked_rem(b).unwrap_or(0));
    check_signed(What::Core(Op::SDiv), |a, b| a.checked_div(b).unwrap_or(0));
    check_signed(What::Core(Op::SRem), |a, b| a.checked_rem(b).unwrap_or(0));
    check_signed(What::Core(Op::SMod), |a, b| match a.checked_rem_euclid(b).unwrap_or(0) {
        0 => 0,
        rest if b < 0 => rest + b,
        rest => rest,
    });
}

#[test]
fn second_results() {
    check(What::Second(Op::UMulExtended), |scalar, a, b| {
        let product = u128::from(a) * u128::from(b);
        i128::try_from(product >> width(scalar)).expect("half of it")
    });
    check(What::Second(Op::SMulExtended), |scalar, a, b| {
        (signed(scalar, a) * signed(scalar, b)) >> width(scalar)
    });
    check(What::Second(Op::IAddCarry), |scalar, a, b| {
        (i128::from(a) + i128::from(b)) >> width(scalar)
    });
    check_unsigned(What::Second(Op::ISubBorrow), |a, b| (a < b).into());
}

#[test]
fn extremes_and_signs() {
    check_signed(What::Extended(Extended::SAbs), |a, _| a.abs());
    check_signed(What::Extended(Extended::SSign), |a, _| a.signum());
    check_signed(What::Extended(Extended::SMin), i128::min);
    check_signed(What::Extended(Extended::SMax), i128::max);
    check_unsigned(What::Extended(Extended::UMin), i128::min);
    check_unsigned(What::Extended(Extended::UMax), i128::max);
}

#[test]
fn clamps() {
    for scalar in INTS {
        let [a, low] = operands(scalar);
        let high: Vec<u64> =
            low.iter().map(|bound| bound.wrapping_add(40) & mask(scalar)).collect();
        let src = [(scalar, &a[..]), (scalar, &low), (scalar, &high)];
        let unsigned = run(What::Extended(Extended::UClamp), scalar, scalar, &src);
        let with_sign = run(What::Extended(Extended::SClamp), scalar, scalar, &src);
        for i in 0..a.len() {
            if low[i] <= high[i] {
                assert_eq!(unsigned[i], a[i].clamp(low[i], high[i]));
            }
            let [a, low, high] = [a[i], low[i], high[i]].map(|bits| signed(scalar, bits));
            if low <= high {
                assert_eq!(signed(scalar, with_sign[i]), a.clamp(low, high));
            }
        }
    }
}

#[test]
fn division_by_way_of_doubles_is_exact() {
    // Quotients next to integers are where a rounded one would be wrong.
    let mut a = Vec::new();
    let mut b = Vec::new();
    for divisor in [1u64, 2, 3, 7, 641, 65535, 65536, 65537, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]
    {
        for multiple in [1, 2, 3, 0xffff_ffff / divisor / 2, 0xffff_ffff / divisor] {
            let product = divisor * multiple;
            for near in [product.saturating_sub(1), product, product + 1] {
                a.push(near & 0xffff_ffff);
                b.push(divisor);
            }
        }
    }
    let src = [(Scalar::I32, &a[..]), (Scalar::I32, &b)];
    let got = run(What::Core(Op::UDiv), Scalar::I32, Scalar::I32, &src);
    for i in 0..a.len() {
        assert_eq!(got[i], a[i] / b[i], "{} / {}", a[i], b[i]);
    }
}
