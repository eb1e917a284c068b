//! Comparisons, and what is done with their results.

use rspirv::spirv::Op;

use super::floats::Float;
use super::ints::Int;
use super::lane::Lane;
use super::wide::{one, three, two};
use crate::soft::program::Kernel;

pub(super) fn ints<T: Int>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::IEqual => two!(T, T => bool, |a, b| a == b),
        Op::INotEqual => two!(T, T => bool, |a, b| a != b),
        Op::UGreaterThan => two!(T, T => bool, |a, b| a > b),
        Op::UGreaterThanEqual => two!(T, T => bool, |a, b| a >= b),
        Op::ULessThan => two!(T, T => bool, |a, b| a < b),
        Op::ULessThanEqual => two!(T, T => bool, |a, b| a <= b),
        Op::SGreaterThan => two!(T::Signed, T::Signed => bool, |a, b| a > b),
        Op::SGreaterThanEqual => two!(T::Signed, T::Signed => bool, |a, b| a >= b),
        Op::SLessThan => two!(T::Signed, T::Signed => bool, |a, b| a < b),
        Op::SLessThanEqual => two!(T::Signed, T::Signed => bool, |a, b| a <= b),
        _ => return None,
    })
}

/// An ordered comparison is false where a NaN takes part, an unordered one is true.
pub(super) fn floats<T: Float>(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::FOrdEqual => two!(T, T => bool, |a, b| a.work() == b.work()),
        Op::FUnordNotEqual => two!(T, T => bool, |a, b| a.work() != b.work()),
        Op::FOrdLessThan => two!(T, T => bool, |a, b| a.work() < b.work()),
        Op::FOrdLessThanEqual => two!(T, T => bool, |a, b| a.work() <= b.work()),
        Op::FOrdGreaterThan => two!(T, T => bool, |a, b| a.work() > b.work()),
        Op::FOrdGreaterThanEqual => two!(T, T => bool, |a, b| a.work() >= b.work()),
        Op::FUnordLessThan => two!(T, T => bool, |a, b| !(a.work() >= b.work())),
        Op::FUnordLessThanEqual => two!(T, T => bool, |a, b| !(a.work() > b.work())),
        Op::FUnordGreaterThan => two!(T, T => bool, |a, b| !(a.work() <= b.work())),
        Op::FUnordGreaterThanEqual => two!(T, T => bool, |a, b| !(a.work() < b.work())),
        Op::FOrdNotEqual | Op::LessOrGreater => {
            two!(T, T => bool, |a, b| (a.work() < b.work()) | (a.work() > b.work()))
        }
        Op::FUnordEqual => {
            two!(T, T => bool, |a, b| !((a.work() < b.work()) | (a.work() > b.work())))
        }
        Op::Ordered => two!(T, T => bool, |a, b| !(a.is_nan() | b.is_nan())),
        Op::Unordered => two!(T, T => bool, |a, b| a.is_nan() | b.is_nan()),
        Op::IsNan => one!(T => bool, |a| a.is_nan()),
        Op::IsInf => one!(T => bool, |a| a.is_infinite()),
        _ => return None,
    })
}

/// A boolean is 0 or 1, so that its word needs no test.
pub(super) fn logical(op: Op) -> Option<Kernel> {
    Some(match op {
        Op::LogicalEqual => two!(u32, u32 => u32, |a, b| (a ^ b ^ 1) & 1),
        Op::LogicalNotEqual => two!(u32, u32 => u32, |a, b| (a ^ b) & 1),
        Op::LogicalOr => two!(u32, u32 => u32, |a, b| a | b),
        Op::LogicalAnd => two!(u32, u32 => u32, |a, b| a & b),
        Op::LogicalNot => one!(u32 => u32, |a| (a ^ 1) & 1),
        _ => return None,
    })
}

pub(super) fn select<T: Lane>() -> Kernel {
    three!(bool, T, T => T, |condition, yes, no| if condition { yes } else { no })
}
