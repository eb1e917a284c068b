//! From wrong elements to a finding that a person can act on.

use crate::ops::{Case, Pass};
use crate::tensor::Tensor;

use super::compare::{Comparison, Expected};
use super::execute::{Executed, Subject};
use super::finding::Finding;
use super::trial::Trial;
use super::{Outcome, diagnose, places};

/// Holds everything that a run wrote against the trial; the first buffer with wrong elements makes
/// the finding.
#[must_use]
pub(super) fn judge(
    subject: &Subject<'_>,
    case: &Case,
    trial: &Trial,
    executed: &Executed,
) -> Outcome {
    let mut worst: f64 = 0.0;
    for expected in &trial.expected {
        let got = &executed.written[&expected.name];
        let comparison = expected.compare(got);
        if !comparison.bad.is_empty() {
            let finding = Finding::new(
                if subject.variant.pass == Pass::Vjp { "wrong-gradient" } else { "wrong-result" },
                format!("{} differs from the reference", expected.name),
            );
            let mut finding = evidence(finding, expected, got, &comparison);
            finding.causes = diagnose::causes(expected, got, &comparison.bad, &trial.slots);
            return located(finding, subject, case);
        }
        worst = worst.max(comparison.worst);
    }
    Outcome::Pass { worst }
}

/// A finding about two runs that differ.
#[must_use]
pub(super) fn differing(
    finding: Finding,
    subject: &Subject<'_>,
    case: &Case,
    expected: &Expected,
    got: &Tensor,
) -> Outcome {
    let mut comparison = expected.compare(got);
    if comparison.bad.is_empty() {
        // Bits differ where values compare equal: signed zeros and NaN payloads.
        let size = got.dtype().size_bytes();
        let other = expected.dtype.encode(&expected.values);
        comparison.bad = (0..got.len())
            .filter(|i| got.bytes()[i * size..(i + 1) * size] != other[i * size..(i + 1) * size])
            .collect();
        comparison.worst_at = comparison.bad.first().copied().unwrap_or(0);
    }
    located(evidence(finding, expected, got, &comparison), subject, case)
}

/// Adds the kernel's file and ends the finding as an outcome.
#[must_use]
pub(super) fn located(mut finding: Finding, subject: &Subject<'_>, case: &Case) -> Outcome {
    if finding.repeat.is_empty() {
        finding.repeat = format!(
            "vklab check {}.{} --case {} --seed {}",
            subject.op.name,
            subject.variant.name,
            case.id(subject.op),
            case.seed
        );
    }
    Outcome::Fail { finding: Box::new(finding) }
}

fn evidence(
    mut finding: Finding,
    expected: &Expected,
    got: &Tensor,
    comparison: &Comparison,
) -> Finding {
    finding.mismatch = Some(expected.mismatch(got, comparison));
    finding.places = places::describe(&expected.shape, &comparison.bad);
    finding
}
