//! What a recording can name here, for the rules that hold on every device.

use std::collections::HashMap;

use super::memory::Buffer;
use super::pipeline::Pipeline;
use crate::device::rules::{self, Face};
use crate::device::{BufferId, DeviceInfo, KernelId};

pub(super) use crate::device::rules::{Needs, check};

/// What a recording can name.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) device: &'a DeviceInfo,
    pub(super) buffers: &'a HashMap<BufferId, Buffer>,
    pub(super) kernels: &'a HashMap<KernelId, Pipeline>,
}

impl rules::Known for Known<'_> {
    fn info(&self) -> &DeviceInfo {
        self.device
    }

    fn buffer_bytes(&self, buffer: BufferId) -> Option<u64> {
        self.buffers.get(&buffer).map(|buffer| buffer.len_bytes)
    }

    fn face(&self, kernel: KernelId) -> Option<Face<'_>> {
        let Pipeline { name, bindings, push_bytes, .. } = self.kernels.get(&kernel)?;
        Some(Face { name, bindings, push_bytes: *push_bytes })
    }
}
