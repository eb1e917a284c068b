//! From what the user names (lists, folders, files) to sources with the builds asked of each.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::commands::{Command, Meaning, read_line, read_words};
use super::{Failure, ImportError, resolved};
use crate::glsl::Target;

/// Everything that was named.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// By the source's one absolute path, so that it is one source however it is spelt. The
    /// builds are distinct and in the order in which they were met.
    pub(super) sources: BTreeMap<PathBuf, Vec<Command>>,
    pub(super) failures: Vec<Failure>,
    /// Shaders of stages other than compute.
    pub(super) other_stage_count: usize,
    /// Lines without a GLSL compiler.
    pub(super) no_compiler_count: usize,
}

/// Reads a list of command lines, a `compile_commands.json`, a folder or one kernel. `run_in` is
/// the folder in which the lines of a list were run; by default the list's own.
pub(super) fn gather(inputs: &[PathBuf], run_in: Option<&Path>) -> Result<Gathered, ImportError> {
    let mut gathered = Gathered::default();
    for input in inputs {
        let parent = input.parent().unwrap_or(Path::new(""));
        if input.is_dir() {
            gathered.folder(input)?;
        } else if is_kernel(input) {
            gathered.push(alone(input.clone()));
        } else if input.extension() == Some(OsStr::new("json")) {
            gathered.json(input, run_in.unwrap_or(parent))?;
        } else {
            gathered.list(input, run_in.unwrap_or(parent))?;
        }
    }
    Ok(gathered)
}

/// A kernel of which nothing is known but its file.
fn alone(source: PathBuf) -> Command {
    Command {
        source,
        includes: Vec::new(),
        defines: BTreeMap::new(),
        target: Target::default(),
        output: None,
    }
}

fn is_kernel(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "comp" || extension == "spv")
}

fn unreadable(path: &Path, error: &io::Error) -> ImportError {
    ImportError::Read { path: path.to_path_buf(), reason: error.to_string() }
}

/// An entry of `compile_commands.json`; it has one of `command` and `arguments`.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

impl Gathered {
    fn push(&mut self, command: Command) {
        let builds = self.sources.entry(resolved(&command.source)).or_default();
        let same = |other: &Command| {
            (&other.defines, &other.includes, other.target)
                == (&command.defines, &command.includes, command.target)
        };
        if !builds.iter().any(same) {
            builds.push(command);
        }
    }

    /// Every kernel below a folder. Hidden folders and links to folders are passed over.
    fn folder(&mut self, folder: &Path) -> Result<(), ImportError> {
        let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(folder, &error))?;
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if !hidden {
                    self.folder(&path)?;
                }
            } else if is_kernel(&path) {
                self.push(alone(path));
            }
        }
        Ok(())
    }

    fn list(&mut self, path: &Path, folder: &Path) -> Result<(), ImportError> {
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        for (number, line) in joined_lines(&text) {
            let place = format!("{}:{number}", path.display());
            match read_line(&line, folder) {
                Some(meanings) => self.meanings(meanings, &place),
                None => self.failures.push(Failure::new(format!("{place}: unclosed quote"))),
            }
        }
        Ok(())
    }

    fn json(&mut self, path: &Path, folder: &Path) -> Result<(), ImportError> {
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| {
            ImportError::Read { path: path.to_path_buf(), reason: error.to_string() }
        })?;
        for (number, entry) in (1..).zip(entries) {
            let place = format!("{}: entry {number}", path.display());
            let directory = folder.join(entry.directory);
            let meanings = match (entry.arguments, entry.command) {
                (Some(words), _) => Some(read_words(&words, &directory)),
                (None, Some(line)) => read_line(&line, &directory),
                (None, None) => None,
            };
            match meanings {
                Some(meanings) => self.meanings(meanings, &place),
                None => self.failures.push(Failure::new(format!(
                    "{place}: neither `arguments` nor a `command` that a shell could split"
                ))),
            }
        }
        Ok(())
    }

    fn meanings(&mut self, meanings: Vec<Meaning>, place: &str) {
        for meaning in meanings {
            match meaning {
                Meaning::Compute(command) => self.push(command),
                Meaning::OtherStage => self.other_stage_count += 1,
                Meaning::NoCompiler => self.no_compiler_count += 1,
                Meaning::Unusable(reason) => {
                    self.failures.push(Failure::new(format!("{place}: {reason}")));
                }
            }
        }
    }
}

/// Lines with their numbers; a backslash at the end takes the next one in. Blank lines and
/// comments are left out.
fn joined_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in (1..).zip(text.lines()) {
        let (line, goes_on) = match line.strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        match lines.last_mut() {
            Some((_, last)) if open => last.push_str(line),
            _ => lines.push((number, line.to_owned())),
        }
        open = goes_on;
    }
    lines.retain(|(_, line)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::joined_lines;

    #[test]
    fn a_backslash_joins_lines_and_numbers_stay() {
        let lines = joined_lines("# list\n\nglslc \\\n  a.comp\nglslc b.comp\n");
        let want = [(3, "glslc   a.comp".to_owned()), (5, "glslc b.comp".to_owned())];
        assert_eq!(lines, want);
    }
}
