//! Blocks of small integers that share scales, laid out as ggml stores them: the structs of its
//! Vulkan back end's `types.glsl` and the formulas of its `dequant_*.comp`.
//!
//! Decoding is exact: products of the stored scales and integers, in f64. Encoding follows the plain
//! rule: scales from the extremes of a block, rounded to f16, then each value to the nearest step.
//! A block with a NaN or an infinity gets a NaN for its scale, so that nothing in it passes for a number.

mod affine;
mod nested;

use half::f16;

use super::scalar::to_f16;
use affine::Affine;

/// A format whose elements share a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantised {
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q4K,
}

impl Quantised {
    /// Elements of a block.
    pub(super) const fn block_len(self) -> usize {
        match self {
            Self::Q4K => nested::LEN,
            _ => 32,
        }
    }

    /// Where each field of a block ends.
    pub(super) const fn field_ends(self) -> &'static [usize] {
        match self {
            Self::Q4_0 => &[2, 18],
            Self::Q4_1 => &[2, 4, 20],
            Self::Q5_0 => &[2, 6, 22],
            Self::Q5_1 => &[2, 4, 8, 24],
            Self::Q8_0 => &[2, 34],
            Self::Q4K => &[2, 4, 16, 144],
        }
    }

    /// Whole blocks; the last is filled up with zeros.
    pub(super) fn encode(self, values: &[f64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for chunk in values.chunks(self.block_len()) {
            let mut block = chunk.to_vec();
            block.resize(self.block_len(), 0.0);
            let start = bytes.len();
            self.encode_block(&block, &mut bytes);
            if block.iter().any(|value| !value.is_finite()) {
                bytes[start..start + 2].copy_from_slice(&f16::NAN.to_le_bytes());
            }
        }
        bytes
    }

    fn encode_block(self, block: &[f64], bytes: &mut Vec<u8>) {
        match self {
            Self::Q4_0 => Affine::Q4_0.encode(block, bytes),
            Self::Q4_1 => Affine::Q4_1.encode(block, bytes),
            Self::Q5_0 => Affine::Q5_0.encode(block, bytes),
            Self::Q5_1 => Affine::Q5_1.encode(block, bytes),
            Self::Q8_0 => encode_q8_0(block, bytes),
            Self::Q4K => nested::encode(block, bytes),
        }
    }

    /// The values of whole blocks.
    pub(super) fn decode(self, bytes: &[u8]) -> Vec<f64> {
        let ends = self.field_ends();
        let blocks = bytes.chunks_exact(ends[ends.len() - 1]);
        blocks.flat_map(|block| self.decode_block(block)).collect()
    }

    fn decode_block(self, block: &[u8]) -> Vec<f64> {
        match self {
            Self::Q4_0 => Affine::Q4_0.decode(block),
            Self::Q4_1 => Affine::Q4_1.decode(block),
            Self::Q5_0 => Affine::Q5_0.decode(block),
            Self::Q5_1 => Affine::Q5_1.decode(block),
            Self::Q8_0 => {
                let scale = half_at(block, 0);
                block[2..].iter().map(|q| scale * f64::from(q.cast_signed())).collect()
            }
            Self::Q4K => nested::decode(block),
        }
    }
}

fn encode_q8_0(block: &[f64], bytes: &mut Vec<u8>) {
    let scale = push_half(bytes, extreme(block).abs() / 127.0);
    bytes.extend(block.iter().map(|v| steps(*v, scale, -127, 127).to_le_bytes()[0]));
}

/// The value of largest magnitude, with its sign.
fn extreme(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |far: f64, v| if v.abs() > far.abs() { *v } else { far })
}

/// The f16 at a byte of a block.
fn half_at(block: &[u8], at: usize) -> f64 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f64()
}

/// Appends the nearest finite f16, and says which that is.
fn push_half(bytes: &mut Vec<u8>, value: f64) -> f64 {
    let largest = f16::MAX.to_f64();
    let half = to_f16(value.clamp(-largest, largest));
    bytes.extend(half.to_le_bytes());
    half.to_f64()
}

/// How many `scale`s are nearest to a value, between two limits; none where the scale is zero.
#[expect(clippy::cast_possible_truncation, reason = "within the limits, which are integers")]
fn steps(value: f64, scale: f64, low: i32, high: i32) -> i32 {
    let steps = if scale == 0.0 { 0.0 } else { value / scale };
    steps.round().clamp(f64::from(low), f64::from(high)) as i32
}

#[cfg(test)]
mod tests {
    use super::Quantised;
    use crate::tensor::Dtype;

    const ALL: [Quantised; 6] = [
        Quantised::Q4_0,
        Quantised::Q4_1,
        Quantised::Q5_0,
        Quantised::Q5_1,
        Quantised::Q8_0,
        Quantised::Q4K,
    ];

    #[test]
    fn q8_0_is_scale_times_signed_byte() {
        let mut block = vec![0x00, 0x38]; // 0.5
        block.extend([0, 1, 0x7F, 0x80, 0xFF]);
        block.resize(34, 2);
        let values = Dtype::Q8_0.decode(&block);
        assert_eq!(values[..6], [0.0, 0.5, 63.5, -64.0, -0.5, 1.0]);
        assert_eq!(values.len(), 32);
    }

    #[test]
    fn q8_0_takes_its_scale_from_the_largest_magnitude() {
        let mut values = vec![0.0; 32];
        values[..3].copy_from_slice(&[-254.0, 3.1, 127.0]);
        let bytes = Dtype::Q8_0.encode(&values);
        // A scale of 2, then -127, 1.55 and 63.5 rounded.
        assert_eq!(bytes[..5], [0x00, 0x40, 0x81, 2, 64]);
    }

    #[test]
    fn an_error_is_at_most_a_step_of_the_block() {
        for format in ALL {
            let len = format.block_len() * 3;
            let values: Vec<f64> = (0..len).map(|i| (i as f64 * 1.7).sin() * 3.0).collect();
            let stored = format.decode(&format.encode(&values));
            let step = if format == Quantised::Q8_0 { 0.015 } else { 0.38 };
            let far = values.iter().zip(&stored).position(|(a, b)| !((a - b).abs() <= step));
            assert_eq!(far, None, "{format:?}");
        }
    }

    #[test]
    fn zeros_and_what_is_no_number_stay_that() {
        for format in ALL {
            let len = format.block_len();
            let zeros = format.decode(&format.encode(&vec![0.0; len]));
            assert!(zeros.iter().all(|v| *v == 0.0), "{format:?}");
            for odd in [f64::NAN, f64::NEG_INFINITY] {
                let mut values = vec![1.0; len];
                values[len - 1] = odd;
                let stored = format.decode(&format.encode(&values));
                assert!(stored.iter().all(|v| v.is_nan()), "{format:?}");
            }
            let huge = format.decode(&format.encode(&vec![-1e30; len]));
            assert!(huge.iter().all(|v| v.is_finite() && *v < -60_000.0), "{format:?}");
        }
    }

    #[test]
    fn an_incomplete_block_is_filled_up_with_zeros() {
        for format in ALL {
            let stored = format.decode(&format.encode(&[7.0]));
            assert_eq!(stored.len(), format.block_len());
            assert!((stored[0] - 7.0).abs() < 0.01, "{format:?}: {}", stored[0]);
            assert!(stored[1..].iter().all(|v| v.abs() < 0.01), "{format:?}");
        }
    }
}
