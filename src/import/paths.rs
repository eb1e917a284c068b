//! Paths as one file sees another.

use std::path::{Component, Path, PathBuf};

/// The one absolute spelling of a path, links followed where it exists.
pub(super) fn resolved(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    path.canonicalize().unwrap_or_else(|_| absolute())
}

/// How a file in `folder` names `path`, both resolved; with forward slashes, as in every kernel
/// file. The whole path where they have nothing in common, as on two drives.
pub(super) fn seen_from(folder: &Path, path: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (folder.components().collect(), path.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return slashed(&to);
    }
    let up = from[common..].iter().map(|_| Component::ParentDir);
    let parts: Vec<Component<'_>> = up.chain(to[common..].iter().copied()).collect();
    if parts.is_empty() { ".".to_owned() } else { slashed(&parts) }
}

fn slashed(parts: &[Component<'_>]) -> String {
    let path: PathBuf = parts.iter().collect();
    let shown = path.display().to_string();
    if cfg!(windows) { shown.replace('\\', "/") } else { shown }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::seen_from;

    #[test]
    fn paths_are_relative() {
        let seen = |folder: &str, path: &str| seen_from(Path::new(folder), Path::new(path));
        assert_eq!(seen("/a/b", "/a/b/k.comp"), "k.comp");
        assert_eq!(seen("/a/b", "/a/c/k.comp"), "../c/k.comp");
        assert_eq!(seen("/a/b", "/d/k.comp"), "../../d/k.comp");
        assert_eq!(seen("/a/b", "/a/b"), ".");
    }
}
