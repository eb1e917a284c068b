//! The ledger itself: allocation, free, counters, leaks.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::counters::Counters;
use super::events::{Action, Entry, EventRing, Site};
use super::findings::{ElementRanges, FindingKind, MemoryFinding};
use super::misuse::{MemoryError, MisuseKind};
use super::poison::{Poison, PoisonPattern, poison_word};
use super::quarantine::{Freed, IdleBuffers, Quarantine, capacity_for};
use super::recorder::Recorder;
use super::request::{Guard, Layout, LedgerOptions, Request};
use super::slot::{Handle, Slot, Tenant};
use super::staging::StagingSlot;
use super::submit::Flight;
use super::table::Table;
use crate::device::{BufferId, Command, Device, DeviceError, Kernel, KernelId};
use crate::tensor::Dtype;

/// Owns a device and accounts for all of its memory.
pub struct Ledger {
    pub(super) id: u64,
    pub(super) made: Site,
    pub(super) device: Box<dyn Device>,
    pub(super) options: LedgerOptions,
    pub(super) slots: Vec<Slot>,
    vacant: Vec<u32>,
    quarantine: Quarantine,
    idle: IdleBuffers,
    /// Poison that the next submission writes before anything else.
    pub(super) pending: BTreeMap<BufferId, Vec<Command>>,
    pub(super) kernels: HashMap<KernelId, String>,
    pub(super) staging: Vec<StagingSlot>,
    pub(super) tables: Vec<Table>,
    pub(super) flights: BTreeMap<u64, Flight>,
    pub(super) submissions: u64,
    /// Set by a time-out or loss: the device is not asked for anything any more.
    pub(super) broken: bool,
    counters: Cell<Counters>,
}

impl Ledger {
    /// Takes charge of a device.
    #[must_use]
    #[track_caller]
    pub fn new(device: Box<dyn Device>, options: LedgerOptions) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Self {
            id: MADE.fetch_add(1, Ordering::Relaxed),
            made: Site::caller(),
            device,
            slots: Vec::new(),
            vacant: Vec::new(),
            quarantine: Quarantine::new(options.quarantine_buffers, options.quarantine_bytes),
            idle: IdleBuffers::default(),
            pending: BTreeMap::new(),
            kernels: HashMap::new(),
            staging: Vec::new(),
            tables: Vec::new(),
            flights: BTreeMap::new(),
            submissions: 0,
            broken: false,
            counters: Cell::default(),
            options,
        }
    }

    /// The device, to look at.
    #[must_use]
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// How this ledger was set up.
    #[must_use]
    pub fn options(&self) -> &LedgerOptions {
        &self.options
    }

    /// Builds a kernel and remembers its name for the events.
    ///
    /// # Errors
    /// Those of [`Device::load`].
    pub fn load(&mut self, kernel: &Kernel) -> Result<KernelId, DeviceError> {
        let id = self.device.load(kernel)?;
        self.kernels.insert(id, kernel.name.clone());
        Ok(id)
    }

    /// A request with this ledger's guard and poison. Integers get poison 0: choose an index that no
    /// correct kernel writes where unwritten elements or overwritten guards should be noticed.
    #[must_use]
    pub fn request(&self, name: &str, dtype: Dtype, len: usize) -> Request {
        let words = self.options.guard_bytes.div_ceil(4);
        Request {
            name: name.to_owned(),
            dtype,
            len,
            before_bytes: 0,
            guard: Guard::Words(u32::try_from(words).unwrap_or(u32::MAX)),
            poison: self.options.poison,
            poison_index: 0,
            site: None,
        }
    }

    /// Hands out a buffer full of poison.
    ///
    /// # Errors
    /// More than the device can hold or bind, an offset that it can't bind, out of memory.
    #[track_caller]
    pub fn allocate(&mut self, request: &Request) -> Result<Handle, MemoryError> {
        // Not `unwrap_or_else(Site::caller)`: the caller would be a line of the standard library.
        let site = match &request.site {
            Some(site) => site.clone(),
            None => Site::caller(),
        };
        let limits = &self.device.info().limits;
        let layout = Layout::new(request, self.options.guard_bytes, limits)?;
        let capacity = capacity_for(layout.total)
            .filter(|capacity| *capacity <= limits.allocation_bytes)
            .unwrap_or(layout.total);
        let buffer = self.device_buffer(&request.name, capacity)?;
        let slot = self.vacant_slot(&request.name, layout.total)?;
        let generation = self.slot(slot).map_or(0, |slot| slot.tenant.generation.wrapping_add(1));
        let word = poison_word(request.dtype, request.poison, slot, request.poison_index);
        let mut tenant = Tenant {
            generation,
            name: request.name.clone(),
            requested: site.clone(),
            len: request.len,
            layout,
            pattern: PoisonPattern { dtype: request.dtype, word },
            named: matches!(request.dtype, Dtype::F32 | Dtype::F64)
                && request.poison == Poison::Nan,
            buffer,
            capacity,
            events: EventRing::new(self.options.events),
            serial: self.counters.get().allocations,
            submissions_before: self.submissions,
            held_by: None,
            freed: None,
        };
        tenant.events.push(Entry { action: Action::Allocate, submission: 0, site });
        self.poison_all(buffer, layout.total, word);
        match self.slots.get_mut(slot as usize) {
            Some(slot) => slot.move_in(tenant),
            None => self.slots.push(Slot::new(tenant)),
        }
        self.count(|counters| counters.allocated(layout.total));
        Ok(Handle { ledger: self.id, slot, generation })
    }

    fn vacant_slot(&mut self, name: &str, needed: u64) -> Result<u32, MemoryError> {
        if let Some(slot) = self.vacant.pop() {
            return Ok(slot);
        }
        u32::try_from(self.slots.len()).map_err(|_| MemoryError::TooLarge {
            buffer: name.to_owned(),
            needed,
            limit: "the number of live buffers",
            limit_bytes: u64::from(u32::MAX),
        })
    }

    /// An idle buffer of this capacity or a new one; in need, the idle and the quarantined ones
    /// make room.
    fn device_buffer(&mut self, name: &str, capacity: u64) -> Result<BufferId, DeviceError> {
        if let Some(buffer) = self.idle.take(capacity) {
            return Ok(buffer);
        }
        match self.device.allocate(name, capacity) {
            Err(DeviceError::OutOfMemory { .. }) if self.flights.is_empty() && !self.broken => {
                while let Some(freed) = self.quarantine.leave_early() {
                    self.vacate(freed);
                }
                self.shed(0)?;
                self.device.allocate(name, capacity)
            }
            answer => answer,
        }
    }

    /// Takes a buffer back. It waits in quarantine, poisoned, before anybody gets it again.
    ///
    /// # Errors
    /// A double free, a buffer that a submission in flight uses, a handle of another ledger.
    #[track_caller]
    pub fn free(&mut self, handle: Handle) -> Result<(), MemoryError> {
        let site = Site::caller();
        let tenant = self.live(handle, MisuseKind::DoubleFree, &site)?;
        if let Some(flight) = tenant.held_by {
            return Err(self.held(handle, flight, &site));
        }
        let (buffer, capacity, total) = (tenant.buffer, tenant.capacity, tenant.layout.total);
        let word = tenant.pattern.word;
        self.note(handle, Action::Free, 0, &site);
        if let Some(slot) = self.slots.get_mut(handle.slot as usize) {
            slot.tenant.freed = Some(site);
        }
        self.poison_all(buffer, total, word);
        self.count(|counters| counters.freed(total));
        self.quarantine.enter(Freed { slot: handle.slot, buffer, capacity });
        while let Some(freed) = self.quarantine.leave() {
            self.vacate(freed);
        }
        if self.flights.is_empty() && !self.broken {
            self.shed(self.options.idle_bytes)?;
        }
        Ok(())
    }

    fn vacate(&mut self, freed: Freed) {
        self.vacant.push(freed.slot);
        self.idle.put(freed.buffer, freed.capacity);
    }

    /// Gives idle buffers back to the device. A submission in flight may be poisoning them, so
    /// none may be in flight.
    pub(super) fn shed(&mut self, max_bytes: u64) -> Result<(), DeviceError> {
        while let Some(buffer) = self.idle.shed(max_bytes) {
            self.pending.remove(&buffer);
            self.device.free(buffer)?;
        }
        Ok(())
    }

    fn poison_all(&mut self, buffer: BufferId, len_bytes: u64, pattern: u32) {
        let poison = Command::Undefine { buffer, offset_bytes: 0, len_bytes, pattern };
        self.pending.insert(buffer, vec![poison]);
    }

    /// Starts a list of commands.
    #[must_use]
    pub fn recorder(&self) -> Recorder<'_> {
        Recorder::new(self)
    }

    /// The buffer's poison, to look for in what came back.
    ///
    /// # Errors
    /// A stale handle.
    #[track_caller]
    pub fn poison(&self, handle: Handle) -> Result<PoisonPattern, MemoryError> {
        let tenant = self.live(handle, MisuseKind::StaleHandle, &Site::caller())?;
        Ok(tenant.pattern)
    }

    /// Whether an element of these bytes, or a block if the type is quantised, is the buffer's poison.
    ///
    /// # Errors
    /// A stale handle.
    #[track_caller]
    pub fn is_poison(&self, handle: Handle, element: &[u8]) -> Result<bool, MemoryError> {
        Ok(self.poison(handle)?.element() == element)
    }

    /// The elements of downloaded `data` that still hold the buffer's poison.
    ///
    /// # Errors
    /// A stale handle.
    #[track_caller]
    pub fn unwritten(&self, handle: Handle, data: &[u8]) -> Result<ElementRanges, MemoryError> {
        Ok(self.poison(handle)?.unwritten(data))
    }

    /// What happened so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters.get()
    }

    /// One finding for every live buffer, in the order of their allocation.
    #[must_use]
    pub fn leaks(&self) -> Vec<MemoryFinding> {
        let mut live: Vec<&Tenant> = self
            .slots
            .iter()
            .map(|slot| &slot.tenant)
            .filter(|tenant| tenant.freed.is_none())
            .collect();
        live.sort_by_key(|tenant| tenant.serial);
        live.into_iter()
            .map(|tenant| {
                let count = u64::try_from(tenant.len).unwrap_or(u64::MAX);
                let elements = ElementRanges { count, ranges: Vec::new() };
                let message = format!("{count} elements were never freed");
                self.finding(FindingKind::Leak, tenant, elements, message)
            })
            .collect()
    }

    /// Ends the ledger and its device. What is still live is a leak.
    #[must_use]
    pub fn close(self) -> (Counters, Vec<MemoryFinding>) {
        let leaks = self.leaks();
        let mut counters = self.counters.get();
        counters.leaks += counters.live;
        (counters, leaks)
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.counters.get();
        change(&mut counters);
        self.counters.set(counters);
    }

    pub(super) fn count_stale(&self, stale: MisuseKind) {
        self.count(|counters| match stale {
            MisuseKind::DoubleFree => counters.double_frees += 1,
            _ => counters.stale_uses += 1,
        });
    }

    pub(super) fn slot(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot as usize)
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("device", &self.device.info().name)
            .field("counters", &self.counters.get())
            .finish_non_exhaustive()
    }
}
