//! Bits, one by one.

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::ints::{INTS, low, operands, signed, width};
use super::{pairs, run, values};
use crate::soft::program::What;
use crate::soft::scalar::Scalar;

/// The integer whose bit i is `bit(i)`.
fn build(scalar: Scalar, bit: impl Fn(u32) -> bool) -> u64 {
    (0..width(scalar)).map(|i| u64::from(bit(i)) << i).sum()
}

fn bit(value: u64, i: u32) -> bool {
    value >> i & 1 == 1
}

#[test]
fn logic() {
    for scalar in INTS {
        let [a, b] = operands(scalar);
        let both = [(scalar, &a[..]), (scalar, &b)];
        let or = run(What::Core(Op::BitwiseOr), scalar, scalar, &both);
        let xor = run(What::Core(Op::BitwiseXor), scalar, scalar, &both);
        let and = run(What::Core(Op::BitwiseAnd), scalar, scalar, &both);
        let not = run(What::Core(Op::Not), scalar, scalar, &both[..1]);
        for i in 0..a.len() {
            assert_eq!(or[i], a[i] | b[i]);
            assert_eq!(xor[i], a[i] ^ b[i]);
            assert_eq!(and[i], a[i] & b[i]);
            assert_eq!(not[i], low(scalar, !i128::from(a[i])));
        }
    }
}

#[test]
fn shifts_beyond_the_width_leave_nothing_but_the_sign() {
    for scalar in INTS {
        let bits = width(scalar);
        let amounts: Vec<u64> = (0..=u64::from(bits) + 3).chain([255, 0xffff_ffff]).collect();
        let [a, n] = pairs(&values(scalar, 1), &amounts);
        let src = [(scalar, &a[..]), (Scalar::I32, &n)];
        let left = run(What::Core(Op::ShiftLeftLogical), scalar, scalar, &src);
        let right = run(What::Core(Op::ShiftRightLogical), scalar, scalar, &src);
        let with_sign = run(What::Core(Op::ShiftRightArithmetic), scalar, scalar, &src);
        for i in 0..a.len() {
            let n = u32::try_from(n[i]).expect("a word");
            let above = |k: u32| k.saturating_add(n);
            let zero = |k: u32| k < bits && bit(a[i], k);
            assert_eq!(left[i], build(scalar, |k| k >= n && bit(a[i], k - n)));
            assert_eq!(right[i], build(scalar, |k| zero(above(k))));
            assert_eq!(with_sign[i], build(scalar, |k| bit(a[i], above(k).min(bits - 1))));
        }
    }
}

#[test]
fn fields() {
    for scalar in INTS {
        let bits = width(scalar);
        for (offset, count) in (0..=bits).flat_map(|at| (0..=bits - at).map(move |n| (at, n))) {
            let a = values(scalar, 1);
            let b: Vec<u64> = values(scalar, 2);
            let at = vec![u64::from(offset); a.len()];
            let n = vec![u64::from(count); a.len()];
            let (at, n) = ((Scalar::I32, &at[..]), (Scalar::I32, &n[..]));
            let (a_src, b_src) = ((scalar, &a[..]), (scalar, &b[..]));
            let inserted =
                run(What::Core(Op::BitFieldInsert), scalar, scalar, &[a_src, b_src, at, n]);
            let taken = run(What::Core(Op::BitFieldUExtract), scalar, scalar, &[a_src, at, n]);
            let with_sign = run(What::Core(Op::BitFieldSExtract), scalar, scalar, &[a_src, at, n]);
            for i in 0..a.len() {
                let inside = |k: u32| k >= offset && k - offset < count;
                let insert = |k: u32| if inside(k) { bit(b[i], k - offset) } else { bit(a[i], k) };
                let take = |k: u32| k < count && bit(a[i], offset + k);
                assert_eq!(inserted[i], build(scalar, insert), "{scalar:?} {offset} {count}");
                assert_eq!(taken[i], build(scalar, take), "{scalar:?} {offset} {count}");
                let sign = |k: u32| count > 0 && take(k.min(count - 1));
                assert_eq!(with_sign[i], build(scalar, sign), "{scalar:?} {offset} {count}");
            }
        }
    }
}

#[test]
fn counts_and_places() {
    for scalar in INTS {
        let (a, bits) = (values(scalar, 3), width(scalar));
        let src = [(scalar, &a[..])];
        let result = Scalar::I32;
        let ones = run(What::Core(Op::BitCount), scalar, result, &src);
        let reversed = run(What::Core(Op::BitReverse), scalar, scalar, &src);
        let first = run(What::Extended(Extended::FindILsb), scalar, result, &src);
        let last = run(What::Extended(Extended::FindUMsb), scalar, result, &src);
        let last_signed = run(What::Extended(Extended::FindSMsb), scalar, result, &src);
        for i in 0..a.len() {
            let places = || (0..bits).filter(|&k| bit(a[i], k));
            let place = |found: Option<u32>| low(result, found.map_or(-1, i128::from));
            assert_eq!(ones[i], u64::try_from(places().count()).expect("few"));
            assert_eq!(reversed[i], build(scalar, |k| bit(a[i], bits - 1 - k)));
            assert_eq!(first[i], place(places().next()));
            assert_eq!(last[i], place(places().next_back()));
            let negative = signed(scalar, a[i]) < 0;
            let unlike = (0..bits).rfind(|&k| bit(a[i], k) != negative);
            assert_eq!(last_signed[i], place(unlike));
        }
    }
}

#[test]
fn packed_dot_products() {
    let [a, b] = pairs(&values(Scalar::I32, 4), &values(Scalar::I32, 5));
    let sums: Vec<u64> = (0..a.len()).map(|i| [0, 0x7fff_ffff, 0x8000_0000][i % 3]).collect();
    let word = Scalar::I32;
    let src = [(word, &a[..]), (word, &b), (word, &sums)];
    let byte = |value: u64, i: u32| value >> (8 * i) & 0xff;
    let sign = |value: u64, i: u32| signed(Scalar::I8, byte(value, i));
    let none = |value: u64, i: u32| i128::from(byte(value, i));
    for i in 0..a.len() {
        let src = src.map(|(scalar, column)| (scalar, &column[i..=i]));
        let one = |op, count: usize| run(What::Core(op), word, word, &src[..count])[0];
        let products: i128 = (0..4).map(|k| sign(a[i], k) * sign(b[i], k)).sum();
        let mixed: i128 = (0..4).map(|k| sign(a[i], k) * none(b[i], k)).sum();
        let unsigned: i128 = (0..4).map(|k| none(a[i], k) * none(b[i], k)).sum();
        assert_eq!(one(Op::SDot, 2), low(word, products));
        assert_eq!(one(Op::SUDot, 2), low(word, mixed));
        assert_eq!(one(Op::UDot, 2), low(word, unsigned));
        let bounds = (i128::from(i32::MIN), i128::from(i32::MAX));
        let sum = signed(word, sums[i]);
        assert_eq!(one(Op::SDotAccSat, 3), low(word, (products + sum).clamp(bounds.0, bounds.1)));
        assert_eq!(one(Op::SUDotAccSat, 3), low(word, (mixed + sum).clamp(bounds.0, bounds.1)));
        let total = (unsigned + i128::from(sums[i])).min(i128::from(u32::MAX));
        assert_eq!(one(Op::UDotAccSat, 3), low(word, total));
    }
}
