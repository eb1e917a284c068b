//! One name for a kernel file, however its path was typed.

use std::env;
use std::path::{Component, Path, PathBuf};

/// The path without `.`, doubled separators and detours, and relative to the current folder where
/// the file lies below it.
pub(super) fn place(path: &Path) -> PathBuf {
    let here = env::current_dir().unwrap_or_default();
    let below = |whole: &Path, here: &Path| whole.strip_prefix(here).map(Path::to_owned).ok();
    // The shell's idea of the current folder may lead through a link, the system's never does.
    let real = || {
        let folder = path.parent()?.canonicalize().ok()?;
        below(&folder.join(path.file_name()?), &here.canonicalize().ok()?)
    };
    below(&straight(&here.join(path)), &here).or_else(real).unwrap_or_else(|| straight(path))
}

fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        // Behind a link `..` leads elsewhere.
        let is_folder = || straight.is_dir() && !straight.is_symlink();
        match part {
            Component::CurDir => {}
            Component::ParentDir if straight.file_name().is_some() && is_folder() => {
                straight.pop();
            }
            part => straight.push(part),
        }
    }
    straight
}
