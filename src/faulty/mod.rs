//! Kernels that are wrong on purpose. A checker that never fired is no evidence.

/// The text of a kernel of glsl/faulty.
macro_rules! text {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/glsl/faulty/", $name, ".comp"))
    };
}

mod accumulate;
mod algebra;
mod backward;
mod bounds;
mod edits;
mod index;
mod launch;
mod mask;
mod memory;
mod sync;
mod types;

use crate::check::{Check, Subject};
use crate::glsl::Source;
use crate::ops::{self, Cases, Op, Plan, Variant};

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

impl Family {
    /// All of them, in the order of the table in which faults are listed.
    pub const ALL: [Self; 10] = [
        Self::Accumulate,
        Self::Algebra,
        Self::Backward,
        Self::Bounds,
        Self::Index,
        Self::Launch,
        Self::Mask,
        Self::Memory,
        Self::Sync,
        Self::Type,
    ];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accumulate => "accumulate",
            Self::Algebra => "algebra",
            Self::Backward => "backward",
            Self::Bounds => "bounds",
            Self::Index => "index",
            Self::Launch => "launch",
            Self::Mask => "mask",
            Self::Memory => "memory",
            Self::Sync => "sync",
            Self::Type => "type",
        }
    }

    /// Its faults, sorted by name.
    #[must_use]
    pub const fn faults(self) -> &'static [Fault] {
        match self {
            Self::Accumulate => accumulate::ALL,
            Self::Algebra => algebra::ALL,
            Self::Backward => backward::ALL,
            Self::Bounds => bounds::ALL,
            Self::Index => index::ALL,
            Self::Launch => launch::ALL,
            Self::Mask => mask::ALL,
            Self::Memory => memory::ALL,
            Self::Sync => sync::ALL,
            Self::Type => types::ALL,
        }
    }
}

/// A kernel or a plan with one defect, beside the right one.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Its name, which for kernels is the file's: glsl/faulty/NAME.comp.
    pub name: &'static str,
    /// The family of the operator.
    pub family: Family,
    /// What is wrong, one sentence, which stands in the kernel's head as well.
    pub wrong: &'static str,
    /// The op and the variant that it takes the place of; the twin is what is in the registry.
    pub op: &'static str,
    /// The variant.
    pub variant: &'static str,
    /// The check that must catch it, whatever the others do.
    pub caught_by: Check,
    /// The smallest set of cases in which it shows.
    pub needs: Cases,
    /// The defect.
    pub defect: Defect,
}

/// Where the defect sits.
#[derive(Clone, Copy, Debug)]
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
    /// The op and the variant that it takes the place of.
    ///
    /// # Panics
    /// When the registry doesn't have them, which is a fault of the table.
    #[must_use]
    pub fn place(&self) -> (&'static Op, &'static Variant) {
        ops::find(self.op, self.variant)
            .unwrap_or_else(|| panic!("{} names no variant of the registry", self.name))
    }

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

/// Every fault, family by family.
pub fn all() -> impl Iterator<Item = &'static Fault> {
    Family::ALL.into_iter().flat_map(Family::faults)
}

/// The fault of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Fault> {
    all().find(|fault| fault.name == name)
}
