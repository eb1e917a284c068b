//! The validation layer's messages, collected until somebody asks.

use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

use ash::vk;

/// Warnings and errors in the order in which they came. Drivers may report from any thread.
#[derive(Debug, Default)]
pub(super) struct Messages(Mutex<Vec<String>>);

impl Messages {
    fn push(&self, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }

    /// Takes everything collected so far.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the messenger asks for. `messages` must outlive the messenger.
pub(super) fn create_info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(
            vk::DebugUtilsMessageSeverityFlagsEXT::WARNING
                | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
        )
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(on_message))
        .user_data(std::ptr::from_ref(messages).cast_mut().cast())
}

/// # Safety
/// `user_data` is the `Messages` that [`create_info`] was given, alive as long as the messenger.
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user_data: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the instance that owns the messenger keeps the `Messages` behind its user data
    // alive, and PFN_vkDebugUtilsMessengerCallbackEXT receives that pointer unchanged.
    let messages = unsafe { user_data.cast::<Messages>().as_ref() };
    // SAFETY: pCallbackData points to a valid structure for the duration of the callback
    // (PFN_vkDebugUtilsMessengerCallbackEXT).
    let data = unsafe { data.as_ref() };
    if let (Some(messages), Some(data)) = (messages, data) {
        let level = if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
            "error"
        } else {
            "warning"
        };
        messages.push(format!("{level}: {}", text(data.p_message)));
    }
    // VK_TRUE would abort the call and is reserved for layer development.
    vk::FALSE
}

fn text(pointer: *const std::ffi::c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: pMessage is a null-terminated UTF-8 string
    // (VUID-VkDebugUtilsMessengerCallbackDataEXT-pMessage-parameter).
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
