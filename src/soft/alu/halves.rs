//! Conversions of 16-bit floats, written without branches so that loops over them become vectors.
//! Those of `half` ask for the processor's features value by value.

#[inline(always)]
pub(super) fn f16_to_f32(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let magnitude = (bits & 0x7fff) << 13;
    // Scaling by 2^112 moves the exponent's bias and makes numbers of subnormals.
    let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    let special = magnitude | 0x7f80_0000;
    let value = if magnitude >= 0x0f80_0000 { special } else { scaled };
    f32::from_bits(value | (bits & 0x8000) << 16)
}

#[inline(always)]
pub(super) fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // 2^16 - 2^4 is the tie above the largest number, and ties go to even, which is infinity.
    let finite = magnitude < 0x477f_f000;
    let rebiased = magnitude.wrapping_sub(0x3800_0000);
    let normal = rebiased.wrapping_add(0xfff + ((magnitude >> 13) & 1)) >> 13;
    // The last bit of a number near 1/2 is the smallest subnormal: the addition rounds.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let nan = 0x7e00 | (magnitude >> 13) & 0x3ff;
    let number = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let special = if magnitude > 0x7f80_0000 { nan } else { 0x7c00 };
    let rounded = if finite { number } else { special };
    ((sign | rounded) & 0xffff) as u16
}

#[inline(always)]
pub(super) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[inline(always)]
pub(super) fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let nan = bits >> 16 | 0x40;
    ((if value.is_nan() { nan } else { rounded }) & 0xffff) as u16
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "rounding is the point")]
pub(super) fn f64_to_f32(value: f64) -> f32 {
    value as f32
}

/// Sets the last bit where the conversion isn't exact: a second rounding, to a narrower format, then
/// gives what one would have given.
#[inline(always)]
pub(super) fn f64_to_odd_f32(value: f64) -> f32 {
    let nearest = f64_to_f32(value);
    let beyond = f64::from(nearest).abs() > value.abs();
    let odd = nearest.to_bits().wrapping_sub(u32::from(beyond)) | 1;
    let exact = (f64::from(nearest) == value) | value.is_nan();
    if exact { nearest } else { f32::from_bits(odd) }
}

/// The low word of an integer, sign and all, that 51 bits hold. The sum's last bit is 1, so its bits
/// are the integer's. Vectors have no saturating conversion.
#[inline(always)]
pub(super) fn low_word(whole: f64) -> u32 {
    ((whole + 6_755_399_441_055_744.0).to_bits() & 0xffff_ffff) as u32
}

/// A sum with its last bit set where it isn't exact: see [`f64_to_odd_f32`].
#[inline(always)]
pub(super) fn odd_sum(a: f32, b: f32) -> f32 {
    let sum = a + b;
    let part = sum - a;
    // What the rounding lost, exactly; NaN where the sum is infinite.
    let lost = (a - (sum - part)) + (b - part);
    let bits = sum.to_bits();
    let beyond = (lost > 0.0) != (sum > 0.0);
    let odd = bits.wrapping_sub(u32::from(beyond)) | 1;
    if (lost > 0.0) | (lost < 0.0) { f32::from_bits(odd) } else { sum }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};
    use rand::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn every_half_widens_like_the_crates() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (f16_to_f32(bits), f16::from_bits(bits).to_f32());
            if theirs.is_nan() {
                assert!(ours.is_nan(), "{bits:#x}");
            } else {
                assert_eq!(ours.to_bits(), theirs.to_bits(), "{bits:#x}");
                assert_eq!(f32_to_f16(ours), bits);
            }
            let (ours, theirs) = (bf16_to_f32(bits), bf16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || theirs.is_nan(), "{bits:#x}");
        }
    }

    #[test]
    fn ties_and_their_neighbours_round_to_even() {
        for bits in 0..0x7c00u16 {
            let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
            // Above the largest number, the tie is where the next one would be.
            let above = if high.is_infinite() { 65536.0 } else { high.to_f64() };
            let tie = f64_to_f32((low.to_f64() + above) / 2.0);
            for value in [tie.next_down(), tie, tie.next_up()] {
                let expected =
                    if value < tie || (value == tie && bits % 2 == 0) { low } else { high };
                assert_eq!(f32_to_f16(value), expected.to_bits(), "{value:e}");
                assert_eq!(f32_to_f16(-value), expected.to_bits() | 0x8000, "{value:e}");
            }
        }
    }

    #[test]
    fn random_floats_narrow_like_the_crates() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for _ in 0..1_000_000 {
            let value = f32::from_bits(rng.next_u32());
            if value.is_nan() {
                assert!(f16::from_bits(f32_to_f16(value)).is_nan());
                assert!(bf16::from_bits(f32_to_bf16(value)).is_nan());
                continue;
            }
            assert_eq!(f32_to_f16(value), f16::from_f32_const(value).to_bits(), "{value:e}");
            assert_eq!(f32_to_bf16(value), bf16::from_f32(value).to_bits(), "{value:e}");
        }
    }

    #[test]
    fn doubles_are_rounded_once() {
        let tie = 1.0 + f64::powi(2.0, -11);
        let above = tie + f64::powi(2.0, -40);
        assert_eq!(f32_to_f16(f64_to_odd_f32(tie)), 0x3c00);
        assert_eq!(f32_to_f16(f64_to_odd_f32(above)), 0x3c01);
        assert_eq!(f32_to_f16(f64_to_odd_f32(-above)), 0xbc01);
        assert_eq!(f32_to_f16(f64_to_odd_f32(1e300)), 0x7c00);
        assert_eq!(f32_to_f16(f64_to_odd_f32(1e-300)), 0);
        assert!(f64_to_odd_f32(f64::NAN).is_nan());
    }
}
