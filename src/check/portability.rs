//! Portability: the result hangs neither on the workgroup or subgroup size nor on where a binding
//! starts.

use crate::device::DeviceInfo;
use crate::ops::Order;
use crate::tensor::Tensor;

use super::compare::Expected;
use super::execute::{Executed, Setting, put};
use super::foreign::usual;
use super::question::Question;
use super::trial::Trial;
use super::{CheckError, Finding, Kind, Outcome, Session, describe};

/// What two runs may differ by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slack {
    /// Each may be off by the bound, since it may add in another order.
    TwoBounds,
    /// Not a bit.
    None,
}

/// Runs the variant at each of its workgroup sizes that the device takes, at the subgroup sizes
/// that the device offers, and at a binding offset. Another size may add in another order; another
/// offset must not change a bit.
///
/// # Errors
/// What keeps the default setting from running; subgroup sizes that are asked for, of which the
/// device offers none.
pub(super) fn check(session: &mut Session, question: &dyn Question) -> Result<Outcome, CheckError> {
    let subgroups = subgroup_sizes(session.info(), question.subgroup_sizes())?;
    let trial = question.trial(session)?;
    let default = Setting::first(question);
    let plain = put(session, question, &trial.slots, &default)?;
    let mut worst: f64 = 0.0;
    for (setting, slack) in settings(question, &default, &subgroups) {
        let other = match put(session, question, &trial.slots, &setting) {
            Err(CheckError::Unsupported(_)) => continue,
            other => other?,
        };
        for expected in wanted(&trial, &plain, slack) {
            let got = &other.written[&expected.name];
            let comparison = expected.compare(got);
            if !comparison.bad.is_empty() {
                let message = changes(&expected.name, &setting);
                let finding = Finding::new(Kind::NotPortable, message);
                return Ok(describe::differing(finding, &trial.slots, &expected, got));
            }
            worst = worst.max(comparison.worst);
        }
    }
    Ok(Outcome::Pass { worst })
}

/// Those that are asked for and offered; else all that are offered, but for the one at which the
/// device runs by itself.
fn subgroup_sizes(info: &DeviceInfo, asked: &[u32]) -> Result<Vec<u32>, CheckError> {
    let own = info.limits.subgroup_size;
    if asked.is_empty() {
        return Ok(info.subgroup_sizes().filter(|size| *size != own).collect());
    }
    let offered: Vec<u32> = info.subgroup_sizes().collect();
    // A device that lets nobody choose has its own size all the same.
    if asked.iter().all(|size| *size != own && !offered.contains(size)) {
        let all = if offered.is_empty() { vec![own] } else { offered };
        return Err(CheckError::Unsupported(format!(
            "subgroup sizes {} are asked for, the device has {}",
            listed(asked),
            listed(&all)
        )));
    }
    Ok(asked.iter().copied().filter(|size| offered.contains(size)).collect())
}

pub(super) fn listed(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

fn settings(
    question: &dyn Question,
    default: &Setting,
    subgroups: &[u32],
) -> Vec<(Setting, Slack)> {
    let workgroup = |size: &u32| Setting { workgroup: *size, ..default.clone() };
    let subgroup = |size: &u32| Setting { subgroup_size: Some(*size), ..default.clone() };
    let sizes = question.workgroups()[1..].iter().map(workgroup);
    let sizes = sizes.chain(subgroups.iter().map(subgroup));
    let is_atomic = question.order() == Order::Atomic;
    let exact = if is_atomic { Slack::TwoBounds } else { Slack::None };
    let offsets = [1, 3].map(|steps| Setting { offset_steps: steps, ..default.clone() });
    let sizes = sizes.map(|setting| (setting, Slack::TwoBounds));
    sizes.chain(offsets.map(|setting| (setting, exact))).collect()
}

/// What the plain run wrote, as another run must have it.
fn wanted(trial: &Trial, plain: &Executed, slack: Slack) -> Vec<Expected> {
    // Of scratch memory, and of what a kernel leaves unwritten, nothing is promised.
    let is_partial = |name: &str| trial.slots.iter().any(|s| s.name == name && s.place.is_partial);
    let written = plain.written.iter().filter_map(|(name, tensor)| {
        match trial.expected.iter().find(|want| want.name == *name) {
            Some(want) => Some(around(name, tensor, want, slack)),
            None if is_partial(name) => None,
            None => Some(around(name, tensor, &usual(name, tensor), slack)),
        }
    });
    written.collect()
}

/// What the plain run wrote and nothing else says, as a run in another order must have it.
pub(super) fn unpromised(trial: &Trial, plain: &Executed) -> Vec<Expected> {
    let mut wanted = wanted(trial, plain, Slack::TwoBounds);
    wanted.retain(|want| trial.expected.iter().all(|promised| promised.name != want.name));
    wanted
}

fn around(name: &str, tensor: &Tensor, want: &Expected, slack: Slack) -> Expected {
    let mut expected = Expected::exactly(name, tensor);
    if slack == Slack::TwoBounds {
        let values = want.values.iter().zip(&want.bounds);
        for (bound, (value, allowed)) in expected.bounds.iter_mut().zip(values) {
            *bound = if value.is_nan() { f64::INFINITY } else { 2.0 * allowed };
        }
    }
    expected
}

fn changes(name: &str, setting: &Setting) -> String {
    match setting.subgroup_size {
        Some(size) => format!("{name} changes at a subgroup size of {size}"),
        None => format!(
            "{name} changes with workgroup {} and binding offset {} x the alignment",
            setting.workgroup, setting.offset_steps
        ),
    }
}
