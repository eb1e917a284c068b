//! The table of ops by device and the counts of every kind of verdict.

use std::collections::BTreeMap;
use std::fmt;

use comfy_table::{Table, presets};

use crate::check::{Mark, Outcome, Verdict};
use crate::memory::Counters;

/// Counts by outcome, expected ones by themselves.
type Counts = BTreeMap<&'static str, usize>;

/// What a run adds up to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    by_op: BTreeMap<String, BTreeMap<String, (Counts, f64)>>,
    total: Counts,
    refused: usize,
    ledgers: BTreeMap<String, Counters>,
}

/// Every kind, in the order in which the counts are printed.
const KINDS: [&str; 6] = ["pass", "fail", "unsupported", "crash", "hang", "skipped"];
/// Bad, and expected by a line that says `fail` or `flaky`. Printed where there are any.
const EXPECTED: [&str; 2] = ["expected", "flaky"];

impl Summary {
    /// Counts a verdict.
    pub fn add(&mut self, verdict: &Verdict) {
        let word = match verdict.expected.as_ref().map(|known| known.mark) {
            None => verdict.outcome.word(),
            Some(Mark::Flaky) => EXPECTED[1],
            Some(Mark::Fail | Mark::Skip) => EXPECTED[0],
        };
        *self.total.entry(word).or_default() += 1;
        let devices = self.by_op.entry(verdict.op.clone()).or_default();
        let (counts, worst) = devices.entry(verdict.device.clone()).or_default();
        *counts.entry(word).or_default() += 1;
        if let Outcome::Pass { worst: fraction } = verdict.outcome {
            *worst = worst.max(fraction);
        }
    }

    /// Counts what could not be asked.
    pub fn refuse(&mut self) {
        self.refused += 1;
    }

    /// Adds a ledger's counters to its device's.
    pub fn add_ledger(&mut self, device: &str, counters: Counters) {
        *self.ledgers.entry(device.to_owned()).or_default() += counters;
    }

    /// All verdicts.
    #[must_use]
    pub fn verdicts(&self) -> usize {
        self.total.values().sum()
    }

    /// Counters by device.
    #[must_use]
    pub fn ledgers(&self) -> &BTreeMap<String, Counters> {
        &self.ledgers
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let mut devices: Vec<&String> = self.by_op.values().flat_map(BTreeMap::keys).collect();
        devices.sort();
        devices.dedup();
        let head = std::iter::once("op".to_owned()).chain(devices.iter().map(|d| (*d).clone()));
        table.set_header(head);
        for (op, by_device) in &self.by_op {
            let mut row = vec![op.clone()];
            for device in &devices {
                row.push(by_device.get(*device).map_or_else(String::new, cell));
            }
            table.add_row(row);
        }
        writeln!(f, "{table}\n")?;
        let count = |kind: &str| self.total.get(kind).copied().unwrap_or(0);
        let expected = EXPECTED.iter().filter(|kind| count(kind) > 0);
        let kinds = KINDS.iter().chain(expected);
        let counts: Vec<String> = kinds.map(|kind| format!("{} {kind}", count(kind))).collect();
        writeln!(f, "{} verdicts: {}", self.verdicts(), counts.join(", "))?;
        if self.refused > 0 {
            writeln!(f, "{} refused: they could not be asked", self.refused)?;
        }
        for (device, c) in &self.ledgers {
            writeln!(
                f,
                "ledger of {device}:\n  \
                 {} allocations, {} frees, {} leaks, peak {:.1} MiB,\n  \
                 {} guard hits, {} poison reads, {} double frees, {} stale uses",
                c.allocations,
                c.frees,
                c.leaks,
                c.peak_bytes as f64 / f64::from(1 << 20),
                c.guard_hits,
                c.poison_reads,
                c.double_frees,
                c.stale_uses
            )?;
        }
        Ok(())
    }
}

/// `412 pass, worst 0.61` or every other kind that occurred.
fn cell((counts, worst): &(Counts, f64)) -> String {
    let kinds = KINDS.iter().chain(&EXPECTED);
    let present = kinds.filter_map(|kind| counts.get(kind).map(|n| format!("{n} {kind}")));
    let mut parts: Vec<String> = present.collect();
    parts.push(format!("worst {worst:.2}"));
    parts.join(", ")
}
