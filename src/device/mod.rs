//! The seam between the lab and whatever executes kernels.
//!
//! A [`Recording`] is plain data. A [`Device`] runs it. Everything above this module (the ledger,
//! the checks) speaks to the trait; everything below (Vulkan, the interpreter) implements it.

mod cost;
mod error;
mod info;
mod observation;
mod recording;
pub(crate) mod rules;

pub use cost::LineCost;
pub use error::DeviceError;
pub use info::{DeviceInfo, Features, Limits};
pub use observation::{Act, Hazard, Observation};
pub use recording::{Binding, BufferId, Command, Extent, Kernel, KernelId, Recording, SpecValue};

use std::time::Duration;

/// What a finished recording brought back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One entry per [`Command::Download`], in recorded order.
    pub downloads: Vec<Vec<u8>>,
    /// One entry per [`Command::Timestamp`], in nanoseconds since an arbitrary origin; empty where
    /// the queue has no timestamps.
    pub timestamps_ns: Vec<f64>,
    /// Messages of the validation layer, empty unless the device was opened with it.
    pub messages: Vec<String>,
    /// What the kernels were seen to do; empty on a device that doesn't watch.
    pub observations: Vec<Observation>,
    /// What source lines cost, by file and line; empty on a device that doesn't count.
    pub costs: Vec<LineCost>,
}

/// A submission in flight. It must be waited for before another is made from the same recording's
/// buffers; the ledger sees to that.
#[derive(Debug, PartialEq, Eq, Clone, Copy, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Something that executes recordings.
///
/// Buffers and kernels belong to the device and are named by ids that it never reuses.
pub trait Device {
    /// Name, driver, limits and features, all queried.
    fn info(&self) -> &DeviceInfo;

    /// Creates a storage buffer of `len_bytes` (a positive multiple of 4) whose contents are
    /// undefined. `name` reaches the driver's debug tools.
    ///
    /// # Errors
    /// Out of memory, or a size above the device's limits.
    fn allocate(&mut self, name: &str, len_bytes: u64) -> Result<BufferId, DeviceError>;

    /// Releases a buffer. No submission that names it may be in flight.
    ///
    /// # Errors
    /// A buffer that this device doesn't have.
    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError>;

    /// Builds a kernel with its specialization constants.
    ///
    /// # Errors
    /// The driver's refusal, or what the kernel needs and the device lacks.
    fn load(&mut self, kernel: &Kernel) -> Result<KernelId, DeviceError>;

    /// Submits a recording. Its uploads are copied before this returns.
    ///
    /// # Errors
    /// A malformed recording, device lost, out of memory.
    fn submit(&mut self, recording: &Recording) -> Result<Ticket, DeviceError>;

    /// Waits for a submission and takes its results.
    ///
    /// # Errors
    /// Time-out (the device is unusable afterwards), device lost, an unknown ticket.
    fn wait(&mut self, ticket: Ticket, timeout: Duration) -> Result<Outcome, DeviceError>;

    /// Whether the submission has finished, without waiting.
    ///
    /// # Errors
    /// Device lost, an unknown ticket.
    fn is_done(&mut self, ticket: Ticket) -> Result<bool, DeviceError>;
}
