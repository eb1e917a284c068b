//! `q4_k`: 256 integers of 4 bits in 8 groups of 32, `d * scale * q - dmin * minimum`.
//!
//! A block is d and dmin (f16), 12 bytes with a scale and a minimum of 6 bits for every group, and 128
//! bytes: of each 32, the low halves are one group and the high halves the next.

use super::{half_at, push_half, steps};

pub(super) const LEN: usize = 256;
const GROUP_LEN: usize = 32;
/// The largest scale and minimum of a group.
const SIX_BITS: i32 = 63;
const FOUR_BITS: i32 = 15;

pub(super) fn encode(block: &[f64], bytes: &mut Vec<u8>) {
    let ranges: Vec<(f64, f64)> = block
        .chunks(GROUP_LEN)
        .map(|group| {
            let low = group.iter().copied().fold(0.0, f64::min);
            let high = group.iter().copied().fold(0.0, f64::max);
            ((high - low) / f64::from(FOUR_BITS), -low)
        })
        .collect();
    let widest = ranges.iter().map(|(scale, _)| *scale).fold(0.0, f64::max);
    let lowest = ranges.iter().map(|(_, minimum)| *minimum).fold(0.0, f64::max);
    let d = push_half(bytes, widest / f64::from(SIX_BITS));
    let dmin = push_half(bytes, lowest / f64::from(SIX_BITS));
    let small: Vec<(i32, i32)> = ranges
        .iter()
        .map(|(scale, minimum)| (steps(*scale, d, 0, SIX_BITS), steps(*minimum, dmin, 0, SIX_BITS)))
        .collect();
    bytes.extend(pack(&small));
    let quants: Vec<i32> = block
        .chunks(GROUP_LEN)
        .zip(&small)
        .flat_map(|(group, (scale, minimum))| {
            let (scale, minimum) = (d * f64::from(*scale), dmin * f64::from(*minimum));
            group.iter().map(move |v| steps(v + minimum, scale, 0, FOUR_BITS))
        })
        .collect();
    for pair in quants.chunks(2 * GROUP_LEN) {
        let (low, high) = pair.split_at(GROUP_LEN);
        bytes.extend(low.iter().zip(high).map(|(l, h)| (l | h << 4).to_le_bytes()[0]));
    }
}

pub(super) fn decode(block: &[u8]) -> Vec<f64> {
    let (d, dmin) = (half_at(block, 0), half_at(block, 2));
    let (scales, packed) = block[4..].split_at(12);
    let quants = packed.chunks(GROUP_LEN).flat_map(|bytes| {
        bytes.iter().map(|byte| byte & 15).chain(bytes.iter().map(|byte| byte >> 4))
    });
    (0..LEN)
        .zip(quants)
        .map(|(at, q)| {
            let (scale, minimum) = unpack(scales, at / GROUP_LEN);
            d * f64::from(scale) * f64::from(q) - dmin * f64::from(minimum)
        })
        .collect()
}

/// Scales and minima of 8 groups in 12 bytes: four bytes with the first scales, four with the first
/// minima, and four with the low halves of the others, whose upper two bits top the first eight bytes.
fn pack(groups: &[(i32, i32)]) -> Vec<u8> {
    let (first, last) = groups.split_at(4);
    let top = |of_first: i32, of_last: i32| of_first | (of_last >> 4) << 6;
    let scales = first.iter().zip(last).map(|(a, b)| top(a.0, b.0));
    let minima = first.iter().zip(last).map(|(a, b)| top(a.1, b.1));
    let low = last.iter().map(|(scale, minimum)| scale & 15 | (minimum & 15) << 4);
    scales.chain(minima).chain(low).map(|byte| byte.to_le_bytes()[0]).collect()
}

fn unpack(bytes: &[u8], group: usize) -> (u8, u8) {
    if group < 4 {
        return (bytes[group] & 63, bytes[group + 4] & 63);
    }
    let low = bytes[group + 4];
    (low & 15 | bytes[group - 4] >> 6 << 4, low >> 4 | bytes[group] >> 6 << 4)
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};
    use crate::tensor::Dtype;

    #[test]
    fn groups_are_scaled_one_by_one() {
        let mut block = vec![0x00, 0x40, 0x00, 0x38]; // 2 and 0.5
        // Group 0: scale 3, minimum 4. Group 5: scale 0b10_0001, minimum 0b01_0010.
        block.extend([3, 0x80, 0, 0, 4, 0x40, 0, 0, 0, 0x21, 0, 0]);
        let mut quants = vec![0; 128];
        (quants[0], quants[1]) = (0x0F, 0x01);
        // Group 5 is the high halves of the third 32 bytes.
        quants[64 + 31] = 0x70;
        block.extend(quants);
        let values = Dtype::Q4K.decode(&block);
        assert_eq!(values[..3], [88.0, 4.0, -2.0]);
        assert_eq!(values[5 * 32 + 31], 2.0 * 33.0 * 7.0 - 0.5 * 18.0);
        assert_eq!(values[5 * 32], -9.0);
        assert_eq!(values[32..160], [0.0; 128]);
    }

    #[test]
    fn six_bit_pairs_are_unpacked_as_they_were_packed() {
        let pairs: Vec<(i32, i32)> = (0..8).map(|i| (63 - 9 * i, 7 * i + 5)).collect();
        let bytes = pack(&pairs);
        for (group, (scale, minimum)) in pairs.iter().enumerate() {
            let (got_scale, got_minimum) = unpack(&bytes, group);
            assert_eq!((i32::from(got_scale), i32::from(got_minimum)), (*scale, *minimum));
        }
    }

    #[test]
    fn values_on_the_grid_survive_exactly() {
        // Every group spans 15 steps of its own scale above -32: d is 1, dmin is 1/2.
        let values: Vec<f64> = (0..256)
            .map(|i| {
                let scale = f64::from(63 - 6 * (i / 32));
                scale * f64::from((i * 7 + i / 32) % 16) - 31.5
            })
            .collect();
        assert_eq!(Dtype::Q4K.decode(&Dtype::Q4K.encode(&values)), values);
    }
}
