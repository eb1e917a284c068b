//! Modules on disk, by a digest of everything that went into them.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Modules;

/// Starts every entry; the digit is the format's version.
const MAGIC: &[u8; 8] = b"vklab-m1";

const DIGEST_BYTES: usize = 32;

/// Where modules are kept unless told otherwise: `VKLAB_CACHE`, else the system's folder for
/// caches; none where the environment names neither.
#[must_use]
pub fn default_cache_dir() -> Option<PathBuf> {
    cache_dir(env::consts::OS, |name| env::var_os(name))
}

fn cache_dir(os: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| {
        let value = variable(name).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(value))
    };
    if let Some(folder) = set("VKLAB_CACHE") {
        return Some(folder);
    }
    let folder = match os {
        "windows" => set("LOCALAPPDATA"),
        "macos" => set("HOME").map(|home| home.join("Library/Caches")),
        // The XDG rules say that a relative path is to be ignored.
        _ => set("XDG_CACHE_HOME")
            .filter(|folder| folder.is_absolute())
            .or_else(|| set("HOME").map(|home| home.join(".cache"))),
    };
    folder.map(|folder| folder.join("vklab"))
}

/// The name of an entry: the digest of the fields, each preceded by its length so that no two
/// lists of fields run together.
pub(super) fn key<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let mut digest = Sha256::new();
    for field in fields {
        digest.update((field.len() as u64).to_le_bytes());
        digest.update(field.as_bytes());
    }
    let mut name = String::with_capacity(2 * DIGEST_BYTES);
    for byte in digest.finalize() {
        // Writing to a String can't fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// What the cache has under a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// Both modules.
    Hit(Modules),
    /// No entry.
    Miss,
    /// An entry of another format, cut short or altered.
    Damaged,
}

fn entry_path(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.modules"))
}

pub(super) fn load(folder: &Path, key: &str) -> Lookup {
    match fs::read(entry_path(folder, key)) {
        Ok(bytes) => decode(&bytes).map_or(Lookup::Damaged, Lookup::Hit),
        Err(_) => Lookup::Miss,
    }
}

/// Writes an entry so that a reader sees all of it or nothing, however many processes write.
pub(super) fn store(folder: &Path, key: &str, modules: &Modules) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&encode(modules))?;
    file.persist(entry_path(folder, key))?;
    Ok(())
}

fn encode(modules: &Modules) -> Vec<u8> {
    let mut body = Vec::new();
    for module in [&modules.debug, &modules.optimized] {
        body.extend((module.len() as u64).to_le_bytes());
        body.extend(module.iter().flat_map(|word| word.to_le_bytes()));
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(Sha256::digest(&body));
    bytes.extend(body);
    bytes
}

fn decode(bytes: &[u8]) -> Option<Modules> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (digest, body) = rest.split_at_checked(DIGEST_BYTES)?;
    if Sha256::digest(body)[..] != *digest {
        return None;
    }
    let (debug, rest) = decode_words(body)?;
    let (optimized, rest) = decode_words(rest)?;
    rest.is_empty().then_some(Modules { debug, optimized })
}

fn decode_words(bytes: &[u8]) -> Option<(Vec<u32>, &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
    let (words, rest) = rest.split_at_checked(len.checked_mul(4)?)?;
    let words = words.as_chunks::<4>().0;
    let words = words.iter().map(|word| u32::from_le_bytes(*word));
    Some((words.collect(), rest))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Lookup, cache_dir, decode, encode, entry_path, key, load, store};
    use crate::glsl::Modules;

    fn modules() -> Modules {
        Modules { debug: vec![1, 2, 0xffff_ffff], optimized: vec![7] }
    }

    #[test]
    fn fields_do_not_run_together() {
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_ne!(key(["ab"]), key(["ab", ""]));
        assert_eq!(key(["ab", "c"]).len(), 64);
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_noticed() {
        let bytes = encode(&modules());
        assert_eq!(decode(&bytes), Some(modules()));
        for at in 0..bytes.len() {
            assert_eq!(decode(&bytes[..at]), None, "cut at {at}");
            let mut altered = bytes.clone();
            altered[at] ^= 0x10;
            assert_eq!(decode(&altered), None, "altered at {at}");
        }
        assert_eq!(decode(&[bytes, vec![0]].concat()), None);
    }

    #[test]
    fn a_damaged_entry_can_be_rewritten() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        assert_eq!(load(&folder, "k"), Lookup::Miss);
        store(&folder, "k", &modules()).unwrap();
        assert_eq!(load(&folder, "k"), Lookup::Hit(modules()));
        std::fs::write(entry_path(&folder, "k"), "x").unwrap();
        assert_eq!(load(&folder, "k"), Lookup::Damaged);
        store(&folder, "k", &modules()).unwrap();
        assert_eq!(load(&folder, "k"), Lookup::Hit(modules()));
    }

    #[test]
    fn each_system_has_its_folder() {
        let all = |name: &str| match name {
            "HOME" => Some("/h".into()),
            "XDG_CACHE_HOME" => Some("/x".into()),
            "LOCALAPPDATA" => Some("L".into()),
            _ => None,
        };
        assert_eq!(cache_dir("linux", all), Some(PathBuf::from("/x/vklab")));
        assert_eq!(cache_dir("windows", all), Some(PathBuf::from("L").join("vklab")));
        let macos = PathBuf::from("/h/Library/Caches/vklab");
        assert_eq!(cache_dir("macos", all), Some(macos));
        let home = |name: &str| match name {
            "HOME" => Some("/h".into()),
            "XDG_CACHE_HOME" => Some("relative".into()),
            _ => None,
        };
        assert_eq!(cache_dir("linux", home), Some(PathBuf::from("/h/.cache/vklab")));
        let own = |name: &str| (name == "VKLAB_CACHE").then(|| "own".into());
        assert_eq!(cache_dir("windows", own), Some(PathBuf::from("own")));
        assert_eq!(cache_dir("linux", |_| None), None);
    }
}
