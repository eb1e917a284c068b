//! Puts stubs into a folder.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::{Failure, ImportError, Stub};

/// What happens to a file that has a stub's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the stub isn't written.
    Keep,
    /// The stub takes its place.
    Replace,
}

/// Writes each stub, the folder being made where it is missing; each gives its path, or why it
/// wasn't written.
///
/// # Errors
/// The folder can't be made.
pub fn write(
    stubs: &[Stub],
    folder: &Path,
    existing: Existing,
) -> Result<Vec<Result<PathBuf, Failure>>, ImportError> {
    fs::create_dir_all(folder).map_err(|error| ImportError::Folder {
        folder: folder.to_path_buf(),
        reason: error.to_string(),
    })?;
    let written = stubs.iter().map(|stub| {
        let path = folder.join(format!("{}.toml", stub.name()));
        match put(&path, &stub.text(folder), existing) {
            Ok(()) => Ok(path),
            Err(error) => Err(Failure::new(match error.kind() {
                ErrorKind::AlreadyExists => {
                    format!("{} exists and stays as it is", path.display())
                }
                _ => format!("{}: {error}", path.display()),
            })),
        }
    });
    Ok(written.collect())
}

fn put(path: &Path, text: &str, existing: Existing) -> io::Result<()> {
    let mut file = match existing {
        Existing::Keep => File::create_new(path)?,
        Existing::Replace => File::create(path)?,
    };
    file.write_all(text.as_bytes())
}
