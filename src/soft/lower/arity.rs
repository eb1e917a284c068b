//! How many operands an extended instruction has: the parser doesn't count them.

use rspirv::spirv::GlslStd450Op as Extended;

pub(super) const fn arity(op: Extended) -> u8 {
    match op {
        Extended::Atan2
        | Extended::Pow
        | Extended::FMin
        | Extended::UMin
        | Extended::SMin
        | Extended::FMax
        | Extended::UMax
        | Extended::SMax
        | Extended::NMin
        | Extended::NMax
        | Extended::Step
        | Extended::Ldexp => 2,
        Extended::FClamp
        | Extended::UClamp
        | Extended::SClamp
        | Extended::NClamp
        | Extended::FMix
        | Extended::IMix
        | Extended::SmoothStep
        | Extended::Fma => 3,
        _ => 1,
    }
}
