//! The loader, the instance and what is switched on in it.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use ash::{ext, khr, vk};

use super::messenger::{self, Messages};
use super::{Validation, loader};
use crate::device::DeviceError;

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The newest version that this module was written for. Devices may offer more.
const NEWEST_VERSION: u32 = vk::API_VERSION_1_3;

/// A Vulkan instance with everything that must go before it.
pub(super) struct Instance {
    pub(super) raw: ash::Instance,
    /// The instance's version, at most [`NEWEST_VERSION`].
    pub(super) version: u32,
    /// Whether `VK_EXT_debug_utils` is on, which gives objects their names.
    pub(super) names_objects: bool,
    pub(super) messages: Arc<Messages>,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// Keeps the loader's library mapped. Fields are dropped in order, so it goes last.
    _entry: ash::Entry,
}

impl Instance {
    pub(super) fn new(validate: Validation) -> Result<Arc<Self>, DeviceError> {
        // SAFETY: `Entry::load` maps the platform's Vulkan loader, whose initialisers have no
        // preconditions; the entry outlives every function taken from it, as a field of `Self`.
        let entry = unsafe { ash::Entry::load() }
            .map_err(|error| DeviceError::NoLoader { reason: error.to_string() })?;
        let version = instance_version(&entry)?;
        let offered = offered_extensions(&entry)?;
        let portability = offered.contains(khr::portability_enumeration::NAME);
        let names_objects = offered.contains(ext::debug_utils::NAME);
        if validate == Validation::On {
            require_layer(&entry)?;
        }

        let mut extensions = Vec::new();
        let mut flags = vk::InstanceCreateFlags::empty();
        if portability {
            extensions.push(khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        // The layer brings the extension itself where the loader is too old to offer it.
        if names_objects || validate == Validation::On {
            extensions.push(ext::debug_utils::NAME.as_ptr());
        }
        let layers = match validate {
            Validation::On => vec![VALIDATION_LAYER.as_ptr()],
            Validation::Off => Vec::new(),
        };
        let application = vk::ApplicationInfo::default()
            .application_name(c"vklab")
            .engine_name(c"vklab")
            .api_version(version);
        let create = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .flags(flags)
            .enabled_extension_names(&extensions)
            .enabled_layer_names(&layers);
        let created = {
            let _lists = loader::changing();
            // SAFETY: extensions and layers were offered by this loader
            // (VUID-vkCreateInstance-ppEnabledExtensionNames-01388) and the flag is set only with
            // its extension (VUID-VkInstanceCreateInfo-flags-06559).
            unsafe { entry.create_instance(&create, None) }
        };
        let raw = created.map_err(|error| match error {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => DeviceError::NoDriver,
            other => failed("creating an instance", other),
        })?;

        let mut instance = Self {
            raw,
            version,
            names_objects: names_objects || validate == Validation::On,
            messages: Arc::new(Messages::default()),
            messenger: None,
            _entry: entry,
        };
        if validate == Validation::On {
            instance.listen()?;
        }
        Ok(Arc::new(instance))
    }

    fn listen(&mut self) -> Result<(), DeviceError> {
        let functions = ext::debug_utils::Instance::new(&self._entry, &self.raw);
        let create = messenger::create_info(&self.messages);
        // SAFETY: VK_EXT_debug_utils is enabled; the callback's user data is behind an Arc that
        // `self` holds until the messenger is destroyed in `drop`.
        let messenger = unsafe { functions.create_debug_utils_messenger(&create, None) }
            .map_err(|error| failed("creating the validation messenger", error))?;
        self.messenger = Some((functions, messenger));
        Ok(())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some((functions, messenger)) = self.messenger.take() {
            // SAFETY: the messenger was made from this instance and no other Vulkan call runs on
            // it now, since every child holds an Arc of `self`
            // (VUID-vkDestroyDebugUtilsMessengerEXT-messenger-parent).
            unsafe { functions.destroy_debug_utils_messenger(messenger, None) };
        }
        let _lists = loader::changing();
        // SAFETY: every child object holds an Arc of `self`, so none is left
        // (VUID-vkDestroyInstance-instance-00629).
        unsafe { self.raw.destroy_instance(None) };
    }
}

fn instance_version(entry: &ash::Entry) -> Result<u32, DeviceError> {
    // SAFETY: vkEnumerateInstanceVersion has no preconditions.
    let version = unsafe { entry.try_enumerate_instance_version() }
        .map_err(|error| failed("asking the loader for its version", error))?
        .unwrap_or(vk::API_VERSION_1_0);
    if version < vk::API_VERSION_1_1 {
        return Err(DeviceError::NoLoader {
            reason: "the one that is here speaks Vulkan 1.0 only".into(),
        });
    }
    Ok(version.min(NEWEST_VERSION))
}

fn offered_extensions(entry: &ash::Entry) -> Result<BTreeSet<CString>, DeviceError> {
    // SAFETY: without a layer name the call has no preconditions
    // (VUID-vkEnumerateInstanceExtensionProperties-pLayerName-parameter).
    let offered = unsafe { entry.enumerate_instance_extension_properties(None) }
        .map_err(|error| failed("listing instance extensions", error))?;
    Ok(extension_names(&offered))
}

fn require_layer(entry: &ash::Entry) -> Result<(), DeviceError> {
    // SAFETY: vkEnumerateInstanceLayerProperties has no preconditions.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }
        .map_err(|error| failed("listing layers", error))?;
    if layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER)) {
        return Ok(());
    }
    Err(DeviceError::Unsupported {
        device: "Vulkan loader".into(),
        what: "the Khronos validation layer is not installed; it is in vulkan-validationlayers \
               (Debian, Ubuntu), vulkan-validation-layers (Fedora, Arch) or the Vulkan SDK"
            .into(),
    })
}

/// The names among extension properties.
pub(super) fn extension_names(offered: &[vk::ExtensionProperties]) -> BTreeSet<CString> {
    offered
        .iter()
        .filter_map(|extension| extension.extension_name_as_c_str().ok())
        .map(CStr::to_owned)
        .collect()
}

/// An instance-level failure, before there is a device to name.
pub(super) fn failed(doing: &'static str, error: vk::Result) -> DeviceError {
    DeviceError::Driver { device: "Vulkan loader".into(), doing, reason: error.to_string() }
}
