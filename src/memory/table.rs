//! Descriptor tables: bindings that outlive one dispatch, and so can change under it.

use super::events::Site;
use super::ledger::Ledger;
use super::misuse::{MemoryError, MisuseKind};
use super::slot::Handle;
use super::staging::misuse;

/// What a kernel does with a binding, as its plan says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only reads: whatever changes in the buffer is a finding.
    Read,
    /// Only writes.
    Write,
    /// Both.
    ReadWrite,
}

/// One storage buffer binding of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Descriptor set.
    pub set: u32,
    /// Binding within the set.
    pub binding: u32,
    /// The buffer; its layout decides on offset and range.
    pub handle: Handle,
    /// What the kernel may do with it.
    pub access: Access,
}

/// Names a descriptor table of one ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bindings {
    ledger: u64,
    pub(super) index: usize,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) bounds: Vec<Bound>,
    pub(super) version: u64,
    written: Site,
    freed: Option<Site>,
}

const NAME: &str = "a descriptor table";

impl Ledger {
    /// Makes a table.
    ///
    /// # Errors
    /// A stale handle among the bindings.
    #[track_caller]
    pub fn bindings(&mut self, bounds: &[Bound]) -> Result<Bindings, MemoryError> {
        let site = Site::caller();
        for bound in bounds {
            self.live(bound.handle, MisuseKind::StaleHandle, &site)?;
        }
        self.tables.push(Table { bounds: bounds.to_vec(), version: 0, written: site, freed: None });
        Ok(Bindings { ledger: self.id, index: self.tables.len() - 1 })
    }

    /// Replaces one descriptor. What was recorded with the old one must be recorded again.
    ///
    /// # Errors
    /// A submission in flight uses the table, it was freed, it has no such descriptor, or the new
    /// handle is stale.
    #[track_caller]
    pub fn rewrite(
        &mut self,
        bindings: Bindings,
        index: usize,
        bound: Bound,
    ) -> Result<(), MemoryError> {
        let site = Site::caller();
        let table = self.table(bindings, MisuseKind::StaleHandle, &site)?;
        let len = table.bounds.len();
        let Some(old) = table.bounds.get(index).copied() else {
            return Err(MemoryError::NoSuchDescriptor { index, len, site });
        };
        self.live(bound.handle, MisuseKind::StaleHandle, &site)?;
        self.idle_table(bindings, self.name_of(old.handle), &site)?;
        let table = &mut self.tables[bindings.index];
        table.bounds[index] = bound;
        table.version += 1;
        table.written = site;
        Ok(())
    }

    /// Gives a table up.
    ///
    /// # Errors
    /// A submission in flight uses it, or it was freed before.
    #[track_caller]
    pub fn free_bindings(&mut self, bindings: Bindings) -> Result<(), MemoryError> {
        let site = Site::caller();
        self.table(bindings, MisuseKind::DoubleFree, &site)?;
        self.idle_table(bindings, NAME, &site)?;
        let table = &mut self.tables[bindings.index];
        table.bounds = Vec::new();
        table.freed = Some(site);
        Ok(())
    }

    /// The table that a use at `site` means; `stale` says what it is if it was freed.
    pub(super) fn table(
        &self,
        bindings: Bindings,
        stale: MisuseKind,
        site: &Site,
    ) -> Result<&Table, MemoryError> {
        let table = self
            .tables
            .get(bindings.index)
            .filter(|_| bindings.ledger == self.id)
            .ok_or_else(|| self.foreign(NAME, site))?;
        match &table.freed {
            None => Ok(table),
            Some(freed) => {
                self.count_stale(stale);
                Err(misuse(stale, NAME, freed, site))
            }
        }
    }

    /// A table that was rewritten since a recording saw `version` of it, with the place.
    pub(super) fn rewritten_since(&self, table: &Table, version: u64) -> Option<(Site, String)> {
        (table.version != version).then(|| {
            let name = table.bounds.first().map_or(NAME, |b| self.name_of(b.handle));
            (table.written.clone(), name.to_owned())
        })
    }

    fn idle_table(&self, bindings: Bindings, name: &str, site: &Site) -> Result<(), MemoryError> {
        let user = self.flights.values().find(|flight| flight.tables.contains(&bindings.index));
        match user {
            None => Ok(()),
            Some(flight) => {
                Err(misuse(MisuseKind::BindingsInFlight, name, &flight.submitted, site))
            }
        }
    }

    fn name_of(&self, handle: Handle) -> &str {
        &self.slots[handle.slot as usize].tenant_of(handle.generation).name
    }
}
