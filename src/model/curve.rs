//! Loss curves held against one another.

use crate::numeric::ulp_of;
use crate::tensor::Dtype;

/// Where correct f32 computations of one loss curve lie.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    center: Vec<f64>,
    spread: Vec<f64>,
}

/// A point of a curve and its distance from somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The step, counted from 1.
    pub step: usize,
    /// How far.
    pub distance: f64,
}

/// Spreads that a correct curve may be away from the middle of the band.
pub const ALLOWED_SPREADS: f64 = 3.0;

impl Band {
    /// The band of several runs: at each step their mean, and the largest distance between two of
    /// them up to that step, since runs that came close again by chance are no more exact for it.
    /// At least an ULP of f32, the format that losses are stored in.
    #[must_use]
    pub fn around(runs: &[Vec<f64>]) -> Self {
        let steps = runs.iter().map(Vec::len).min().unwrap_or(0);
        let mut band = Self { center: Vec::new(), spread: Vec::new() };
        let mut widest = 0f64;
        for step in 0..steps {
            let losses = || runs.iter().map(|run| run[step]);
            let center = losses().sum::<f64>() / runs.len() as f64;
            let (low, high) =
                losses().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
            widest = widest.max(high - low);
            band.center.push(center);
            band.spread.push(widest.max(ulp_of(Dtype::F32, center)));
        }
        band
    }

    /// The step where the curve is furthest from the middle, in spreads; NaN counts as infinitely
    /// far.
    #[must_use]
    pub fn furthest(&self, curve: &[f64]) -> Distance {
        self.in_spreads(curve).fold(Distance { step: 0, distance: 0.0 }, further)
    }

    /// The first step where the curve is outside of the band.
    #[must_use]
    pub fn first_outside(&self, curve: &[f64]) -> Option<Distance> {
        self.in_spreads(curve).find(|d| !(d.distance <= ALLOWED_SPREADS))
    }

    fn in_spreads(&self, curve: &[f64]) -> impl Iterator<Item = Distance> {
        let band = self.center.iter().zip(&self.spread);
        band.zip(curve).zip(1..).map(|(((center, spread), loss), step)| Distance {
            step,
            distance: not_nan((loss - center).abs() / spread),
        })
    }
}

/// The step where two curves are furthest apart.
#[must_use]
pub fn furthest_apart(a: &[f64], b: &[f64]) -> Distance {
    let apart = a
        .iter()
        .zip(b)
        .zip(1..)
        .map(|((a, b), step)| Distance { step, distance: not_nan((a - b).abs()) });
    apart.fold(Distance { step: 0, distance: 0.0 }, further)
}

/// The largest difference of two tensors as a fraction of the largest element of the second.
#[must_use]
pub fn relative_difference(a: &[f64], b: &[f64]) -> f64 {
    let largest = b.iter().fold(0f64, |m, x| m.max(x.abs()));
    let apart = furthest_apart(a, b).distance;
    if apart == 0.0 { 0.0 } else { apart / largest }
}

fn further(a: Distance, b: Distance) -> Distance {
    if b.distance > a.distance { b } else { a }
}

fn not_nan(distance: f64) -> f64 {
    if distance.is_nan() { f64::INFINITY } else { distance }
}

#[cfg(test)]
mod tests {
    use super::{Band, Distance, furthest_apart, relative_difference};

    #[test]
    fn a_band_does_not_narrow_where_runs_meet_again() {
        let band = Band::around(&[vec![1.0, 2.0, 3.0], vec![1.0, 2.5, 3.0]]);
        assert_eq!(band.spread[1..], [0.5, 0.5]);
        assert_eq!(band.first_outside(&[1.0, 2.0, 4.5]), None);
        let outside = Some(Distance { step: 3, distance: 4.0 });
        assert_eq!(band.first_outside(&[1.0, 2.0, 5.0]), outside);
    }

    #[test]
    fn runs_that_agree_still_leave_room_for_rounding() {
        let band = Band::around(&[vec![1.0], vec![1.0]]);
        assert_eq!(band.first_outside(&[1.0 + f64::from(f32::EPSILON)]), None);
        assert!(band.first_outside(&[1.0 + 4.0 * f64::from(f32::EPSILON)]).is_some());
    }

    #[test]
    fn nan_is_nowhere_near() {
        let band = Band::around(&[vec![1.0], vec![2.0]]);
        assert_eq!(band.furthest(&[f64::NAN]), Distance { step: 1, distance: f64::INFINITY });
        assert!(band.first_outside(&[f64::NAN]).is_some());
        assert_eq!(furthest_apart(&[0.0, f64::NAN], &[0.0, 0.0]).step, 2);
        assert_eq!(relative_difference(&[1.0, -1.5], &[1.0, -2.0]), 0.25);
    }
}
