//! Buffers and the memory behind them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, MemoryLocation};

use super::logical::Logical;
use crate::device::DeviceError;

const MIB: u64 = 1 << 20;

/// The device's memory, handed out in pieces of larger blocks.
pub(super) struct Memory {
    /// Goes before its parent, since fields are dropped in order.
    allocator: Mutex<Allocator>,
    /// All heaps together. Drivers that run on the CPU promise memory beyond it and crash when it
    /// is used, so that the limit is kept here.
    heap_bytes: u64,
    live_bytes: AtomicU64,
    logical: Arc<Logical>,
}

impl Memory {
    pub(super) fn new(
        logical: &Arc<Logical>,
        physical: vk::PhysicalDevice,
    ) -> Result<Arc<Self>, DeviceError> {
        // Blocks start small because a lab opens many devices in many processes, and double
        // because a real device allows only some thousands of them.
        let sizes = AllocationSizes::new(16 * MIB, 4 * MIB)
            .with_max_device_memblock_size(256 * MIB)
            .with_max_host_memblock_size(64 * MIB);
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: logical.instance.raw.clone(),
            device: logical.raw.clone(),
            physical_device: physical,
            debug_settings: gpu_allocator::AllocatorDebugSettings::default(),
            buffer_device_address: false,
            allocation_sizes: sizes,
        })
        .map_err(|error| logical.refused("setting up memory", error.to_string()))?;
        // SAFETY: the device was enumerated from this instance.
        let heaps = unsafe { logical.instance.raw.get_physical_device_memory_properties(physical) };
        let heap_bytes = heaps.memory_heaps_as_slice().iter().map(|heap| heap.size).sum();
        Ok(Arc::new(Self {
            allocator: Mutex::new(allocator),
            heap_bytes,
            live_bytes: AtomicU64::new(0),
            logical: Arc::clone(logical),
        }))
    }

    /// A buffer of `len_bytes`, which is positive and within the device's limits.
    pub(super) fn buffer(
        self: &Arc<Self>,
        name: &str,
        len_bytes: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Buffer, DeviceError> {
        let logical = &self.logical;
        if self.live_bytes.load(Ordering::Relaxed).saturating_add(len_bytes) > self.heap_bytes {
            return Err(self.failed(name, len_bytes, &AllocationError::OutOfMemory));
        }
        let create = vk::BufferCreateInfo::default()
            .size(len_bytes)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: the size is positive (VUID-VkBufferCreateInfo-size-00912) and within
        // maxBufferSize (VUID-VkBufferCreateInfo-size-06409), which the caller checked.
        let raw = unsafe { logical.raw.create_buffer(&create, None) }
            .map_err(|error| logical.failed_for("creating a buffer", name, len_bytes, error))?;
        logical.name(raw, name);
        self.live_bytes.fetch_add(len_bytes, Ordering::Relaxed);
        let mut buffer = Buffer { raw, len_bytes, allocation: None, memory: Arc::clone(self) };
        // SAFETY: the buffer comes from this device
        // (VUID-vkGetBufferMemoryRequirements-buffer-parent).
        let requirements = unsafe { logical.raw.get_buffer_memory_requirements(raw) };
        let allocation = self
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .allocate(&AllocationCreateDesc {
                name,
                requirements,
                location,
                linear: true,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(|error| self.failed(name, len_bytes, &error))?;
        let allocation = buffer.allocation.insert(allocation);
        // SAFETY: the memory is alive as long as the allocation, which the buffer owns.
        let memory = unsafe { allocation.memory() };
        // SAFETY: the buffer is not bound yet (VUID-vkBindBufferMemory-buffer-07459); offset,
        // size and memory type follow its own requirements (VUID-vkBindBufferMemory-memory-01035,
        // -memoryOffset-01036, -size-01037).
        unsafe { logical.raw.bind_buffer_memory(raw, memory, allocation.offset()) }
            .map_err(|error| logical.failed_for("binding memory", name, len_bytes, error))?;
        Ok(buffer)
    }

    fn failed(&self, name: &str, bytes: u64, error: &AllocationError) -> DeviceError {
        match error {
            AllocationError::OutOfMemory => DeviceError::OutOfMemory {
                device: self.logical.info.name.clone(),
                what: format!("buffer '{name}'"),
                bytes,
            },
            other => self.logical.refused("allocating memory", other.to_string()),
        }
    }
}

/// A buffer with its memory.
pub(super) struct Buffer {
    pub(super) raw: vk::Buffer,
    pub(super) len_bytes: u64,
    allocation: Option<Allocation>,
    memory: Arc<Memory>,
}

impl Buffer {
    /// The host's view of a staging or readback buffer.
    pub(super) fn mapped(&self) -> Result<&[u8], DeviceError> {
        self.allocation.as_ref().and_then(Allocation::mapped_slice).ok_or_else(|| {
            self.memory.logical.refused("reading memory", "the driver didn't map it")
        })
    }

    /// The same for writing.
    pub(super) fn mapped_mut(&mut self) -> Result<&mut [u8], DeviceError> {
        let logical = &self.memory.logical;
        self.allocation
            .as_mut()
            .and_then(Allocation::mapped_slice_mut)
            .ok_or_else(|| logical.refused("writing memory", "the driver didn't map it"))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: `self` owns the buffer, its parent is alive, and no unfinished submission uses
        // it: `free` refuses such buffers and slots keep theirs until the fence
        // (VUID-vkDestroyBuffer-buffer-00922).
        unsafe { self.memory.logical.raw.destroy_buffer(self.raw, None) };
        self.memory.live_bytes.fetch_sub(self.len_bytes, Ordering::Relaxed);
        if let Some(allocation) = self.allocation.take() {
            let mut allocator =
                self.memory.allocator.lock().unwrap_or_else(PoisonError::into_inner);
            // The allocation came from this allocator and goes back once; its only error is
            // about one that did not.
            drop(allocator.free(allocation));
        }
    }
}
