//! What a device that watches saw, put before what came of it.

use crate::device::{Hazard, Observation};

use super::suite::Promise;
use super::{Finding, Kind, Outcome};

/// Hazards in the order in which one causes another: what lies outside of memory was written by
/// nobody, as is what an invocation that isn't there would give, and a barrier that isn't reached orders
/// nothing.
const CAUSES: [Hazard; 9] = [
    Hazard::DivergentBarrier,
    Hazard::OobWrite,
    Hazard::OobRead,
    Hazard::Misaligned,
    Hazard::Race,
    Hazard::Divergence,
    Hazard::UninitRead,
    Hazard::UndefinedArithmetic,
    Hazard::Nan,
];

/// Observations that a finding keeps.
const KEPT: usize = 32;

/// The outcome with what was seen: a fault is a finding whatever the results are, and stands before
/// a wrong result, which may be its consequence. A NaN is a fault only where a result is wrong for
/// it, or where nothing says what is right.
pub(super) fn told(outcome: Outcome, mut seen: Vec<Observation>, promise: Promise) -> Outcome {
    let (symptom, worst) = match outcome {
        Outcome::Fail { finding } => (Some(finding), 0.0),
        Outcome::Pass { worst } => (None, worst),
        other => return other,
    };
    let nan_counts = match &symptom {
        Some(finding) => is_about_nan(finding),
        None => promise == Promise::Nothing,
    };
    let place = |observation: &Observation| {
        let counts = observation.hazard != Hazard::Nan || nan_counts;
        let place = CAUSES.iter().position(|hazard| *hazard == observation.hazard);
        if observation.is_finding() && counts {
            place.unwrap_or(CAUSES.len())
        } else {
            CAUSES.len()
        }
    };
    seen.sort_by_key(place);
    seen.truncate(KEPT);
    let cause = seen.first().filter(|first| place(first) < CAUSES.len());
    let cause =
        cause.and_then(|first| Some((Kind::of_hazard(first.hazard)?, first.message.clone())));
    let finding = match (symptom, cause) {
        (None, None) => return Outcome::Pass { worst },
        (None, Some((kind, message))) => Box::new(Finding::new(kind, message)),
        (Some(symptom), None) => symptom,
        (Some(mut symptom), Some((kind, message))) => {
            symptom.message = format!("{message}; {}{}", symptom.message, got(&symptom));
            symptom.kind = kind;
            symptom
        }
    };
    Outcome::Fail { finding: Box::new(Finding { observations: seen, ..*finding }) }
}

fn is_about_nan(finding: &Finding) -> bool {
    let is_nan = |got: &str| got.parse::<f64>().is_ok_and(f64::is_nan);
    finding.mismatch.as_ref().is_none_or(|mismatch| is_nan(&mismatch.got))
}

/// The worst element of a wrong result.
fn got(finding: &Finding) -> String {
    finding.mismatch.as_ref().map_or_else(String::new, |m| {
        format!(": {}{:?} is {}, expected {}", m.buffer, m.index, m.got, m.expected)
    })
}

#[cfg(test)]
mod tests {
    use super::{Promise, told};
    use crate::check::{Finding, Kind, Mismatch, Outcome};
    use crate::device::{Act, Hazard, Observation};

    fn saw(hazard: Hazard) -> Observation {
        let act = Act {
            what: "reads".to_owned(),
            kernel: "k.comp".to_owned(),
            file: "k.comp".to_owned(),
            line: 7,
            text: String::new(),
            invocation: None,
        };
        Observation {
            hazard,
            message: format!("a {hazard}"),
            act,
            other: None,
            memory: None,
            offset_bytes: None,
            count: 1,
            allowed: None,
        }
    }

    fn wrong(got: &str) -> Outcome {
        let mismatch = Mismatch {
            buffer: "y".to_owned(),
            bad: 1,
            total: 4,
            index: vec![3],
            got: got.to_owned(),
            expected: "1".to_owned(),
            bound: "0".to_owned(),
        };
        let finding = Finding::new(Kind::WrongResult, "y differs");
        Outcome::fail(Finding { mismatch: Some(mismatch), ..finding })
    }

    const PASS: Outcome = Outcome::Pass { worst: 0.5 };

    #[test]
    fn a_fault_is_a_finding_though_the_result_is_right() {
        let seen = vec![saw(Hazard::SameValueRace), saw(Hazard::UninitRead), saw(Hazard::Race)];
        let outcome = told(PASS, seen, Promise::Results);
        assert_eq!((outcome.kind(), outcome.message()), ("race", "a race"));
        let Outcome::Fail { finding } = outcome else { panic!("{outcome}") };
        let order: Vec<Hazard> = finding.observations.iter().map(|seen| seen.hazard).collect();
        assert_eq!(order, [Hazard::Race, Hazard::UninitRead, Hazard::SameValueRace]);
        assert_eq!(finding.cause().map(|cause| cause.hazard), Some(Hazard::Race));
    }

    #[test]
    fn what_somebody_allowed_is_none() {
        let allowed = Observation { allowed: Some("a hint".to_owned()), ..saw(Hazard::Race) };
        assert_eq!(told(PASS, vec![allowed, saw(Hazard::SameValueRace)], Promise::Results), PASS);
    }

    #[test]
    fn a_cause_stands_before_the_wrong_result() {
        let outcome = told(wrong("2"), vec![saw(Hazard::OobRead)], Promise::Results);
        assert_eq!(outcome.kind(), "oob-read");
        assert_eq!(outcome.message(), "a oob-read; y differs: y[3] is 2, expected 1");
        let Outcome::Fail { finding } = outcome else { panic!("{outcome}") };
        assert!(finding.mismatch.is_some());
    }

    #[test]
    fn a_nan_counts_where_a_result_is_one_or_nothing_is_expected() {
        let nan = || vec![saw(Hazard::Nan)];
        assert_eq!(told(PASS, nan(), Promise::Results), PASS);
        assert_eq!(told(PASS, nan(), Promise::Nothing).kind(), "nan");
        assert_eq!(told(wrong("NaN"), nan(), Promise::Results).kind(), "nan");
        assert_eq!(told(wrong("2"), nan(), Promise::Results).kind(), "wrong-result");
    }
}
