//! Commands on handles instead of buffers. Each use is checked here and again when submitted.

use std::collections::HashMap;

use super::events::{Action, Site};
use super::ledger::Ledger;
use super::misuse::{MemoryError, MisuseKind};
use super::recorded::{Recorded, StagedUpload, TableUse, Use};
use super::slot::{Handle, Tenant};
use super::staging::Staging;
use super::table::{Access, Bindings, Bound};
use crate::device::{Binding, Command, Extent, KernelId};

/// One dispatch, to be recorded.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// What to run.
    pub kernel: KernelId,
    /// Its storage buffers.
    pub bindings: &'a [Bound],
    /// The push constant block.
    pub push: &'a [u8],
    /// Workgroups along x, y, z.
    pub groups: [u32; 3],
}

/// The part of a buffer's data that one binding of a dispatch shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First byte, counted from the first of the data.
    pub offset_bytes: u64,
    /// Its length, which ends within the data.
    pub range_bytes: u64,
}

/// Builds a [`Recorded`]. Nothing orders commands but [`Recorder::barrier`].
///
/// Every method that takes a handle fails with a [`super::HostMisuse`] if the handle is stale, is
/// another ledger's, or was retired earlier in this recording.
#[derive(Debug)]
pub struct Recorder<'l> {
    ledger: &'l Ledger,
    recorded: Recorded,
    retired: HashMap<Handle, Site>,
    uploads: HashMap<Handle, usize>,
    dispatch_count: usize,
}

impl<'l> Recorder<'l> {
    pub(super) fn new(ledger: &'l Ledger) -> Self {
        Self {
            ledger,
            recorded: Recorded::new(ledger.id),
            retired: HashMap::new(),
            uploads: HashMap::new(),
            dispatch_count: 0,
        }
    }

    /// Copies host bytes over all of a buffer's data.
    ///
    /// # Errors
    /// Misuse of the handle; another length than the buffer's.
    #[track_caller]
    pub fn upload(&mut self, handle: Handle, bytes: &[u8]) -> Result<(), MemoryError> {
        self.push_upload(handle, bytes, &Site::caller())
    }

    /// Copies a staging buffer over all of a buffer's data. The submission reads it, so it must
    /// not change before the fence.
    ///
    /// # Errors
    /// Misuse of either; lengths that differ.
    #[track_caller]
    pub fn upload_staging(&mut self, staging: Staging, handle: Handle) -> Result<(), MemoryError> {
        let site = Site::caller();
        let ledger = self.ledger;
        let bytes = ledger.staged_bytes(staging, MisuseKind::StaleHandle, &site)?;
        let command = self.recorded.recording.commands.len();
        self.push_upload(handle, bytes, &site)?;
        self.recorded.staged.push(StagedUpload { staging, command, site });
        Ok(())
    }

    fn push_upload(
        &mut self,
        handle: Handle,
        bytes: &[u8],
        site: &Site,
    ) -> Result<(), MemoryError> {
        let tenant = self.usable(handle, site)?;
        let expected = tenant.data_bytes();
        if bytes.len() != expected {
            return Err(MemoryError::WrongLength {
                buffer: tenant.name.clone(),
                given: bytes.len(),
                expected,
                site: site.clone(),
            });
        }
        self.uploads.insert(handle, self.recorded.recording.commands.len());
        let command = (tenant.len > 0).then(|| Command::Upload {
            buffer: tenant.buffer,
            offset_bytes: tenant.layout.before,
            data: tenant.pad(bytes),
        });
        self.push(command, Action::Upload, handle, site);
        Ok(())
    }

    /// Writes a 32-bit word over all of a buffer's data; narrower elements get its parts in turn.
    ///
    /// # Errors
    /// Misuse of the handle.
    #[track_caller]
    pub fn fill(&mut self, handle: Handle, word: u32) -> Result<(), MemoryError> {
        let site = Site::caller();
        let tenant = self.usable(handle, &site)?;
        let (buffer, layout) = (tenant.buffer, tenant.layout);
        let whole_words = layout.data / 4 * 4;
        let words = (whole_words > 0).then_some(Command::Fill {
            buffer,
            offset_bytes: layout.before,
            len_bytes: whole_words,
            word,
        });
        self.push(words, Action::Fill, handle, &site);
        if layout.shared() > 0 {
            // The rest of this word belongs to the guard.
            self.recorded.recording.commands.push(Command::Upload {
                buffer,
                offset_bytes: layout.behind(),
                data: tenant.pad(&word.to_le_bytes()[..layout.shared()]),
            });
        }
        Ok(())
    }

    /// Declares all of a buffer's data unwritten: poison for a driver, nothing for an interpreter.
    ///
    /// # Errors
    /// Misuse of the handle.
    #[track_caller]
    pub fn undefine(&mut self, handle: Handle) -> Result<(), MemoryError> {
        let site = Site::caller();
        let tenant = self.usable(handle, &site)?;
        let command = (tenant.len > 0).then(|| Command::Undefine {
            buffer: tenant.buffer,
            offset_bytes: tenant.layout.before,
            len_bytes: tenant.layout.padded(),
            pattern: tenant.pattern.word,
        });
        self.push(command, Action::Undefine, handle, &site);
        Ok(())
    }

    /// Runs a kernel.
    ///
    /// # Errors
    /// Misuse of a bound handle.
    #[track_caller]
    pub fn dispatch(&mut self, dispatch: &Dispatch<'_>) -> Result<(), MemoryError> {
        self.push_dispatch(dispatch, &Site::caller())
    }

    /// Runs a kernel whose bindings show parts of their buffers, one window for each. A device
    /// refuses windows that leave their buffer.
    ///
    /// # Errors
    /// Misuse of a bound handle.
    #[track_caller]
    pub fn dispatch_within(
        &mut self,
        dispatch: &Dispatch<'_>,
        windows: &[Window],
    ) -> Result<(), MemoryError> {
        self.push_dispatch(dispatch, &Site::caller())?;
        if let Some(Command::Dispatch { bindings, .. }) =
            self.recorded.recording.commands.last_mut()
        {
            for (binding, window) in bindings.iter_mut().zip(windows) {
                binding.extent = Extent {
                    offset_bytes: binding.extent.offset_bytes + window.offset_bytes,
                    range_bytes: window.range_bytes,
                    logical_bytes: window.range_bytes,
                };
            }
        }
        Ok(())
    }

    /// Runs a kernel with a descriptor table as it is now.
    ///
    /// # Errors
    /// Misuse of the table or of a handle in it.
    #[track_caller]
    pub fn dispatch_with(
        &mut self,
        kernel: KernelId,
        bindings: Bindings,
        push: &[u8],
        groups: [u32; 3],
    ) -> Result<(), MemoryError> {
        let site = Site::caller();
        let ledger = self.ledger;
        let table = ledger.table(bindings, MisuseKind::StaleHandle, &site)?;
        let dispatch = Dispatch { kernel, bindings: &table.bounds, push, groups };
        self.push_dispatch(&dispatch, &site)?;
        self.recorded.tables.push(TableUse { bindings, version: table.version, site });
        Ok(())
    }

    fn push_dispatch(&mut self, dispatch: &Dispatch<'_>, site: &Site) -> Result<(), MemoryError> {
        let mut bindings = Vec::with_capacity(dispatch.bindings.len());
        for bound in dispatch.bindings {
            let tenant = self.usable(bound.handle, site)?;
            bindings.push(Binding {
                set: bound.set,
                binding: bound.binding,
                buffer: tenant.buffer,
                extent: tenant.layout.extent(),
            });
        }
        for bound in dispatch.bindings {
            let action = Action::Bind {
                access: bound.access,
                kernel: dispatch.kernel,
                dispatch: self.dispatch_count,
            };
            self.note(bound.handle, action, site);
            if bound.access != Access::Read && !self.uploads.is_empty() {
                self.uploads.remove(&bound.handle);
            }
        }
        self.recorded.recording.commands.push(Command::Dispatch {
            kernel: dispatch.kernel,
            bindings,
            push: dispatch.push.to_vec(),
            groups: dispatch.groups,
        });
        self.dispatch_count += 1;
        Ok(())
    }

    /// Chooses among the orders in which the device may run what it is given.
    pub fn schedule(&mut self, schedule: u64) {
        self.recorded.recording.schedule = schedule;
    }

    /// Makes all earlier writes visible to all later commands.
    pub fn barrier(&mut self) {
        self.recorded.recording.commands.push(Command::Barrier);
    }

    /// Takes the device's clock.
    pub fn timestamp(&mut self) {
        self.recorded.recording.commands.push(Command::Timestamp);
    }

    /// Copies a buffer's data back; returns its index among the downloads of the result.
    ///
    /// # Errors
    /// Misuse of the handle.
    #[track_caller]
    pub fn download(&mut self, handle: Handle) -> Result<usize, MemoryError> {
        self.push_download(handle, &Site::caller())
    }

    /// A download of an output of which every element must be written by the end.
    ///
    /// # Errors
    /// Misuse of the handle.
    #[track_caller]
    pub fn download_written(&mut self, handle: Handle) -> Result<usize, MemoryError> {
        let index = self.push_download(handle, &Site::caller())?;
        self.recorded.written.push(handle);
        Ok(index)
    }

    fn push_download(&mut self, handle: Handle, site: &Site) -> Result<usize, MemoryError> {
        let tenant = self.usable(handle, site)?;
        let command = (tenant.len > 0).then(|| Command::Download {
            buffer: tenant.buffer,
            offset_bytes: tenant.layout.before,
            len_bytes: tenant.layout.padded(),
        });
        self.push(command, Action::Download, handle, site);
        self.recorded.downloads.push(handle);
        Ok(self.recorded.downloads.len() - 1)
    }

    /// Asks that by the end every element of this buffer be written, that is, differ from its
    /// poison.
    ///
    /// # Errors
    /// Misuse of the handle.
    #[track_caller]
    pub fn expect_written(&mut self, handle: Handle) -> Result<(), MemoryError> {
        self.usable(handle, &Site::caller())?;
        self.recorded.written.push(handle);
        Ok(())
    }

    /// Asks that this buffer end as the recording uploaded it.
    ///
    /// # Errors
    /// Misuse of the handle; no upload in this recording, or something written since.
    #[track_caller]
    pub fn verify_unchanged(&mut self, handle: Handle) -> Result<(), MemoryError> {
        let site = Site::caller();
        let tenant = self.usable(handle, &site)?;
        let Some(upload) = self.uploads.get(&handle) else {
            let buffer = tenant.name.clone();
            return Err(MemoryError::NothingToCompare { buffer, site });
        };
        self.recorded.unchanged.push((handle, *upload));
        Ok(())
    }

    /// Says that nobody uses the buffer after this point of the recording.
    ///
    /// # Errors
    /// Misuse of the handle.
    #[track_caller]
    pub fn retire(&mut self, handle: Handle) -> Result<(), MemoryError> {
        let site = Site::caller();
        let buffer = self.usable(handle, &site)?.buffer;
        self.push(Some(Command::Retire { buffer }), Action::Retire, handle, &site);
        self.retired.insert(handle, site);
        Ok(())
    }

    /// The finished recording.
    #[must_use]
    pub fn finish(self) -> Recorded {
        self.recorded
    }

    fn usable(&self, handle: Handle, site: &Site) -> Result<&'l Tenant, MemoryError> {
        let tenant = self.ledger.live(handle, MisuseKind::StaleHandle, site)?;
        match self.retired.get(&handle) {
            None => Ok(tenant),
            Some(retired) => Err(self.ledger.misuse(MisuseKind::Retired, tenant, retired, site)),
        }
    }

    /// Records a use, and the command unless the buffer is empty: no device copies nothing.
    fn push(&mut self, command: Option<Command>, action: Action, handle: Handle, site: &Site) {
        self.note(handle, action, site);
        if matches!(action, Action::Fill | Action::Undefine) {
            self.uploads.remove(&handle);
        }
        self.recorded.recording.commands.extend(command);
    }

    fn note(&mut self, handle: Handle, action: Action, site: &Site) {
        self.recorded.uses.push(Use {
            handle,
            action,
            site: site.clone(),
            command: self.recorded.recording.commands.len(),
        });
    }
}
