//! Element types and their storage formats.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::quantised::Quantised;
use super::scalar;

/// How elements are stored. The quantised types are ggml's; [`Dtype::block_len`] of their elements
/// share a block, and can't be stored otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// IEEE 754 binary64.
    F64,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// 4 bits and a scale.
    Q4_0,
    /// 4 bits, a scale and a minimum.
    Q4_1,
    /// 5 bits and a scale.
    Q5_0,
    /// 5 bits, a scale and a minimum.
    Q5_1,
    /// 8 bits and a scale.
    Q8_0,
    /// 4 bits; scales and minima of 6 bits for every 32 elements of 256.
    #[serde(rename = "q4_k")]
    Q4K,
}

/// A name that no element type has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}` is no element type; there are {}", names())]
pub struct UnknownDtype {
    /// The name.
    pub name: String,
}

impl Dtype {
    /// Every type.
    pub const ALL: [Self; 18] = [
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q4K,
    ];

    /// The name in kernel files and case ids.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::Q4_0 => "q4_0",
            Self::Q4_1 => "q4_1",
            Self::Q5_0 => "q5_0",
            Self::Q5_1 => "q5_1",
            Self::Q8_0 => "q8_0",
            Self::Q4K => "q4_k",
        }
    }

    /// Whether each element is a float of its own.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// Whether each element is an integer of its own.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        !self.is_float() && !self.is_quantised()
    }

    /// Whether elements share a block and its scales.
    #[must_use]
    pub const fn is_quantised(self) -> bool {
        self.quantised().is_some()
    }

    const fn quantised(self) -> Option<Quantised> {
        match self {
            Self::Q4_0 => Some(Quantised::Q4_0),
            Self::Q4_1 => Some(Quantised::Q4_1),
            Self::Q5_0 => Some(Quantised::Q5_0),
            Self::Q5_1 => Some(Quantised::Q5_1),
            Self::Q8_0 => Some(Quantised::Q8_0),
            Self::Q4K => Some(Quantised::Q4K),
            _ => None,
        }
    }

    /// Elements of one block: 1 unless the type is quantised.
    #[must_use]
    pub const fn block_len(self) -> usize {
        match self.quantised() {
            Some(quantised) => quantised.block_len(),
            None => 1,
        }
    }

    /// Size of one block: of one element unless the type is quantised.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        let ends = self.field_ends();
        ends[ends.len() - 1]
    }

    /// Where each field of a block ends, in order: scale, minimum, packed bits. An element that is
    /// no part of a block is one field.
    #[must_use]
    pub const fn field_ends(self) -> &'static [usize] {
        match self {
            Self::I8 | Self::U8 => &[1],
            Self::F16 | Self::BF16 | Self::I16 | Self::U16 => &[2],
            Self::F32 | Self::I32 | Self::U32 => &[4],
            Self::F64 | Self::I64 | Self::U64 => &[8],
            Self::Q4_0 => Quantised::Q4_0.field_ends(),
            Self::Q4_1 => Quantised::Q4_1.field_ends(),
            Self::Q5_0 => Quantised::Q5_0.field_ends(),
            Self::Q5_1 => Quantised::Q5_1.field_ends(),
            Self::Q8_0 => Quantised::Q8_0.field_ends(),
            Self::Q4K => Quantised::Q4K.field_ends(),
        }
    }

    /// Size of `len` elements; `None` if they don't fill whole blocks or the number overflows.
    #[must_use]
    pub const fn bytes_for(self, len: usize) -> Option<usize> {
        if !len.is_multiple_of(self.block_len()) {
            return None;
        }
        (len / self.block_len()).checked_mul(self.block_bytes())
    }

    /// Elements in so many bytes; those of an incomplete block don't count.
    #[must_use]
    pub const fn len_of(self, bytes: usize) -> usize {
        bytes / self.block_bytes() * self.block_len()
    }

    /// The nearest value that storage can hold, ties to even. What a block makes of a value depends
    /// on the values beside it, so quantised types return it as it is.
    #[must_use]
    pub fn round(self, value: f64) -> f64 {
        if self.is_quantised() { value } else { self.decode(&self.encode(&[value]))[0] }
    }

    /// Rounds values to storage, little endian. Integers saturate and make 0 of a NaN; the last
    /// block of a quantised type is filled up with zeros.
    ///
    /// Integers beyond 2^53 aren't all f64: those must come as bytes.
    #[must_use]
    pub fn encode(self, values: &[f64]) -> Vec<u8> {
        match self.quantised() {
            Some(quantised) => quantised.encode(values),
            None => scalar::encode(self, values),
        }
    }

    /// The values of stored elements, exactly but for 64-bit integers beyond 2^53, which are
    /// rounded. The bytes of an incomplete block are dropped.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Vec<f64> {
        match self.quantised() {
            Some(quantised) => quantised.decode(bytes),
            None => scalar::decode(self, bytes),
        }
    }
}

fn names() -> String {
    Dtype::ALL.map(Dtype::name).join(", ")
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dtype {
    type Err = UnknownDtype;

    fn from_str(name: &str) -> Result<Self, UnknownDtype> {
        Self::ALL
            .into_iter()
            .find(|dtype| dtype.name() == name)
            .ok_or_else(|| UnknownDtype { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::Dtype;

    #[test]
    fn every_name_is_read_back_by_serde_and_from_str() {
        for dtype in Dtype::ALL {
            assert_eq!(dtype.to_string().parse(), Ok(dtype));
            let json = serde_json::to_value(dtype).expect("plain data");
            assert_eq!(json, dtype.name());
            assert_eq!(serde_json::from_value::<Dtype>(json).expect("plain data"), dtype);
        }
        let error = "q4".parse::<Dtype>().expect_err("no such type").to_string();
        assert!(error.contains("`q4` is no element type; there are f16, bf16"), "{error}");
    }

    #[test]
    fn lengths_fill_whole_blocks_or_have_no_size() {
        let sizes = |dtype: Dtype, len| (dtype.bytes_for(len), dtype.block_bytes());
        assert_eq!(sizes(Dtype::U8, 7), (Some(7), 1));
        assert_eq!(sizes(Dtype::F64, 3), (Some(24), 8));
        assert_eq!(sizes(Dtype::Q4_0, 64), (Some(36), 18));
        assert_eq!(sizes(Dtype::Q4_1, 32), (Some(20), 20));
        assert_eq!(sizes(Dtype::Q5_0, 32), (Some(22), 22));
        assert_eq!(sizes(Dtype::Q5_1, 32), (Some(24), 24));
        assert_eq!(sizes(Dtype::Q8_0, 32), (Some(34), 34));
        assert_eq!(sizes(Dtype::Q4K, 512), (Some(288), 144));
        assert_eq!(sizes(Dtype::Q4K, 32), (None, 144));
        assert_eq!(Dtype::F64.bytes_for(usize::MAX), None);
        assert_eq!(Dtype::Q4_0.len_of(53), 64);
    }

    #[test]
    fn each_type_is_of_one_class() {
        for dtype in Dtype::ALL {
            let classes = [dtype.is_float(), dtype.is_integer(), dtype.is_quantised()];
            assert_eq!(classes.iter().filter(|class| **class).count(), 1, "{dtype}");
            assert_eq!(dtype.is_quantised(), dtype.block_len() > 1, "{dtype}");
        }
    }

    #[test]
    fn what_storage_holds_survives_the_way_there_and_back() {
        for dtype in Dtype::ALL {
            let given: Vec<f64> = (0..256).map(|i| f64::from(i % 100) * 0.37).collect();
            let bytes = dtype.encode(&given);
            assert_eq!(Some(bytes.len()), dtype.bytes_for(256), "{dtype}");
            let stored = dtype.decode(&bytes);
            if dtype.is_quantised() {
                let step = 36.63 / if dtype == Dtype::Q8_0 { 127.0 } else { 15.0 };
                let near = given.iter().zip(&stored).all(|(a, b)| (a - b).abs() <= step);
                assert!(near, "{dtype}: {stored:?}");
                continue;
            }
            let again = dtype.encode(&stored);
            assert_eq!(again, bytes, "{dtype}");
            let rounded: Vec<f64> = given.iter().map(|v| dtype.round(*v)).collect();
            assert_eq!(rounded, stored, "{dtype}");
        }
    }
}
