//! Waiting for a device.

use crate::worker::{Choice, DeviceLock, Found, Locking, lock_folder};

use super::CliError;

/// The device's lock, if it is to have one. A lock that nobody insisted on and that can't be had
/// costs a line, not the run.
pub(super) fn lock(
    choice: &Choice,
    locking: impl Into<Locking>,
) -> Result<Option<DeviceLock>, CliError> {
    let locking = locking.into();
    // Every process has an interpreter of its own.
    let Found::Vulkan(found) = &choice.found else { return Ok(None) };
    let info = &found.info;
    if !locking.applies_to(info) {
        return Ok(None);
    }
    let waits = |holder: Option<u32>| {
        let holder = holder.map_or("another process".to_owned(), |id| format!("process {id}"));
        eprintln!("vklab: waiting for {}, which {holder} has locked", info.name);
    };
    match DeviceLock::acquire(&lock_folder(), found, waits) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if locking == Locking::Auto => {
            eprintln!("vklab: {error}; going on without");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
