//! Elements that stand for themselves: floats and integers.

use half::{bf16, f16};

use super::Dtype;

/// Rounds each value to a type that isn't quantised.
pub(super) fn encode(dtype: Dtype, values: &[f64]) -> Vec<u8> {
    match dtype {
        Dtype::F16 => store(values, |v| to_f16(v).to_le_bytes()),
        Dtype::BF16 => store(values, |v| bf16::from_f32(to_odd_f32(v)).to_le_bytes()),
        Dtype::F32 => store(values, |v| to_f32(v).to_le_bytes()),
        Dtype::F64 => store(values, f64::to_le_bytes),
        _ => integers(dtype, values),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn integers(dtype: Dtype, values: &[f64]) -> Vec<u8> {
    let whole = f64::round_ties_even;
    match dtype {
        Dtype::I8 => store(values, |v| (whole(v) as i8).to_le_bytes()),
        Dtype::U8 => store(values, |v| (whole(v) as u8).to_le_bytes()),
        Dtype::I16 => store(values, |v| (whole(v) as i16).to_le_bytes()),
        Dtype::U16 => store(values, |v| (whole(v) as u16).to_le_bytes()),
        Dtype::I32 => store(values, |v| (whole(v) as i32).to_le_bytes()),
        Dtype::I64 => store(values, |v| (whole(v) as i64).to_le_bytes()),
        Dtype::U64 => store(values, |v| (whole(v) as u64).to_le_bytes()),
        _ => store(values, |v| (whole(v) as u32).to_le_bytes()),
    }
}

/// The values of elements of a type that isn't quantised.
pub(super) fn decode(dtype: Dtype, bytes: &[u8]) -> Vec<f64> {
    match dtype {
        Dtype::F16 => load(bytes, |b| f16::from_le_bytes(b).to_f64()),
        Dtype::BF16 => load(bytes, |b| bf16::from_le_bytes(b).to_f64()),
        Dtype::F32 => load(bytes, |b| f64::from(f32::from_le_bytes(b))),
        Dtype::F64 => load(bytes, f64::from_le_bytes),
        Dtype::I8 => load(bytes, |b| f64::from(i8::from_le_bytes(b))),
        Dtype::U8 => load(bytes, |b| f64::from(u8::from_le_bytes(b))),
        Dtype::I16 => load(bytes, |b| f64::from(i16::from_le_bytes(b))),
        Dtype::U16 => load(bytes, |b| f64::from(u16::from_le_bytes(b))),
        Dtype::I32 => load(bytes, |b| f64::from(i32::from_le_bytes(b))),
        Dtype::I64 => load(bytes, |b| i64::from_le_bytes(b) as f64),
        Dtype::U64 => load(bytes, |b| u64::from_le_bytes(b) as f64),
        _ => load(bytes, |b| f64::from(u32::from_le_bytes(b))),
    }
}

fn store<const N: usize>(values: &[f64], bytes: impl Fn(f64) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| bytes(*value)).collect()
}

fn load<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    bytes.as_chunks::<N>().0.iter().map(|element| value(*element)).collect()
}

/// The nearest f16.
pub(super) fn to_f16(value: f64) -> f16 {
    f16::from_f32(to_odd_f32(value))
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to storage is the point")]
fn to_f32(value: f64) -> f32 {
    value as f32
}

/// Rounds towards zero and sets the last bit where that changed the value. Then a second rounding,
/// to a format with two bits less or fewer still, gives what one rounding would have given; rounding
/// to the nearest f32 first may end on a tie that the value isn't.
fn to_odd_f32(value: f64) -> f32 {
    let nearest = to_f32(value);
    if f64::from(nearest) == value || value.is_nan() {
        return nearest;
    }
    let beyond = f64::from(nearest).abs() > value.abs();
    // The bits of finite floats of one sign are ordered like their magnitudes.
    f32::from_bits((nearest.to_bits() - u32::from(beyond)) | 1)
}

#[cfg(test)]
mod tests {
    use crate::tensor::Dtype;

    #[test]
    fn halves_are_rounded_once() {
        // Just off the tie between 1 and the next number, by less than an f32 can tell.
        for (dtype, bits) in [(Dtype::F16, 10), (Dtype::BF16, 7)] {
            let ulp = 2f64.powi(-bits);
            let tie = 1.0 + ulp / 2.0;
            assert_eq!(dtype.round(tie), 1.0);
            assert_eq!(dtype.round(tie + 2f64.powi(-50)), 1.0 + ulp);
            assert_eq!(dtype.round(-tie - 2f64.powi(-30)), -1.0 - ulp);
            assert_eq!(dtype.round(tie + ulp - 2f64.powi(-50)), 1.0 + ulp);
            assert!(dtype.round(f64::NAN).is_nan());
            assert_eq!(dtype.round(1e300), f64::INFINITY);
            assert_eq!(dtype.round(-1e-300), 0.0);
        }
        assert_eq!(Dtype::F16.round(65_519.999), 65_504.0);
        assert_eq!(Dtype::F16.round(65_520.0), f64::INFINITY);
        assert_eq!(Dtype::BF16.round(2f64.powi(-133)), 2f64.powi(-133), "a subnormal");
    }

    #[test]
    fn integers_go_to_the_nearest_and_saturate() {
        for (dtype, low, high) in [
            (Dtype::I8, -128.0, 127.0),
            (Dtype::U8, 0.0, 255.0),
            (Dtype::I16, -32_768.0, 32_767.0),
            (Dtype::U16, 0.0, 65_535.0),
            (Dtype::I32, -2_147_483_648.0, 2_147_483_647.0),
            (Dtype::U32, 0.0, 4_294_967_295.0),
            (Dtype::I64, -(2f64.powi(63)), 2f64.powi(63)),
            (Dtype::U64, 0.0, 2f64.powi(64)),
        ] {
            let got = [-1e30, 2.6, 3.5, 1e30, f64::NAN].map(|v| dtype.round(v));
            assert_eq!(got, [low, 3.0, 4.0, high, 0.0], "{dtype}");
        }
    }

    #[test]
    fn little_endian_bytes_of_each_width() {
        assert_eq!(Dtype::I16.encode(&[-2.0]), [0xFE, 0xFF]);
        assert_eq!(Dtype::U64.encode(&[258.0]), [2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Dtype::BF16.encode(&[-1.5]), [0xC0, 0xBF]);
        assert_eq!(Dtype::F64.decode(&[0, 0, 0, 0, 0, 0, 0xF8, 0x3F, 9]), [1.5]);
        assert_eq!(Dtype::I64.decode(&[0xFF; 8]), [-1.0]);
    }
}
