//! Units in the last place, by storage format.

use crate::tensor::Dtype;

/// Unit roundoff of f32: half the distance between 1 and the next number, `2^-24`.
pub const F32_EPS: f64 = 1.0 / 16_777_216.0;

/// The smallest positive normal f32, `2^-126`. A device may flush anything smaller.
pub const F32_MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// Bits behind the leading one, and the exponent of the smallest normal number; `None` for what is
/// no float.
fn format(dtype: Dtype) -> Option<(i32, i32)> {
    match dtype {
        Dtype::F16 => Some((10, -14)),
        Dtype::BF16 => Some((7, -126)),
        Dtype::F32 => Some((23, -126)),
        Dtype::F64 => Some((52, -1022)),
        _ => None,
    }
}

/// The smallest positive normal number of a float format; 0 for others.
#[must_use]
pub fn min_normal(dtype: Dtype) -> f64 {
    format(dtype).map_or(0.0, |(_, min_exponent)| libm::ldexp(1.0, min_exponent))
}

/// The largest finite number of a float format; infinite for others.
#[must_use]
pub fn max_finite(dtype: Dtype) -> f64 {
    // Exponents reach from -126 to 127, say.
    format(dtype).map_or(f64::INFINITY, |(bits, min_exponent)| {
        libm::ldexp(2.0 - libm::ldexp(1.0, -bits), 1 - min_exponent)
    })
}

/// Distance between the two numbers of a format that enclose `value`, in the format's normal
/// range; 0 for integers and for quantised formats, whose steps differ from block to block.
#[must_use]
pub fn ulp_of(dtype: Dtype, value: f64) -> f64 {
    let Some((mantissa_bits, min_exponent)) = format(dtype) else { return 0.0 };
    let exponent = if value == 0.0 { min_exponent } else { libm::ilogb(value).max(min_exponent) };
    libm::ldexp(1.0, exponent - mantissa_bits)
}

/// The next number of a format away from `value` in the direction of `towards`. Quantised formats
/// have none; `value` itself stands for it.
#[must_use]
pub fn next_after(dtype: Dtype, value: f64, towards: f64) -> f64 {
    let (direction, beside) =
        if towards < value { (-1.0, value.next_down()) } else { (1.0, value.next_up()) };
    match dtype {
        Dtype::F64 => beside,
        _ if dtype.is_integer() => value + direction,
        _ if dtype.is_quantised() => value,
        // Below a power of two an ulp is half of what it is above.
        _ => dtype.round(dtype.round(value) + direction * ulp_of(dtype, beside)),
    }
}

#[cfg(test)]
mod tests {
    use super::{max_finite, min_normal, next_after, ulp_of};
    use crate::tensor::Dtype;

    #[test]
    fn each_float_format_has_the_ends_that_its_type_says() {
        for (dtype, low, high) in [
            (Dtype::F16, half::f16::MIN_POSITIVE.to_f64(), half::f16::MAX.to_f64()),
            (Dtype::BF16, half::bf16::MIN_POSITIVE.to_f64(), half::bf16::MAX.to_f64()),
            (Dtype::F32, f32::MIN_POSITIVE.into(), f32::MAX.into()),
            (Dtype::F64, f64::MIN_POSITIVE, f64::MAX),
        ] {
            assert_eq!((min_normal(dtype), max_finite(dtype)), (low, high), "{dtype}");
        }
    }

    #[test]
    fn neighbours_are_an_ulp_apart() {
        for (dtype, ulp) in [
            (Dtype::F16, 2f64.powi(-10)),
            (Dtype::BF16, 2f64.powi(-7)),
            (Dtype::F32, 2f64.powi(-23)),
            (Dtype::F64, 2f64.powi(-52)),
        ] {
            assert_eq!(ulp_of(dtype, 1.25), ulp, "{dtype}");
            assert_eq!(next_after(dtype, 1.25, 2.0), 1.25 + ulp, "{dtype}");
            assert_eq!(next_after(dtype, 1.25, 0.0), 1.25 - ulp, "{dtype}");
            assert_eq!(next_after(dtype, -1.0, 0.0), -1.0 + ulp / 2.0, "{dtype}");
            assert_eq!(next_after(dtype, 0.0, -1.0), -ulp * min_normal(dtype), "{dtype}");
            let beyond = next_after(dtype, max_finite(dtype), f64::INFINITY);
            assert_eq!(beyond, f64::INFINITY, "{dtype}");
        }
        assert_eq!((ulp_of(Dtype::U8, 3.0), next_after(Dtype::U8, 3.0, 9.0)), (0.0, 4.0));
        assert_eq!((ulp_of(Dtype::Q4K, 3.0), next_after(Dtype::Q4K, 3.0, 9.0)), (0.0, 3.0));
    }
}
