//! From wrong elements to a finding that a person can act on.

use crate::ops::Pass;
use crate::tensor::Tensor;

use super::compare::{Comparison, Expected};
use super::execute::{Executed, Slot};
use super::trial::Trial;
use super::{Evidence, Finding, Kind, Outcome, diagnose, places};

/// Holds everything that a run wrote against the trial; the first buffer with wrong elements makes
/// the finding.
#[must_use]
pub(super) fn judge(pass: Pass, trial: &Trial, executed: &Executed) -> Outcome {
    let mut worst: f64 = 0.0;
    for expected in &trial.expected {
        let got = &executed.written[&expected.name];
        let comparison = expected.compare(got);
        if !comparison.bad.is_empty() {
            let kind = match pass {
                Pass::Forward => Kind::WrongResult,
                Pass::Vjp => Kind::WrongGradient,
            };
            let finding =
                Finding::new(kind, format!("{} differs from the reference", expected.name));
            let mut finding = with_evidence(finding, &trial.slots, expected, got, &comparison);
            finding.causes = diagnose::causes(expected, got, &comparison.bad, &trial.slots);
            return Outcome::fail(finding);
        }
        worst = worst.max(comparison.worst);
    }
    Outcome::Pass { worst }
}

/// The first buffer of which two runs wrote other bits, as a finding of that kind; `message` says it
/// for the buffer's name. `slots` are the buffers of either run.
#[must_use]
pub(super) fn other_bits(
    kind: Kind,
    slots: &[Slot],
    (one, other): (&Executed, &Executed),
    message: impl FnOnce(&str) -> String,
) -> Option<Outcome> {
    let mut pairs = one.written.iter().map(|(name, tensor)| (name, tensor, &other.written[name]));
    let (name, tensor, got) = pairs.find(|(_, tensor, got)| tensor.bytes() != got.bytes())?;
    let finding = Finding::new(kind, message(name));
    Some(differing(finding, slots, &Expected::exactly(name, tensor), got))
}

/// The finding where two runs of one trial wrote other bits.
#[must_use]
pub(super) fn nondeterministic(
    trial: &Trial,
    first: &Executed,
    second: &Executed,
) -> Option<Outcome> {
    let message = |name: &str| format!("two runs differ in {name}");
    other_bits(Kind::Nondeterministic, &trial.slots, (first, second), message)
}

/// A finding about two runs that differ; `slots` are the buffers of the run that gave `got`.
#[must_use]
pub(super) fn differing(
    finding: Finding,
    slots: &[Slot],
    expected: &Expected,
    got: &Tensor,
) -> Outcome {
    let mut comparison = expected.compare(got);
    if comparison.bad.is_empty() {
        // Bits differ where values compare equal: signed zeros and NaN payloads.
        let (size, block_len) = (got.dtype().block_bytes(), got.dtype().block_len());
        let other = expected.dtype.encode(&expected.values);
        comparison.bad = (0..got.len())
            .filter(|i| {
                let block = i / block_len * size..(i / block_len + 1) * size;
                got.bytes()[block.clone()] != other[block]
            })
            .collect();
        comparison.worst_at = comparison.bad.first().copied().unwrap_or(0);
    }
    Outcome::fail(with_evidence(finding, slots, expected, got, &comparison))
}

fn with_evidence(
    mut finding: Finding,
    slots: &[Slot],
    expected: &Expected,
    got: &Tensor,
    comparison: &Comparison,
) -> Finding {
    finding.mismatch = Some(expected.mismatch(got, comparison));
    finding.places = places::describe(&expected.shape, &comparison.bad);
    finding.evidence = Evidence::new(slots, expected, got);
    finding
}
