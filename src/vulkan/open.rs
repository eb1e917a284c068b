//! The device behind the trait.

use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::time::Duration;

use super::cache::PipelineCache;
use super::instance::Instance;
use super::logical::Logical;
use super::memory::Memory;
use super::parts::{Parts, State};
use super::physical::{self, Physical};
use super::{Found, OpenOptions};
use crate::device::{
    BufferId, Device, DeviceError, DeviceInfo, Kernel, KernelId, Outcome, Recording, Ticket,
};

/// An opened Vulkan device.
///
/// Dropping it waits a few seconds for submissions that nobody waited for. After a time-out it
/// waits for nothing: everything that the running kernel may still touch is leaked, and only the
/// end of the process gets it back.
pub struct VulkanDevice {
    parts: ManuallyDrop<Parts>,
}

impl VulkanDevice {
    pub(super) fn open(found: &Found, options: &OpenOptions) -> Result<Self, DeviceError> {
        let instance = Instance::new(options.validate)?;
        let physical = find(&instance, found)?;
        if let Some(reason) = &physical.found.left_out {
            return Err(DeviceError::Open {
                device: physical.found.info.name.clone(),
                reason: reason.clone(),
            });
        }
        let logical = Logical::open(instance, &physical)?;
        let cache = PipelineCache::open(&logical, &physical, options.cache_dir.as_deref())?;
        let memory = Memory::new(&logical, physical.raw)?;
        let parts = Parts {
            flights: HashMap::new(),
            idle: Vec::new(),
            kernels: HashMap::new(),
            loaded: HashMap::new(),
            buffers: HashMap::new(),
            memory,
            cache,
            logical,
            set_count: physical.set_count,
            next_id: 1,
            state: State::Usable,
        };
        Ok(Self { parts: ManuallyDrop::new(parts) })
    }
}

impl std::fmt::Debug for VulkanDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VulkanDevice").field("info", self.info()).finish_non_exhaustive()
    }
}

impl Drop for VulkanDevice {
    fn drop(&mut self) {
        if !self.parts.settle() {
            return;
        }
        if self.parts.state == State::Usable {
            self.parts.cache.save();
        }
        // SAFETY: `drop` runs once and nothing uses the parts after it.
        unsafe { ManuallyDrop::drop(&mut self.parts) };
    }
}

/// The device of an earlier listing in a new instance.
fn find(instance: &Instance, wanted: &Found) -> Result<Physical, DeviceError> {
    let same = |found: &Found| {
        found.uuid == wanted.uuid
            && found.info.driver == wanted.info.driver
            && found.info.name == wanted.info.name
    };
    physical::enumerate(instance)?.into_iter().find(|physical| same(&physical.found)).ok_or_else(
        || DeviceError::Open {
            device: wanted.info.name.clone(),
            reason: "it is no longer there".into(),
        },
    )
}

impl Device for VulkanDevice {
    fn info(&self) -> &DeviceInfo {
        &self.parts.logical.info
    }

    fn allocate(&mut self, name: &str, len_bytes: u64) -> Result<BufferId, DeviceError> {
        self.parts.usable("allocating a buffer")?;
        let result = self.parts.allocate(name, len_bytes);
        self.parts.note(result)
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        self.parts.usable("freeing a buffer")?;
        self.parts.free(buffer)
    }

    fn load(&mut self, kernel: &Kernel) -> Result<KernelId, DeviceError> {
        self.parts.usable("loading a kernel")?;
        let result = self.parts.load(kernel);
        self.parts.note(result)
    }

    fn submit(&mut self, recording: &Recording) -> Result<Ticket, DeviceError> {
        self.parts.usable("submitting")?;
        let result = self.parts.submit(recording);
        self.parts.note(result)
    }

    fn wait(&mut self, ticket: Ticket, timeout: Duration) -> Result<Outcome, DeviceError> {
        self.parts.usable("waiting")?;
        let result = self.parts.wait(ticket, timeout);
        self.parts.note(result)
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, DeviceError> {
        self.parts.usable("asking for a fence")?;
        let result = self.parts.is_done(ticket);
        self.parts.note(result)
    }
}
