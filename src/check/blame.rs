//! Which kernel of a plan a finding is about, and which of its lines.

use std::rc::Rc;

use crate::memory::Access;
use crate::ops::{Case, Dispatch, Pass, Plan, Step};
use crate::spirv::{self, Binding, Touch, Touched};

use super::execute::{Setting, planned};
use super::kernels::{Built, bound_names};
use super::order::Unordered;
use super::staged::declared;
use super::subject::Subject;
use super::{Finding, Kind, Session};

/// Fills the finding's file and lines. The kernel to blame is the one that was put in another's
/// place; else the last that may write the buffer which the finding names; else the last of the
/// plan. Its lines are those that store into that buffer.
pub(super) fn place(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
    finding: &mut Finding,
) {
    if finding.kind == Kind::Reference {
        return;
    }
    if finding.kind != Kind::LimitExceeded {
        in_variant(session, subject, case, finding);
    }
    if subject.own.is_none() {
        // The registry knows its kernels by their paths below glsl/.
        finding.file = finding.file.take().map(|file| format!("glsl/{file}"));
        for observation in &mut finding.observations {
            let acts = [Some(&mut observation.act), observation.other.as_mut()];
            for act in acts.into_iter().flatten().filter(|act| !act.file.is_empty()) {
                act.file = format!("glsl/{}", act.file);
            }
        }
    }
    at_cause(finding);
}

fn in_variant(session: &mut Session, subject: &Subject<'_>, case: &Case, finding: &mut Finding) {
    // The gradient chain looks at the plainest forward kernel first.
    let forward = finding.kind == Kind::WrongResult && subject.variant.pass == Pass::Vjp;
    let plainest = Subject::new(subject.op, &subject.op.variants[0]);
    let subject = if forward { &plainest } else { subject };
    let replaced = subject.replaced.as_ref().map(|(_, source)| source.shown_path());
    let problem = case.problem(subject.op);
    let setting = Setting::default_for(subject.variant);
    finding.file.clone_from(&replaced);
    if finding.cause().is_none()
        && let Ok(plan) = planned(session, subject, &problem, &setting)
    {
        in_plan(session, &plan, replaced.as_deref(), finding);
    }
}

/// What was seen happen has a place of its own.
fn at_cause(finding: &mut Finding) {
    let Some(cause) = finding.cause() else { return };
    let (act, other) = (&cause.act, cause.other.as_ref());
    let known = |line: u32| (line > 0).then_some(line);
    let file = if act.file.is_empty() { &act.kernel } else { &act.file };
    let beside = other.filter(|other| other.file == act.file && other.line != act.line);
    let (line, other_line) = (known(act.line), beside.and_then(|other| known(other.line)));
    finding.file = Some(file.clone());
    (finding.line, finding.other_line) = (line, other_line);
}

/// The same for a plan on its own, of which one kernel may be known to be wrong.
pub(super) fn in_plan(
    session: &mut Session,
    plan: &Plan,
    suspect: Option<&str>,
    finding: &mut Finding,
) {
    if finding.cause().is_some() {
        return at_cause(finding);
    }
    let Some((dispatch, buffer)) = culprit(session, suspect, plan, finding) else { return };
    let lines = lines(session, dispatch, buffer.as_deref(), finding.kind);
    let Some(first) = lines.first() else {
        finding.file = Some(dispatch.code.path().to_owned());
        return;
    };
    let other = lines.iter().find(|other| other.file == first.file && other.line != first.line);
    finding.file = Some(first.file.clone());
    finding.line = Some(first.line);
    finding.other_line = other.map(|other| other.line);
}

/// The kernel to blame, and the buffer with which it did wrong.
fn culprit<'p>(
    session: &mut Session,
    suspect: Option<&str>,
    plan: &'p Plan,
    finding: &Finding,
) -> Option<(&'p Dispatch, Option<String>)> {
    if finding.kind == Kind::MissingBarrier
        && let Some((dispatch, buffer)) = unordered(session, plan)
    {
        return Some((dispatch, Some(buffer)));
    }
    let named = finding.mismatch.as_ref().map(|m| &m.buffer);
    let buffer = named.or(finding.memory.first().map(|m| &m.buffer));
    let (mut last, mut writer) = (None, None);
    for step in &plan.steps {
        let Step::Dispatch(dispatch) = step else { continue };
        if suspect.is_some_and(|path| dispatch.code.path() != path) {
            continue;
        }
        last = Some(dispatch);
        if buffer.is_some_and(|name| writes(session, dispatch, name)) {
            writer = last;
        }
    }
    // A kernel that was put in another's place is wrong whatever it writes.
    let is_its = writer.is_some() || suspect.is_none();
    Some((writer.or(last)?, buffer.filter(|_| is_its).cloned()))
}

/// The lines of a kernel that may have done it: those that write the buffer; without a buffer to
/// blame, all that write, if they write one buffer alone. A barrier is missing in front of whatever
/// touches the buffer.
fn lines(
    session: &mut Session,
    dispatch: &Dispatch,
    buffer: Option<&str>,
    kind: Kind,
) -> Vec<Touched> {
    let Some(built) = built(session, dispatch) else { return Vec::new() };
    let Ok(bound) = bound_names(&built, dispatch) else { return Vec::new() };
    let Ok(mut lines) = spirv::touched(&built.modules.debug) else { return Vec::new() };
    lines.retain(|line| line.touch == Touch::Store || kind == Kind::MissingBarrier);
    let at = |line: &Touched| (line.set, line.binding);
    match buffer {
        Some(buffer) => lines.retain(|line| {
            let is_blamed =
                |(b, name): &(&Binding, &str)| *name == buffer && (b.set, b.binding) == at(line);
            bound.iter().any(is_blamed)
        }),
        None if lines.iter().any(|line| at(line) != at(&lines[0])) => lines.clear(),
        None => {}
    }
    lines
}

fn built(session: &mut Session, dispatch: &Dispatch) -> Option<Rc<Built>> {
    session.kernels.build(&session.compiler, dispatch).ok()
}

fn writes(session: &mut Session, dispatch: &Dispatch, buffer: &str) -> bool {
    built(session, dispatch).is_some_and(|built| {
        bound_names(&built, dispatch).is_ok_and(|bound| {
            bound.iter().any(|(b, name)| *name == buffer && b.access != spirv::Access::ReadOnly)
        })
    })
}

/// The first kernel that uses a buffer which nothing orders behind an earlier step, and the buffer.
fn unordered<'p>(session: &mut Session, plan: &'p Plan) -> Option<(&'p Dispatch, String)> {
    let mut order = Unordered::new();
    for step in &plan.steps {
        match step {
            Step::Barrier => order.barrier(),
            Step::Fill { buffer, .. } => {
                order.step("a fill", vec![(buffer.to_string(), Access::Write, buffer.as_ref())]);
            }
            Step::Dispatch(dispatch) => {
                let built = built(session, dispatch)?;
                let bound = bound_names(&built, dispatch).ok()?;
                let uses =
                    bound.iter().map(|(b, name)| ((*name).to_owned(), declared(b.access), *name));
                if let Some(buffer) = order.step(dispatch.code.path(), uses.collect()) {
                    return Some((dispatch, buffer.to_owned()));
                }
            }
        }
    }
    None
}
