//! Which kernel of a plan a finding is about.

use crate::ops::{Case, Dispatch, Pass, Step};
use crate::spirv::Access;

use super::execute::{Setting, Subject, planned};
use super::kernels::bound_names;
use super::{Finding, Kind, Session};

/// The source file of the kernel to blame: the one that was put in another's place; else the last
/// that may write the buffer which the finding names; else the last of the plan.
#[must_use]
pub(super) fn file(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
    finding: &Finding,
) -> Option<String> {
    if finding.kind == Kind::Reference {
        return None;
    }
    // The gradient chain looks at the plainest forward kernel first.
    let forward = finding.kind == Kind::WrongResult && subject.variant.pass == Pass::Vjp;
    let plainest = Subject::new(subject.op, &subject.op.variants[0]);
    let subject = if forward { &plainest } else { subject };
    if let Some((_, source)) = &subject.replaced {
        return Some(format!("glsl/{}", source.shown_path()));
    }
    let problem = case.problem(subject.op);
    let plan = planned(session, subject, &problem, &Setting::default_for(subject.variant)).ok()?;
    let named = finding.mismatch.as_ref().map(|m| &m.buffer);
    let buffer = named.or(finding.memory.first().map(|m| &m.buffer));
    let mut last = None;
    let mut writer = None;
    for step in &plan.steps {
        if let Step::Dispatch(dispatch) = step {
            last = Some(dispatch);
            if buffer.is_some_and(|name| writes(session, dispatch, name)) {
                writer = last;
            }
        }
    }
    writer.or(last).map(|dispatch| format!("glsl/{}", dispatch.code.path()))
}

fn writes(session: &mut Session, dispatch: &Dispatch, buffer: &str) -> bool {
    session.kernels.build(&session.compiler, dispatch).is_ok_and(|built| {
        bound_names(&built, dispatch).is_ok_and(|bound| {
            bound.iter().any(|(b, name)| *name == buffer && b.access != Access::ReadOnly)
        })
    })
}
