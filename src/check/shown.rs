//! What is asked about, looked at instead of checked: its kernels, and what their lines cost.

use crate::device::LineCost;
use crate::ops::{Case, Step, Target};
use crate::spirv::Interface;

use super::execute::{Setting, put};
use super::question::{Asked, Question};
use super::{CheckError, Session, Subject};

/// A kernel of a plan as it was built.
#[derive(Clone, Debug)]
pub struct ShownKernel {
    /// Its path.
    pub name: String,
    /// The unoptimised module.
    pub debug: Vec<u32>,
    /// What that says of itself.
    pub interface: Interface,
}

impl Subject<'_> {
    /// The kernels of the plan for a case, each once.
    ///
    /// # Errors
    /// What the device lacks for the plan; a kernel that doesn't compile.
    pub fn kernels(
        &self,
        session: &mut Session,
        case: &Case,
    ) -> Result<Vec<ShownKernel>, CheckError> {
        kernels(session, &Asked { subject: self, case })
    }

    /// Runs a case once and says what each source line cost: nothing on a device that doesn't count.
    ///
    /// # Errors
    /// What keeps the case from running.
    pub fn costs(&self, session: &mut Session, case: &Case) -> Result<Vec<LineCost>, CheckError> {
        costs(session, &Asked { subject: self, case })
    }
}

pub(super) fn kernels(
    session: &mut Session,
    question: &dyn Question,
) -> Result<Vec<ShownKernel>, CheckError> {
    let limits = session.info().limits;
    let workgroup = question.workgroups()[0];
    let plan = question.plan(&Target { limits: &limits, workgroup })?;
    let mut shown: Vec<ShownKernel> = Vec::new();
    for step in &plan.steps {
        let Step::Dispatch(dispatch) = step else { continue };
        let built = session.kernels.build(&session.compiler, dispatch)?;
        let (name, debug) = (built.name.clone(), built.modules.debug.clone());
        if !shown.iter().any(|other| other.name == name && other.debug == debug) {
            shown.push(ShownKernel { name, debug, interface: built.interface.clone() });
        }
    }
    Ok(shown)
}

pub(super) fn costs(
    session: &mut Session,
    question: &dyn Question,
) -> Result<Vec<LineCost>, CheckError> {
    let trial = question.trial(session)?;
    let executed = put(session, question, &trial.slots, &Setting::first(question))?;
    Ok(executed.costs)
}
