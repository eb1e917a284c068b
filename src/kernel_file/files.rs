//! The files that a kernel file names.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::KernelFileError;
use super::read::{Read, Value};

/// More than any kernel's text or module; it keeps a wrong path from filling the memory.
const MAX_CODE_BYTES: u64 = 64 << 20;
/// The first word of every SPIR-V module.
const SPIRV_MAGIC: u32 = 0x0723_0203;

/// Looks an environment variable up.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Where paths of a kernel file start.
pub(super) struct Files<'a> {
    /// The kernel file's folder.
    pub(super) folder: PathBuf,
    /// For paths that start with `$NAME/`.
    pub(super) environment: Environment<'a>,
}

/// What a kernel's file holds.
pub(super) enum Contents {
    Glsl(String),
    Spirv(Arc<[u32]>),
}

impl Files<'_> {
    /// The path as it can be opened from the current folder.
    pub(super) fn resolve(&self, value: Value<'_>) -> Read<PathBuf> {
        let given = value.str()?;
        let Some(rest) = given.strip_prefix('$') else {
            return if given.is_empty() || given.contains('\0') {
                Err(value.wrong("a path is wanted"))
            } else {
                Ok(self.folder.join(given))
            };
        };
        let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || rest.contains('\0') {
            return Err(value.wrong("a path that starts with `$` goes on with NAME/"));
        }
        match (self.environment)(name).filter(|folder| !folder.is_empty()) {
            Some(folder) => Ok(Path::new(&folder).join(rest)),
            None => Err(KernelFileError::Unset {
                place: Box::new(value.text.place(value.at())),
                name: name.to_owned(),
            }),
        }
    }

    /// The path of a folder that is there.
    pub(super) fn folder(&self, value: Value<'_>) -> Read<PathBuf> {
        let path = self.resolve(value)?;
        if path.is_dir() {
            Ok(path)
        } else {
            Err(value.wrong(format!("no folder {}", path.display())))
        }
    }

    /// The path of a file that is there.
    pub(super) fn file(&self, value: Value<'_>) -> Read<PathBuf> {
        let path = self.resolve(value)?;
        file_bytes(&path).map_err(|what| value.wrong(what))?;
        Ok(path)
    }

    /// A kernel's code and its path.
    pub(super) fn code(&self, value: Value<'_>) -> Read<(String, Contents)> {
        let path = self.resolve(value)?;
        let shown = path.display().to_string();
        let bytes = read(&path, MAX_CODE_BYTES).map_err(|what| value.wrong(what))?;
        let words = bytes.as_chunks::<4>();
        if words.0.first().is_some_and(|word| u32::from_le_bytes(*word) == SPIRV_MAGIC) {
            if !words.1.is_empty() {
                return Err(value.wrong(format!("{shown}: SPIR-V of {} bytes", bytes.len())));
            }
            let words = words.0.iter().map(|word| u32::from_le_bytes(*word));
            return Ok((shown, Contents::Spirv(words.collect())));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok((shown, Contents::Glsl(text))),
            Err(_) => Err(value.wrong(format!("{shown} is neither GLSL text nor SPIR-V"))),
        }
    }
}

/// The size of an ordinary file.
pub(super) fn file_bytes(path: &Path) -> Result<u64, String> {
    let shown = path.display();
    let about = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("no file {shown}"),
        _ => format!("{shown}: {error}"),
    })?;
    if about.is_file() { Ok(about.len()) } else { Err(format!("{shown} is no file")) }
}

/// The bytes of an ordinary file that isn't larger than `most`.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let bytes = file_bytes(path)?;
    if bytes > most {
        return Err(format!("{} holds {bytes} bytes, more than {most}", path.display()));
    }
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
