//! From compiler command lines, folders and modules to stubs of kernel files.
//!
//! A stub holds everything that reflection knows, and asks for the rest in comments: a stub never
//! guesses. One source becomes one stub where its builds are a full matrix of defines with the
//! same interface, else one stub for each build.

mod commands;
mod gather;
mod matrix;
mod names;
mod paths;
mod stub;
mod types;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use commands::{Command, Meaning, read_line, read_words};
pub use write::{Existing, write};

use crate::glsl::{Build, Compiler, Folders, GlslError, Source, Target};
use crate::spirv::{Interface, SpirvError, reflect};
use gather::gather;
use names::Names;
pub(crate) use paths::{resolved, seen_from};
pub(crate) use stub::{bare, define_value, quoted};

/// Why nothing could be imported at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// An input can't be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system or the parser said.
        reason: String,
    },
    /// The folder for stubs can't be made.
    #[error("{}: {reason}", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// What the system said.
        reason: String,
    },
}

/// One source, command line or stub that came to nothing, while the others went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong, with its place.
    pub message: String,
    /// The defines of each build that fails in this way; empty where no build is concerned.
    pub builds: Vec<String>,
}

impl Failure {
    fn new(message: String) -> Self {
        Self { message, builds: Vec::new() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(first) = self.builds.iter().find(|defines| !defines.is_empty()) {
            write!(f, "\n  with {first}")?;
        }
        match self.builds.len() {
            0 | 1 => Ok(()),
            count => write!(f, "\n  and so do {} more builds of it", count - 1),
        }
    }
}

/// A build of a source that compiles, and its interface.
#[derive(Clone, Debug)]
struct Built {
    defines: BTreeMap<String, String>,
    includes: Vec<PathBuf>,
    target: Target,
    output: Option<PathBuf>,
    interface: Interface,
}

/// A kernel file to be completed by its user.
#[derive(Clone, Debug)]
pub struct Stub {
    name: String,
    source: PathBuf,
    builds: Vec<Built>,
}

impl Stub {
    /// The name of its file, without `.toml`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many builds it describes.
    #[must_use]
    pub fn build_count(&self) -> usize {
        self.builds.len()
    }

    /// Its text, with paths as they are seen from `folder`.
    #[must_use]
    pub fn text(&self, folder: &Path) -> String {
        stub::text(self, &resolved(folder))
    }
}

/// What came of an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// In the order of the sources' paths.
    pub stubs: Vec<Stub>,
    /// What came to nothing.
    pub failures: Vec<Failure>,
    /// Shaders of other stages, passed over.
    pub other_stage_count: usize,
    /// Lines without a GLSL compiler, passed over.
    pub no_compiler_count: usize,
}

/// Reads lists of command lines, `compile_commands.json`, folders and single kernels, and compiles
/// what they name. Lines are taken as run in `run_in`, by default the folder of their list.
///
/// # Errors
/// An input that can't be read. A source that can't be read or compiled is a [`Failure`].
pub fn import(
    inputs: &[PathBuf],
    run_in: Option<&Path>,
    compiler: &Compiler,
) -> Result<Imported, ImportError> {
    let gathered = gather(inputs, run_in)?;
    let mut imported = Imported {
        stubs: Vec::new(),
        failures: gathered.failures,
        other_stage_count: gathered.other_stage_count,
        no_compiler_count: gathered.no_compiler_count,
    };
    let mut names = Names::default();
    for (source, commands) in gathered.sources {
        let mut builds = Vec::new();
        let mut failures: Vec<Failure> = Vec::new();
        for command in commands {
            let defines = defines_text(&command.defines);
            match interface(&command, compiler) {
                Ok(interface) => builds.push(built(command, interface)),
                Err(Refusal::OtherStage) => imported.other_stage_count += 1,
                Err(Refusal::Message(message)) => {
                    match failures.iter_mut().find(|failure| failure.message == message) {
                        Some(failure) => failure.builds.push(defines),
                        None => failures.push(Failure { message, builds: vec![defines] }),
                    }
                }
            }
        }
        imported.failures.append(&mut failures);
        let named = names.name(&source, matrix::arrange(builds));
        let stub = |(name, builds)| Stub { name, source: source.clone(), builds };
        imported.stubs.extend(named.into_iter().map(stub));
    }
    Ok(imported)
}

fn built(command: Command, interface: Interface) -> Built {
    let Command { includes, defines, target, output, .. } = command;
    Built { defines, includes, target, output, interface }
}

/// As a compiler is given them.
fn defines_text(defines: &BTreeMap<String, String>) -> String {
    let define = |(name, value): (&String, &String)| match value.as_str() {
        "" => format!("-D{name}"),
        value => format!("-D{name}={value}"),
    };
    defines.iter().map(define).collect::<Vec<_>>().join(" ")
}

/// The interface of one kernel.
///
/// # Errors
/// A kernel that can't be read or compiled.
pub(crate) fn interface_of(command: &Command, compiler: &Compiler) -> Result<Interface, String> {
    interface(command, compiler).map_err(|refusal| refusal.message(command))
}

/// The unoptimised module of one kernel.
///
/// # Errors
/// A kernel that can't be read or compiled.
pub(crate) fn module_of(command: &Command, compiler: &Compiler) -> Result<Vec<u32>, String> {
    module(command, compiler).map_err(|refusal| refusal.message(command))
}

/// Why a build has no interface.
enum Refusal {
    OtherStage,
    Message(String),
}

impl Refusal {
    fn message(self, command: &Command) -> String {
        match self {
            Self::OtherStage => {
                format!("{}: a shader of another stage than compute", command.source.display())
            }
            Self::Message(message) => message,
        }
    }
}

impl From<GlslError> for Refusal {
    fn from(error: GlslError) -> Self {
        Self::Message(error.to_string())
    }
}

fn module(command: &Command, compiler: &Compiler) -> Result<Vec<u32>, Refusal> {
    let path = command.source.display().to_string();
    let failed = |reason: String| Refusal::Message(format!("{path}: {reason}"));
    let read = fs::read(&command.source).map_err(|error| failed(error.to_string()))?;
    Ok(if command.source.extension().is_some_and(|extension| extension == "spv") {
        let (words, rest) = read.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(failed(format!("{} bytes are no SPIR-V module", read.len())));
        }
        words.iter().map(|word| u32::from_le_bytes(*word)).collect()
    } else {
        let text = String::from_utf8(read).map_err(|_| failed("not UTF-8 text".to_owned()))?;
        let mut build = Build::new(Source::new(path.clone(), text));
        build.defines = command.defines.clone().into_iter().collect();
        build.target = command.target;
        compiler.compile(&build, &Folders::new(command.includes.clone()))?.debug
    })
}

fn interface(command: &Command, compiler: &Compiler) -> Result<Interface, Refusal> {
    let path = command.source.display();
    let failed = |reason: String| Refusal::Message(format!("{path}: {reason}"));
    match reflect(&module(command, compiler)?) {
        Ok(interface) => Ok(interface),
        Err(SpirvError::OtherStage) => Err(Refusal::OtherStage),
        Err(error) => Err(failed(error.to_string())),
    }
}
