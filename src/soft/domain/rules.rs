//! Partial derivatives of the operations on floats. They are taken in f64, at the kernel's own
//! operands.

use std::f64::consts::{LN_2, PI};

use libm as m;
use rspirv::spirv::{GlslStd450Op as Extended, Op};

use crate::soft::program::What;

/// The derivative of a component by each operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slope {
    Smooth([f64; 3]),
    /// The slopes on both sides, that of the kernel's own choice first.
    Kink([f64; 3], [f64; 3]),
    /// The value jumps here.
    Jump,
}

use Slope::{Jump, Kink, Smooth};

/// None for what can't be derived.
pub(super) fn slope(what: What, [a, b, c, _]: [f64; 4]) -> Option<Slope> {
    match what {
        What::Core(op) => core(op, [a, b]),
        What::Extended(op) => one(op, a).or_else(|| more(op, [a, b, c])),
        // Whole parts and exponents.
        What::SecondExtended(_) => Some(stairs(a, a.trunc())),
        What::Second(_) => None,
    }
}

fn core(op: Op, [a, b]: [f64; 2]) -> Option<Slope> {
    Some(Smooth(match op {
        Op::FNegate => [-1.0, 0.0, 0.0],
        Op::FAdd => [1.0, 1.0, 0.0],
        Op::FSub => [1.0, -1.0, 0.0],
        Op::FMul => [b, a, 0.0],
        Op::FDiv => [1.0 / b, -a / (b * b), 0.0],
        Op::FRem | Op::FMod => {
            let quotient = a / b;
            if quotient == quotient.round_ties_even() {
                return Some(Jump);
            }
            let whole = if op == Op::FRem { quotient.trunc() } else { quotient.floor() };
            [1.0, -whole, 0.0]
        }
        Op::FmaKHR => [b, a, 1.0],
        // Rounding to a narrower type is noise, not a staircase.
        Op::FConvert | Op::QuantizeToF16 => [1.0, 0.0, 0.0],
        // Beside a jump, whole numbers don't move.
        Op::ConvertFToS | Op::ConvertFToU => return Some(stairs(a, a.trunc())),
        Op::IsNan | Op::IsInf | Op::IsFinite | Op::IsNormal | Op::Ordered | Op::Unordered => {
            [0.0; 3]
        }
        _ => return None,
    }))
}

/// Of what goes in steps and jumps between them.
fn stairs(a: f64, value: f64) -> Slope {
    if a == value && a != 0.0 { Jump } else { Smooth([0.0; 3]) }
}

fn one(op: Extended, a: f64) -> Option<Slope> {
    let slope = match op {
        // These jump at the halves.
        Extended::Round | Extended::RoundEven => {
            return Some(if (a - 0.5).fract() == 0.0 { Jump } else { Smooth([0.0; 3]) });
        }
        Extended::Trunc => return Some(stairs(a, a.trunc())),
        Extended::Floor | Extended::Ceil => {
            return Some(if a == a.floor() { Jump } else { Smooth([0.0; 3]) });
        }
        Extended::Fract => {
            return Some(if a == a.floor() { Jump } else { Smooth([1.0, 0.0, 0.0]) });
        }
        Extended::FSign => return Some(if a == 0.0 { Jump } else { Smooth([0.0; 3]) }),
        Extended::FAbs if a == 0.0 => return Some(Kink([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0])),
        Extended::FAbs => a.signum(),
        Extended::Radians => PI / 180.0,
        Extended::Degrees => 180.0 / PI,
        Extended::Sqrt => 0.5 / a.sqrt(),
        Extended::InverseSqrt => -0.5 / (a * a.sqrt()),
        Extended::Exp => m::exp(a),
        Extended::Exp2 => LN_2 * m::exp2(a),
        Extended::Log => 1.0 / a,
        Extended::Log2 => 1.0 / (a * LN_2),
        Extended::Sin => m::cos(a),
        Extended::Cos => -m::sin(a),
        Extended::Tan => 1.0 + m::tan(a) * m::tan(a),
        Extended::Asin => 1.0 / (1.0 - a * a).sqrt(),
        Extended::Acos => -1.0 / (1.0 - a * a).sqrt(),
        Extended::Atan => 1.0 / (1.0 + a * a),
        Extended::Sinh => m::cosh(a),
        Extended::Cosh => m::sinh(a),
        // The usual formula has nothing left of it where tanh is almost 1.
        Extended::Tanh => 1.0 / (m::cosh(a) * m::cosh(a)),
        Extended::Asinh => 1.0 / (a * a + 1.0).sqrt(),
        Extended::Acosh => 1.0 / (a * a - 1.0).sqrt(),
        Extended::Atanh => 1.0 / (1.0 - a * a),
        Extended::Modf | Extended::ModfStruct => {
            return Some(if a == a.trunc() && a != 0.0 { Jump } else { Smooth([1.0, 0.0, 0.0]) });
        }
        Extended::Frexp | Extended::FrexpStruct => m::ldexp(1.0, -m::frexp(a).1),
        _ => return None,
    };
    Some(Smooth([slope, 0.0, 0.0]))
}

fn more(op: Extended, [a, b, c]: [f64; 3]) -> Option<Slope> {
    Some(match op {
        Extended::FMin | Extended::NMin => lesser(a, b),
        Extended::FMax | Extended::NMax => lesser(-a, -b),
        Extended::FClamp | Extended::NClamp => clamp([a, b, c]),
        Extended::FMix => Smooth([1.0 - c, c, b - a]),
        Extended::Step if a == b => Jump,
        Extended::Step => Smooth([0.0; 3]),
        Extended::SmoothStep => {
            let (width, t) = (b - a, (c - a) / (b - a));
            if !(t > 0.0 && t < 1.0) {
                // The slope is 0 at both ends and beyond.
                return Some(Smooth([0.0; 3]));
            }
            let by_t = 6.0 * t * (1.0 - t);
            Smooth([by_t * (t - 1.0) / width, -by_t * t / width, by_t / width])
        }
        Extended::Fma => Smooth([b, a, 1.0]),
        Extended::Pow => {
            let by_base = if b == 0.0 { 0.0 } else { b * m::pow(a, b - 1.0) };
            let by_exponent = if a == 0.0 { 0.0 } else { m::pow(a, b) * m::log(a) };
            Smooth([by_base, by_exponent, 0.0])
        }
        Extended::Atan2 => {
            let square = a * a + b * b;
            Smooth([b / square, -a / square, 0.0])
        }
        // The exponent is an integer.
        Extended::Ldexp => Smooth([m::exp2(b), 0.0, 0.0]),
        _ => return None,
    })
}

/// A number is taken before a NaN.
fn lesser(a: f64, b: f64) -> Slope {
    let (first, second) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    if a == b {
        Kink(first, second)
    } else if b < a || a.is_nan() {
        Smooth(second)
    } else {
        Smooth(first)
    }
}

fn clamp([a, low, high]: [f64; 3]) -> Slope {
    let (own, below, above) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    if low == high {
        return if a < low { Kink(below, above) } else { Kink(above, below) };
    }
    if a == low {
        Kink(own, below)
    } else if a == high {
        Kink(own, above)
    } else if a > high {
        Smooth(above)
    } else if a > low {
        Smooth(own)
    } else {
        Smooth(below)
    }
}
