//! The recorded commands: serialisable, so the same bytes serve a worker, a reproduction or a
//! bisection.

use serde::{Deserialize, Serialize};

/// A buffer as the device knows it. Devices count upwards and never reuse an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BufferId(pub u64);

/// A kernel as the device knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KernelId(pub u64);

/// A specialization constant: its id and the 32 bits of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpecValue {
    /// `constant_id` in GLSL.
    pub id: u32,
    /// Booleans are 0 or 1; floats are their bit pattern.
    pub bits: u32,
}

/// A kernel with everything that a pipeline needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kernel {
    /// For error messages and debug tools.
    pub name: String,
    /// The optimised SPIR-V module, which drivers get.
    pub optimized: Vec<u32>,
    /// The unoptimised module with names and lines, which the interpreter gets.
    pub debug: Vec<u32>,
    /// Entry point.
    pub entry: String,
    /// (set, binding) of every buffer the kernel declares, ascending; its module says which are
    /// uniform ones. An array of descriptors is listed once for each element.
    pub bindings: Vec<(u32, u32)>,
    /// Size of the push constant block, 0 for none, a multiple of 4.
    pub push_bytes: u32,
    /// Values that replace the module's defaults.
    pub spec: Vec<SpecValue>,
    /// The subgroup size that it must run at; the driver's choice if there is none.
    #[serde(default)]
    pub subgroup_size: Option<u32>,
    /// Required capabilities by their SPIR-V names, checked against the device's features.
    pub capabilities: Vec<String>,
}

/// Which part of a buffer a binding shows to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Extent {
    /// First byte, a multiple of the device's storage buffer offset alignment.
    pub offset_bytes: u64,
    /// Bound range in bytes, guards included.
    pub range_bytes: u64,
    /// How many of these bytes are data. Vulkan ignores it; an interpreter stops there.
    pub logical_bytes: u64,
}

/// One buffer of a dispatch. Of an array of descriptors each element is a binding of its own, in
/// their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding within the set.
    pub binding: u32,
    /// The buffer.
    pub buffer: BufferId,
    /// The part of it that the kernel sees.
    pub extent: Extent,
}

impl Binding {
    /// Which element of an array of descriptors it is, given the bindings before it: 0 where there
    /// is no array.
    #[must_use]
    pub fn element_in(&self, before: &[Self]) -> u32 {
        let same = before.iter().filter(|b| (b.set, b.binding) == (self.set, self.binding));
        u32::try_from(same.count()).unwrap_or(u32::MAX)
    }
}

/// One recorded command. Offsets and sizes in bytes are multiples of 4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Copies host bytes into a buffer.
    Upload {
        /// Destination.
        buffer: BufferId,
        /// First byte written.
        offset_bytes: u64,
        /// The bytes; a multiple of 4.
        data: Vec<u8>,
    },
    /// Writes one 32-bit word over a part of a buffer.
    Fill {
        /// Destination.
        buffer: BufferId,
        /// First byte written.
        offset_bytes: u64,
        /// Number of bytes.
        len_bytes: u64,
        /// The word.
        word: u32,
    },
    /// Declares a part of a buffer unwritten. Vulkan fills it with the pattern; an interpreter
    /// marks it as written by nobody.
    Undefine {
        /// Destination.
        buffer: BufferId,
        /// First byte.
        offset_bytes: u64,
        /// Number of bytes.
        len_bytes: u64,
        /// What a driver that has to store something stores.
        pattern: u32,
    },
    /// Runs a kernel.
    Dispatch {
        /// What to run.
        kernel: KernelId,
        /// Its buffers; every descriptor that the kernel declares, each once.
        bindings: Vec<Binding>,
        /// The push constant block.
        push: Vec<u8>,
        /// Workgroups along x, y, z. A zero is an error: plans leave such dispatches out.
        groups: [u32; 3],
    },
    /// Makes all earlier shader and transfer writes visible to all later commands.
    Barrier,
    /// Copies a part of a buffer back to the host.
    Download {
        /// Source.
        buffer: BufferId,
        /// First byte read.
        offset_bytes: u64,
        /// Number of bytes.
        len_bytes: u64,
    },
    /// Says that nobody uses the buffer after this point; the ledger checks it.
    Retire {
        /// The buffer.
        buffer: BufferId,
    },
    /// Takes the device's clock after everything recorded before it has finished.
    Timestamp,
}

/// A list of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// In the order of execution; only barriers order their effects.
    pub commands: Vec<Command>,
    /// Chooses among the orders in which workgroups, subgroups and the arms of a branch may run,
    /// where the device has a choice. 0 is the plain one.
    #[serde(default)]
    pub schedule: u64,
}

impl Recording {
    /// Buffers that the recording names, each once, ascending.
    #[must_use]
    pub fn buffers(&self) -> Vec<BufferId> {
        let mut found = Vec::new();
        for command in &self.commands {
            match command {
                Command::Upload { buffer, .. }
                | Command::Fill { buffer, .. }
                | Command::Undefine { buffer, .. }
                | Command::Download { buffer, .. }
                | Command::Retire { buffer } => found.push(*buffer),
                Command::Dispatch { bindings, .. } => {
                    found.extend(bindings.iter().map(|b| b.buffer));
                }
                Command::Barrier | Command::Timestamp => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
