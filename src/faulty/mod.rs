//! Kernels that are wrong on purpose. A checker that never fired is no evidence.

mod table;

pub use table::ALL;

use crate::check::{Check, Subject};
use crate::glsl::Source;
use crate::ops::Plan;

/// How kernels go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Swapped ids, off by one, wrong strides.
    Index,
    /// Guards dropped or widened, tails skipped.
    Bounds,
    /// Barriers dropped or narrowed.
    Sync,
    /// Lost or doubled terms, wrong identities, low precision.
    Accumulate,
    /// Signs, factors, constants, unstable formulas.
    Algebra,
    /// Stale saved values, ignored cotangents, missing reductions.
    Backward,
    /// Shared arrays too small, neighbours read, operands aliased.
    Memory,
    /// Signedness, width, exchanged constants.
    Type,
    /// Wrong dispatch sizes, bindings, missing dispatches.
    Launch,
    /// Padding and masks ignored.
    Mask,
}

/// A kernel or a plan with one defect, beside the right one.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Its name, which for kernels is the file's: glsl/faulty/NAME.comp.
    pub name: &'static str,
    /// The family of the operator.
    pub family: Family,
    /// What is wrong, one sentence.
    pub wrong: &'static str,
    /// The op and the variant that it takes the place of; the twin is what is in the registry.
    pub op: &'static str,
    /// The variant.
    pub variant: &'static str,
    /// The check that must catch it, whatever the others do.
    pub caught_by: Check,
    /// The defect.
    pub defect: Defect,
}

/// Where the defect sits.
#[derive(Clone, Copy)]
pub enum Defect {
    /// In a kernel: the path of the right one and the text of the wrong one.
    Kernel {
        /// Path below glsl/ of the kernel that it replaces.
        twin: &'static str,
        /// The wrong text.
        text: &'static str,
    },
    /// In the plan.
    Plan(fn(Plan) -> Plan),
}

impl Fault {
    /// Puts the defect into a subject of the same op and variant.
    pub fn plant(&self, subject: &mut Subject<'_>) {
        match self.defect {
            Defect::Kernel { twin, text } => {
                let name = format!("faulty/{}.comp", self.name);
                subject.replaced = Some((twin, Source::new(name, text)));
            }
            Defect::Plan(edit) => subject.edit = Some(edit),
        }
    }
}

/// The fault of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Fault> {
    ALL.iter().find(|fault| fault.name == name)
}
