//! Vulkan devices: every physical device of every driver, behind [`crate::device::Device`].
//!
//! The files stand on one another in this order: `loader` (what it shares), `instance` with `messenger` (loader, layers,
//! messages), `physical` with `features` (what is there and what it can do), `logical` (the opened
//! device, parent of every handle), `handle` and `memory` (owners of handles), `pipeline` and
//! `cache` (kernels), `rules` (what a recording must satisfy), `slot` (resources that submissions
//! reuse), `descriptors` and `encode` (a recording as command buffers), `flight` with `clock` (from
//! submission to outcome), `parts` and `open` (the trait's implementation).
//!
//! This is the only module of the crate with `unsafe` code. Each block names the rule of the
//! Vulkan specification that it relies on. No handle leaves the module. Every owner of a handle
//! holds an `Arc` of its parent, so that the order of destruction is a fact of types.

mod cache;
mod clock;
mod descriptors;
mod encode;
mod features;
mod flight;
mod handle;
mod instance;
mod loader;
mod logical;
mod memory;
mod messenger;
mod open;
mod parts;
mod physical;
mod pipeline;
mod rules;
mod slot;

use std::path::PathBuf;

use crate::device::{DeviceError, DeviceInfo};

pub use open::VulkanDevice;

/// Whether the Khronos validation layer watches the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// No layer.
    #[default]
    Off,
    /// `VK_LAYER_KHRONOS_validation`; its warnings and errors come back in
    /// [`crate::device::Outcome::messages`].
    On,
}

/// How to open a device.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The validation layer.
    pub validate: Validation,
    /// Folder in which compiled pipelines are kept between runs, below `pipelines/`. `None`
    /// keeps nothing.
    pub cache_dir: Option<PathBuf>,
}

/// A physical device under one driver.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its place in the order in which the loader lists devices.
    pub index: usize,
    /// Who it is and what it can do. Devices of the same name are told apart by `#2`, `#3`.
    pub info: DeviceInfo,
    /// Why it can't run kernels; `None` when it can.
    pub left_out: Option<String>,
    /// The driver's identity of the device, the same in every process; zeros below Vulkan 1.1.
    pub uuid: [u8; 16],
}

/// Lists every physical device of every driver, those that can't be used included.
///
/// # Errors
/// [`DeviceError::NoLoader`], [`DeviceError::NoDriver`], or the loader's own failure.
pub fn enumerate() -> Result<Vec<Found>, DeviceError> {
    let instance = instance::Instance::new(Validation::Off)?;
    let devices = physical::enumerate(&instance)?;
    Ok(devices.into_iter().map(|device| device.found).collect())
}

/// Opens a device that [`enumerate`] found.
///
/// # Errors
/// A device that is left out or no longer there, the driver's refusal, a missing validation
/// layer.
pub fn open(found: &Found, options: &OpenOptions) -> Result<VulkanDevice, DeviceError> {
    VulkanDevice::open(found, options)
}
