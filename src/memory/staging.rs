//! Host memory that submissions read. An API is free to read it as late as the execution, so it
//! must stay as it is until the fence, whatever this device happens to do.

use super::events::Site;
use super::ledger::Ledger;
use super::misuse::{HostMisuse, MemoryError, MisuseKind};

/// Names a staging buffer of one ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Staging {
    ledger: u64,
    pub(super) index: usize,
}

#[derive(Debug)]
pub(super) struct StagingSlot {
    name: String,
    bytes: Vec<u8>,
    freed: Option<Site>,
}

impl Ledger {
    /// Makes a staging buffer of zeros.
    pub fn staging(&mut self, name: &str, len_bytes: usize) -> Staging {
        self.staging.push(StagingSlot {
            name: name.to_owned(),
            bytes: vec![0; len_bytes],
            freed: None,
        });
        Staging { ledger: self.id, index: self.staging.len() - 1 }
    }

    /// Replaces its contents.
    ///
    /// # Errors
    /// A submission in flight reads it, it was freed, or the length is another.
    #[track_caller]
    pub fn write_staging(&mut self, staging: Staging, bytes: &[u8]) -> Result<(), MemoryError> {
        let site = Site::caller();
        let old = self.staged_bytes(staging, MisuseKind::StaleHandle, &site)?;
        if old.len() != bytes.len() {
            return Err(MemoryError::WrongLength {
                buffer: self.staging[staging.index].name.clone(),
                given: bytes.len(),
                expected: old.len(),
                site,
            });
        }
        self.idle_staging(staging, &site)?;
        self.staging[staging.index].bytes.copy_from_slice(bytes);
        Ok(())
    }

    /// Gives its memory back.
    ///
    /// # Errors
    /// A submission in flight reads it, or it was freed before.
    #[track_caller]
    pub fn free_staging(&mut self, staging: Staging) -> Result<(), MemoryError> {
        let site = Site::caller();
        self.staged_bytes(staging, MisuseKind::DoubleFree, &site)?;
        self.idle_staging(staging, &site)?;
        let slot = &mut self.staging[staging.index];
        slot.bytes = Vec::new();
        slot.freed = Some(site);
        Ok(())
    }

    /// What a use at `site` would read; `stale` says what it is if there is nothing any more.
    pub(super) fn staged_bytes(
        &self,
        staging: Staging,
        stale: MisuseKind,
        site: &Site,
    ) -> Result<&[u8], MemoryError> {
        let slot = self
            .staging
            .get(staging.index)
            .filter(|_| staging.ledger == self.id)
            .ok_or_else(|| self.foreign("a staging buffer", site))?;
        match &slot.freed {
            None => Ok(&slot.bytes),
            Some(freed) => {
                self.count_stale(stale);
                Err(misuse(stale, &slot.name, freed, site))
            }
        }
    }

    fn idle_staging(&self, staging: Staging, site: &Site) -> Result<(), MemoryError> {
        let reader = self.flights.values().find(|flight| flight.staging.contains(&staging.index));
        match reader {
            None => Ok(()),
            Some(flight) => Err(misuse(
                MisuseKind::StagingInFlight,
                &self.staging[staging.index].name,
                &flight.submitted,
                site,
            )),
        }
    }
}

pub(super) fn misuse(what: MisuseKind, name: &str, first: &Site, second: &Site) -> MemoryError {
    MemoryError::Misuse(Box::new(HostMisuse {
        what,
        buffer: name.to_owned(),
        first: first.clone(),
        second: second.clone(),
        recorded: None,
        events: Vec::new(),
    }))
}
