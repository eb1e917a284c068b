//! What pure operations compute, a column at a time.
//!
//! Each file has a few tables from operations to expressions over components; [`wide`] makes loops
//! of them. A kernel takes any bits, since it runs for inactive invocations too. What the
//! specification leaves undefined has some fixed result here, and a [`guard`] that finds it.
//!
//! Shifts and bit fields read one word of an amount, whatever its type; `Ldexp` an i32.

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::program::{Kernel, What};
use super::scalar::Scalar;
use wide::{for_float, for_int};

mod bits;
mod compare;
mod convert;
mod dot;
mod extended;
mod floats;
mod guard;
mod halves;
mod ints;
mod lane;
mod libm;
mod pack;
mod series;
#[cfg(test)]
mod tests;
mod wide;

pub(crate) use guard::guard;
pub(crate) use pack::unpack;
pub(crate) use wide::widest;

/// How an operation is computed; none where it can't be. The packing operations take components of
/// their vector as operands; [`unpack`] has their inverses. `PackDouble2x32` is a matter of
/// registers alone.
pub(crate) fn resolve(what: What, from: Scalar, to: Scalar) -> Option<Kernel> {
    match what {
        What::Core(op) => core(op, from, to),
        What::Extended(op) => extended(op, from, to),
        What::Second(op) if from == to => for_int!(from, T => ints::second::<T>(op)),
        What::SecondExtended(op) if from == to => for_float!(from, T => libm::whole::<T>(op)),
        What::SecondExtended(op) => {
            for_float!(from, T => for_int!(to, R => libm::exponent::<T, R>(op)))
        }
        What::Second(_) => None,
    }
}

fn core(op: Op, from: Scalar, to: Scalar) -> Option<Kernel> {
    if op == Op::Select {
        return if from == to { select(from) } else { None };
    }
    let same = || {
        let ints = for_int!(from, T => ints::core::<T>(op).or_else(|| bits::core::<T>(op)));
        ints.or_else(|| for_float!(from, T => floats::core::<T>(op)))
    };
    let test = || {
        let ints = for_int!(from, T => compare::ints::<T>(op));
        ints.or_else(|| for_float!(from, T => compare::floats::<T>(op)))
    };
    let logical = || if from == Scalar::Bool { compare::logical(op) } else { test() };
    let dot = || if from == Scalar::I32 { for_int!(to, R => dot::core::<R>(op)) } else { None };
    let same = if from == to { same() } else { None };
    let bool = if to == Scalar::Bool { logical() } else { None };
    same.or(bool)
        .or_else(|| for_int!(from, T => for_int!(to, R => bits::counts::<T, R>(op))))
        .or_else(dot)
        .or_else(|| convert::core(op, from, to))
}

fn select(scalar: Scalar) -> Option<Kernel> {
    Some(if scalar.words() == 2 { compare::select::<u64>() } else { compare::select::<u32>() })
}

fn extended(op: Extended, from: Scalar, to: Scalar) -> Option<Kernel> {
    if let Some(find) = for_int!(from, T => for_int!(to, R => bits::extended::<T, R>(op))) {
        return Some(find);
    }
    if (from, to) == (Scalar::F32, Scalar::I32) {
        return pack::pack(op);
    }
    if from != to {
        return None;
    }
    let ints = for_int!(from, T => ints::extended::<T>(op));
    ints.or_else(|| for_float!(from, T => extended::one::<T>(op)))
        .or_else(|| for_float!(from, T => extended::more::<T>(op)))
        .or_else(|| for_float!(from, T => series::kernel::<T>(op)))
        .or_else(|| for_float!(from, T => libm::one::<T>(op)))
        .or_else(|| for_float!(from, T => libm::two::<T>(op)))
}
