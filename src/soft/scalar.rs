//! The types of a register's contents.

/// The type of one component. SPIR-V's integers have their sign in the operation, not in the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Scalar {
    /// 0 or 1 in a word.
    Bool,
    /// The low 8 bits of a word, the others 0.
    I8,
    /// The low 16 bits of a word, the others 0.
    I16,
    /// A word.
    I32,
    /// Two words, the low one first.
    I64,
    /// The low 16 bits of a word.
    F16,
    /// The low 16 bits of a word: the high half of an f32.
    Bf16,
    /// A word.
    F32,
    /// Two words.
    F64,
}

impl Scalar {
    /// Registers that one component takes.
    pub(crate) const fn words(self) -> u32 {
        match self {
            Self::I64 | Self::F64 => 2,
            _ => 1,
        }
    }

    /// Bytes that it takes in memory. A boolean only lies in memory that no host sees.
    pub(crate) const fn bytes(self) -> u32 {
        match self {
            Self::I8 => 1,
            Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::Bool | Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }
}
