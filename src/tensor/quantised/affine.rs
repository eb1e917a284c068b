//! `q4_0`, `q4_1`, `q5_0` and `q5_1`: 32 integers of 4 or 5 bits, `scale * q + minimum`.
//!
//! A block is the scale, the minimum if it has one (f16 both), the fifth bits if there are any (a 32-bit
//! word, bit i for element i), and 16 bytes with element i in the low and i + 16 in the high half.
//! Without a minimum `q` counts from the middle of its range: minimum is `-8 * scale` or `-16 * scale`.

use super::{extreme, half_at, push_half, steps};

const HALF_LEN: usize = 16;

/// One of the four formats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine {
    bits: u32,
    zero: Zero,
}

/// What the integer 0 stands for.
#[derive(Clone, Copy, Debug)]
enum Zero {
    /// So many scales below zero.
    Middle,
    /// A minimum that the block stores.
    Minimum,
}

impl Affine {
    pub(super) const Q4_0: Self = Self { bits: 4, zero: Zero::Middle };
    pub(super) const Q4_1: Self = Self { bits: 4, zero: Zero::Minimum };
    pub(super) const Q5_0: Self = Self { bits: 5, zero: Zero::Middle };
    pub(super) const Q5_1: Self = Self { bits: 5, zero: Zero::Minimum };

    const fn largest(self) -> i32 {
        (1 << self.bits) - 1
    }

    pub(super) fn encode(self, block: &[f64], bytes: &mut Vec<u8>) {
        let quants: Vec<i32> = match self.zero {
            Zero::Middle => {
                // The extreme gets the one integer whose opposite doesn't exist.
                let middle = 1 << (self.bits - 1);
                let scale = push_half(bytes, extreme(block) / -f64::from(middle));
                let quant = |v: &f64| steps(*v, scale, -middle, middle - 1) + middle;
                block.iter().map(quant).collect()
            }
            Zero::Minimum => {
                let low = block.iter().copied().fold(f64::INFINITY, f64::min);
                let high = block.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let scale = push_half(bytes, (high - low) / f64::from(self.largest()));
                let minimum = push_half(bytes, low);
                block.iter().map(|v| steps(v - minimum, scale, 0, self.largest())).collect()
            }
        };
        if self.bits == 5 {
            let fifths = (0..).zip(&quants).fold(0u32, |word, (at, q)| word | fifth(*q) << at);
            bytes.extend(fifths.to_le_bytes());
        }
        let (low, high) = quants.split_at(HALF_LEN);
        bytes.extend(low.iter().zip(high).map(|(l, h)| (l & 15 | (h & 15) << 4).to_le_bytes()[0]));
    }

    pub(super) fn decode(self, block: &[u8]) -> Vec<f64> {
        let scale = half_at(block, 0);
        let (offset, minimum, rest) = match self.zero {
            Zero::Middle => (1 << (self.bits - 1), 0.0, &block[2..]),
            Zero::Minimum => (0, half_at(block, 2), &block[4..]),
        };
        let (fifths, nibbles) = match rest.split_first_chunk::<4>() {
            Some((word, nibbles)) if self.bits == 5 => (u32::from_le_bytes(*word), nibbles),
            _ => (0, rest),
        };
        let low = nibbles.iter().map(|byte| byte & 15);
        let high = nibbles.iter().map(|byte| byte >> 4);
        (0..)
            .zip(low.chain(high))
            .map(|(at, four)| {
                let q = u32::from(four) | (fifths >> at & 1) << 4;
                scale * (f64::from(q) - f64::from(offset)) + minimum
            })
            .collect()
    }
}

fn fifth(quant: i32) -> u32 {
    u32::from(quant & 16 != 0)
}

#[cfg(test)]
mod tests {
    use crate::tensor::Dtype;

    #[test]
    fn q4_0_counts_scales_from_minus_eight() {
        let mut block = vec![0x00, 0x40]; // 2
        block.extend([0x80, 0x9F]);
        block.resize(18, 0x87);
        let values = Dtype::Q4_0.decode(&block);
        assert_eq!(values[..3], [-16.0, 14.0, -2.0]);
        assert_eq!(values[16..19], [0.0, 2.0, 0.0]);
    }

    #[test]
    fn q4_0_gives_the_extreme_the_lowest_integer() {
        let mut values = vec![0.0; 32];
        (values[0], values[16], values[17]) = (4.0, -3.5, 1.2);
        let bytes = Dtype::Q4_0.encode(&values);
        // A scale of -1/2: 4 is -8 of them, -3.5 is 7 and 1.2 nearly -2.
        assert_eq!(bytes[..5], [0x00, 0xB8, 0xF0, 0x68, 0x88]);
    }

    #[test]
    fn q4_1_adds_its_minimum() {
        let mut block = vec![0x00, 0x38, 0x00, 0xC5]; // 0.5 and -5
        block.resize(20, 0x1F);
        let values = Dtype::Q4_1.decode(&block);
        assert_eq!((values[0], values[31]), (2.5, -4.5));
    }

    #[test]
    fn q5_bits_come_from_a_word_of_their_own() {
        let mut block = vec![0x00, 0x3C]; // 1
        block.extend([0x01, 0x00, 0x02, 0x00]); // elements 0 and 17
        block.extend([0x13, 0x24]);
        block.resize(22, 0);
        let values = Dtype::Q5_0.decode(&block);
        assert_eq!(values[..3], [3.0, -12.0, -16.0]);
        assert_eq!(values[16..19], [-15.0, 2.0, -16.0]);

        let mut block = vec![0x00, 0x3C, 0x00, 0x40]; // 1 and 2
        block.extend([0x00, 0x00, 0x00, 0x80]); // element 31
        block.resize(24, 0x21);
        let values = Dtype::Q5_1.decode(&block);
        assert_eq!((values[0], values[16], values[31]), (3.0, 4.0, 20.0));
    }

    #[test]
    fn values_on_the_grid_survive_exactly() {
        for (dtype, largest, low) in
            [(Dtype::Q4_1, 15, 0.25), (Dtype::Q5_0, 31, -8.0), (Dtype::Q5_1, 31, -3.0)]
        {
            let values: Vec<f64> =
                (0..32).map(|i| low + 0.5 * f64::from((i * 7) % (largest + 1))).collect();
            assert_eq!(dtype.decode(&dtype.encode(&values)), values, "{dtype}");
        }
    }
}
