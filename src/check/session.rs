//! A session: one device with everything that checks on it need.

use crate::device::{Device, DeviceInfo, Observation};
use crate::glsl::{Compiler, Includes};
use crate::memory::{Ledger, LedgerOptions};
use crate::numeric::ErrorModel;

use super::beside::Beside;
use super::execute::Executed;
use super::kernels::Kernels;
use super::proven::Proven;
use super::{Circumstances, Output, Profile};

/// How a device that has a choice runs kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// Which of the orders that are possible.
    pub(super) schedule: u64,
    /// The subgroup size; the device's own if there is none.
    pub(super) subgroup_size: Option<u32>,
}

impl Way {
    /// Another order.
    pub(super) const fn in_another_order(self) -> Self {
        Self { schedule: !self.schedule, ..self }
    }
}

/// A device under its ledger, a compiler, and what was learned so far.
pub struct Session {
    pub(super) ledger: Ledger,
    pub(super) compiler: Compiler,
    pub(super) kernels: Kernels,
    pub(super) model: ErrorModel,
    pub(super) proven: Proven,
    /// The device went away during a case that already has its finding.
    pub(super) is_broken: bool,
    /// What the validation layer said since the check began.
    pub(super) messages: Vec<String>,
    /// What the device saw the check's kernels do.
    pub(super) observations: Vec<Observation>,
    /// How the check's kernels are run.
    pub(super) way: Way,
    /// The subgroup sizes at which an interpreter may run kernels; all if there is none.
    pub(super) subgroup_sizes: Vec<u32>,
    /// What the check's own run wrote.
    pub(super) output: Option<Output>,
    /// An interpreter in dual numbers, once one was needed.
    pub(super) beside: Option<Box<Beside>>,
    /// What the commands that repeat a finding begin with.
    pub(super) program: String,
    /// What the limits check holds kernels against.
    pub(super) profile: Profile,
}

impl Session {
    /// Puts a device under a ledger. The error model is the specification's until
    /// [`Session::set_model`] brings a calibrated one.
    #[must_use]
    pub fn new(device: Box<dyn Device>, compiler: Compiler, options: LedgerOptions) -> Self {
        Self {
            ledger: Ledger::new(device, options),
            compiler,
            kernels: Kernels::default(),
            model: ErrorModel::SPEC,
            proven: Proven::default(),
            is_broken: false,
            messages: Vec::new(),
            observations: Vec::new(),
            way: Way::default(),
            subgroup_sizes: Vec::new(),
            output: None,
            beside: None,
            program: "vklab".to_owned(),
            profile: Profile::default(),
        }
    }

    /// Judges by this error model from now on.
    pub fn set_model(&mut self, model: ErrorModel) {
        self.model = model;
    }

    /// Lets every kernel include the files of `includes`, before those that come with the lab.
    pub fn add_includes(&mut self, includes: Box<dyn Includes>) {
        self.kernels.includes.push(includes);
    }

    /// Lets the commands that repeat a finding begin with this name instead of `vklab`.
    pub fn set_program(&mut self, program: &str) {
        program.clone_into(&mut self.program);
    }

    /// Lets an interpreter run kernels at these subgroup sizes only: at the first of them wherever
    /// one is enough.
    pub fn set_subgroup_sizes(&mut self, sizes: &[u32]) {
        sizes.clone_into(&mut self.subgroup_sizes);
    }

    /// A check begins.
    pub(super) fn begin(&mut self, circumstances: &Circumstances<'_>) {
        self.messages.clear();
        self.observations.clear();
        self.output = None;
        self.way = Way::default();
        if self.info().is_interpreter() {
            let own = self.info().limits.subgroup_size;
            let asked = circumstances.subgroup_sizes;
            let fitting = asked.first().filter(|_| !asked.contains(&own));
            let subgroup_size = self.subgroup_sizes.first().or(fitting).copied();
            self.way = Way { schedule: circumstances.seed, subgroup_size };
        }
    }

    /// A run of the check's own kernels.
    pub(super) fn heard(&mut self, executed: &Executed) {
        self.messages.extend(executed.messages.iter().cloned());
        self.observations.extend(executed.observations.iter().cloned());
    }

    /// Lets the limits check hold kernels against this profile instead of the common one.
    pub fn set_profile(&mut self, profile: Profile) {
        self.profile = profile;
    }

    /// The error model in force.
    #[must_use]
    pub fn model(&self) -> &ErrorModel {
        &self.model
    }

    /// Whether the device went away during a case that already has its finding.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// What the latest check's own run wrote, where it has one. It is handed out once.
    pub fn take_output(&mut self) -> Option<Output> {
        self.output.take()
    }

    /// The device.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        self.ledger.device().info()
    }

    /// The compiler.
    #[must_use]
    pub const fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// The ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The ledger, to work with.
    pub fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// Ends the session: final counters and what was never freed.
    #[must_use]
    pub fn into_ledger(self) -> Ledger {
        self.ledger
    }
}
