//! What the tests of kernels share: columns of values of every kind, and running a kernel on them.

use rand::{Rng, SeedableRng};

use super::resolve;
use crate::soft::program::{Guard, Kernel, What, Wide};
use crate::soft::scalar::Scalar;

mod any_bits;
mod bits;
mod convert;
mod extended;
mod floats;
mod guard;
mod ints;
mod speed;

/// Runs an operation over operands, each a type and its bits, and gives the result's bits.
pub(super) fn run(what: What, from: Scalar, to: Scalar, operands: &[(Scalar, &[u64])]) -> Vec<u64> {
    let kernel = resolve(what, from, to).unwrap_or_else(|| panic!("no {what:?} {from:?} {to:?}"));
    run_kernel(kernel, to, operands)
}

pub(super) fn run_kernel(kernel: Kernel, to: Scalar, operands: &[(Scalar, &[u64])]) -> Vec<u64> {
    let len = operands[0].1.len();
    let columns: Vec<[Vec<u32>; 2]> = operands.iter().map(|(t, bits)| split(*t, bits)).collect();
    let src = slices(&columns);
    let mut low = vec![0xdead_beef; len];
    let mut high = vec![0xdead_beef; if to.words() == 2 { len } else { 0 }];
    match kernel {
        Kernel::One(f) => f(&mut low, src[0][0]),
        Kernel::Two(f) => f(&mut low, src[0][0], src[1][0]),
        Kernel::Three(f) => f(&mut low, src[0][0], src[1][0], src[2][0]),
        Kernel::Four(f) => f(&mut low, src.map(|words| words[0])),
        Kernel::Wide(f) => f(Wide { out: [&mut low, &mut high], src }),
    }
    (0..len).map(|i| u64::from(low[i]) | u64::from(*high.get(i).unwrap_or(&0)) << 32).collect()
}

pub(super) fn run_guard(guard: Guard, operands: &[(Scalar, &[u64])]) -> (bool, Vec<bool>) {
    let columns: Vec<[Vec<u32>; 2]> = operands.iter().map(|(t, bits)| split(*t, bits)).collect();
    let src = slices(&columns);
    let mut out = vec![0xdead_beef; operands[0].1.len()];
    let any = guard(&mut out, src);
    assert!(out.iter().all(|&word| word < 2));
    (any, out.iter().map(|&word| word == 1).collect())
}

fn slices(columns: &[[Vec<u32>; 2]]) -> [[&[u32]; 2]; 4] {
    let words = |i: usize, word: usize| columns.get(i).map_or(&[][..], |words| &words[word]);
    std::array::from_fn(|i| [words(i, 0), words(i, 1)])
}

fn split(scalar: Scalar, bits: &[u64]) -> [Vec<u32>; 2] {
    let word = |value: u64| u32::try_from(value & 0xffff_ffff).expect("masked");
    let low = bits.iter().map(|&value| word(value)).collect();
    let wide = scalar.words() == 2;
    let high = bits.iter().filter(|_| wide).map(|&value| word(value >> 32)).collect();
    [low, high]
}

/// The bits that a type has.
pub(super) fn mask(scalar: Scalar) -> u64 {
    if scalar == Scalar::Bool { 1 } else { u64::MAX >> (64 - 8 * scalar.bytes()) }
}

/// Values with which arithmetic goes wrong, then random ones.
pub(super) fn values(scalar: Scalar, seed: u64) -> Vec<u64> {
    let all = mask(scalar);
    let sign = all ^ (all >> 1);
    let mut values = match scalar {
        Scalar::F16 => floats(0x7c00, 0x3c00, sign),
        Scalar::Bf16 => floats(0x7f80, 0x3f80, sign),
        Scalar::F32 => floats(0x7f80_0000, 0x3f80_0000, sign),
        Scalar::F64 => floats(0x7ff0_0000_0000_0000, 0x3ff0_0000_0000_0000, sign),
        _ => vec![0, 1, 2, 3, 7, 31, 32, 33, sign, sign - 1, sign + 1, all, all - 1],
    };
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    while values.len() < 83 {
        // Of any magnitude.
        let shift = rng.next_u32() % 64;
        values.push(rng.next_u64() >> shift);
    }
    values.iter().map(|value| value & all).collect()
}

fn floats(infinity: u64, one: u64, sign: u64) -> Vec<u64> {
    let quiet = infinity | infinity >> 1;
    let half = one - (infinity ^ (infinity << 1 & infinity));
    let positive = [0, 1, 2, infinity - 1, infinity, quiet, one, one - 1, one + 1, half];
    positive.iter().flat_map(|&bits| [bits, bits | sign]).collect()
}

/// Every pair of two columns' values.
pub(super) fn pairs(a: &[u64], b: &[u64]) -> [Vec<u64>; 2] {
    let left = a.iter().flat_map(|&x| b.iter().map(move |_| x)).collect();
    let right = a.iter().flat_map(|_| b.iter().copied()).collect();
    [left, right]
}
