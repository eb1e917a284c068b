//! The opened device: parent of every handle, and the place where the driver's answers become
//! errors that name it.

use std::ffi::CString;
use std::sync::Arc;

use ash::{ext, vk};

use super::instance::Instance;
use super::loader;
use super::physical::Physical;
use crate::device::{DeviceError, DeviceInfo};

/// A logical device with its one queue.
pub(super) struct Logical {
    pub(super) raw: ash::Device,
    pub(super) queue: vk::Queue,
    pub(super) queue_family: u32,
    pub(super) info: DeviceInfo,
    names: Option<ext::debug_utils::Device>,
    pub(super) instance: Arc<Instance>,
}

impl Logical {
    pub(super) fn open(
        instance: Arc<Instance>,
        physical: &Physical,
    ) -> Result<Arc<Self>, DeviceError> {
        let info = physical.found.info.clone();
        let enabled = physical.offer.to_enable(&info.features);
        let extensions: Vec<_> = enabled.iter().map(|name| name.as_ptr()).collect();
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(physical.queue_family)
            .queue_priorities(&[1.0])];
        let raw = physical.chain.enable(&physical.offer, |features| {
            let create = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .push_next(features);
            let _lists = loader::changing();
            // SAFETY: the device was enumerated from this instance; the family exists
            // (VUID-VkDeviceQueueCreateInfo-queueFamilyIndex-00381); every extension and feature
            // was offered by it (VUID-vkCreateDevice-ppEnabledExtensionNames-01387).
            unsafe { instance.raw.create_device(physical.raw, &create, None) }
        });
        let raw = raw.map_err(|error| DeviceError::Open {
            device: info.name.clone(),
            reason: error.to_string(),
        })?;
        // SAFETY: the family was given to the device with one queue
        // (VUID-vkGetDeviceQueue-queueIndex-00385).
        let queue = unsafe { raw.get_device_queue(physical.queue_family, 0) };
        let names =
            instance.names_objects.then(|| ext::debug_utils::Device::new(&instance.raw, &raw));
        let queue_family = physical.queue_family;
        Ok(Arc::new(Self { raw, queue, queue_family, info, names, instance }))
    }

    /// Gives an object the name under which layers and capture tools show it.
    pub(super) fn name<H: vk::Handle>(&self, object: H, name: &str) {
        let Some(functions) = &self.names else { return };
        let Ok(name) = CString::new(name.replace('\0', " ")) else {
            return;
        };
        let info =
            vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(&name);
        let _lists = loader::walking();
        // SAFETY: the object was just made from this device and nobody else has it yet
        // (VUID-vkSetDebugUtilsObjectNameEXT-pNameInfo-02588).
        // Out of memory for a name costs the name and nothing else.
        let _ = unsafe { functions.set_debug_utils_object_name(&info) };
    }

    /// The driver's answer as an error of this device.
    pub(super) fn failed(&self, doing: &'static str, error: vk::Result) -> DeviceError {
        self.failed_for(doing, doing, 0, error)
    }

    /// The same where it is known how much memory was asked for and what for.
    pub(super) fn failed_for(
        &self,
        doing: &'static str,
        what: &str,
        bytes: u64,
        error: vk::Result,
    ) -> DeviceError {
        let device = self.info.name.clone();
        match error {
            vk::Result::ERROR_DEVICE_LOST => DeviceError::Lost { device, doing },
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
            | vk::Result::ERROR_OUT_OF_HOST_MEMORY
            | vk::Result::ERROR_OUT_OF_POOL_MEMORY
            | vk::Result::ERROR_FRAGMENTATION => {
                DeviceError::OutOfMemory { device, what: what.into(), bytes }
            }
            other => DeviceError::Driver { device, doing, reason: other.to_string() },
        }
    }

    pub(super) fn refused(&self, doing: &'static str, reason: impl Into<String>) -> DeviceError {
        DeviceError::Driver { device: self.info.name.clone(), doing, reason: reason.into() }
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> DeviceError {
        DeviceError::Unsupported { device: self.info.name.clone(), what: what.into() }
    }
}

impl Drop for Logical {
    fn drop(&mut self) {
        let _lists = loader::changing();
        // SAFETY: every child object holds an Arc of `self`, so none is left
        // (VUID-vkDestroyDevice-device-00378), and the owner has seen every submission finish or
        // the device lost.
        unsafe { self.raw.destroy_device(None) };
    }
}
