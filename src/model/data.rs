//! The UCI optical digits; `data/README.md` tells their origin and licence.

use crate::numeric::Stream;

/// Pixels of an image.
pub const PIXELS: usize = 64;
/// Digits.
pub const CLASSES: usize = 10;

/// The largest value of a pixel.
const BRIGHTEST: f64 = 16.0;

const TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/digits.csv"));

/// Images with what they show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examples {
    /// Pixels in [0, 1], [`PIXELS`] for each image. Sixteenths, which f32 holds exactly.
    pub pixels: Vec<f64>,
    /// The digit of each image.
    pub labels: Vec<f64>,
}

impl Examples {
    /// Number of images.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The images of these numbers, in their order.
    ///
    /// # Panics
    /// When there is no such image.
    #[must_use]
    pub fn pick(&self, numbers: &[usize]) -> Self {
        let image = |n: &usize| &self.pixels[n * PIXELS..(n + 1) * PIXELS];
        Self {
            pixels: numbers.iter().flat_map(image).copied().collect(),
            labels: numbers.iter().map(|n| self.labels[*n]).collect(),
        }
    }
}

/// The data set, split once and for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Digits {
    /// What a model learns from.
    pub training: Examples,
    /// The fifth that it never sees.
    pub held_out: Examples,
}

impl Digits {
    /// The images that come with the lab. The split is the same whatever the seed of a training, so
    /// that accuracies compare.
    ///
    /// # Panics
    /// When `data/digits.csv` isn't what its description says.
    #[must_use]
    pub fn embedded() -> Self {
        let all = parse(TEXT).expect("data/digits.csv holds 65 small integers a line");
        let order = shuffled(all.len(), &mut Stream::new(0, &["digits", "split"]));
        let (held_out, training) = order.split_at(all.len() / 5);
        Self { training: all.pick(training), held_out: all.pick(held_out) }
    }
}

fn parse(text: &str) -> Option<Examples> {
    let mut all = Examples::default();
    for line in text.lines() {
        let numbers: Vec<f64> = line.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
        let (label, pixels) = numbers.split_last()?;
        let fits = pixels.len() == PIXELS
            && pixels.iter().all(|p| (0.0..=BRIGHTEST).contains(p))
            && (0..CLASSES).any(|class| class as f64 == *label);
        if !fits {
            return None;
        }
        all.pixels.extend(pixels.iter().map(|p| p / BRIGHTEST));
        all.labels.push(*label);
    }
    Some(all)
}

/// The numbers below `count` in random order, by Fisher and Yates's shuffle.
pub(super) fn shuffled(count: usize, stream: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, stream.index(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, Digits, PIXELS, parse};

    #[test]
    fn a_fifth_is_held_out_and_nothing_is_lost() {
        let digits = Digits::embedded();
        assert_eq!((digits.training.len(), digits.held_out.len()), (1438, 359));
        // Images of each digit, counted with another tool in the file that the lab keeps.
        let counts = [178.0, 182.0, 177.0, 183.0, 181.0, 182.0, 181.0, 179.0, 174.0, 180.0];
        for (digit, count) in (0..CLASSES).zip(counts) {
            let both = digits.training.labels.iter().chain(&digits.held_out.labels);
            assert_eq!(both.filter(|label| **label == digit as f64).count() as f64, count);
        }
        assert_eq!(digits.training.pixels.len(), 1438 * PIXELS);
    }

    #[test]
    fn a_malformed_line_is_noticed() {
        let good = format!("{}7", "0,".repeat(PIXELS));
        assert!(parse(&good).is_some());
        for bad in ["", "0,1", &good.replace(",7", ",11"), &good.replacen("0,", "17,", 1)] {
            assert!(parse(&format!("{bad}\n")).is_none(), "{bad}");
        }
    }
}
