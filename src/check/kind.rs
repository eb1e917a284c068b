//! The kinds of findings.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::device::Hazard;
use crate::memory;

/// What kind of failure a finding is; `vklab explain KIND` says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A forward result outside its bound.
    WrongResult,
    /// A gradient outside its bound.
    WrongGradient,
    /// A gradient buffer that held data isn't written as the record declares.
    Accumulation,
    /// A VJP that isn't linear in its cotangent.
    NotLinear,
    /// The reference disagrees with itself: the lab's or the op's own fault, not the kernel's.
    Reference,
    /// Algebra of the op that the kernel breaks.
    Property,
    /// A message of the validation layer.
    Validation,
    /// A result that changes with what unwritten memory holds.
    PoisonDependent,
    /// A result that changes when operands share memory.
    Alias,
    /// Two runs that differ.
    Nondeterministic,
    /// A result that changes with the workgroup size or a binding's offset.
    NotPortable,
    /// A guard beside a buffer's data was written.
    GuardHit,
    /// Output elements that nobody wrote.
    UnwrittenOutput,
    /// A buffer bound for reading that was written.
    InputChanged,
    /// An output that carries another buffer's poison.
    PoisonRead,
    /// Two steps of a plan that use the same memory with nothing to order them.
    MissingBarrier,
    /// A kernel, a dispatch or a binding that takes more than devices offer.
    LimitExceeded,
    /// A buffer that was never freed.
    Leak,
    /// A read outside a buffer, an array or shared memory.
    OobRead,
    /// A write outside of it.
    OobWrite,
    /// A value that nobody wrote decides something.
    UninitRead,
    /// Two accesses that nothing orders, one of them a write.
    Race,
    /// A barrier that some invocations don't reach.
    DivergentBarrier,
    /// A subgroup operation that depends on which invocations are together.
    Divergence,
    /// An address that isn't a multiple of what the access needs.
    Misaligned,
    /// An operation without a defined result.
    UndefinedArithmetic,
    /// A NaN that was made out of numbers.
    Nan,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 27] = [
        Self::WrongResult,
        Self::WrongGradient,
        Self::Accumulation,
        Self::NotLinear,
        Self::Reference,
        Self::Property,
        Self::Validation,
        Self::PoisonDependent,
        Self::Alias,
        Self::Nondeterministic,
        Self::NotPortable,
        Self::GuardHit,
        Self::UnwrittenOutput,
        Self::InputChanged,
        Self::PoisonRead,
        Self::MissingBarrier,
        Self::LimitExceeded,
        Self::Leak,
        Self::OobRead,
        Self::OobWrite,
        Self::UninitRead,
        Self::Race,
        Self::DivergentBarrier,
        Self::Divergence,
        Self::Misaligned,
        Self::UndefinedArithmetic,
        Self::Nan,
    ];

    /// The name in reports and run files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WrongResult => "wrong-result",
            Self::WrongGradient => "wrong-gradient",
            Self::Accumulation => "accumulation",
            Self::NotLinear => "not-linear",
            Self::Reference => "reference",
            Self::Property => "property",
            Self::Validation => "validation",
            Self::PoisonDependent => "poison-dependent",
            Self::Alias => "alias",
            Self::Nondeterministic => "nondeterministic",
            Self::NotPortable => "not-portable",
            Self::GuardHit => "guard-hit",
            Self::UnwrittenOutput => "unwritten-output",
            Self::InputChanged => "input-changed",
            Self::PoisonRead => "poison-read",
            Self::MissingBarrier => "missing-barrier",
            Self::LimitExceeded => "limit-exceeded",
            Self::Leak => "leak",
            Self::OobRead => "oob-read",
            Self::OobWrite => "oob-write",
            Self::UninitRead => "uninit-read",
            Self::Race => "race",
            Self::DivergentBarrier => "divergent-barrier",
            Self::Divergence => "divergence",
            Self::Misaligned => "misaligned",
            Self::UndefinedArithmetic => "undefined-arithmetic",
            Self::Nan => "nan",
        }
    }

    /// The kind of a finding about what was seen; none where that is no fault.
    #[must_use]
    pub const fn of_hazard(hazard: Hazard) -> Option<Self> {
        Some(match hazard {
            Hazard::OobRead => Self::OobRead,
            Hazard::OobWrite => Self::OobWrite,
            Hazard::UninitRead => Self::UninitRead,
            Hazard::Race => Self::Race,
            Hazard::DivergentBarrier => Self::DivergentBarrier,
            Hazard::Divergence => Self::Divergence,
            Hazard::Misaligned => Self::Misaligned,
            Hazard::UndefinedArithmetic => Self::UndefinedArithmetic,
            Hazard::Nan => Self::Nan,
            Hazard::SameValueRace => return None,
        })
    }
}

impl From<memory::FindingKind> for Kind {
    fn from(kind: memory::FindingKind) -> Self {
        match kind {
            memory::FindingKind::GuardHit => Self::GuardHit,
            memory::FindingKind::Unwritten => Self::UnwrittenOutput,
            memory::FindingKind::InputChanged => Self::InputChanged,
            memory::FindingKind::PoisonRead => Self::PoisonRead,
            memory::FindingKind::Leak => Self::Leak,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;
    use crate::device::Hazard;

    #[test]
    fn run_files_spell_a_kind_as_reports_do() {
        for kind in Kind::ALL {
            let json = serde_json::to_value(kind).expect("a string");
            assert_eq!(json, kind.name());
        }
    }

    #[test]
    fn a_kind_is_called_as_its_hazard_is() {
        for hazard in Hazard::ALL {
            match Kind::of_hazard(hazard) {
                Some(kind) => assert_eq!(kind.name(), hazard.name()),
                None => assert!(hazard.is_note(), "{hazard}"),
            }
        }
    }
}
