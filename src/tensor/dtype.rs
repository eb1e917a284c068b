//! Element types and their storage formats.

use std::fmt;

use half::f16;
use serde::{Deserialize, Serialize};

/// How an element is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 32-bit integer.
    I32,
}

impl Dtype {
    /// Size of one element.
    #[must_use]
    pub const fn size_bytes(self) -> usize {
        match self {
            Self::F32 | Self::U32 | Self::I32 => 4,
            Self::F16 => 2,
        }
    }

    /// Whether it stores floating-point numbers.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16)
    }

    /// Whether it stores whole numbers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::U32 | Self::I32)
    }

    /// The nearest value that storage can hold, ties to even.
    #[must_use]
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::F32 => f64::from(to_f32(value)),
            Self::F16 => f16::from_f64(value).to_f64(),
            Self::U32 => f64::from(to_u32(value)),
            Self::I32 => f64::from(to_i32(value)),
        }
    }

    /// Rounds values to storage, little endian.
    #[must_use]
    pub fn encode(self, values: &[f64]) -> Vec<u8> {
        match self {
            Self::F32 => values.iter().flat_map(|v| to_f32(*v).to_le_bytes()).collect(),
            Self::F16 => values.iter().flat_map(|v| f16::from_f64(*v).to_le_bytes()).collect(),
            Self::U32 => values.iter().flat_map(|v| to_u32(*v).to_le_bytes()).collect(),
            Self::I32 => values.iter().flat_map(|v| to_i32(*v).to_le_bytes()).collect(),
        }
    }

    /// The values of stored elements, exactly. Trailing bytes of an incomplete element are dropped.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Vec<f64> {
        match self {
            Self::F32 => words(bytes).map(|w| f64::from(f32::from_bits(w))).collect(),
            Self::U32 => words(bytes).map(f64::from).collect(),
            Self::I32 => words(bytes).map(|w| f64::from(w.cast_signed())).collect(),
            Self::F16 => bytes
                .as_chunks::<2>()
                .0
                .iter()
                .map(|pair| f16::from_le_bytes(*pair).to_f64())
                .collect(),
        }
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word))
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to storage is the point")]
fn to_f32(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn to_u32(value: f64) -> u32 {
    value as u32
}

#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn to_i32(value: f64) -> i32 {
    value as i32
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::U32 => "u32",
            Self::I32 => "i32",
        })
    }
}
