//! A session: one device with everything that checks on it need.

use crate::device::{Device, DeviceInfo};
use crate::glsl::{Compiler, Includes};
use crate::memory::{Ledger, LedgerOptions};
use crate::numeric::ErrorModel;

use super::Output;
use super::kernels::Kernels;
use super::proven::Proven;

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
    /// What the check's own run wrote.
    pub(super) output: Option<Output>,
    /// What the commands that repeat a finding begin with.
    pub(super) program: String,
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
            output: None,
            program: "vklab".to_owned(),
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
