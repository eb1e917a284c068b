//! Units in the last place, by storage format.

use crate::tensor::Dtype;

/// Unit roundoff of f32: half the distance between 1 and the next number, `2^-24`.
pub const F32_EPS: f64 = 1.0 / 16_777_216.0;

/// The smallest positive normal f32, `2^-126`. A device may flush anything smaller.
pub const F32_MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// Distance between the two numbers of a format that enclose `value`, in the format's normal
/// range; 0 for integers.
#[must_use]
pub fn ulp_of(dtype: Dtype, value: f64) -> f64 {
    let (mantissa_bits, min_exponent) = match dtype {
        Dtype::F32 => (23, -126),
        Dtype::F16 => (10, -14),
        Dtype::U32 | Dtype::I32 => return 0.0,
    };
    let exponent = if value == 0.0 { min_exponent } else { libm::ilogb(value).max(min_exponent) };
    libm::ldexp(1.0, exponent - mantissa_bits)
}

/// The next number of a format away from `value` in the direction of `towards`.
#[must_use]
pub fn next_after(dtype: Dtype, value: f64, towards: f64) -> f64 {
    let direction = if towards < value { -1.0 } else { 1.0 };
    match dtype {
        Dtype::U32 | Dtype::I32 => value + direction,
        Dtype::F32 | Dtype::F16 => {
            let value = dtype.round(value);
            let stepped = dtype.round(value + direction * ulp_of(dtype, value));
            // Just above a power of two the step below is half an ulp; rounding takes care of it.
            if stepped == value { value + direction * ulp_of(dtype, value) } else { stepped }
        }
    }
}
