//! Writing an expectations file that a run fits.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use super::expectations::{Expectations, fail_line};
use super::expected::Learned;

/// An expectations file as a run would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// All of it.
    pub text: String,
    /// Lines, comments left out.
    pub lines: usize,
    /// Those that were not there before.
    pub fresh: usize,
}

/// The first lines of a new file.
const HEAD: &str = "# fail|flaky|skip  device  check  \"message\"  # reason\n";

impl Learned {
    /// The file without the lines that expected failures in vain, and with a line for every kind of
    /// failure of a check of a target on a device that no other line expects. A line that goes and
    /// fitted elsewhere leaves its reason there.
    #[must_use]
    pub fn rewritten(&self, old: &Expectations, seed: u64) -> Rewritten {
        let is_kept = |number: usize| !self.stale.contains(&number);
        let reasons: BTreeMap<usize, &str> =
            old.lines().iter().map(|line| (line.line, line.reason.as_str())).collect();
        let found = format!("found {} by seed {seed}", date(days()));
        let mut fresh = BTreeMap::new();
        for failures in &self.failures {
            let open = failures.bad.iter().filter(|(_, fits)| !fits.iter().any(|n| is_kept(*n)));
            for (kind, fits) in open {
                let kept_reason = fits.first().and_then(|number| reasons.get(number).copied());
                let reason = kept_reason.unwrap_or(&found);
                let key = (&failures.device, &failures.target, failures.check, *kind);
                let (device, target, check, kind) = key;
                fresh.entry(key).or_insert_with(|| fail_line(device, target, check, kind, reason));
            }
        }
        let kept = old.lines().iter().filter(|line| is_kept(line.line)).count();
        let fresh: Vec<String> = fresh.into_values().collect();
        let count = fresh.len();
        let mut text = old.with(|line| is_kept(line.line), fresh);
        if old.is_blank() {
            text.insert_str(0, HEAD);
        }
        Rewritten { text, lines: kept + count, fresh: count }
    }
}

/// Whole days since the first of January 1970.
fn days() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400)
}

/// The day in the Gregorian calendar, as `2026-11-30`.
fn date(mut days: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_are_those_of_the_calendar() {
        let known = [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29")];
        for (days, text) in
            known.into_iter().chain([(19_722, "2023-12-31"), (20_787, "2026-11-30")])
        {
            assert_eq!(date(days), text);
        }
    }
}
