//! What the device gets: poison first, the caller's commands as they are, inspections last.

use std::collections::{BTreeMap, BTreeSet};

use super::events::{Action, Site};
use super::inspect::{Inspected, Question};
use super::ledger::Ledger;
use super::misuse::{MemoryError, MisuseKind};
use super::recorded::Recorded;
use super::request::Inspection;
use super::slot::{Handle, distinct};
use super::table::Access;
use crate::device::{Command, Recording};

impl Ledger {
    /// Checks everything that a recording uses once more, now that it is submitted at `site`.
    pub(super) fn admit(&self, recorded: &Recorded, site: &Site) -> Result<(), MemoryError> {
        if recorded.ledger != self.id {
            return Err(self.foreign("a recording", site));
        }
        for used in &recorded.uses {
            let tenant = self
                .live(used.handle, MisuseKind::ReplayAfterFree, site)
                .map_err(|error| recorded_at(error, &used.site))?;
            if let Some(flight) = tenant.held_by {
                let error = self.held(used.handle, flight, site);
                return Err(recorded_at(error, &used.site));
            }
        }
        for staged in &recorded.staged {
            self.staged_bytes(staged.staging, MisuseKind::ReplayAfterFree, site)
                .map_err(|error| recorded_at(error, &staged.site))?;
        }
        for used in &recorded.tables {
            let table = self
                .table(used.bindings, MisuseKind::ReplayAfterFree, site)
                .map_err(|error| recorded_at(error, &used.site))?;
            if let Some((rewritten, name)) = self.rewritten_since(table, used.version) {
                let what = MisuseKind::BindingsRewritten;
                let error = super::staging::misuse(what, &name, &rewritten, site);
                return Err(recorded_at(error, &used.site));
            }
        }
        Ok(())
    }

    /// Puts poison before the caller's commands and inspections behind them.
    pub(super) fn assemble(
        &self,
        recorded: &Recorded,
        site: &Site,
    ) -> Result<(Recording, Vec<Inspected>), MemoryError> {
        let mut commands = Vec::with_capacity(recorded.recording.commands.len() + 8);
        if !self.flights.is_empty() {
            // An earlier submission may still be poisoning what this one poisons or uses.
            commands.push(Command::Barrier);
        }
        if !self.pending.is_empty() {
            commands.extend(self.pending.values().flatten().cloned());
            commands.push(Command::Barrier);
        }
        let first = commands.len();
        commands.extend_from_slice(&recorded.recording.commands);
        for staged in &recorded.staged {
            let bytes = self.staged_bytes(staged.staging, MisuseKind::ReplayAfterFree, site)?;
            if let Some(Command::Upload { data, .. }) = commands.get_mut(first + staged.command) {
                data[..bytes.len()].copy_from_slice(bytes);
            }
        }
        let inspected = self.inspections(recorded, &commands[first..]);
        if !inspected.is_empty() {
            commands.push(Command::Barrier);
            commands.extend(inspected.iter().map(|inspected| Command::Download {
                buffer: self.slots[inspected.handle.slot as usize].tenant.buffer,
                offset_bytes: inspected.offset_bytes,
                len_bytes: inspected.len_bytes,
            }));
        }
        Ok((Recording { commands, schedule: recorded.recording.schedule }, inspected))
    }

    fn inspections(&self, recorded: &Recorded, commands: &[Command]) -> Vec<Inspected> {
        let mut inspected = Vec::new();
        for handle in bound(recorded) {
            let layout = self.slots[handle.slot as usize].tenant.layout;
            let mut guard = |offset_bytes, len_bytes| {
                if len_bytes > 0 {
                    inspected.push(Inspected {
                        handle,
                        offset_bytes,
                        len_bytes,
                        question: Question::Guard,
                    });
                }
            };
            guard(0, layout.before);
            guard(layout.behind(), layout.total - layout.behind());
        }
        let mut whole = |handle: Handle, question| {
            let layout = self.slots[handle.slot as usize].tenant.layout;
            if layout.data > 0 {
                inspected.push(Inspected {
                    handle,
                    offset_bytes: layout.before,
                    len_bytes: layout.padded(),
                    question,
                });
            }
        };
        for handle in recorded.written.iter().collect::<BTreeSet<_>>() {
            whole(*handle, Question::Written);
        }
        let mut unchanged = recorded.unchanged.clone();
        if self.options.inspection == Inspection::Everything {
            unchanged.extend(inputs(recorded));
        }
        unchanged.sort_unstable();
        unchanged.dedup();
        for (handle, upload) in unchanged {
            if let Some(Command::Upload { data, .. }) = commands.get(upload) {
                whole(handle, Question::Unchanged(data.clone()));
            }
        }
        inspected
    }
}

fn recorded_at(mut error: MemoryError, site: &Site) -> MemoryError {
    if let MemoryError::Misuse(misuse) = &mut error {
        misuse.recorded = Some(site.clone());
    }
    error
}

/// Every handle that a dispatch binds, each once.
fn bound(recorded: &Recorded) -> BTreeSet<Handle> {
    let binds = recorded.uses.iter().filter(|used| matches!(used.action, Action::Bind { .. }));
    distinct(binds.map(|used| used.handle))
}

/// Buffers that the recording uploads and afterwards binds for reading only, with the upload.
fn inputs(recorded: &Recorded) -> Vec<(Handle, usize)> {
    let mut states: BTreeMap<Handle, (Option<usize>, bool)> = BTreeMap::new();
    for used in &recorded.uses {
        let (upload, read) = states.entry(used.handle).or_default();
        match used.action {
            Action::Upload => (*upload, *read) = (Some(used.command), false),
            Action::Fill | Action::Undefine => *upload = None,
            Action::Bind { access, .. } if access != Access::Read => *upload = None,
            Action::Bind { .. } => *read = true,
            Action::Allocate | Action::Download | Action::Retire | Action::Free => {}
        }
    }
    states
        .into_iter()
        .filter_map(|(handle, (upload, read))| upload.filter(|_| read).map(|at| (handle, at)))
        .collect()
}
