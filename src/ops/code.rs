//! Where a kernel's code comes from.

use std::path::PathBuf;
use std::sync::Arc;

use crate::glsl::{self, Source};

/// The code of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// GLSL with what is put around it.
    Glsl {
        /// The file.
        source: Source,
        /// Put before the file, after `#version`.
        preamble: Option<Source>,
        /// Folders for `#include`, searched behind the file's own and before the lab's library.
        folders: Vec<PathBuf>,
        /// The environment that it is compiled for.
        target: glsl::Target,
    },
    /// A module that somebody else compiled.
    Spirv {
        /// As shown in messages.
        path: String,
        /// Its words.
        words: Arc<[u32]>,
    },
}

impl Code {
    /// A GLSL file that needs nothing around it but the lab's library.
    #[must_use]
    pub fn glsl(source: Source) -> Self {
        Self::Glsl { source, preamble: None, folders: Vec::new(), target: glsl::Target::default() }
    }

    /// The path that messages show.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Glsl { source, .. } => &source.path,
            Self::Spirv { path, .. } => path,
        }
    }
}
