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

/// Holds the plan's demands against the session's profile. Devices that lack what is declared, or what
/// the data take, aren't meant; what leaves another behind is a finding.
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
    let is_declared =
        |demand: &Demand| question.needs().iter().any(|need| need.covers(demand.need));
    let (known, mut unknown): (Vec<Demand>, Vec<Demand>) =
        demands(session, question, &plan)?.into_iter().partition(is_declared);
    let mut needs: Vec<Need> = known.iter().map(|demand| demand.need).collect();
    for region in question.regions() {
        needs.extend(of_data(region.dtype).iter().copied().map(Need::Feature));
    }
    let left = profile.offering(&needs);
    if left.is_empty() {
        return Ok(Outcome::Unsupported { reason: not_meant(&profile, &needs) });
    }
    unknown.retain(|demand| !left.offers(demand.need));
    Ok(match finding(&profile, &left, &unknown) {
        Some(finding) => Outcome::fail(finding),
        None => Outcome::Pass { worst: 0.0 },
    })
}

/// What keeps the profile's devices from being meant, each need once.
fn not_meant(profile: &Profile, needs: &[Need]) -> String {
    let mut lacking: Vec<String> = Vec::new();
    for need in needs.iter().filter(|need| !profile.offers(**need)) {
        let need = need.to_string();
        if !lacking.contains(&need) {
            lacking.push(need);
        }
    }
    format!("not meant for {profile}: it needs {}", lacking.join(", "))
}

fn sentence(profile: &Profile, left: &Profile, demand: &Demand) -> String {
    format!("{} needs {}; {}", demand.by, demand.need, profile.refusal(demand.need, left))
}

/// The first demand names the finding, the others are its places.
fn finding(profile: &Profile, left: &Profile, demands: &[Demand]) -> Option<Finding> {
    let first = demands.first()?;
    let mut finding = Finding::new(Kind::LimitExceeded, sentence(profile, left, first));
    finding.file.clone_from(&first.file);
    finding.line = first.line;
    for demand in &demands[1..] {
        let place = sentence(profile, left, demand);
        // Two steps may run one kernel.
        if place != finding.message && !finding.places.contains(&place) {
            finding.places.push(place);
        }
    }
    Some(finding)
}
