//! From GLSL text to SPIR-V words.
//!
//! Includes, preamble and `#line` directives are put together by this module's own expander
//! ([`flatten`]), not by a compiler callback. So both back ends and the cache see one flat text,
//! and every message carries the file and line that its author wrote. A [`Compiler`] turns a
//! [`Build`] into two [`Modules`]: one unoptimised with names and lines, for reflection and for
//! the interpreter; one optimised, for drivers.

mod backend;
mod build;
mod cache;
mod compiler;
mod diagnostics;
mod error;
mod expand;
mod includes;
mod library;
mod scan;

pub use backend::Backend;
pub use build::{Build, Modules, Source, Target};
pub use cache::default_cache_dir;
pub use compiler::{CacheCounts, Compiler, CompilerOptions};
pub use error::{Diagnostic, GlslError, Severity, Site};
pub use expand::{Flattened, flatten};
pub use includes::{Chain, Folders, Includes};
pub use library::{LIBRARY, Library, Texts};
