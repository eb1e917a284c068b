//! Naive twins: another kernel or another file whose result is the truth.

use std::collections::BTreeMap;

use super::KernelFile;
use super::buffers::BufferRole;
use super::instance::Layout;
use super::read::Read;
use super::scope::Values;
use super::steps::{DispatchDecl, Does, StepDecl};
use super::truth::TruthDecl;
use crate::ops::{Name, Plan, Step};

/// Before the names of a twin's scratch buffers. No buffer of a file has a dot in its name.
const PREFIX: &str = "twin.";

impl KernelFile {
    /// The steps with another kernel in place of the only dispatch.
    pub(super) fn steps_with(&self, dispatch: &DispatchDecl) -> Vec<StepDecl> {
        let replaced = |step: &StepDecl| StepDecl {
            barrier_before: step.barrier_before,
            does: match &step.does {
                Does::Dispatch(_) => Does::Dispatch(dispatch.clone()),
                fill @ Does::Fill { .. } => fill.clone(),
            },
        };
        self.steps.iter().map(replaced).collect()
    }

    /// What of a twin's file can't be brought to this one's cases and buffers.
    pub(super) fn check_twin(&self) -> Read<()> {
        let (Some(twin), TruthDecl::File { at, .. }) = (&self.twin, &self.truth) else {
            return Ok(());
        };
        for buffer in &twin.buffers {
            let is_shared = buffer.role != BufferRole::Scratch;
            if is_shared && self.buffers.iter().all(|own| own.name != buffer.name) {
                let what = format!("this file has no buffer `{}`, its twin has", buffer.name);
                return Err(self.text.wrong(*at, what));
            }
            if buffer.alias.is_some() {
                let what = format!("the twin's buffer `{}` is an alias", buffer.name);
                return Err(self.text.wrong(*at, what));
            }
        }
        Ok(())
    }

    /// The plan of a twin's file in this file's case.
    pub(super) fn twin_plan(
        &self,
        twin: &Self,
        at: usize,
        values: &Values<'_>,
        layouts: &[Layout],
    ) -> Read<Plan> {
        let mut given = BTreeMap::new();
        let names = values.all();
        for (index, variable) in twin.scope.variables.iter().enumerate() {
            let is_number = variable.is_shape() && !variable.is_computed();
            if let Some(number) = names.get(&variable.name).filter(|_| is_number) {
                given.insert(index, *number);
            } else if variable.choices.len() > 1 {
                let what = format!(
                    "{} lists several values for `{}`, and no number of this file chooses one",
                    twin.text.shown, variable.name
                );
                return Err(self.text.wrong(at, what));
            }
        }
        let values = twin.scope.values(&twin.text, &[], &given)?;
        let mut plan = twin.plan(&values, &twin.steps)?;
        for (decl, layout) in twin.buffers.iter().zip(twin.layouts(&values)?) {
            if decl.role == BufferRole::Scratch {
                plan = plan.scratch(format!("{PREFIX}{}", decl.name), layout.dtype, layout.len);
                continue;
            }
            let own = self.buffers.iter().position(|own| own.name == decl.name);
            let own = own.map(|own| layouts[own]);
            if own != Some(layout) {
                let has = own.map_or_else(String::new, |l| format!("{} of {}", l.len, l.dtype));
                let what = format!(
                    "buffer `{}` is {has} here and {} of {} in {}",
                    decl.name, layout.len, layout.dtype, twin.text.shown
                );
                return Err(self.text.wrong(at, what));
            }
        }
        let renamed = |buffer: &mut Name| {
            let is_scratch = |decl: &&super::BufferDecl| {
                decl.role == BufferRole::Scratch && *decl.name == **buffer
            };
            if twin.buffers.iter().any(|decl| is_scratch(&decl)) {
                *buffer = format!("{PREFIX}{buffer}").into();
            }
        };
        for step in &mut plan.steps {
            match step {
                Step::Dispatch(dispatch) => {
                    dispatch.renamed.iter_mut().for_each(|(_, buffer)| renamed(buffer));
                }
                Step::Fill { buffer, .. } => renamed(buffer),
                Step::Barrier => {}
            }
        }
        Ok(plan)
    }
}
