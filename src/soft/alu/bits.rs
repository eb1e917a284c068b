//! Bits of integers: shifts, logic, fields, and where the first or last bit is.

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::ints::Int;
use super::wide::{four, one, three, two};
use crate::soft::program::Kernel;

/// Amounts, offsets and counts may be integers of any width; one word of theirs is read.
pub(super) fn core<T: Int>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::ShiftLeftLogical => two!(T, u32 => T, |a, n| a.left(n)),
        Op::ShiftRightLogical => two!(T, u32 => T, |a, n| a.right(n)),
        Op::ShiftRightArithmetic => two!(T, u32 => T, |a, n| a.right_signed(n)),
        Op::BitwiseOr => two!(T, T => T, |a, b| a | b),
        Op::BitwiseXor => two!(T, T => T, |a, b| a ^ b),
        Op::BitwiseAnd => two!(T, T => T, |a, b| a & b),
        Op::Not => one!(T => T, |a| !a),
        Op::BitReverse => one!(T => T, |a| a.reversed()),
        Op::BitFieldInsert => four!(T, T, u32, u32 => T, |a, b, at, n| insert(a, b, at, n)),
        Op::BitFieldUExtract => three!(T, u32, u32 => T, |a, at, n| a.right(at) & low(n)),
        Op::BitFieldSExtract => three!(T, u32, u32 => T, |a, at, n| extract_signed(a, at, n)),
        _ => return None,
    })
}

/// Operations whose result may have a width of its own.
pub(super) fn counts<T: Int, R: Int>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::BitCount => one!(T => R, |a| R::from_u64(a.ones().into())),
        _ => return None,
    })
}

pub(super) fn extended<T: Int, R: Int>(op: Extended) -> Option<Kernel> {
    Some(match op {
        Extended::FindILsb => one!(T => R, |a| first(a)),
        Extended::FindUMsb => one!(T => R, |a| last(a)),
        Extended::FindSMsb => one!(T => R, |a| last(if a.is_negative() { !a } else { a })),
        _ => return None,
    })
}

/// The lowest bits, all of them from the width on.
#[inline(always)]
fn low<T: Int>(count: u32) -> T {
    !(!T::from_u64(0)).left(count)
}

#[inline(always)]
fn insert<T: Int>(base: T, field: T, offset: u32, count: u32) -> T {
    let mask = low::<T>(count).left(offset);
    (base & !mask) | (field.left(offset) & mask)
}

#[inline(always)]
fn extract_signed<T: Int>(base: T, offset: u32, count: u32) -> T {
    let unused = T::BITS - count.min(T::BITS);
    // An empty field is 0, which two shifts by the width, sign kept, wouldn't give.
    let field = base.right(offset) & low(count);
    field.left(unused).right_signed(unused)
}

/// The number of the lowest bit that is set, -1 if none is.
#[inline(always)]
fn first<T: Int, R: Int>(a: T) -> R {
    let below = a.sub(T::from_u64(1)) & !a;
    let none = a == T::from_u64(0);
    R::from_u64(if none { u64::MAX } else { below.ones().into() })
}

/// The number of the highest bit that is set, -1 if none is.
#[inline(always)]
fn last<T: Int, R: Int>(a: T) -> R {
    R::from_u64(63u64.wrapping_sub(a.to_u64().leading_zeros().into()))
}
