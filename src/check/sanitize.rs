//! Sanitize: on a device that watches, at several subgroup sizes and in several orders, nothing
//! harmful is seen and every result is right.

use crate::device::Observation;

use super::execute::{Executed, Setting, put};
use super::portability::{listed, unpromised};
use super::question::Question;
use super::session::Way;
use super::trial::Trial;
use super::{CheckError, Finding, Kind, Outcome, Session, describe};

/// Subgroup sizes where nothing says for which ones the kernels are made, the usual one first.
const SWEEP: [u32; 5] = [32, 4, 128, 8, 64];

/// Runs the plan at each subgroup size, in another order each time, and ends at the first run in
/// which something harmful was seen. A result that is wrong at some sizes only is an assumption
/// about the size.
///
/// # Errors
/// What keeps the plan from running at every size; a device that doesn't watch.
pub(super) fn check(session: &mut Session, question: &dyn Question) -> Result<Outcome, CheckError> {
    let sizes = sizes(session, question.subgroup_sizes())?;
    let trial = question.trial(session)?;
    let setting = Setting::first(question);
    let seed = session.way.schedule;
    let mut sweep = Sweep::default();
    let mut refusal = None;
    for size in sizes {
        session.way = Way { schedule: order(seed, size), subgroup_size: Some(size) };
        let executed = match put(session, question, &trial.slots, &setting) {
            Err(CheckError::Unsupported(reason)) => {
                refusal.get_or_insert(reason);
                continue;
            }
            executed => executed?,
        };
        let judged = describe::judge(question.pass(), &trial, &executed);
        if session.observations.iter().any(Observation::is_finding) {
            return Ok(judged);
        }
        sweep.add(session.way, judged, &trial, executed);
    }
    match (sweep.plain.is_some(), refusal) {
        (false, Some(reason)) => Err(CheckError::Unsupported(reason)),
        _ => Ok(sweep.end(session)),
    }
}

/// Those that the caller allows, those for which the kernels are made, or the usual ones, as far as
/// the device has them.
fn sizes(session: &Session, made_for: &[u32]) -> Result<Vec<u32>, CheckError> {
    let info = session.info();
    if !info.is_interpreter() {
        let what = format!("{} doesn't watch its kernels", info.name);
        return Err(CheckError::Unsupported(what));
    }
    let asked = match (session.subgroup_sizes.as_slice(), made_for) {
        ([], []) => &SWEEP,
        ([], made_for) => made_for,
        (allowed, _) => allowed,
    };
    let is_offered = |size: &u32| info.subgroup_sizes().any(|offered| offered == *size);
    let sizes: Vec<u32> = asked.iter().copied().filter(is_offered).collect();
    if sizes.is_empty() {
        let offered: Vec<u32> = info.subgroup_sizes().collect();
        return Err(CheckError::Unsupported(format!(
            "subgroup sizes {} are asked for, the device has {}",
            listed(asked),
            listed(&offered)
        )));
    }
    Ok(sizes)
}

/// The order at a size depends on nothing else, so that one size alone repeats it.
const fn order(seed: u64, size: u32) -> u64 {
    seed ^ (size as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// What the runs came to.
#[derive(Default)]
struct Sweep {
    /// The first run, and its size.
    plain: Option<(u32, Executed)>,
    right: Vec<u32>,
    wrong: Vec<u32>,
    /// The first failure, and how it was run.
    failure: Option<(Way, Box<Finding>)>,
    worst: f64,
}

impl Sweep {
    fn add(&mut self, way: Way, judged: Outcome, trial: &Trial, executed: Executed) {
        let size = way.subgroup_size.unwrap_or_default();
        let judged = match (&self.plain, judged) {
            (Some((first, plain)), Outcome::Pass { worst }) => {
                like(trial, (*first, plain), (size, &executed)).unwrap_or(Outcome::Pass { worst })
            }
            (_, judged) => judged,
        };
        match judged {
            Outcome::Fail { finding } => {
                self.wrong.push(size);
                self.failure.get_or_insert((way, finding));
            }
            Outcome::Pass { worst } => {
                self.right.push(size);
                self.worst = self.worst.max(worst);
            }
            _ => {}
        }
        self.plain.get_or_insert((size, executed));
    }

    fn end(self, session: &mut Session) -> Outcome {
        let Some((way, mut finding)) = self.failure else {
            return Outcome::Pass { worst: self.worst };
        };
        session.way = way;
        if finding.kind != Kind::NotPortable && !self.right.is_empty() {
            let (wrong, right) = (listed(&self.wrong), listed(&self.right));
            finding.message =
                format!("{} at a subgroup size of {wrong}, not at one of {right}", finding.message);
        }
        Outcome::Fail { finding }
    }
}

/// The finding where two runs differ in what nothing promises.
fn like(
    trial: &Trial,
    (first, plain): (u32, &Executed),
    (size, executed): (u32, &Executed),
) -> Option<Outcome> {
    unpromised(trial, plain).into_iter().find_map(|expected| {
        let got = executed.written.get(&expected.name)?;
        if expected.compare(got).bad.is_empty() {
            return None;
        }
        let message = format!(
            "{} at a subgroup size of {size} is another than at one of {first}",
            expected.name
        );
        let finding = Finding::new(Kind::NotPortable, message);
        Some(describe::differing(finding, &trial.slots, &expected, got))
    })
}
