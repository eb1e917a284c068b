//! A kernel file, looked at instead of checked.

use crate::device::LineCost;
use crate::kernel_file::Truth;

use super::super::question::{Asked, Question};
use super::super::shown::{ShownKernel, costs, kernels};
use super::super::{CheckError, Session, Subject};
use super::given::Given;
use super::{Foreign, own};

impl Foreign {
    /// The kernels of a case, each once.
    ///
    /// # Errors
    /// A case that the file doesn't have; a kernel that doesn't compile.
    pub fn kernels(
        &self,
        session: &mut Session,
        case: &str,
    ) -> Result<Vec<ShownKernel>, CheckError> {
        self.look(session, case, 0, kernels)
    }

    /// Runs a case once and says what each source line cost: nothing on a device that doesn't count.
    ///
    /// # Errors
    /// A case that the file doesn't have; what keeps it from running.
    pub fn costs(
        &self,
        session: &mut Session,
        case: &str,
        seed: u64,
    ) -> Result<Vec<LineCost>, CheckError> {
        self.look(session, case, seed, costs)
    }

    fn look<T>(
        &self,
        session: &mut Session,
        case: &str,
        seed: u64,
        at: impl FnOnce(&mut Session, &dyn Question) -> Result<T, CheckError>,
    ) -> Result<T, CheckError> {
        let case = self.parse(case, seed)?;
        let instance = self.instance(&case)?;
        match (self.op, &instance.truth) {
            (Some(op), Truth::Op(_)) => {
                let (own, case) = own::view(self, &instance, &case)?;
                let variant = own.variant(self.file.order());
                let subject = Subject { own: Some(&own), ..Subject::new(op, &variant) };
                at(session, &Asked { subject: &subject, case: &case })
            }
            _ => at(session, &Given { foreign: self, instance: &instance, case: &case }),
        }
    }
}
