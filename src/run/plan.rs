//! From targets to tasks.

use std::path::{Path, PathBuf, is_separator};

use glob::Pattern;
use thiserror::Error;

use super::files::{FileTarget, Files, FilesError, Matrices};
use super::place::place;
use crate::amber::CASE;
use crate::check::{Check, CheckError, applies, cases, shell_word};
use crate::ops::{Case, CaseError, Cases, Op, Registry, Variant, nearest, suggested};
use crate::worker::{Task, Unsaved, Work};

/// What to look at: variants of the registry, and kernel files.
#[derive(Default)]
pub struct Targets {
    variants: Vec<(&'static Op, &'static Variant)>,
    files: Files,
}

/// Why targets could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetsError {
    /// A pattern that isn't one.
    #[error("target `{pattern}`: {reason}")]
    Pattern {
        /// As given.
        pattern: String,
        /// The parser's words.
        reason: String,
    },
    /// A pattern that matches nothing.
    #[error("no op or variant is called `{pattern}`{}", suggested(.nearest))]
    Unknown {
        /// As given.
        pattern: String,
        /// Names that come close.
        nearest: Vec<String>,
    },
    /// A path where nothing is.
    #[error("there is no file or folder {0}")]
    NoFile(PathBuf),
    /// A kernel alone, without a word on how it is run.
    #[error(
        "{kernel} is a kernel, and nothing says how it is run. For a first look give --groups X,Y,Z and \
         --buffer BINDING=TYPE:LEN for each buffer (`vklab check --help`); or describe it in a \
         kernel file (docs/kernel-file.md): `vklab import {kernel}` writes a stub of one",
        kernel = shell_word(&.0.display().to_string())
    )]
    Kernel(PathBuf),
    /// A kernel file that can't be used.
    #[error(transparent)]
    File(#[from] FilesError),
    /// `--case` that fits no target, or several.
    #[error("--case needs targets of one op, or one kernel file")]
    ManyTargets,
    /// A case that the target doesn't have.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The same for a kernel file.
    #[error(transparent)]
    FileCase(#[from] CheckError),
    /// The same for an Amber script.
    #[error("an Amber script has one case, `{CASE}`, and no `{0}`")]
    NoCase(String),
}

impl Targets {
    /// Reads globs on `op` and `op.variant`, and paths of kernel files and folders; none means
    /// everything in the registry. A word that is both an op and a folder is the op.
    ///
    /// # Errors
    /// A malformed pattern, or one that matches nothing, with the nearest names; a kernel file that
    /// can't be used.
    pub fn parse(
        registry: &Registry,
        patterns: &[String],
        matrices: Matrices,
    ) -> Result<Self, TargetsError> {
        let mut targets = Self::default();
        let mut matchers = Vec::new();
        for pattern in patterns {
            let path = Path::new(pattern);
            if path.extension().is_some_and(|e| e == "comp" || e == "spv") {
                return Err(TargetsError::Kernel(path.to_owned()));
            }
            let is_path = pattern.contains(is_separator)
                || path.extension().is_some_and(|e| e == "toml" || e == "amber");
            match matcher(registry, pattern) {
                Ok(matcher) if !is_path => matchers.push(matcher),
                _ if path.exists() => targets.files.add(registry, path, matrices)?,
                _ if is_path => return Err(TargetsError::NoFile(path.to_owned())),
                matcher => matchers.push(matcher?),
            }
        }
        targets.name_files();
        let meant = |(op, variant): &(&Op, &Variant)| {
            patterns.is_empty()
                || matchers.iter().any(|m| m.matches(op.name) || m.matches(&full_name(op, variant)))
        };
        targets.variants = registry.variants().filter(meant).collect();
        Ok(targets)
    }

    /// A kernel file whose text isn't on disk.
    ///
    /// # Errors
    /// A text that can't be used.
    pub fn of_text(
        registry: &Registry,
        path: &Path,
        unsaved: Unsaved,
        matrices: Matrices,
    ) -> Result<Self, TargetsError> {
        let mut targets = Self::default();
        targets.files.add_text(registry, path, unsaved, matrices)?;
        targets.name_files();
        Ok(targets)
    }

    /// Reports, expectations and snapshots know a file by its path, so each has one.
    fn name_files(&mut self) {
        let works = self.files.files.iter_mut().map(|file| &mut file.work);
        for work in works.chain(&mut self.files.scripts) {
            if let Work::File { path, .. } | Work::Script { path } = work {
                *path = place(path);
            }
        }
    }

    /// The variants, in registry order.
    #[must_use]
    pub fn variants(&self) -> &[(&'static Op, &'static Variant)] {
        &self.variants
    }

    /// The kernel files, gradients of other files included.
    #[must_use]
    pub fn files(&self) -> &[FileTarget] {
        &self.files.files
    }

    /// The paths of the Amber scripts.
    pub fn scripts(&self) -> impl Iterator<Item = String> {
        self.files.scripts.iter().map(Work::group)
    }

    /// Kernel files that can't be looked at on this machine, each with the reason.
    #[must_use]
    pub fn left_out(&self) -> &[(PathBuf, String)] {
        &self.files.left_out
    }
}

fn matcher(registry: &Registry, pattern: &str) -> Result<Pattern, TargetsError> {
    let matcher = Pattern::new(pattern).map_err(|error| TargetsError::Pattern {
        pattern: pattern.to_owned(),
        reason: error.to_string(),
    })?;
    let names = || {
        registry.ops().iter().flat_map(|op| {
            let variants = op.variants.iter().map(|v| full_name(op, v));
            std::iter::once(op.name.to_owned()).chain(variants)
        })
    };
    if names().any(|name| matcher.matches(&name)) {
        return Ok(matcher);
    }
    let nearest = nearest(pattern, names());
    Err(TargetsError::Unknown { pattern: pattern.to_owned(), nearest })
}

pub(super) fn full_name(op: &Op, variant: &Variant) -> String {
    format!("{}.{}", op.name, variant.name)
}

/// Part `index` of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

/// The tasks of a run: every check that applies to every target, on its cases; or on the one case
/// that `one` names.
///
/// # Errors
/// A case that the targets don't have.
pub fn tasks(
    targets: &Targets,
    checks: &[Check],
    size: Cases,
    seed: u64,
    one: Option<&str>,
) -> Result<Vec<Task>, TargetsError> {
    let ops: Vec<&str> = targets.variants.iter().map(|(op, _)| op.name).collect();
    let groups = ops.chunk_by(|a, b| a == b).count() + targets.files.files.len();
    let groups = groups + targets.files.scripts.len();
    if one.is_some() && groups != 1 {
        return Err(TargetsError::ManyTargets);
    }
    let mut tasks = Vec::new();
    for &(op, variant) in &targets.variants {
        for check in checks.iter().filter(|check| applies(**check, op, variant)) {
            let cases = match one {
                Some(id) => vec![Case::parse(op, id, seed)?],
                None => cases(*check, op, size, seed),
            };
            tasks.push(Task::variant(op, variant, *check, &cases));
        }
    }
    for FileTarget { work, foreign } in &targets.files.files {
        for check in checks {
            if !foreign.applies(*check)? {
                continue;
            }
            let cases = match one {
                Some(id) => vec![foreign.canonical(id)?],
                None => foreign.cases(*check, size),
            };
            tasks.push(Task::new(work.clone(), *check, seed, cases));
        }
    }
    if checks.contains(&Check::Forward) {
        if let Some(id) = one.filter(|id| *id != CASE && !targets.files.scripts.is_empty()) {
            return Err(TargetsError::NoCase(id.to_owned()));
        }
        let task =
            |work: &Work| Task::new(work.clone(), Check::Forward, seed, vec![CASE.to_owned()]);
        tasks.extend(targets.files.scripts.iter().map(task));
    }
    tasks.retain(|task| !task.cases.is_empty());
    Ok(tasks)
}

impl Shard {
    /// The tasks of this part: every `count`-th.
    #[must_use]
    pub fn of(self, tasks: Vec<Task>) -> Vec<Task> {
        tasks
            .into_iter()
            .enumerate()
            .filter(|(at, _)| at % self.count == self.index - 1)
            .map(|(_, task)| task)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Matrices, Targets, TargetsError};
    use crate::ops::Registry;

    fn count(pattern: &str) -> Result<usize, TargetsError> {
        let patterns = [pattern.to_owned()];
        let targets = Targets::parse(&Registry::lab(), &patterns, Matrices::Bounded);
        targets.map(|t| t.variants().len())
    }

    #[test]
    fn an_unknown_target_names_its_neighbours() {
        let error = count("ad").expect_err("no such op");
        let TargetsError::Unknown { nearest, .. } = error else { panic!("{error}") };
        assert!(nearest.contains(&"add".to_owned()), "{nearest:?}");
    }

    #[test]
    fn globs_reach_ops_and_variants() {
        assert!(count("add").is_ok_and(|n| n == 3));
        assert!(count("add.vjp_*").is_ok_and(|n| n == 1));
        assert!(count("*.naive").is_ok_and(|n| n > 0));
    }
}
