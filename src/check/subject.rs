//! Subjects: an op and one way to compute it.

use crate::glsl::Source;
use crate::ops::{Code, Op, Plan, Problem, Step, Target, Unsupported, Variant};

use super::Effort;
use super::execute::Slot;
use super::foreign::Own;
use super::trial::Trial;

/// What a check looks at: an op, one of its variants, and kernels that replace those of the plan.
#[derive(Clone)]
pub struct Subject<'a> {
    /// The op.
    pub op: &'static Op,
    /// The variant.
    pub variant: &'a Variant,
    /// A path below glsl/ and the source that is used instead of the kernel there.
    pub replaced: Option<(&'a str, Source)>,
    /// A change to every plan.
    pub edit: Option<fn(Plan) -> Plan>,
    /// What a kernel file brings in place of the variant's plans.
    pub own: Option<&'a Own>,
    /// What a failure is worth.
    pub effort: Effort,
}

impl<'a> Subject<'a> {
    /// The variant as it is in the registry.
    #[must_use]
    pub const fn new(op: &'static Op, variant: &'a Variant) -> Self {
        Self { op, variant, replaced: None, edit: None, own: None, effort: Effort::Full }
    }

    /// The variant's plan, with what is replaced in it.
    ///
    /// # Errors
    /// The variant's reason why it has none.
    pub fn plan(&self, problem: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
        let mut plan = match self.own {
            Some(own) => own.plan(problem)?,
            None => (self.variant.plan)(problem, target)?,
        };
        if let Some(edit) = self.edit {
            plan = edit(plan);
        }
        if let Some((path, source)) = &self.replaced {
            for step in &mut plan.steps {
                if let Step::Dispatch(dispatch) = step
                    && let Code::Glsl { source: twin, .. } = &mut dispatch.code
                    && twin.path == *path
                {
                    *twin = source.clone();
                }
            }
        }
        Ok(plan)
    }

    /// A trial of the op as the subject's buffers take part in it.
    #[must_use]
    pub(super) fn fitted(&self, mut trial: Trial) -> Trial {
        if let Some(own) = self.own {
            trial.slots = own.fitted(trial.slots);
            own.fit_expectations(&mut trial.expected);
        }
        trial
    }

    /// The buffers of the op as the subject has them.
    #[must_use]
    pub(super) fn fitted_slots(&self, slots: Vec<Slot>) -> Vec<Slot> {
        match self.own {
            Some(own) => own.fitted(slots),
            None => slots,
        }
    }
}
