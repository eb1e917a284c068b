//! Random streams that are the same on every platform, whatever ran before them.

use std::f64::consts::PI;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// A `ChaCha` stream keyed by a seed and a path of names, such as op, case and operand. The mapping
/// from bits to numbers is our own, so that no library's update changes a test's data.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of a seed and a path.
    #[must_use]
    pub fn new(seed: u64, path: &[&str]) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        for part in path {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self(ChaCha8Rng::from_seed(hash.finalize().into()))
    }

    /// Uniform in [0, 1) with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Standard normal, by Box and Muller's transform.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(2.0 * PI * self.unit())
    }

    /// A magnitude in [0.5, 1.5) with a random sign: the cotangent draw that misses no single entry.
    pub fn cotangent(&mut self) -> f64 {
        let magnitude = self.uniform(0.5, 1.5);
        if self.unit() < 0.5 { -magnitude } else { magnitude }
    }

    /// Uniform in 0..count.
    ///
    /// # Panics
    /// When `count` is 0.
    pub fn index(&mut self, count: usize) -> usize {
        assert!(count > 0, "an index into nothing");
        // 64 random bits against counts below 2^32: the bias is below 2^-32.
        let wide = u128::from(self.0.next_u64()) * count as u128;
        usize::try_from(wide >> 64).unwrap_or(count - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Stream;

    #[test]
    fn a_stream_depends_on_its_whole_path_and_on_nothing_else() {
        let draw = |seed, path: &[&str]| Stream::new(seed, path).unit();
        assert_eq!(draw(1, &["add", "x"]), draw(1, &["add", "x"]));
        assert_ne!(draw(1, &["add", "x"]), draw(2, &["add", "x"]));
        assert_ne!(draw(1, &["ad", "dx"]), draw(1, &["add", "x"]));
    }

    #[test]
    fn the_first_numbers_are_pinned() {
        let mut stream = Stream::new(7, &["pin"]);
        assert_eq!(stream.unit(), 0.720_249_147_628_183_7);
        assert_eq!(stream.normal(), -0.138_898_903_818_548_72);
        assert_eq!(stream.cotangent(), 1.218_152_179_070_496_8);
        assert_eq!(stream.index(1000), 849);
    }
}
