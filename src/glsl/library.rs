//! Includes that are embedded in the binary: those that come with the lab, and others.

use super::{GlslError, Includes, Source};

/// Every file of `glsl/include` by its name, sorted; a test holds the table to the folder.
pub const LIBRARY: &[(&str, &str)] = &[
    ("each.glsl", include_str!("../../glsl/include/each.glsl")),
    ("element.glsl", include_str!("../../glsl/include/element.glsl")),
    ("erf.glsl", include_str!("../../glsl/include/erf.glsl")),
    ("flat.glsl", include_str!("../../glsl/include/flat.glsl")),
    ("gelu.glsl", include_str!("../../glsl/include/gelu.glsl")),
    ("reduce.glsl", include_str!("../../glsl/include/reduce.glsl")),
    ("subgroup_reduce.glsl", include_str!("../../glsl/include/subgroup_reduce.glsl")),
];

/// The files of [`LIBRARY`], shown in messages as `include/<name>`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Library;

impl Includes for Library {
    fn find(&self, name: &str, _from: &str) -> Result<Option<Source>, GlslError> {
        let entry = LIBRARY.iter().find(|(file, _)| *file == name);
        Ok(entry.map(|(file, text)| Source::new(format!("include/{file}"), *text)))
    }

    fn places(&self, _from: &str) -> Vec<String> {
        vec!["the library of vklab".to_owned()]
    }

    fn names(&self, _from: &str) -> Vec<String> {
        LIBRARY.iter().map(|(file, _)| (*file).to_owned()).collect()
    }
}

/// Files held as text, such as those of a registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts(Vec<Source>);

impl Texts {
    /// Adds a file; its path is the name that an `#include` gives.
    pub fn push(&mut self, file: Source) {
        self.0.push(file);
    }

    /// A name that two files have.
    #[must_use]
    pub fn repeated(&self) -> Option<&str> {
        let before = |at: usize, file: &Source| self.0[..at].iter().any(|f| f.path == file.path);
        let repeated = self.0.iter().enumerate().find(|(at, file)| before(*at, file));
        repeated.map(|(_, file)| file.path.as_ref())
    }
}

impl Includes for Texts {
    fn find(&self, name: &str, _from: &str) -> Result<Option<Source>, GlslError> {
        Ok(self.0.iter().find(|file| file.path == name).cloned())
    }

    fn places(&self, _from: &str) -> Vec<String> {
        if self.0.is_empty() { Vec::new() } else { vec!["the includes of the registry".to_owned()] }
    }

    fn names(&self, _from: &str) -> Vec<String> {
        self.0.iter().map(|file| file.path.to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::LIBRARY;

    #[test]
    fn the_table_equals_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("glsl/include");
        let mut on_disk: Vec<(String, String)> = Vec::new();
        if folder.is_dir() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                on_disk.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
        on_disk.sort();
        let table: Vec<(String, String)> =
            LIBRARY.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        assert_eq!(table, on_disk);
    }
}
