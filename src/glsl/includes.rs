//! Where included files come from.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::{GlslError, Source};

/// A place that included files come from.
pub trait Includes {
    /// The file that `name` means in an `#include` of the file `from`; none if there is none.
    ///
    /// # Errors
    /// The file is there and can't be read.
    fn find(&self, name: &str, from: &str) -> Result<Option<Source>, GlslError>;

    /// Where [`find`](Includes::find) looks, for messages.
    fn places(&self, from: &str) -> Vec<String>;

    /// The names that exist, for suggestions.
    fn names(&self, from: &str) -> Vec<String>;
}

/// Folders on disk. The folder of the including file comes first, then the listed ones in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    folders: Vec<PathBuf>,
}

impl Folders {
    /// The listed folders, searched in this order.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { folders: folders.into_iter().collect() }
    }

    fn searched(&self, from: &str) -> Vec<PathBuf> {
        let parent = Path::new(from).parent().map(Path::to_path_buf);
        let mut searched: Vec<PathBuf> = Vec::new();
        for folder in parent.iter().chain(&self.folders) {
            let folder =
                if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.clone() };
            if !searched.contains(&folder) {
                searched.push(folder);
            }
        }
        searched
    }
}

impl Includes for Folders {
    fn find(&self, name: &str, from: &str) -> Result<Option<Source>, GlslError> {
        for folder in self.searched(from) {
            let path = normalized(&folder.join(name));
            let shown = path.display().to_string();
            let bytes = match fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error) if absent(error.kind()) => continue,
                Err(error) => {
                    return Err(GlslError::Io { path: shown, reason: error.to_string() });
                }
            };
            let text = String::from_utf8(bytes).map_err(|_| GlslError::Io {
                path: shown.clone(),
                reason: "not UTF-8 text".to_owned(),
            })?;
            return Ok(Some(Source::new(shown, text)));
        }
        Ok(None)
    }

    fn places(&self, from: &str) -> Vec<String> {
        let searched = self.searched(from);
        searched.iter().map(|f| f.display().to_string()).collect()
    }

    fn names(&self, from: &str) -> Vec<String> {
        let mut names = Vec::new();
        for folder in self.searched(from) {
            let Ok(entries) = fs::read_dir(folder) else {
                continue;
            };
            for entry in entries.flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                    names.extend(entry.file_name().into_string());
                }
            }
        }
        names
    }
}

fn absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory)
}

/// Drops `.` and resolves `..` by text, so that a file has one spelling however it was reached;
/// cycles are recognised by it.
fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Several places, the first one that has the file wins.
#[derive(Default)]
pub struct Chain<'a> {
    links: Vec<&'a dyn Includes>,
}

impl<'a> Chain<'a> {
    /// The places in the order of their rank.
    pub fn new(links: impl IntoIterator<Item = &'a dyn Includes>) -> Self {
        Self { links: links.into_iter().collect() }
    }
}

impl Includes for Chain<'_> {
    fn find(&self, name: &str, from: &str) -> Result<Option<Source>, GlslError> {
        for link in &self.links {
            if let Some(source) = link.find(name, from)? {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    fn places(&self, from: &str) -> Vec<String> {
        self.links.iter().flat_map(|l| l.places(from)).collect()
    }

    fn names(&self, from: &str) -> Vec<String> {
        self.links.iter().flat_map(|l| l.names(from)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Chain, Folders, Includes, normalized};
    use crate::glsl::{GlslError, Library};

    #[test]
    fn a_path_has_one_spelling() {
        assert_eq!(normalized(Path::new("a/./b/../c.glsl")), PathBuf::from("a/c.glsl"));
        assert_eq!(normalized(Path::new("../../c.glsl")), PathBuf::from("../../c.glsl"));
    }

    #[test]
    fn the_folder_of_the_including_file_comes_first() {
        let root = tempfile::tempdir().unwrap();
        let (near, far) = (root.path().join("near"), root.path().join("far"));
        for (folder, text) in [(&near, "near"), (&far, "far")] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("x.glsl"), text).unwrap();
        }
        fs::write(far.join("y.glsl"), "far only").unwrap();
        let folders = Folders::new([far]);
        let from = near.join("k.comp").display().to_string();
        let text = |name| folders.find(name, &from).unwrap().map(|s| s.text);
        assert_eq!(text("x.glsl").as_deref(), Some("near"));
        assert_eq!(text("y.glsl").as_deref(), Some("far only"));
        assert_eq!(text("z.glsl"), None);
        assert_eq!(text("../near"), None, "a folder is not a file");
    }

    #[test]
    fn a_file_that_is_no_text_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("x.glsl"), [0xff, 0xfe]).unwrap();
        let folders = Folders::new([root.path().to_path_buf()]);
        let chain = Chain::new([&Library as &dyn Includes, &folders]);
        let error = chain.find("x.glsl", "k.comp").unwrap_err();
        assert!(matches!(error, GlslError::Io { .. }), "{error}");
    }
}
