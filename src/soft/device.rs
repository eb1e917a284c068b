//! The interpreter behind the trait of devices.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use crate::device::rules::{self, Face};
use crate::device::{
    Act, Binding, BufferId, Command, Device, DeviceError, DeviceInfo, Kernel, KernelId, Outcome,
    Recording, Ticket,
};

use super::cost::Costs;
use super::domain::{Domain, Dual, Plain};
use super::error::SoftError;
use super::findings::Findings;
use super::limits::{self, SUBGROUP_SIZES};
use super::memory::{Buffer, Memory, View};
use super::observer::{Observer, Transfer};
use super::observers::Observers;
use super::program::Program;
use super::{lower, machine};

/// How much the interpreter looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watching {
    /// Accesses outside of memory are stopped, and nothing is told.
    Nothing,
    /// They are told.
    Bounds,
    /// Also what nobody wrote, races, barriers, divergence, operations without a result.
    #[default]
    Everything,
}

/// What the interpreter counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Instructions as a whole.
    #[default]
    Whole,
    /// Also what each source line costs, for [`Outcome::costs`].
    Lines,
}

/// How the interpreter is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftOptions {
    /// Invocations in a subgroup of a kernel that requires no size: a power of two from 4 to 128.
    pub subgroup_size: u32,
    /// How much it looks at.
    pub watch: Watching,
    /// What it counts.
    pub counting: Counting,
    /// Instructions that a workgroup may execute, each for all invocations that run together: a
    /// kernel that takes more of them is taken to be endless.
    pub fuel: u64,
}

impl Default for SoftOptions {
    fn default() -> Self {
        Self {
            subgroup_size: 32,
            watch: Watching::Everything,
            counting: Counting::Whole,
            fuel: FUEL,
        }
    }
}

impl SoftOptions {
    /// What the device will say of itself.
    #[must_use]
    pub fn info(&self) -> DeviceInfo {
        limits::info(self.subgroup_size)
    }
}

/// What no kernel that ends was seen to need: seconds.
const FUEL: u64 = 1 << 25;

/// The SPIR-V interpreter as a device. A recording is executed when it is submitted.
pub struct Soft {
    info: DeviceInfo,
    watch: Watching,
    fuel: u64,
    memory: Memory,
    /// Bytes that buffers may still take.
    left_bytes: u64,
    kernels: Vec<Loaded>,
    loaded: HashMap<Kernel, KernelId>,
    observers: Observers,
    findings: Findings,
    finished: HashMap<Ticket, Outcome>,
    next_ticket: u64,
    /// Goes up at every barrier and every recording.
    era: u32,
    /// Executed so far, over all invocations: the device's clock.
    lane_instructions: u64,
    counting: Counting,
    costs: Costs,
}

/// How an observer is told of an upload or a download.
type Exchange = fn(&mut dyn Observer, &str, usize, Range<u64>);

struct Loaded {
    name: String,
    /// Ascending.
    bindings: Vec<(u32, u32)>,
    push_bytes: u32,
    subgroup_size: u32,
    program: Program,
}

impl Soft {
    /// An interpreter.
    ///
    /// # Errors
    /// A subgroup size that it doesn't have.
    pub fn open(options: &SoftOptions) -> Result<Self, DeviceError> {
        Self::open_in(options, &Plain)
    }

    /// An interpreter whose numbers have tangents.
    ///
    /// # Errors
    /// A subgroup size that it doesn't have.
    pub fn open_dual(options: &SoftOptions, dual: &Dual) -> Result<Self, DeviceError> {
        Self::open_in(options, dual)
    }

    fn open_in(options: &SoftOptions, domain: &dyn Domain) -> Result<Self, DeviceError> {
        let (size, [least, most]) = (options.subgroup_size, SUBGROUP_SIZES);
        if !size.is_power_of_two() || !(least..=most).contains(&size) {
            return Err(DeviceError::Open {
                device: limits::NAME.to_owned(),
                reason: format!(
                    "a subgroup size of {size}; it has the powers of two from {least} to {most}"
                ),
            });
        }
        let mut observers = Observers::watching(options.watch);
        observers.0.extend(domain.observer());
        Ok(Self {
            info: options.info(),
            watch: options.watch,
            fuel: options.fuel,
            memory: Memory::default(),
            left_bytes: limits::memory_bytes(),
            kernels: Vec::new(),
            loaded: HashMap::new(),
            observers,
            findings: Findings::default(),
            finished: HashMap::new(),
            next_ticket: 0,
            era: 0,
            lane_instructions: 0,
            counting: options.counting,
            costs: Costs::default(),
        })
    }

    fn execute(&mut self, recording: &Recording) -> Result<Outcome, DeviceError> {
        let mut outcome = Outcome::default();
        let mut dispatches = 0;
        // Submissions are ordered by their fences.
        self.era += 1;
        for command in &recording.commands {
            match command {
                Command::Upload { buffer, offset_bytes, data } => {
                    let bytes = self.reach(*buffer, *offset_bytes, data.len() as u64);
                    bytes.copy_from_slice(data);
                    self.transferred(*buffer, *offset_bytes, data.len() as u64, Transfer::Write);
                    let upload: Exchange = |observer, name, at, bytes| {
                        observer.upload(name, at, bytes);
                    };
                    self.exchanged(*buffer, *offset_bytes, data.len() as u64, upload);
                }
                Command::Fill { buffer, offset_bytes, len_bytes, word } => {
                    fill(self.reach(*buffer, *offset_bytes, *len_bytes), *word);
                    self.transferred(*buffer, *offset_bytes, *len_bytes, Transfer::Write);
                }
                Command::Undefine { buffer, offset_bytes, len_bytes, pattern } => {
                    fill(self.reach(*buffer, *offset_bytes, *len_bytes), *pattern);
                    self.transferred(*buffer, *offset_bytes, *len_bytes, Transfer::Undefine);
                }
                Command::Download { buffer, offset_bytes, len_bytes } => {
                    let bytes = self.reach(*buffer, *offset_bytes, *len_bytes).to_vec();
                    outcome.downloads.push(bytes);
                    let download: Exchange = |observer, name, at, bytes| {
                        observer.download(name, at, bytes);
                    };
                    self.exchanged(*buffer, *offset_bytes, *len_bytes, download);
                }
                Command::Dispatch { kernel, bindings, push, groups } => {
                    let views = self.views(*kernel, bindings)?;
                    let request = machine::Request {
                        groups: *groups,
                        views,
                        push,
                        schedule: recording.schedule,
                        subgroup_size: self.kernel(*kernel).subgroup_size,
                        dispatch: dispatches,
                        era: self.era,
                        fuel: self.fuel,
                    };
                    self.dispatch(*kernel, &request)?;
                    dispatches += 1;
                }
                Command::Barrier => self.era += 1,
                Command::Timestamp => outcome.timestamps_ns.push(self.lane_instructions as f64),
                Command::Retire { .. } => {}
            }
        }
        outcome.costs = self.costs.take();
        let observations = self.findings.take();
        if self.watch != Watching::Nothing {
            outcome.observations = observations;
        }
        Ok(outcome)
    }

    fn dispatch(
        &mut self,
        kernel: KernelId,
        request: &machine::Request<'_>,
    ) -> Result<(), DeviceError> {
        let program = &self.kernels[index(kernel.0)].program;
        let (observers, findings) = (&mut self.observers, &mut self.findings);
        let mut lanes = match self.counting {
            Counting::Whole => None,
            Counting::Lines => Some(vec![0; program.blocks.len()]),
        };
        let memory = &mut self.memory;
        match machine::run(program, request, memory, observers, findings, &mut lanes) {
            Ok(executed) => self.lane_instructions += executed.lane_instructions,
            Err(error) => return Err(self.refused(&self.kernel(kernel).name, error)),
        }
        if let Some(lanes) = lanes {
            self.costs.add(program, &lanes);
        }
        Ok(())
    }

    /// The kernel's buffers as it sees them: to where their data end, whatever is bound behind.
    fn views(&self, kernel: KernelId, bindings: &[Binding]) -> Result<Vec<View>, DeviceError> {
        let loaded = self.kernel(kernel);
        let view = |set, number| {
            let bound = bindings.iter().find(|b| (b.set, b.binding) == (set, number))?;
            Some(View {
                buffer: index(bound.buffer.0),
                start: u32::try_from(bound.extent.offset_bytes).ok()?,
                len: u32::try_from(bound.extent.logical_bytes).ok()?,
            })
        };
        let buffers = loaded.program.buffers.iter();
        let views = buffers.map(|variable| {
            let (set, number) = (variable.set, variable.binding);
            view(set, number).ok_or_else(|| {
                let what = format!("nothing is bound to {set}.{number} (`{}`)", variable.name);
                self.refused(
                    &loaded.name,
                    SoftError::Dispatch { kernel: loaded.name.clone(), what },
                )
            })
        });
        views.collect()
    }

    fn kernel(&self, kernel: KernelId) -> &Loaded {
        &self.kernels[index(kernel.0)]
    }

    /// Bytes of a buffer that [`rules::check`] has looked at.
    fn reach(&mut self, buffer: BufferId, offset_bytes: u64, len_bytes: u64) -> &mut [u8] {
        let bytes = index(offset_bytes)..index(offset_bytes + len_bytes);
        match &mut self.memory.buffers[index(buffer.0)] {
            Some(buffer) => &mut buffer.bytes[bytes],
            None => &mut [],
        }
    }

    fn transferred(&mut self, buffer: BufferId, offset: u64, len: u64, transfer: Transfer) {
        let bytes: Range<u64> = offset..offset + len;
        self.observers.transfer(index(buffer.0), &bytes, transfer);
    }

    /// Data went between the host and a buffer of some name.
    fn exchanged(&mut self, buffer: BufferId, offset: u64, len: u64, tell: Exchange) {
        let Some(named) = &self.memory.buffers[index(buffer.0)] else { return };
        let name = &named.name;
        self.observers.each(|observer| {
            tell(observer, name, index(buffer.0), offset..offset + len);
        });
    }

    fn refused(&self, kernel: &str, error: SoftError) -> DeviceError {
        let device = self.info.name.clone();
        let what = error.to_string();
        match error {
            SoftError::Unsupported { .. } | SoftError::TooLarge { .. } => {
                DeviceError::Unsupported { device, what }
            }
            SoftError::Dispatch { .. } => DeviceError::Malformed { device, what },
            SoftError::Hang { file, line, .. } => DeviceError::Endless { device, what, file, line },
            SoftError::Module(_) => DeviceError::Module { device, kernel: kernel.to_owned(), what },
        }
    }
}

impl rules::Known for Soft {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn buffer_bytes(&self, buffer: BufferId) -> Option<u64> {
        let buffer = self.memory.buffers.get(index(buffer.0))?.as_ref()?;
        u64::try_from(buffer.bytes.len()).ok()
    }

    fn face(&self, kernel: KernelId) -> Option<Face<'_>> {
        let Loaded { name, bindings, push_bytes, .. } = self.kernels.get(index(kernel.0))?;
        Some(Face { name, bindings, push_bytes: *push_bytes })
    }
}

impl Device for Soft {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&mut self, name: &str, len_bytes: u64) -> Result<BufferId, DeviceError> {
        let (device, limit) = (self.info.name.clone(), self.info.limits.allocation_bytes);
        if len_bytes == 0 || !len_bytes.is_multiple_of(4) {
            let what =
                format!("buffer '{name}' of {len_bytes} bytes; a positive multiple of 4 is needed");
            return Err(DeviceError::Unsupported { device, what });
        }
        if len_bytes > limit {
            let what = format!(
                "buffer '{name}' of {len_bytes} bytes; this device allocates at most {limit}"
            );
            return Err(DeviceError::Unsupported { device, what });
        }
        let mut bytes = Vec::new();
        if len_bytes > self.left_bytes || bytes.try_reserve_exact(index(len_bytes)).is_err() {
            let what = format!("buffer '{name}'");
            return Err(DeviceError::OutOfMemory { device, what, bytes: len_bytes });
        }
        bytes.resize(index(len_bytes), 0);
        self.left_bytes -= len_bytes;
        let id = BufferId(self.memory.buffers.len() as u64);
        self.memory.buffers.push(Some(Buffer { name: name.to_owned(), bytes }));
        self.observers.transfer(index(id.0), &(0..len_bytes), Transfer::Undefine);
        Ok(id)
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        let place = self.memory.buffers.get_mut(index(buffer.0));
        let Some(freed) = place.and_then(Option::take) else {
            return Err(DeviceError::Driver {
                device: self.info.name.clone(),
                doing: "freeing a buffer",
                reason: format!("buffer {} doesn't exist", buffer.0),
            });
        };
        self.left_bytes = self.left_bytes.saturating_add(freed.bytes.len() as u64);
        self.observers.free(index(buffer.0));
        Ok(())
    }

    fn load(&mut self, kernel: &Kernel) -> Result<KernelId, DeviceError> {
        if let Some(id) = self.loaded.get(kernel) {
            return Ok(*id);
        }
        rules::check_kernel(kernel, &self.info)?;
        let subgroup_size = kernel.subgroup_size.unwrap_or(self.info.limits.subgroup_size);
        let program = lower::lower(kernel, subgroup_size)
            .map_err(|error| self.refused(&kernel.name, error))?;
        let mut bindings = kernel.bindings.clone();
        bindings.sort_unstable();
        let id = KernelId(self.kernels.len() as u64);
        self.kernels.push(Loaded {
            name: kernel.name.clone(),
            bindings,
            push_bytes: kernel.push_bytes,
            subgroup_size,
            program,
        });
        self.loaded.insert(kernel.clone(), id);
        Ok(id)
    }

    fn submit(&mut self, recording: &Recording) -> Result<Ticket, DeviceError> {
        rules::check(recording, self)?;
        let mut outcome = self.execute(recording);
        // What was seen belongs to this recording, even if it didn't come to its end.
        let seen = self.findings.take();
        if let (Err(DeviceError::Endless { what, .. }), Some(first)) = (&mut outcome, seen.first())
        {
            let (Act { file, line, .. }, message) = (&first.act, &first.message);
            what.push_str(&format!("; before that {}: {message} at {file}:{line}", first.hazard));
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.finished.insert(ticket, outcome?);
        Ok(ticket)
    }

    fn wait(&mut self, ticket: Ticket, _timeout: Duration) -> Result<Outcome, DeviceError> {
        self.finished.remove(&ticket).ok_or_else(|| self.unknown(ticket))
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, DeviceError> {
        if self.finished.contains_key(&ticket) { Ok(true) } else { Err(self.unknown(ticket)) }
    }
}

impl Soft {
    fn unknown(&self, ticket: Ticket) -> DeviceError {
        DeviceError::Driver {
            device: self.info.name.clone(),
            doing: "waiting",
            reason: format!("ticket {} is not in flight", ticket.0),
        }
    }
}

impl std::fmt::Debug for Soft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Soft").field("kernels", &self.kernels.len()).finish_non_exhaustive()
    }
}

/// Numbers of things that are in this process's memory; any other finds nothing.
fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn fill(bytes: &mut [u8], word: u32) {
    for part in bytes.chunks_exact_mut(4) {
        part.copy_from_slice(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
