//! Atomic instructions: what they leave in memory (SPIR-V, "Atomic Instructions").

use half::{bf16, f16};
use rspirv::spirv::Op;

use super::scalar::Scalar;
use super::words::{Float, low_bits, signed};

/// Whether [`apply`] knows the operation on this type. Lowering refuses all others.
pub(crate) const fn supports(op: Op, scalar: Scalar) -> bool {
    let is_integer = matches!(scalar, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64);
    match op {
        Op::AtomicLoad | Op::AtomicStore | Op::AtomicExchange => is_integer || scalar.is_float(),
        Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT => scalar.is_float(),
        Op::AtomicFlagTestAndSet | Op::AtomicFlagClear => matches!(scalar, Scalar::I32),
        Op::AtomicCompareExchange
        | Op::AtomicCompareExchangeWeak
        | Op::AtomicIIncrement
        | Op::AtomicIDecrement
        | Op::AtomicIAdd
        | Op::AtomicISub
        | Op::AtomicSMin
        | Op::AtomicUMin
        | Op::AtomicSMax
        | Op::AtomicUMax
        | Op::AtomicAnd
        | Op::AtomicOr
        | Op::AtomicXor => is_integer,
        _ => false,
    }
}

/// What is in memory afterwards. All values lie in the low bits, the others 0. `value` doesn't
/// count where an instruction has none, nor `compare` in any but a compare and exchange.
///
/// # Panics
/// On an operation that [`supports`] denies.
pub(crate) fn apply(op: Op, scalar: Scalar, old: u64, value: u64, compare: u64) -> u64 {
    match op {
        Op::AtomicLoad => old,
        Op::AtomicStore | Op::AtomicExchange => value,
        Op::AtomicFlagTestAndSet => 1,
        Op::AtomicFlagClear => 0,
        Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT => match scalar {
            Scalar::F16 => float::<f16>(op, old, value),
            Scalar::Bf16 => float::<bf16>(op, old, value),
            Scalar::F64 => float::<f64>(op, old, value),
            _ => float::<f32>(op, old, value),
        },
        _ => integer(op, scalar.bytes() * 8, old, value, compare),
    }
}

fn integer(op: Op, bits: u32, old: u64, value: u64, compare: u64) -> u64 {
    let least = |a: u64, b: u64| if signed(b, bits) < signed(a, bits) { b } else { a };
    let new = match op {
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
            if old == compare {
                value
            } else {
                old
            }
        }
        Op::AtomicIIncrement => old.wrapping_add(1),
        Op::AtomicIDecrement => old.wrapping_sub(1),
        Op::AtomicIAdd => old.wrapping_add(value),
        Op::AtomicISub => old.wrapping_sub(value),
        Op::AtomicSMin => least(old, value),
        Op::AtomicSMax => {
            if least(old, value) == old {
                value
            } else {
                old
            }
        }
        Op::AtomicUMin => old.min(value),
        Op::AtomicUMax => old.max(value),
        Op::AtomicAnd => old & value,
        Op::AtomicOr => old | value,
        Op::AtomicXor => old ^ value,
        _ => unreachable!("{op:?} is refused when a module is lowered"),
    };
    new & low_bits(bits)
}

/// A minimum or maximum of a number and a NaN is the number.
fn float<T: Float>(op: Op, old: u64, value: u64) -> u64 {
    let (old, value) = (T::from_word(old), T::from_word(value));
    let new = match op {
        Op::AtomicFMinEXT => old.lesser(value),
        Op::AtomicFMaxEXT => old.greater(value),
        _ => old + value,
    };
    new.to_word()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrow(op: Op, old: i64, value: i64, compare: i64) -> [i64; 4] {
        [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64].map(|scalar| {
            let bits = scalar.bytes() * 8;
            let low = |value: i64| value.cast_unsigned() & low_bits(bits);
            assert!(supports(op, scalar), "{op:?} {scalar:?}");
            let new = apply(op, scalar, low(old), low(value), low(compare));
            assert_eq!(new & !low_bits(bits), 0, "{op:?} {scalar:?} leaves bits above its own");
            signed(new, bits)
        })
    }

    #[test]
    fn integers_of_all_widths_wrap_and_have_the_sign_of_the_operation() {
        let cases = [
            (Op::AtomicLoad, -7, 3, 0, -7),
            (Op::AtomicStore, -7, 3, 0, 3),
            (Op::AtomicExchange, -7, 3, 0, 3),
            (Op::AtomicCompareExchange, -7, 3, -7, 3),
            (Op::AtomicCompareExchange, -7, 3, 7, -7),
            (Op::AtomicCompareExchangeWeak, -7, 3, -7, 3),
            (Op::AtomicIIncrement, -1, 99, 0, 0),
            (Op::AtomicIDecrement, 0, 99, 0, -1),
            (Op::AtomicIAdd, -7, 3, 0, -4),
            (Op::AtomicISub, -7, 3, 0, -10),
            (Op::AtomicSMin, -7, 3, 0, -7),
            (Op::AtomicSMin, 3, -7, 0, -7),
            (Op::AtomicSMax, -7, 3, 0, 3),
            (Op::AtomicSMax, 3, -7, 0, 3),
            (Op::AtomicSMax, 5, 5, 0, 5),
            (Op::AtomicUMin, -7, 3, 0, 3),
            (Op::AtomicUMax, -7, 3, 0, -7),
            (Op::AtomicAnd, 12, 10, 0, 8),
            (Op::AtomicOr, 12, 10, 0, 14),
            (Op::AtomicXor, 12, 10, 0, 6),
        ];
        for (op, old, value, compare, want) in cases {
            assert_eq!(narrow(op, old, value, compare), [want; 4], "{op:?}({old}, {value})");
        }
        assert_eq!(apply(Op::AtomicIIncrement, Scalar::I8, 127, 0, 0), 128);
        assert_eq!(apply(Op::AtomicIIncrement, Scalar::I16, 0xffff, 0, 0), 0);
        assert_eq!(apply(Op::AtomicIAdd, Scalar::I32, 0xffff_ffff, 2, 0), 1);
        assert_eq!(apply(Op::AtomicIAdd, Scalar::I64, u64::MAX, 2, 0), 1);
    }

    #[test]
    fn floats_round_in_their_own_type_and_prefer_numbers_to_nans() {
        let f = |x: f32| u64::from(x.to_bits());
        let h = |x: f32| u64::from(f16::from_f32(x).to_bits());
        let nan = f(f32::NAN);
        assert_eq!(apply(Op::AtomicFAddEXT, Scalar::F32, f(1.5), f(2.25), 0), f(3.75));
        // 2048 + 1 lies between two of f16's numbers; the even one is 2048.
        assert_eq!(apply(Op::AtomicFAddEXT, Scalar::F16, h(2048.0), h(1.0), 0), h(2048.0));
        let d = |x: f64| x.to_bits();
        assert_eq!(apply(Op::AtomicFAddEXT, Scalar::F64, d(0.1), d(0.2), 0), d(0.1 + 0.2));
        assert_eq!(apply(Op::AtomicFMinEXT, Scalar::F32, f(2.0), f(-1.0), 0), f(-1.0));
        assert_eq!(apply(Op::AtomicFMaxEXT, Scalar::F32, f(2.0), f(-1.0), 0), f(2.0));
        for op in [Op::AtomicFMinEXT, Op::AtomicFMaxEXT] {
            assert_eq!(apply(op, Scalar::F32, nan, f(2.0), 0), f(2.0));
            assert_eq!(apply(op, Scalar::F32, f(2.0), nan, 0), f(2.0));
        }
        assert_eq!(apply(Op::AtomicFMinEXT, Scalar::F64, d(f64::INFINITY), d(9.0), 0), d(9.0));
    }

    #[test]
    fn what_the_grammar_forbids_is_not_supported() {
        assert!(!supports(Op::AtomicIAdd, Scalar::F32));
        assert!(!supports(Op::AtomicFAddEXT, Scalar::I32));
        assert!(!supports(Op::AtomicCompareExchange, Scalar::F32));
        assert!(!supports(Op::AtomicLoad, Scalar::Bool));
        assert!(!supports(Op::IAdd, Scalar::I32));
        assert!(supports(Op::AtomicExchange, Scalar::F32));
        assert!(supports(Op::AtomicFMinEXT, Scalar::F64));
        assert_eq!(apply(Op::AtomicFlagTestAndSet, Scalar::I32, 0, 0, 0), 1);
        assert_eq!(apply(Op::AtomicFlagClear, Scalar::I32, 1, 0, 0), 0);
    }
}
