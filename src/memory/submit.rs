//! Submissions: what they hold until their fence, and what they bring back.

use std::collections::BTreeSet;

use super::events::Site;
use super::findings::MemoryFinding;
use super::inspect::Inspected;
use super::ledger::Ledger;
use super::misuse::MemoryError;
use super::recorded::Recorded;
use super::slot::{Handle, distinct};
use crate::device::{DeviceError, LineCost, Observation, Outcome, Ticket};

/// A submission before its fence. Everything it uses is held until it is waited for.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its buffers are held until it is waited for"]
pub struct InFlight {
    ledger: u64,
    submission: u64,
}

/// What a submission brought back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finished {
    /// One entry per download of the recorder, in its order, without guards or padding.
    pub downloads: Vec<Vec<u8>>,
    /// One entry per timestamp in nanoseconds; empty where the queue has none.
    pub timestamps_ns: Vec<f64>,
    /// Messages of the validation layer.
    pub messages: Vec<String>,
    /// What the device saw the kernels do, where it watches.
    pub observations: Vec<Observation>,
    /// What source lines cost, where the device counts.
    pub costs: Vec<LineCost>,
    /// What the kernels did wrong.
    pub findings: Vec<MemoryFinding>,
}

/// What the ledger remembers of a submission.
#[derive(Debug)]
pub(super) struct Flight {
    ticket: Ticket,
    pub(super) submitted: Site,
    held: BTreeSet<Handle>,
    pub(super) staging: BTreeSet<usize>,
    pub(super) tables: BTreeSet<usize>,
    downloads: Vec<Handle>,
    inspected: Vec<Inspected>,
}

impl Ledger {
    /// Submits a recording after checking every handle again.
    ///
    /// # Errors
    /// A handle, staging buffer or table freed or rewritten since it was recorded; a buffer that
    /// another submission uses; what the device answers.
    #[track_caller]
    pub fn submit(&mut self, recorded: &Recorded) -> Result<InFlight, MemoryError> {
        let site = Site::caller();
        self.admit(recorded, &site)?;
        let (recording, inspected) = self.assemble(recorded, &site)?;
        let ticket = match self.device.submit(&recording) {
            Ok(ticket) => ticket,
            Err(error) => return Err(self.failed(error)),
        };
        self.pending.clear();
        self.submissions += 1;
        let submission = self.submissions;
        let flight = Flight {
            ticket,
            submitted: site,
            held: distinct(recorded.uses.iter().map(|used| used.handle)),
            staging: recorded.staged.iter().map(|s| s.staging.index).collect(),
            tables: recorded.tables.iter().map(|t| t.bindings.index).collect(),
            downloads: recorded.downloads.clone(),
            inspected,
        };
        for used in &recorded.uses {
            self.note(used.handle, used.action, submission, &used.site);
        }
        self.hold(&flight.held, Some(submission));
        self.flights.insert(submission, flight);
        Ok(InFlight { ledger: self.id, submission })
    }

    /// Whether a submission has finished, without waiting. Its buffers are held all the same until
    /// it is waited for.
    ///
    /// # Errors
    /// Device lost; a submission of another ledger.
    #[track_caller]
    pub fn is_done(&mut self, in_flight: &InFlight) -> Result<bool, MemoryError> {
        let Some(flight) = self.own(in_flight, &Site::caller())? else {
            return Err(self.gone());
        };
        match self.device.is_done(flight.ticket) {
            Ok(done) => Ok(done),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Waits for a submission, lets go of what it held, and looks at what it did to memory.
    ///
    /// # Errors
    /// Time-out, device lost; a submission of another ledger.
    #[track_caller]
    pub fn wait(&mut self, in_flight: InFlight) -> Result<Finished, MemoryError> {
        self.own(&in_flight, &Site::caller())?;
        let Some(flight) = self.flights.remove(&in_flight.submission) else {
            return Err(self.gone());
        };
        let outcome = match self.device.wait(flight.ticket, self.options.timeout) {
            Ok(outcome) => outcome,
            Err(error) => {
                // Buffers of a device that merely refused stay held: it may still be running.
                let error = self.failed(error);
                if self.broken {
                    self.hold(&flight.held, None);
                }
                return Err(error);
            }
        };
        self.hold(&flight.held, None);
        self.finish(flight, outcome)
    }

    /// `None` if the device went away since.
    fn own(&self, in_flight: &InFlight, site: &Site) -> Result<Option<&Flight>, MemoryError> {
        if in_flight.ledger == self.id {
            Ok(self.flights.get(&in_flight.submission))
        } else {
            Err(self.foreign("a submission", site))
        }
    }

    fn gone(&self) -> MemoryError {
        MemoryError::Device(DeviceError::Lost {
            device: self.device.info().name.clone(),
            doing: "waiting for an earlier submission",
        })
    }

    fn finish(&mut self, flight: Flight, outcome: Outcome) -> Result<Finished, MemoryError> {
        if !outcome.downloads.iter().map(Vec::len).eq(self.expected_lengths(&flight)) {
            return Err(MemoryError::Device(DeviceError::Malformed {
                device: self.device.info().name.clone(),
                what: "other downloads came back than were recorded".to_owned(),
            }));
        }
        let mut answers = outcome.downloads.into_iter();
        let mut downloads = Vec::with_capacity(flight.downloads.len());
        for handle in &flight.downloads {
            let tenant = &self.slots[handle.slot as usize].tenant;
            let mut data = match tenant.len {
                0 => Vec::new(),
                _ => answers.next().unwrap_or_default(),
            };
            data.truncate(tenant.data_bytes());
            downloads.push(data);
        }
        let findings = self.judge(flight.inspected, answers.collect());
        if self.flights.is_empty() && !self.broken {
            self.shed(self.options.idle_bytes)?;
        }
        Ok(Finished {
            downloads,
            timestamps_ns: outcome.timestamps_ns,
            messages: outcome.messages,
            observations: outcome.observations,
            costs: outcome.costs,
            findings,
        })
    }

    fn expected_lengths(&self, flight: &Flight) -> Vec<usize> {
        let of_caller = flight
            .downloads
            .iter()
            .map(|handle| self.slots[handle.slot as usize].tenant.layout.padded())
            .filter(|bytes| *bytes > 0);
        of_caller
            .chain(flight.inspected.iter().map(|one| one.len_bytes))
            .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
            .collect()
    }

    fn hold(&mut self, handles: &BTreeSet<Handle>, by: Option<u64>) {
        for handle in handles {
            if let Some(slot) = self.slots.get_mut(handle.slot as usize) {
                slot.tenant.held_by = by;
            }
        }
    }

    /// After a loss or a time-out no fence will ever come, so nothing is held any more.
    fn failed(&mut self, error: DeviceError) -> MemoryError {
        if matches!(error, DeviceError::Lost { .. } | DeviceError::Timeout { .. }) {
            self.broken = true;
            for flight in std::mem::take(&mut self.flights).into_values() {
                self.hold(&flight.held, None);
            }
        }
        MemoryError::Device(error)
    }
}
