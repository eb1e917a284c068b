//! Numbers as a script writes them, and as memory holds them.

use std::cmp::Ordering;
use std::fmt;

use crate::tensor::Dtype;

/// A number of a script or of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole one of 64 bits, signed or not.
    Int(i128),
    /// Any other.
    Float(f64),
}

impl Number {
    /// Reads a decimal or hexadecimal integer of at most 64 bits, or a decimal fraction.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(digits) = text.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok().map(|bits| Self::Int(bits.into()));
        }
        let first = text.strip_prefix('-').unwrap_or(text);
        if !first.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            let is_nan = first.eq_ignore_ascii_case("nan");
            return is_nan.then_some(Self::Float(f64::NAN));
        }
        match text.parse::<i128>() {
            Ok(int) => (-(1 << 63)..1 << 64).contains(&int).then_some(Self::Int(int)),
            Err(_) => text.parse().ok().map(Self::Float),
        }
    }

    /// The number as a fraction.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "what a float buffer stores is rounded anyway")]
    pub const fn value(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    /// The same number, as an integer where it is a small one.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of at most 32 bits")]
    pub fn whole(self) -> Self {
        match self {
            Self::Float(float) if float.fract() == 0.0 && float.abs() < 4_294_967_296.0 => {
                Self::Int(float as i128)
            }
            other => other,
        }
    }

    /// The bytes of it in a type, if it is one of its numbers; integers may be written as those of
    /// the other sign with the same bits.
    #[must_use]
    pub fn encode(self, dtype: Dtype) -> Option<Vec<u8>> {
        let bytes = dtype.block_bytes();
        match self {
            _ if dtype.is_float() => Some(dtype.encode(&[self.value()])),
            Self::Int(int) => {
                let bits = 8 * bytes;
                let fits = (-(1_i128 << (bits - 1))..1_i128 << bits).contains(&int);
                fits.then(|| int.to_le_bytes()[..bytes].to_vec())
            }
            Self::Float(_) => None,
        }
    }

    /// The number that bytes of a type hold.
    #[must_use]
    pub fn decode(bytes: &[u8], dtype: Dtype) -> Self {
        if dtype.is_float() {
            return Self::Float(dtype.decode(bytes).first().copied().unwrap_or(f64::NAN));
        }
        let signed = matches!(dtype, Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64);
        let is_negative = signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
        let mut wide = [if is_negative { 0xff } else { 0 }; 16];
        let len = bytes.len().min(16);
        wide[..len].copy_from_slice(&bytes[..len]);
        Self::Int(i128::from_le_bytes(wide))
    }

    /// The number that a buffer of the type would hold; floats are rounded to 32 bits at least,
    /// as the script's author sees them.
    #[must_use]
    pub fn stored(self, dtype: Dtype) -> Option<Self> {
        let dtype = if dtype == Dtype::F16 { Dtype::F32 } else { dtype };
        self.encode(dtype).map(|bytes| Self::decode(&bytes, dtype))
    }

    /// The order of two numbers of one type; none with a NaN.
    #[must_use]
    pub fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(&b)),
            _ => self.value().partial_cmp(&other.value()),
        }
    }

    /// Whether it is no number.
    #[must_use]
    pub const fn is_nan(self) -> bool {
        matches!(self, Self::Float(float) if float.is_nan())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => write!(f, "{int}"),
            Self::Float(float) => write!(f, "{float:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;
    use crate::tensor::Dtype;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let int = |n: i128| Some(Number::Int(n));
        assert_eq!(Number::parse("0xffffffffffffffff"), int(u64::MAX.into()));
        assert_eq!(Number::parse("-9223372036854775808"), int(i64::MIN.into()));
        assert_eq!(Number::parse("18446744073709551616"), None);
        assert_eq!(Number::parse("-.5"), Some(Number::Float(-0.5)));
        assert!(Number::parse("NaN").is_some_and(Number::is_nan));
        for wrong in ["", "-", "x", "0x", "1.5x", "inf", "--1", "nano"] {
            assert_eq!(Number::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn integers_keep_their_bits_and_refuse_others() {
        let stored = |n: i128, dtype| Number::Int(n).stored(dtype);
        assert_eq!(stored(-1, Dtype::U8), Some(Number::Int(255)));
        assert_eq!(stored(0xffff, Dtype::I16), Some(Number::Int(-1)));
        assert_eq!(stored(256, Dtype::U8), None);
        assert_eq!(Number::Float(0.5).stored(Dtype::I32), None);
        assert_eq!(Number::Float(0.1).stored(Dtype::F32), Some(Number::Float(0.1_f32.into())));
    }
}
