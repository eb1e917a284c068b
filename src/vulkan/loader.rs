//! The lists of instances, drivers and devices that the Vulkan loader keeps for the whole process.
//!
//! Naming an object makes the loader walk them, and it does so without a lock of its own: with 1.4.309
//! one thread crashed in `vkSetDebugUtilsObjectNameEXT` while another enumerated devices. What changes
//! the lists and what walks them therefore keep apart here.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static LISTS: RwLock<()> = RwLock::new(());

/// Held while an instance or a device is made, destroyed or enumerated.
pub(super) fn changing() -> RwLockWriteGuard<'static, ()> {
    LISTS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Held while an object is named.
pub(super) fn walking() -> RwLockReadGuard<'static, ()> {
    LISTS.read().unwrap_or_else(PoisonError::into_inner)
}
