//! Everything that can go wrong between a recording and its outcome.

use std::time::Duration;

use thiserror::Error;

/// Why a device could not do what was asked. Every message names the device.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No Vulkan loader on this machine.
    #[error(
        "no Vulkan loader ({reason}); install libvulkan1 (Debian, Ubuntu), vulkan-loader \
             (Fedora, macOS) or vulkan-icd-loader (Arch), or run `./vklab`, which does it"
    )]
    NoLoader {
        /// What the dynamic linker said.
        reason: String,
    },
    /// A loader, but no driver answers.
    #[error(
        "no Vulkan driver answers; install mesa-vulkan-drivers (lavapipe runs on any CPU), \
             or run `./vklab`, which does it"
    )]
    NoDriver,
    /// The driver lists a device and then fails to open it.
    #[error("{device}: failed to open the device: {reason}")]
    Open {
        /// Which device.
        device: String,
        /// The driver's answer.
        reason: String,
    },
    /// The device went away; nothing on it can be used any more.
    #[error("{device}: device lost while {doing}")]
    Lost {
        /// Which device.
        device: String,
        /// The call that noticed.
        doing: &'static str,
    },
    /// Device or host memory is exhausted.
    #[error("{device}: out of memory: {}{what}", amount(*bytes))]
    OutOfMemory {
        /// Which device.
        device: String,
        /// What the memory was for.
        what: String,
        /// How much was asked for; 0 where only the driver knows.
        bytes: u64,
    },
    /// A submission did not finish in time. The device is unusable afterwards.
    #[error("{device}: a submission did not finish within {timeout:?}")]
    Timeout {
        /// Which device.
        device: String,
        /// How long it had.
        timeout: Duration,
    },
    /// A kernel or recording that needs what the device lacks.
    #[error("{device}: {what}")]
    Unsupported {
        /// Which device.
        device: String,
        /// What is lacking, with the number where there is one.
        what: String,
    },
    /// A recording that breaks the rules of [`super::Recording`].
    #[error("{device}: malformed recording: {what}")]
    Malformed {
        /// Which device.
        device: String,
        /// Which rule, at which command.
        what: String,
    },
    /// A module that the device can't make sense of. The device is as it was.
    #[error("{device}: kernel '{kernel}': {what}")]
    Module {
        /// Which device.
        device: String,
        /// Which kernel.
        kernel: String,
        /// What is wrong with it.
        what: String,
    },
    /// A kernel that never ends, on a device that noticed and stopped it. It goes on working.
    #[error("{device}: {what}")]
    Endless {
        /// Which device.
        device: String,
        /// The kernel and where it loops, in words.
        what: String,
        /// The file in which it loops.
        file: String,
        /// The line in it, counted from 1; 0 where it is unknown.
        line: u32,
    },
    /// Any other answer of the driver.
    #[error("{device}: {doing} failed: {reason}")]
    Driver {
        /// Which device.
        device: String,
        /// The call.
        doing: &'static str,
        /// The driver's answer.
        reason: String,
    },
}

impl DeviceError {
    /// Whether the device works on as if nothing had happened.
    #[must_use]
    pub const fn leaves_device(&self) -> bool {
        matches!(self, Self::Module { .. } | Self::Endless { .. })
    }
}

fn amount(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format!("{bytes} bytes for ") }
}
