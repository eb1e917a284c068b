//! From a build to its modules, through the cache.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::backend::{self, Form, Job, Refusal};
use super::cache::{self, Lookup};
use super::{
    Backend, Build, Flattened, GlslError, Includes, Modules, Source, diagnostics, flatten,
};

/// How to compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompilerOptions {
    /// Which compiler.
    pub backend: Backend,
    /// The folder of compiled modules; none turns the cache off. It is made when first needed.
    pub cache: Option<PathBuf>,
}

/// What the cache did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Builds that were found.
    pub hit_count: u64,
    /// Builds that had to be compiled, damaged entries included.
    pub miss_count: u64,
    /// Entries of another format, cut short or altered.
    pub damaged_count: u64,
    /// Entries that could not be written: a full disk, a folder without permission. The build
    /// itself succeeds.
    pub unwritten_count: u64,
}

#[derive(Debug, Default)]
struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
    damaged: AtomicU64,
    unwritten: AtomicU64,
}

/// A compiler for any number of builds, from any number of threads.
pub struct Compiler {
    cache: Option<PathBuf>,
    engine: Engine,
    counters: Counters,
}

/// The compiler behind it. Both kinds are opened at the first build that the cache lacks, or when
/// the key needs their version: a run that is served by the cache doesn't wait for shaderc.
enum Engine {
    #[cfg(feature = "glsl")]
    Shaderc(OnceLock<shaderc::Compiler>),
    Glslc {
        program: PathBuf,
        version: OnceLock<String>,
    },
}

impl Compiler {
    /// Chooses the back end; nothing is started yet.
    ///
    /// # Errors
    /// [`Backend::Shaderc`] in a build without the feature `glsl`.
    pub fn new(options: CompilerOptions) -> Result<Self, GlslError> {
        Ok(Self {
            cache: options.cache,
            engine: Engine::new(options.backend)?,
            counters: Counters::default(),
        })
    }

    /// Both modules of a build.
    ///
    /// # Errors
    /// Everything that [`GlslError`] lists: include errors, the compiler's messages, no compiler.
    pub fn compile(&self, build: &Build, includes: &dyn Includes) -> Result<Modules, GlslError> {
        check_defines(&build.defines)?;
        let flat = flatten(build, includes)?;
        check_text(&flat)?;
        let Some(folder) = &self.cache else {
            return self.compile_flat(build, &flat);
        };
        let key = self.key(build, &flat)?;
        match cache::load(folder, &key) {
            Lookup::Hit(modules) => {
                count(&self.counters.hits);
                return Ok(modules);
            }
            Lookup::Damaged => count(&self.counters.damaged),
            Lookup::Miss => {}
        }
        count(&self.counters.misses);
        let modules = self.compile_flat(build, &flat)?;
        if cache::store(folder, &key, &modules).is_err() {
            count(&self.counters.unwritten);
        }
        Ok(modules)
    }

    /// The module that a text of SPIR-V assembly stands for, as version 1.`minor`.
    ///
    /// # Errors
    /// The assembler's messages, no assembler.
    pub fn assemble(&self, source: &Source, minor: u8) -> Result<Vec<u32>, GlslError> {
        let path = source.shown_path();
        if source.text.contains('\0') {
            let reason = "a zero byte; this is no SPIR-V assembly".to_owned();
            return Err(GlslError::Io { path, reason });
        }
        let assembled = self.engine.assemble(&path, &source.text, minor);
        let mut words = assembled.map_err(|refusal| match refusal {
            Refusal::Messages(messages) => {
                GlslError::Assembly { file: path.clone(), messages: messages.trim().to_owned() }
            }
            Refusal::Error(error) => error,
        })?;
        // The text's own word on its version is a comment, and environments skip some.
        if let Some(version) = words.get_mut(1) {
            *version = 0x0001_0000 | u32::from(minor) << 8;
        }
        Ok(words)
    }

    /// What the cache did so far.
    #[must_use]
    pub fn cache_counts(&self) -> CacheCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CacheCounts {
            hit_count: read(&self.counters.hits),
            miss_count: read(&self.counters.misses),
            damaged_count: read(&self.counters.damaged),
            unwritten_count: read(&self.counters.unwritten),
        }
    }

    fn key(&self, build: &Build, flat: &Flattened) -> Result<String, GlslError> {
        let target = build.target.to_string();
        let path = build.source.shown_path();
        let mut fields = vec![self.engine.identity()?, &target, &path, &flat.text];
        for form in [Form::Debug, Form::Optimized] {
            fields.extend(backend::flags(form));
        }
        for (name, value) in &build.defines {
            fields.extend([name.as_str(), value]);
        }
        Ok(cache::key(fields))
    }

    fn compile_flat(&self, build: &Build, flat: &Flattened) -> Result<Modules, GlslError> {
        let path = build.source.shown_path();
        let job =
            Job { path: &path, text: &flat.text, defines: &build.defines, target: build.target };
        let module = |form| {
            let result = self.engine.compile(job, form);
            result.map_err(|refusal| explain(refusal, &path, flat))
        };
        Ok(Modules { debug: module(Form::Debug)?, optimized: module(Form::Optimized)? })
    }
}

impl Engine {
    fn new(backend: Backend) -> Result<Self, GlslError> {
        let program = match backend {
            Backend::Glslc(program) => program,
            #[cfg(feature = "glsl")]
            Backend::Auto | Backend::Shaderc => return Ok(Self::Shaderc(OnceLock::new())),
            #[cfg(not(feature = "glsl"))]
            Backend::Auto => PathBuf::from("glslc"),
            #[cfg(not(feature = "glsl"))]
            Backend::Shaderc => {
                return Err(GlslError::NoCompiler { reason: "shaderc is not linked".to_owned() });
            }
        };
        Ok(Self::Glslc { program, version: OnceLock::new() })
    }

    /// The compiler's name and version.
    fn identity(&self) -> Result<&str, GlslError> {
        match self {
            #[cfg(feature = "glsl")]
            Self::Shaderc(_) => Ok(backend::linked::IDENTITY),
            Self::Glslc { program, version } => {
                if let Some(version) = version.get() {
                    return Ok(version);
                }
                let text = format!("glslc {}", backend::glslc_version(program)?);
                Ok(version.get_or_init(|| text))
            }
        }
    }

    fn compile(&self, job: Job<'_>, form: Form) -> Result<Vec<u32>, Refusal> {
        match self {
            #[cfg(feature = "glsl")]
            Self::Shaderc(cell) => {
                backend::linked::compile(Self::opened(cell, job.path)?, job, form)
            }
            Self::Glslc { program, .. } => backend::glslc_compile(program, job, form),
        }
    }

    fn assemble(&self, path: &str, text: &str, minor: u8) -> Result<Vec<u32>, Refusal> {
        match self {
            #[cfg(feature = "glsl")]
            Self::Shaderc(cell) => {
                backend::linked::assemble(Self::opened(cell, path)?, path, text, minor)
            }
            Self::Glslc { program, .. } => backend::glslc_assemble(program, path, text, minor),
        }
    }

    #[cfg(feature = "glsl")]
    fn opened<'c>(
        cell: &'c OnceLock<shaderc::Compiler>,
        path: &str,
    ) -> Result<&'c shaderc::Compiler, Refusal> {
        if let Some(compiler) = cell.get() {
            return Ok(compiler);
        }
        let compiler = backend::linked::open(path).map_err(Refusal::Error)?;
        Ok(cell.get_or_init(|| compiler))
    }
}

/// The error behind a compiler's messages: an include error where they speak of its placeholder.
fn explain(refusal: Refusal, path: &str, flat: &Flattened) -> GlslError {
    let messages = match refusal {
        Refusal::Messages(messages) => messages,
        Refusal::Error(error) => return error,
    };
    let diagnostics = diagnostics::parse(&messages, flat);
    let deferred = diagnostics.iter().find_map(|d| flat.deferred(&d.message));
    match deferred {
        Some(error) => error,
        None if diagnostics.is_empty() => {
            GlslError::Backend { file: path.to_owned(), reason: messages.trim().to_owned() }
        }
        None => GlslError::Compile { diagnostics },
    }
}

fn check_defines(defines: &[(String, String)]) -> Result<(), GlslError> {
    for (name, value) in defines {
        let invalid = |reason| GlslError::InvalidDefine { name: name.clone(), reason };
        let mut letters = name.chars();
        let starts = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !starts || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(invalid("a macro's name is letters, digits and `_`, no digit first"));
        }
        if value.chars().any(char::is_control) {
            return Err(invalid("a macro's value is one line without control characters"));
        }
    }
    Ok(())
}

/// A zero byte ends the text for the compiler, silently, in the middle of a file.
fn check_text(flat: &Flattened) -> Result<(), GlslError> {
    match flat.files.iter().find(|file| file.text.contains('\0')) {
        None => Ok(()),
        Some(file) => Err(GlslError::Io {
            path: file.shown_path(),
            reason: "a zero byte; this is no GLSL text".to_owned(),
        }),
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
