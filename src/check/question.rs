//! What the checks look at that need no algebra: anything that can be planned and run.

use crate::memory::Site;
use crate::ops::{Case, Need, Operand, Order, Pass, Plan, Target, Unsupported};
use crate::tensor::Dtype;

use super::foreign::Own;
use super::subject::Subject;
use super::trial::Trial;
use super::{CheckError, Session};

/// A buffer as it is bound, without its contents.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// Its name.
    pub(super) name: String,
    /// Element type.
    pub(super) dtype: Dtype,
    /// Elements, those before the binding's start included.
    pub(super) len: usize,
    /// Where the binding starts.
    pub(super) offset_bytes: u64,
    /// The line that declares it, where that isn't the lab's own.
    pub(super) site: Option<Site>,
}

/// One way to compute something, in one case.
pub(super) trait Question {
    /// Which function it computes.
    fn pass(&self) -> Pass;

    /// Whether two runs must give the same bits.
    fn order(&self) -> Order;

    /// Workgroup sizes that its plans can be made for, the default first.
    fn workgroups(&self) -> &[u32];

    /// Subgroup sizes to run at; none stands for what the device offers.
    fn subgroup_sizes(&self) -> &[u32];

    /// Pairs (input, output) that may share memory.
    fn aliases(&self) -> &[(&'static str, &'static str)];

    /// What it needs of a device and says so.
    fn needs(&self) -> &[Need];

    /// What its plans bind, but for their scratch memory.
    fn regions(&self) -> Vec<Region>;

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

    fn subgroup_sizes(&self) -> &[u32] {
        self.subject.own.map_or(&[], Own::subgroup_sizes)
    }

    fn aliases(&self) -> &[(&'static str, &'static str)] {
        self.subject.variant.aliases
    }

    fn needs(&self) -> &[Need] {
        self.subject.own.map_or(self.subject.variant.needs, Own::needs)
    }

    fn regions(&self) -> Vec<Region> {
        if let Some(own) = self.subject.own {
            return own.regions().to_vec();
        }
        let problem = self.case.problem(self.subject.op);
        let region = |operand: &Operand| Region {
            name: operand.name.to_owned(),
            dtype: problem.dtype_of(operand),
            len: (operand.shape)(&problem).iter().product(),
            offset_bytes: 0,
            site: None,
        };
        // Gradients and cotangents are as large as what they belong to.
        self.subject.op.operands.iter().map(region).collect()
    }

    fn plan(&self, target: &Target<'_>) -> Result<Plan, Unsupported> {
        self.subject.plan(&self.case.problem(self.subject.op), target)
    }

    fn trial(&self, session: &mut Session) -> Result<Trial, CheckError> {
        Ok(Trial::new(self.subject, self.case, &session.model))
    }
}
