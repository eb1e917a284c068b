//! Which kernel of a plan a finding is about.

use crate::ops::{Case, Dispatch, Pass, Plan, Step};
use crate::spirv::Access;

use super::execute::{Setting, planned};
use super::kernels::bound_names;
use super::subject::Subject;
use super::{Finding, Kind, Session};

/// Fills in the kernel to blame: the one that was put in another's place; else the last that may
/// write the buffer which the finding names; else the last of the plan.
pub(super) fn blame(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
    finding: &mut Finding,
) {
    if finding.kind == Kind::Reference {
        return;
    }
    // The gradient chain looks at the plainest forward kernel first.
    let forward = finding.kind == Kind::WrongResult && subject.variant.pass == Pass::Vjp;
    let plainest = Subject::new(subject.op, &subject.op.variants[0]);
    let subject = if forward { &plainest } else { subject };
    let problem = case.problem(subject.op);
    let setting = Setting::default_for(subject.variant);
    if let Ok(plan) = planned(session, subject, &problem, &setting) {
        in_plan(session, &plan, finding);
    }
    if let Some((_, source)) = &subject.replaced {
        finding.file = Some(source.shown_path());
    }
    if subject.own.is_none() {
        // The registry knows its kernels by their paths below glsl/.
        finding.file = finding.file.take().map(|file| format!("glsl/{file}"));
    }
}

/// The same for a plan on its own.
pub(super) fn in_plan(session: &mut Session, plan: &Plan, finding: &mut Finding) {
    let named = finding.mismatch.as_ref().map(|m| &m.buffer);
    let buffer = named.or(finding.memory.first().map(|m| &m.buffer)).cloned();
    let mut last = None;
    let mut writer = None;
    for step in &plan.steps {
        if let Step::Dispatch(dispatch) = step {
            last = Some(dispatch);
            if buffer.as_ref().is_some_and(|name| writes(session, dispatch, name)) {
                writer = last;
            }
        }
    }
    finding.file = writer.or(last).map(|dispatch| dispatch.code.path().to_owned());
}

fn writes(session: &mut Session, dispatch: &Dispatch, buffer: &str) -> bool {
    session.kernels.build(&session.compiler, dispatch).is_ok_and(|built| {
        bound_names(&built, dispatch).is_ok_and(|bound| {
            bound.iter().any(|(b, name)| *name == buffer && b.access != Access::ReadOnly)
        })
    })
}
