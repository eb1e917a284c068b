//! A run as JUnit XML, which CI systems of every kind read.
//!
//! A test suite is a device, a test case is one check of one target; the cases that were bad are
//! in its text. A hang or crash is an error, and so is what could not be asked; a finding is a failure; where all that was bad was
//! expected, the test case is skipped with the reason. A line of the expectations file that should
//! go is a test case that failed.

use std::fmt::Write;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::check::{Check, Outcome, Verdict};
use crate::memory::MemoryFinding;
use crate::run::{Refusal, UnexpectedPass};

use super::finding::{REST, finding_of, finding_text, leak_text, pass_text, refusal_text};

/// What a run's report is made of.
#[derive(Clone, Debug, Default)]
pub struct Junit(Vec<Suite>);

#[derive(Clone, Debug)]
struct Suite {
    device: String,
    questions: Vec<Question>,
    leaks: Vec<String>,
    passes: Vec<UnexpectedPass>,
}

/// One check of one target.
#[derive(Clone, Debug)]
struct Question {
    target: String,
    check: Check,
    cases: usize,
    passed: usize,
    /// The kind, message and place of the first case of the worst sort so far.
    worst: Option<Bad>,
    bad: usize,
    /// All bad cases in full.
    text: String,
    /// Bad cases that were expected.
    expected: usize,
    /// Cases that were not asked or expected to be bad, with their reasons.
    skipped: String,
}

#[derive(Clone, Debug)]
struct Bad {
    kind: NonSuccessKind,
    name: &'static str,
    message: String,
    place: Option<(String, Option<u32>)>,
}

impl Junit {
    /// Adds a verdict.
    pub fn add(&mut self, verdict: &Verdict) {
        self.question(&verdict.device, verdict.target(), verdict.check).add(verdict);
    }

    /// Adds what could not be asked.
    pub fn add_refusal(&mut self, refusal: &Refusal) {
        let Refusal { device, target, check, .. } = refusal;
        self.question(device, target.clone(), *check).refuse(refusal);
    }

    fn question(&mut self, device: &str, target: String, check: Check) -> &mut Question {
        let questions = &mut self.suite(device).questions;
        let is_same = |q: &Question| q.target == target && q.check == check;
        // Verdicts of a question mostly come one after another.
        let at = questions.iter().rposition(is_same).unwrap_or_else(|| {
            questions.push(Question::new(target, check));
            questions.len() - 1
        });
        &mut questions[at]
    }

    /// Adds a buffer that was never freed.
    pub fn add_leak(&mut self, device: &str, leak: &MemoryFinding) {
        self.suite(device).leaks.push(leak_text(device, leak));
    }

    /// Adds a line of the expectations file that should go.
    pub fn add_pass(&mut self, pass: &UnexpectedPass) {
        self.suite(&pass.device).passes.push(pass.clone());
    }

    fn suite(&mut self, device: &str) -> &mut Suite {
        let at = self.0.iter().position(|suite| suite.device == device).unwrap_or_else(|| {
            let device = device.to_owned();
            let (questions, leaks, passes) = (Vec::new(), Vec::new(), Vec::new());
            self.0.push(Suite { device, questions, leaks, passes });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// The XML. Characters that XML can't hold are left out.
    ///
    /// # Errors
    /// What the writer of XML refuses.
    pub fn xml(&self, seed: u64) -> Result<String, SerializeError> {
        let mut report = Report::new("vklab");
        for suite in &self.0 {
            let mut made = TestSuite::new(suite.device.as_str());
            made.add_property(("seed", seed.to_string().as_str()));
            made.add_test_cases(suite.questions.iter().map(Question::test_case));
            made.add_test_case(suite.ledger());
            made.add_test_cases(suite.passes.iter().map(pass_case));
            report.add_test_suite(made);
        }
        report.to_string()
    }
}

impl Suite {
    fn ledger(&self) -> TestCase {
        let mut status = TestCaseStatus::success();
        if !self.leaks.is_empty() {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type("leak");
            status.set_message(format!("{} buffers were never freed", self.leaks.len()));
            status.set_description(self.leaks.join("\n\n"));
        }
        let mut case = TestCase::new("leaks", status);
        case.set_classname("ledger");
        case
    }
}

fn pass_case(pass: &UnexpectedPass) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(UnexpectedPass::KIND);
    status.set_message(pass.message());
    status.set_description(pass_text(pass));
    let mut case = TestCase::new(format!("line {}", pass.line), status);
    case.set_classname("expectations");
    case.extra.insert("file".into(), pass.file.as_str().into());
    case.extra.insert("line".into(), pass.line.to_string().into());
    case
}

impl Question {
    fn new(target: String, check: Check) -> Self {
        let (text, skipped) = (String::new(), String::new());
        let worst = None;
        Self { target, check, cases: 0, passed: 0, worst, bad: 0, text, expected: 0, skipped }
    }

    fn add(&mut self, verdict: &Verdict) {
        self.cases += 1;
        if let Some(known) = &verdict.expected {
            self.expected += 1;
            let (case, kind) = (&verdict.case, verdict.outcome.kind());
            let _ = writeln!(self.skipped, "{case}: expected {kind}: {}", known.reason);
            return;
        }
        let kind = match &verdict.outcome {
            Outcome::Pass { .. } => {
                self.passed += 1;
                return;
            }
            Outcome::Unsupported { .. } | Outcome::Skipped { .. } => {
                // Writing to a String can't fail.
                let _ = writeln!(self.skipped, "{}: {}", verdict.case, verdict.outcome);
                return;
            }
            Outcome::Fail { .. } => NonSuccessKind::Failure,
            Outcome::Crash { .. } | Outcome::Hang { .. } => NonSuccessKind::Error,
        };
        let bad = Bad {
            kind,
            name: verdict.outcome.kind(),
            message: format!("{}: {}", verdict.case, verdict.outcome.message()),
            place: finding_of(verdict).and_then(|f| Some((f.file.clone()?, f.line))),
        };
        self.worsen(bad, &finding_text(verdict));
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.cases += 1;
        let case = refusal.case.as_deref().unwrap_or(REST);
        let message = format!("{case}: {}", refusal.message);
        let bad = Bad { kind: NonSuccessKind::Error, name: "refused", message, place: None };
        self.worsen(bad, &refusal_text(refusal));
    }

    fn worsen(&mut self, bad: Bad, text: &str) {
        self.bad += 1;
        let _ = writeln!(self.text, "{text}\n");
        let is_first = |worst: &Bad| {
            worst.kind == NonSuccessKind::Failure && bad.kind == NonSuccessKind::Error
        };
        if self.worst.as_ref().is_none_or(is_first) {
            self.worst = Some(bad);
        }
    }

    fn test_case(&self) -> TestCase {
        let mut case = TestCase::new(self.check.name(), self.status());
        case.set_classname(self.target.as_str());
        case.set_assertions(self.cases);
        if let Some((file, line)) = self.worst.as_ref().and_then(|bad| bad.place.as_ref()) {
            case.extra.insert("file".into(), file.as_str().into());
            if let Some(line) = line {
                case.extra.insert("line".into(), line.to_string().into());
            }
        }
        let is_told = matches!(case.status, TestCaseStatus::Skipped { .. });
        if !is_told && !self.skipped.is_empty() {
            case.set_system_out(self.skipped.trim_end());
        }
        case
    }

    fn status(&self) -> TestCaseStatus {
        if let Some(worst) = &self.worst {
            let mut status = TestCaseStatus::non_success(worst.kind);
            status.set_type(worst.name);
            let counts = format!("{} of {} cases", self.bad, self.cases);
            status.set_message(format!("{counts}, first {}", worst.message));
            status.set_description(self.text.trim_end());
            status
        } else if self.passed > 0 && self.expected == 0 {
            TestCaseStatus::success()
        } else {
            let mut status = TestCaseStatus::skipped();
            status.set_message(self.skipped.lines().next().unwrap_or("no cases"));
            status.set_description(self.skipped.trim_end());
            status
        }
    }
}

#[cfg(test)]
mod tests {
    use quick_junit::{NonSuccessKind, Report, TestCaseStatus, TestSuite};

    use super::Junit;
    use crate::check::{Check, Finding, Kind, Outcome, Verdict};

    fn verdict(device: &str, check: Check, case: &str, outcome: Outcome) -> Verdict {
        let (op, variant) = ("add".to_owned(), "naive".to_owned());
        let (device, case) = (device.to_owned(), case.to_owned());
        let variant = Some(variant);
        Verdict { device, op, variant, check, case, seed: 1, outcome, expected: None, output: None }
    }

    fn wrong(message: &str) -> Outcome {
        let file = Some("glsl/add/naive.comp".to_owned());
        Outcome::fail(Finding { file, line: Some(9), ..Finding::new(Kind::WrongResult, message) })
    }

    fn read_back(verdicts: &[Verdict]) -> Vec<TestSuite> {
        let mut junit = Junit::default();
        verdicts.iter().for_each(|verdict| junit.add(verdict));
        let xml = junit.xml(7).expect("XML");
        Report::deserialize_from_str(&xml).expect("a report").test_suites
    }

    fn non_success(status: &TestCaseStatus) -> (NonSuccessKind, String, String) {
        match status {
            TestCaseStatus::NonSuccess { kind, message, description, .. } => {
                let text = |part: &Option<quick_junit::XmlString>| {
                    part.as_ref().map_or_else(String::new, |text| text.as_str().to_owned())
                };
                (*kind, text(message), text(description))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_device_is_a_suite_and_a_check_of_a_target_a_case() {
        let pass = || Outcome::Pass { worst: 0.5 };
        let suites = read_back(&[
            verdict("one", Check::Forward, "rows=1", pass()),
            verdict("one", Check::Forward, "rows=2", wrong("y < x & \u{1}\"z\"")),
            verdict("one", Check::Forward, "rows=3", wrong("again")),
            verdict("one", Check::Memory, "rows=1", pass()),
            verdict("two", Check::Forward, "rows=1", pass()),
        ]);
        let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!((suites[0].tests, suites[0].failures, suites[0].errors), (3, 1, 0));
        let case = &suites[0].test_cases[0];
        assert_eq!(case.name.as_str(), "forward");
        assert_eq!(case.classname.as_deref(), Some("add.naive"));
        assert_eq!(case.extra.get("line").map(|line| line.as_str()), Some("9"));
        let (kind, message, text) = non_success(&case.status);
        assert_eq!(kind, NonSuccessKind::Failure);
        assert_eq!(message, "2 of 3 cases, first rows=2: y < x & \"z\"");
        assert!(text.contains("one: rows=2") && text.contains("one: rows=3"), "{text}");
        assert!(matches!(suites[0].test_cases[1].status, TestCaseStatus::Success { .. }));
    }

    #[test]
    fn a_crash_is_an_error_whatever_else_failed() {
        let crash = Outcome::Crash { reason: "signal: 11".to_owned() };
        let suites = read_back(&[
            verdict("one", Check::Forward, "rows=1", wrong("first")),
            verdict("one", Check::Forward, "rows=2", crash),
        ]);
        assert_eq!((suites[0].failures, suites[0].errors), (0, 1));
        let (kind, message, text) = non_success(&suites[0].test_cases[0].status);
        assert_eq!(kind, NonSuccessKind::Error);
        assert_eq!(message, "2 of 2 cases, first rows=2: signal: 11");
        assert!(text.contains("wrong-result: first"), "{text}");
    }

    #[test]
    fn what_no_case_could_ask_is_skipped() {
        let lacks = || Outcome::Unsupported { reason: "no f16".to_owned() };
        let suites = read_back(&[
            verdict("one", Check::Forward, "rows=1", lacks()),
            verdict("one", Check::Memory, "rows=1", lacks()),
            verdict("one", Check::Memory, "rows=2", Outcome::Pass { worst: 0.0 }),
        ]);
        let [forward, memory, _ledger] = &suites[0].test_cases[..] else {
            panic!("{suites:?}");
        };
        assert!(matches!(forward.status, TestCaseStatus::Skipped { .. }), "{forward:?}");
        assert!(matches!(memory.status, TestCaseStatus::Success { .. }), "{memory:?}");
        assert_eq!(memory.system_out.as_deref(), Some("rows=1: unsupported: no f16"));
    }
}
