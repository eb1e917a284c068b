//! The device's clock.

/// Timestamps in nanoseconds since the first one. Only `bits` of each count, so that the clock
/// wraps; a step of more than half its range is one backwards.
#[expect(clippy::cast_precision_loss, reason = "a step of 2^53 ticks takes 100 days")]
pub(super) fn unwrap_ticks(ticks: &[u64], bits: u32, period_ns: f64) -> Vec<f64> {
    let unused = 64_u32.saturating_sub(bits).min(63);
    let mut total = 0_i64;
    let mut last = ticks.first().copied().unwrap_or_default();
    ticks
        .iter()
        .map(|&tick| {
            // Shifting out the unused bits leaves a difference whose sign is that of the step.
            let step = (tick.wrapping_sub(last) << unused).cast_signed() >> unused;
            last = tick;
            total = total.saturating_add(step);
            total as f64 * period_ns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::unwrap_ticks;

    #[test]
    fn ticks_count_from_the_first() {
        assert_eq!(unwrap_ticks(&[1000, 1010, 1010, 1005], 64, 10.0), [0.0, 100.0, 100.0, 50.0]);
        assert!(unwrap_ticks(&[], 64, 1.0).is_empty());
    }

    #[test]
    fn a_clock_of_36_bits_wraps() {
        let top = (1_u64 << 36) - 2;
        // Bits above the valid ones are undefined.
        assert_eq!(unwrap_ticks(&[top, 3 | 1 << 40], 36, 1.0), [0.0, 5.0]);
        assert_eq!(unwrap_ticks(&[u64::MAX, 1], 64, 1.0), [0.0, 2.0]);
    }
}
