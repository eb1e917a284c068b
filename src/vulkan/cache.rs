//! Compiled pipelines, kept on disk between runs.
//!
//! The file is ours around the driver's: a magic line, the SHA-256 of the rest, the driver's
//! bytes. Drivers may trust what they are given, since it must be their own
//! (VUID-VkPipelineCacheCreateInfo-initialDataSize-00769): a torn or altered file never reaches
//! them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ash::vk;
use sha2::{Digest, Sha256};

use super::handle::Owned;
use super::logical::Logical;
use super::physical::Physical;
use crate::device::DeviceError;

const MAGIC: &[u8] = b"vklab pipelines 1\n";
const DIGEST_BYTES: usize = 32;
/// `VkPipelineCacheHeaderVersionOne`: length, version, vendor, device, UUID.
const HEADER_BYTES: usize = 32;

/// The driver's pipeline cache and where it is kept.
pub(super) struct PipelineCache {
    raw: Owned<vk::PipelineCache>,
    path: Option<PathBuf>,
    /// Digest of what the file held when it was read.
    stored: Option<[u8; DIGEST_BYTES]>,
    logical: Arc<Logical>,
}

impl PipelineCache {
    pub(super) fn open(
        logical: &Arc<Logical>,
        physical: &Physical,
        cache_dir: Option<&Path>,
    ) -> Result<Self, DeviceError> {
        let path = cache_dir.map(|folder| folder.join("pipelines").join(file_name(physical)));
        let stored = path
            .as_ref()
            .and_then(|path| std::fs::read(path).ok())
            .and_then(|file| unwrap_file(&file).map(<[u8]>::to_vec))
            .filter(|body| header_matches(body, physical));
        let initial = stored.as_deref().unwrap_or_default();
        let create = vk::PipelineCacheCreateInfo::default().initial_data(initial);
        // SAFETY: the data is empty or was taken from vkGetPipelineCacheData of the same driver,
        // as digest and header show (VUID-VkPipelineCacheCreateInfo-initialDataSize-00769).
        let raw = unsafe { logical.raw.create_pipeline_cache(&create, None) }
            .map_err(|error| logical.failed("creating the pipeline cache", error))?;
        Ok(Self {
            raw: Owned::new(logical, raw, "pipelines"),
            path,
            stored: stored.map(|body| Sha256::digest(body).into()),
            logical: Arc::clone(logical),
        })
    }

    pub(super) fn raw(&self) -> vk::PipelineCache {
        self.raw.raw()
    }

    /// Writes the cache if it changed. A cache that can't be written costs time and nothing else,
    /// so that failures are silent.
    pub(super) fn save(&self) {
        let Some(path) = &self.path else { return };
        // SAFETY: the cache comes from this device and nobody else writes it meanwhile
        // (VUID-vkGetPipelineCacheData-pipelineCache-parent).
        let Ok(body) = (unsafe { self.logical.raw.get_pipeline_cache_data(self.raw()) }) else {
            return;
        };
        let digest = <[u8; DIGEST_BYTES]>::from(Sha256::digest(&body));
        if self.stored != Some(digest) {
            drop(write_file(path, &digest, &body));
        }
    }
}

fn file_name(physical: &Physical) -> String {
    let info = &physical.found.info;
    let mut hash = Sha256::new();
    hash.update(&info.driver);
    hash.update([0]);
    hash.update(&info.driver_version);
    hash.update([0]);
    hash.update(physical.cache_uuid);
    let hash = hash.finalize();
    let short = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("{:08x}-{:08x}-{short}.bin", info.vendor_id, info.device_id)
}

/// The driver's bytes, when the file is whole.
fn unwrap_file(file: &[u8]) -> Option<&[u8]> {
    let rest = file.strip_prefix(MAGIC)?;
    let (digest, body) = rest.split_at_checked(DIGEST_BYTES)?;
    (Sha256::digest(body).as_slice() == digest).then_some(body)
}

fn header_matches(body: &[u8], physical: &Physical) -> bool {
    let word = |at: usize| {
        let bytes = body.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let info = &physical.found.info;
    word(0).is_some_and(|length| length as usize >= HEADER_BYTES)
        && word(4) == Some(1)
        && word(8) == Some(info.vendor_id)
        && word(12) == Some(info.device_id)
        && body.get(16..HEADER_BYTES) == Some(&physical.cache_uuid[..])
}

/// Writes beside the file and renames, so that readers in other processes see all or nothing.
fn write_file(path: &Path, digest: &[u8], body: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    for part in [MAGIC, digest, body] {
        file.write_all(part)?;
    }
    file.persist(path)?;
    Ok(())
}
