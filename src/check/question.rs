//! What the checks look at that need no algebra: anything that can be planned and run.

use crate::ops::{Case, Order, Pass, Plan, Target, Unsupported};

use super::subject::Subject;
use super::trial::Trial;
use super::{CheckError, Session};

/// One way to compute something, in one case.
pub(super) trait Question {
    /// Which function it computes.
    fn pass(&self) -> Pass;

    /// Whether two runs must give the same bits.
    fn order(&self) -> Order;

    /// Workgroup sizes that its plans can be made for, the default first.
    fn workgroups(&self) -> &[u32];

    /// Pairs (input, output) that may share memory.
    fn aliases(&self) -> &[(&'static str, &'static str)];

    /// What to do on a device.
    ///
    /// # Errors
    /// What the device lacks for it.
    fn plan(&self, target: &Target<'_>) -> Result<Plan, Unsupported>;

    /// The buffers and what they should hold afterwards.
    ///
    /// # Errors
    /// A twin that can't be run.
    fn trial(&self, session: &mut Session) -> Result<Trial, CheckError>;
}

/// A variant of an op in a case.
pub(super) struct Asked<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) case: &'a Case,
}

impl Question for Asked<'_> {
    fn pass(&self) -> Pass {
        self.subject.variant.pass
    }

    fn order(&self) -> Order {
        self.subject.variant.order
    }

    fn workgroups(&self) -> &[u32] {
        self.subject.variant.workgroups
    }

    fn aliases(&self) -> &[(&'static str, &'static str)] {
        self.subject.variant.aliases
    }

    fn plan(&self, target: &Target<'_>) -> Result<Plan, Unsupported> {
        self.subject.plan(&self.case.problem(self.subject.op), target)
    }

    fn trial(&self, session: &mut Session) -> Result<Trial, CheckError> {
        Ok(Trial::new(self.subject, self.case, &session.model))
    }
}
