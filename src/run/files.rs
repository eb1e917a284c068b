//! Kernel files among the targets.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::amber::Script;
use crate::check::{CheckError, Foreign};
use crate::kernel_file::{KernelFile, KernelFileError};
use crate::ops::Registry;
use crate::worker::{Unsaved, Work};

/// Builds that a matrix may ask for without being asked twice.
pub const MOST_BUILDS: usize = 10_000;

/// How kernel files are taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matrices {
    /// Up to [`MOST_BUILDS`] builds each.
    #[default]
    Bounded,
    /// Any number.
    Unbounded,
}

/// A kernel file that is to be checked.
pub struct FileTarget {
    pub(super) work: Work,
    pub(super) foreign: Foreign,
}

impl FileTarget {
    /// The name under which verdicts speak of it.
    #[must_use]
    pub fn name(&self) -> String {
        self.work.group()
    }

    /// The file under the checks.
    #[must_use]
    pub const fn foreign(&self) -> &Foreign {
        &self.foreign
    }
}

/// Kernel files and scripts, and those that can't be looked at on this machine.
#[derive(Default)]
pub(super) struct Files {
    pub(super) files: Vec<FileTarget>,
    /// Amber scripts, which nobody has looked into.
    pub(super) scripts: Vec<Work>,
    pub(super) left_out: Vec<(PathBuf, String)>,
}

/// Why a kernel file is no target.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The file says something that it shouldn't.
    #[error(transparent)]
    File(#[from] KernelFileError),
    /// The file doesn't fit its op.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A folder that can't be read.
    #[error("failed to read the folder {path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A folder without kernel files.
    #[error(
        "{path} holds no kernel file: no .toml with a version and a [kernel.*] table, nor an \
         Amber script"
    )]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A file listed as a gradient that isn't one.
    #[error(
        "{path} is listed under gradient.vjp of {forward}, and its truth is not `{op}` with \
         pass = \"vjp\""
    )]
    NoVjp {
        /// The listed file.
        path: PathBuf,
        /// The file that lists it.
        forward: PathBuf,
        /// What that one computes.
        op: String,
    },
    /// An operand without a gradient.
    #[error("{path}: no file of gradient.vjp maps {missing}")]
    NoGradient {
        /// The file that lists them.
        path: PathBuf,
        /// The gradients.
        missing: String,
    },
    /// A matrix that would take hours by mistake.
    #[error(
        "{path} asks for {builds} builds; more than {MOST_BUILDS} are made only if --many-builds \
         is given twice"
    )]
    ManyBuilds {
        /// The file.
        path: PathBuf,
        /// Its builds.
        builds: usize,
    },
}

impl Files {
    /// Takes in a kernel file, or every one below a folder, with the files that their gradients
    /// name. A file that is there already is taken once.
    ///
    /// # Errors
    /// A file that can't be used.
    pub(super) fn add(
        &mut self,
        registry: &Registry,
        path: &Path,
        matrices: Matrices,
    ) -> Result<(), FilesError> {
        if !path.is_dir() && (is_script(path) || Script::is_one(path)) {
            self.scripts.push(Work::Script { path: path.to_owned() });
            return Ok(());
        }
        if !path.is_dir() {
            return self.load(registry, path, matrices);
        }
        let folder = |source| FilesError::Folder { path: path.to_owned(), source };
        let found = below(path).map_err(folder)?;
        let scripts = scripts_below(path).map_err(folder)?;
        if found.is_empty() && scripts.is_empty() {
            return Err(FilesError::Empty { path: path.to_owned() });
        }
        self.scripts.extend(scripts.into_iter().map(|path| Work::Script { path }));
        found.iter().try_for_each(|file| self.load(registry, file, matrices))
    }

    /// Takes in a file whose text isn't on disk.
    ///
    /// # Errors
    /// A text that can't be used.
    pub(super) fn add_text(
        &mut self,
        registry: &Registry,
        path: &Path,
        unsaved: Unsaved,
        matrices: Matrices,
    ) -> Result<(), FilesError> {
        let file = bounded(path, KernelFile::parse(path, &unsaved.text)?, matrices)?;
        let foreign = Foreign::new(file, registry)?.asked_as(unsaved.asked.clone());
        let work = Work::File { path: path.to_owned(), unsaved: Some(unsaved) };
        self.files.push(FileTarget { work, foreign });
        Ok(())
    }

    fn load(
        &mut self,
        registry: &Registry,
        path: &Path,
        matrices: Matrices,
    ) -> Result<(), FilesError> {
        let is_known = |file: &FileTarget| same(file.foreign.file().path(), path);
        if self.files.iter().any(is_known) || self.left_out.iter().any(|(p, _)| same(p, path)) {
            return Ok(());
        }
        let file = match KernelFile::load(path) {
            Err(KernelFileError::Unset { name, .. }) => {
                let reason = format!("the environment variable {name} is not set");
                self.left_out.push((path.to_owned(), reason));
                return Ok(());
            }
            file => file?,
        };
        let file = bounded(path, file, matrices)?;
        let gradients = file.vjp().to_vec();
        let foreign = Foreign::new(file, registry)?;
        let work = Work::File { path: path.to_owned(), unsaved: None };
        self.files.push(FileTarget { work, foreign });
        for gradient in &gradients {
            self.load(registry, gradient, matrices)?;
        }
        if gradients.is_empty() { Ok(()) } else { self.check_gradients(path, &gradients) }
    }

    /// Whether the listed files give every gradient of what the file maps.
    fn check_gradients(&self, path: &Path, listed: &[PathBuf]) -> Result<(), FilesError> {
        let found = |path: &Path| {
            let file = self.files.iter().find(|file| same(file.foreign.file().path(), path));
            file.map(|file| &file.foreign)
        };
        let Some(forward) = found(path) else { return Ok(()) };
        // Without an op the check itself says which buffers are missing.
        if forward.op_name().is_none() {
            return Ok(());
        }
        let vjps: Vec<&Foreign> = listed.iter().filter_map(|path| found(path)).collect();
        if let Some(other) = vjps.iter().find(|file| !file.is_vjp_of(forward)) {
            return Err(FilesError::NoVjp {
                path: other.file().path().to_owned(),
                forward: path.to_owned(),
                op: forward.op_name().unwrap_or_default().to_owned(),
            });
        }
        let missing = forward.missing_gradients(&vjps);
        // What a file says that can't be read on this machine isn't known.
        if missing.is_empty() || vjps.len() < listed.len() {
            return Ok(());
        }
        let missing: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        Err(FilesError::NoGradient { path: path.to_owned(), missing: missing.join(", ") })
    }
}

fn bounded(path: &Path, file: KernelFile, matrices: Matrices) -> Result<KernelFile, FilesError> {
    let builds = file.build_count();
    if builds > MOST_BUILDS && matrices == Matrices::Bounded {
        return Err(FilesError::ManyBuilds { path: path.to_owned(), builds });
    }
    Ok(file)
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || fs::canonicalize(a).ok().is_some_and(|a| fs::canonicalize(b).ok() == Some(a))
}

/// Every kernel file below a folder, sorted. Other files in TOML are none.
pub(super) fn below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    all_below(folder, |path| {
        path.extension().is_some_and(|e| e == "toml") && KernelFile::is_one(path)
    })
}

/// Every Amber script below a folder, sorted.
pub(super) fn scripts_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    all_below(folder, |path| is_script(path) && Script::is_one(path))
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "amber")
}

fn all_below(folder: &Path, is_wanted: impl Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            // A link may lead back up.
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if is_wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
