//! Limits: what a kernel, its dispatches and its bindings take, against what devices offer. Nothing is
//! executed, so devices that aren't there can be asked about, and those that are may be smaller.
//!
//! The plan is the one for the profile's limits: a variant that adapts to limits is right if what it
//! makes of the least fits the least, and on a larger device it may take more. A kernel file's plan is
//! the same everywhere. A variant's other workgroup sizes are choices that it offers, each of which a
//! device may refuse; the default one has to fit.

mod demand;
mod profile;

use crate::ops::{Need, Target};

use self::demand::{Demand, demands, of_data};
pub use self::profile::{Profile, UnknownProfile};
use super::question::Question;
use super::{CheckError, Finding, Kind, Outcome, Session};

/// Holds the plan's demands against the session's profile. What is declared is known and no finding;
/// a profile of one device that lacks it can't run the kernel.
///
/// # Errors
/// What keeps the kernels from being built.
pub(super) fn check(session: &mut Session, question: &dyn Question) -> Result<Outcome, CheckError> {
    let profile = session.profile.clone();
    let limits = profile.limits();
    let target = Target { limits: &limits, workgroup: question.workgroups()[0] };
    let plan = question
        .plan(&target)
        .map_err(|reason| CheckError::Unsupported(format!("{profile}: {reason}")))?;
    let mut declared = question.needs().to_vec();
    let regions = question.regions();
    let data = regions.iter().flat_map(|region| of_data(region.dtype));
    declared.extend(data.map(|feature| Need::Feature(*feature)));
    let mut exceeding = demands(session, question, &plan)?;
    exceeding.retain(|demand| !profile.offers(demand.need));
    let is_declared = |demand: &Demand| declared.iter().any(|need| need.covers(demand.need));
    let (known, unknown): (Vec<Demand>, Vec<Demand>) = exceeding.into_iter().partition(is_declared);
    if let Some(finding) = finding(&profile, &unknown) {
        return Ok(Outcome::fail(finding));
    }
    match known.first() {
        Some(demand) if profile.is_single() => {
            let reason = format!("{} (declared)", sentence(&profile, demand));
            Ok(Outcome::Unsupported { reason })
        }
        _ => Ok(Outcome::Pass { worst: 0.0 }),
    }
}

fn sentence(profile: &Profile, demand: &Demand) -> String {
    format!("{} needs {}; {}", demand.by, demand.need, profile.refusal(demand.need))
}

/// The first demand names the finding, the others are its places.
fn finding(profile: &Profile, demands: &[Demand]) -> Option<Finding> {
    let first = demands.first()?;
    let mut finding = Finding::new(Kind::LimitExceeded, sentence(profile, first));
    finding.file.clone_from(&first.file);
    finding.line = first.line;
    for demand in &demands[1..] {
        let place = sentence(profile, demand);
        // Two steps may run one kernel.
        if place != finding.message && !finding.places.contains(&place) {
            finding.places.push(place);
        }
    }
    Some(finding)
}
