//! A lock on a device, so that two jobs don't share it: their times would be worth nothing, and one
//! could be blamed for what the other did.
//!
//! It is an advisory lock on a file, held by the parent for as long as it works on the device. The
//! system frees it when the process ends, however it ends, so there is nothing to clean up.

use std::env;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::device::DeviceInfo;
use crate::glsl::default_cache_dir;
use crate::vulkan::Found;

/// Which devices are locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// All but CPU drivers, which any number of processes may share.
    #[default]
    Auto,
    /// Every device.
    Always,
    /// None.
    Never,
}

impl Locking {
    /// Whether a device is locked before it is worked on.
    #[must_use]
    pub fn applies_to(self, info: &DeviceInfo) -> bool {
        match self {
            Self::Auto => info.kind != "cpu",
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Why a device couldn't be locked; that another process has it is no such reason.
#[derive(Debug, Error)]
#[error("failed to lock {}: {source}", .file.display())]
pub struct LockError {
    /// The file.
    pub file: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

/// A device that no other process has locked, until this is dropped.
#[derive(Debug)]
pub struct DeviceLock {
    /// Closing it gives the lock back.
    _file: File,
}

impl DeviceLock {
    /// Locks a device by a file in `folder`, which is made where it doesn't exist. Where another
    /// process has the device, `waits` is told its id, if it is known, and then it takes as long as
    /// that one needs.
    ///
    /// # Errors
    /// A folder that can't be written, a file system without locks.
    pub fn acquire(
        folder: &Path,
        device: &Found,
        waits: impl FnOnce(Option<u32>),
    ) -> Result<Self, LockError> {
        let path = folder.join(file_name(device));
        let failed = |source| LockError { file: path.clone(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        // Not truncated: whoever holds it has written its id there.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                waits(holder(&mut file));
                wait(&file).map_err(failed)?;
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        sign(&mut file).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

/// Where the locks of this machine's devices are: in the cache folder, else in that for temporary
/// files. Jobs keep out of each other's way if they have the same.
#[must_use]
pub fn lock_folder() -> PathBuf {
    default_cache_dir().unwrap_or_else(|| env::temp_dir().join("vklab")).join("locks")
}

/// A signal may end the wait early.
fn wait(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// The process that wrote its id there. Some systems let nobody read what another has locked.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", process::id())
}

/// The device's own identity where it has one, which all its drivers share; else what it says of
/// itself.
fn file_name(device: &Found) -> String {
    let DeviceInfo { name, vendor_id, device_id, .. } = &device.info;
    let identity = if device.uuid == [0; 16] {
        let described = format!("{vendor_id:x}\0{device_id:x}\0{name}");
        Sha256::digest(described.as_bytes())[..16].to_vec()
    } else {
        device.uuid.to_vec()
    };
    let mut file = String::new();
    for byte in identity {
        // Writing to a String can't fail.
        let _ = write!(file, "{byte:02x}");
    }
    file.push_str(".lock");
    file
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::{DeviceLock, Locking, file_name};
    use crate::device::{DeviceInfo, Features, Limits};
    use crate::vulkan::Found;

    fn device(name: &str, kind: &str, uuid: [u8; 16]) -> Found {
        let info = DeviceInfo {
            name: name.to_owned(),
            driver: "d".to_owned(),
            driver_version: "1".to_owned(),
            api_version: "1.1.0".to_owned(),
            kind: kind.to_owned(),
            vendor_id: 0x10de,
            device_id: 7,
            limits: Limits::REQUIRED,
            features: Features::default(),
        };
        Found { index: 0, info, left_out: None, uuid }
    }

    #[test]
    fn cpu_drivers_are_shared_unless_asked_otherwise() {
        let locked = |locking: Locking, kind| locking.applies_to(&device("d", kind, [0; 16]).info);
        assert!(locked(Locking::Auto, "discrete") && !locked(Locking::Auto, "cpu"));
        assert!(locked(Locking::Always, "cpu") && !locked(Locking::Never, "discrete"));
    }

    #[test]
    fn a_device_is_known_by_its_own_identity() {
        let mut uuid = [0; 16];
        uuid[0] = 0xab;
        let name = file_name(&device("one", "discrete", uuid));
        assert_eq!(name, file_name(&device("renamed by a newer driver", "discrete", uuid)));
        assert_eq!(name, "ab000000000000000000000000000000.lock");
        let nameless = |name| file_name(&device(name, "discrete", [0; 16]));
        assert_ne!(nameless("one"), nameless("one #2"));
        assert_eq!(nameless("one").len(), name.len());
    }

    #[test]
    fn one_holds_it_and_the_other_waits() {
        let folder = tempfile::tempdir().expect("a folder");
        let gpu = device("gpu", "discrete", [1; 16]);
        let other = device("other", "discrete", [2; 16]);
        let unexpected = |_| panic!("nobody holds it");
        let held = DeviceLock::acquire(folder.path(), &gpu, unexpected).expect("a lock");
        let beside = DeviceLock::acquire(folder.path(), &other, unexpected);
        drop(beside.expect("another device's lock"));
        let (waits, waiting) = mpsc::channel();
        let (got, gotten) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let tell = |holder| waits.send(holder).expect("heard");
                let lock = DeviceLock::acquire(folder.path(), &gpu, tell).expect("a lock");
                got.send(()).expect("heard");
                drop(lock);
            });
            let holder = waiting.recv_timeout(Duration::from_secs(10)).expect("it waits");
            if cfg!(unix) {
                assert_eq!(holder, Some(std::process::id()));
            }
            assert!(gotten.try_recv().is_err(), "it doesn't wait");
            drop(held);
            gotten.recv_timeout(Duration::from_secs(10)).expect("it goes on");
        });
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let folder = file.path().join("locks");
        let error = DeviceLock::acquire(&folder, &device("d", "cpu", [1; 16]), |_| ())
            .expect_err("no folder");
        assert!(error.to_string().contains(&folder.display().to_string()), "{error}");
    }
}
