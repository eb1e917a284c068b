//! The look-up that every use of a handle passes through, and what it says when it refuses.

use super::events::{Action, Entry, Event, Site};
use super::findings::{ElementRanges, FindingKind, MemoryFinding};
use super::ledger::Ledger;
use super::misuse::{HostMisuse, MemoryError, MisuseKind};
use super::slot::{Handle, Tenant};
use crate::device::KernelId;

impl Ledger {
    /// The tenant of a handle that may be used at `site`; `stale` says what it is otherwise.
    pub(super) fn live(
        &self,
        handle: Handle,
        stale: MisuseKind,
        site: &Site,
    ) -> Result<&Tenant, MemoryError> {
        let slot = self
            .slot(handle.slot)
            .filter(|_| handle.ledger == self.id)
            .ok_or_else(|| self.foreign("a buffer", site))?;
        let tenant = slot.tenant_of(handle.generation);
        match &tenant.freed {
            None if tenant.generation == handle.generation => Ok(tenant),
            freed => {
                self.count_stale(stale);
                let first = freed.as_ref().unwrap_or(&tenant.requested);
                Err(self.misuse(stale, tenant, first, site))
            }
        }
    }

    pub(super) fn misuse(
        &self,
        what: MisuseKind,
        tenant: &Tenant,
        first: &Site,
        second: &Site,
    ) -> MemoryError {
        MemoryError::Misuse(Box::new(HostMisuse {
            what,
            buffer: tenant.name.clone(),
            first: first.clone(),
            second: second.clone(),
            recorded: None,
            events: self.events_of(tenant),
        }))
    }

    pub(super) fn foreign(&self, what: &str, site: &Site) -> MemoryError {
        MemoryError::Misuse(Box::new(HostMisuse {
            what: MisuseKind::ForeignHandle,
            buffer: what.to_owned(),
            first: self.made.clone(),
            second: site.clone(),
            recorded: None,
            events: Vec::new(),
        }))
    }

    /// A live buffer that submission `flight` holds was wanted at `site`.
    pub(super) fn held(&self, handle: Handle, flight: u64, site: &Site) -> MemoryError {
        let tenant = self.slots[handle.slot as usize].tenant_of(handle.generation);
        let submitted =
            self.flights.get(&flight).map_or(&tenant.requested, |flight| &flight.submitted);
        self.misuse(MisuseKind::InFlight, tenant, submitted, site)
    }

    pub(super) fn note(&mut self, handle: Handle, action: Action, submission: u64, site: &Site) {
        if let Some(slot) = self.slots.get_mut(handle.slot as usize) {
            let before = slot.tenant.submissions_before;
            slot.tenant.events.push(Entry {
                action,
                submission: submission.saturating_sub(before),
                site: site.clone(),
            });
        }
    }

    pub(super) fn events_of(&self, tenant: &Tenant) -> Vec<Event> {
        let name_of = |kernel: KernelId| match self.kernels.get(&kernel) {
            Some(name) => name.clone(),
            None => format!("number {}", kernel.0),
        };
        tenant
            .events
            .iter()
            .map(|entry| Event {
                kind: entry.action.kind(name_of),
                submission: entry.submission,
                site: entry.site.clone(),
            })
            .collect()
    }

    pub(super) fn finding(
        &self,
        kind: FindingKind,
        tenant: &Tenant,
        elements: ElementRanges,
        message: String,
    ) -> MemoryFinding {
        MemoryFinding {
            kind,
            buffer: tenant.name.clone(),
            requested_at: tenant.requested.clone(),
            ranges: elements.ranges,
            count: elements.count,
            events: self.events_of(tenant),
            message,
        }
    }
}
