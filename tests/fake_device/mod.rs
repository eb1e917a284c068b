//! A device on byte vectors whose kernels are Rust closures.
//!
//! It executes a submission when it is waited for, so that everything the host does before the
//! fence is seen by it, and it is stricter than a driver: a missing barrier between commands that
//! touch the same bytes, a release of a buffer in flight, or an unknown buffer is an error.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::Duration;

use vklab::device::{
    Binding, BufferId, Command, Device, DeviceError, DeviceInfo, Features, Kernel, KernelId,
    Limits, Outcome, Recording, Ticket,
};

/// What a kernel does to its bound ranges, in the order of the bindings.
pub(crate) type Body = Box<dyn Fn(&mut [Vec<u8>])>;

/// How the device dies when it is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    Hang,
    Loss,
}

/// The subgroup sizes that loaded kernels required, for whoever keeps a clone.
pub(crate) type Sizes = Rc<RefCell<Vec<Option<u32>>>>;

/// What the device was given, for whoever keeps a clone.
pub(crate) type Log = Rc<RefCell<Vec<Recording>>>;

pub(crate) struct FakeDevice {
    info: DeviceInfo,
    buffers: HashMap<BufferId, Vec<u8>>,
    names: Vec<String>,
    bodies: HashMap<String, Body>,
    pending: BTreeMap<u64, Recording>,
    done: HashMap<u64, Outcome>,
    next: u64,
    memory_bytes: usize,
    death: Option<Death>,
    ignores_offsets: bool,
    log: Log,
    sizes: Sizes,
}

impl FakeDevice {
    pub(crate) fn new() -> Self {
        Self {
            info: info(),
            buffers: HashMap::new(),
            names: Vec::new(),
            bodies: HashMap::new(),
            pending: BTreeMap::new(),
            done: HashMap::new(),
            next: 0,
            memory_bytes: usize::MAX,
            death: None,
            ignores_offsets: false,
            log: Log::default(),
            sizes: Sizes::default(),
        }
    }

    pub(crate) fn with_kernel(
        mut self,
        name: impl Into<String>,
        body: impl Fn(&mut [Vec<u8>]) + 'static,
    ) -> Self {
        self.bodies.insert(name.into(), Box::new(body));
        self
    }

    pub(crate) fn with_memory(mut self, bytes: usize) -> Self {
        self.memory_bytes = bytes;
        self
    }

    pub(crate) fn dying(mut self, death: Death) -> Self {
        self.death = Some(death);
        self
    }

    pub(crate) fn logging(mut self, log: &Log) -> Self {
        self.log = Rc::clone(log);
        self
    }

    /// A driver that lets kernels require these subgroup sizes, and runs at the smallest by itself.
    /// At a size, a kernel `name@size` takes the place of `name`.
    pub(crate) fn with_subgroup_sizes(mut self, min: u32, max: u32, sizes: &Sizes) -> Self {
        self.info.features.subgroup_size_control = true;
        let limits = &mut self.info.limits;
        (limits.subgroup_size, limits.subgroup_size_min, limits.subgroup_size_max) =
            (min, min, max);
        self.sizes = Rc::clone(sizes);
        self
    }

    /// A driver that forgets the offset of a binding.
    pub(crate) fn ignoring_offsets(mut self) -> Self {
        self.ignores_offsets = true;
        self
    }

    fn start_of(&self, binding: &Binding) -> usize {
        if self.ignores_offsets { 0 } else { size(binding.extent.offset_bytes) }
    }

    fn malformed(&self, what: &str) -> DeviceError {
        DeviceError::Malformed { device: self.info.name.clone(), what: what.to_owned() }
    }

    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn part(&mut self, buffer: BufferId, offset: u64, len: u64) -> Result<&mut [u8], DeviceError> {
        let unknown = self.malformed("a buffer or range that isn't there");
        if !offset.is_multiple_of(4) || !len.is_multiple_of(4) || len == 0 {
            return Err(self.malformed("an offset or size that is no positive multiple of 4"));
        }
        let (start, end) = (size(offset), size(offset + len));
        self.buffers.get_mut(&buffer).and_then(|bytes| bytes.get_mut(start..end)).ok_or(unknown)
    }

    fn execute(&mut self, recording: &Recording) -> Result<Outcome, DeviceError> {
        let mut outcome = Outcome::default();
        let mut written: Vec<(BufferId, u64, u64)> = Vec::new();
        for command in &recording.commands {
            for (buffer, start, end) in touched(command) {
                let racing =
                    |(b, s, e): &(BufferId, u64, u64)| *b == buffer && *s < end && start < *e;
                if written.iter().any(racing) {
                    return Err(self.malformed(&format!("no barrier before {command:?}")));
                }
            }
            match command {
                Command::Barrier => written.clear(),
                Command::Download { .. } => {}
                writes => written.extend(touched(writes)),
            }
            match command {
                Command::Upload { buffer, offset_bytes, data } => {
                    self.part(*buffer, *offset_bytes, data.len() as u64)?.copy_from_slice(data);
                }
                Command::Fill { buffer, offset_bytes, len_bytes, word }
                | Command::Undefine { buffer, offset_bytes, len_bytes, pattern: word } => self
                    .part(*buffer, *offset_bytes, *len_bytes)?
                    .chunks_exact_mut(4)
                    .for_each(|chunk| chunk.copy_from_slice(&word.to_le_bytes())),
                Command::Download { buffer, offset_bytes, len_bytes } => {
                    let bytes = self.part(*buffer, *offset_bytes, *len_bytes)?.to_vec();
                    outcome.downloads.push(bytes);
                }
                Command::Dispatch { .. } => self.dispatch(command)?,
                Command::Timestamp => outcome.timestamps_ns.push(0.0),
                Command::Barrier | Command::Retire { .. } => {}
            }
        }
        Ok(outcome)
    }

    fn dispatch(&mut self, command: &Command) -> Result<(), DeviceError> {
        let Command::Dispatch { kernel, bindings, .. } = command else {
            return Ok(());
        };
        let mut ranges = Vec::new();
        for binding in bindings {
            let start = self.start_of(binding);
            let end = start + size(binding.extent.range_bytes);
            let bytes = self.buffers.get(&binding.buffer);
            match bytes.and_then(|bytes| bytes.get(start..end)) {
                Some(range) => ranges.push(range.to_vec()),
                None => return Err(self.malformed("a binding outside of its buffer")),
            }
        }
        match self.bodies.get(self.names[size(kernel.0)].as_str()) {
            Some(body) => body(&mut ranges),
            None => return Err(self.malformed("a kernel without a body")),
        }
        for (binding, range) in bindings.iter().zip(ranges) {
            let start = self.start_of(binding);
            if let Some(bytes) = self.buffers.get_mut(&binding.buffer) {
                bytes[start..start + range.len()].copy_from_slice(&range);
            }
        }
        Ok(())
    }
}

impl Device for FakeDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&mut self, name: &str, len_bytes: u64) -> Result<BufferId, DeviceError> {
        let used: usize = self.buffers.values().map(Vec::len).sum();
        if used.saturating_add(size(len_bytes)) > self.memory_bytes {
            return Err(DeviceError::OutOfMemory {
                device: self.info.name.clone(),
                what: name.to_owned(),
                bytes: len_bytes,
            });
        }
        let buffer = BufferId(self.next());
        self.buffers.insert(buffer, vec![0xCD; size(len_bytes)]);
        Ok(buffer)
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        if self.pending.values().any(|r| r.buffers().contains(&buffer)) {
            return Err(self.malformed("released in flight"));
        }
        match self.buffers.remove(&buffer) {
            Some(_) => Ok(()),
            None => Err(self.malformed("released twice")),
        }
    }

    fn load(&mut self, kernel: &Kernel) -> Result<KernelId, DeviceError> {
        self.sizes.borrow_mut().push(kernel.subgroup_size);
        let own = kernel.subgroup_size.map(|size| format!("{}@{size}", kernel.name));
        let own = own.filter(|name| self.bodies.contains_key(name));
        self.names.push(own.unwrap_or_else(|| kernel.name.clone()));
        Ok(KernelId(self.names.len() as u64 - 1))
    }

    fn submit(&mut self, recording: &Recording) -> Result<Ticket, DeviceError> {
        let ticket = self.next();
        self.log.borrow_mut().push(recording.clone());
        self.pending.insert(ticket, recording.clone());
        Ok(Ticket(ticket))
    }

    fn wait(&mut self, ticket: Ticket, timeout: Duration) -> Result<Outcome, DeviceError> {
        let device = self.info.name.clone();
        match self.death {
            Some(Death::Hang) => return Err(DeviceError::Timeout { device, timeout }),
            Some(Death::Loss) => {
                return Err(DeviceError::Lost { device, doing: "waiting" });
            }
            None => {}
        }
        let later = self.pending.split_off(&(ticket.0 + 1));
        for (number, recording) in std::mem::replace(&mut self.pending, later) {
            let outcome = self.execute(&recording)?;
            self.done.insert(number, outcome);
        }
        self.done.remove(&ticket.0).ok_or_else(|| self.malformed("an unknown ticket"))
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, DeviceError> {
        Ok(self.done.contains_key(&ticket.0))
    }
}

/// Bytes that a command reads or writes.
fn touched(command: &Command) -> Vec<(BufferId, u64, u64)> {
    match command {
        Command::Upload { buffer, offset_bytes, data } => {
            vec![(*buffer, *offset_bytes, offset_bytes + data.len() as u64)]
        }
        Command::Fill { buffer, offset_bytes, len_bytes, .. }
        | Command::Undefine { buffer, offset_bytes, len_bytes, .. }
        | Command::Download { buffer, offset_bytes, len_bytes } => {
            vec![(*buffer, *offset_bytes, offset_bytes + len_bytes)]
        }
        Command::Dispatch { bindings, .. } => {
            bindings.iter().map(|binding| (binding.buffer, 0, u64::MAX)).collect()
        }
        Command::Barrier | Command::Retire { .. } | Command::Timestamp => Vec::new(),
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).expect("a size of this machine")
}

fn info() -> DeviceInfo {
    DeviceInfo {
        name: "fake".to_owned(),
        driver: "closures".to_owned(),
        driver_version: "1".to_owned(),
        api_version: "1.1.0".to_owned(),
        kind: "other".to_owned(),
        vendor_id: 0,
        device_id: 0,
        limits: Limits {
            storage_range_bytes: 1 << 16,
            storage_offset_alignment: 64,
            allocation_bytes: 1 << 20,
            timestamp_period_ns: 1.0,
            timestamp_bits: 64,
            ..Limits::REQUIRED
        },
        features: Features::default(),
    }
}

/// A kernel for [`FakeDevice`], which only looks at the name.
pub(crate) fn kernel(name: &str) -> Kernel {
    Kernel {
        name: name.to_owned(),
        optimized: Vec::new(),
        debug: Vec::new(),
        entry: "main".to_owned(),
        bindings: Vec::new(),
        push_bytes: 0,
        spec: Vec::new(),
        subgroup_size: None,
        capabilities: Vec::new(),
    }
}
