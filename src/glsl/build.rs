//! What goes into a compilation and what comes out.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A text and the name under which messages speak of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source {
    /// As shown in messages, for example `add/naive.comp`.
    pub path: Cow<'static, str>,
    /// The GLSL text.
    pub text: Cow<'static, str>,
}

impl Source {
    /// A source from any mix of owned and static strings.
    pub fn new(path: impl Into<Cow<'static, str>>, text: impl Into<Cow<'static, str>>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// A source that is part of the program.
    #[must_use]
    pub const fn embedded(path: &'static str, text: &'static str) -> Self {
        Self { path: Cow::Borrowed(path), text: Cow::Borrowed(text) }
    }

    /// The path as `#line` directives and messages spell it: forward slashes, and nothing that
    /// would end the quoted string or the line.
    #[must_use]
    pub fn shown_path(&self) -> String {
        self.path
            .chars()
            .map(|c| match c {
                '\\' => '/',
                '"' => '\'',
                c if c.is_control() => '?',
                c => c,
            })
            .collect()
    }
}

/// The environment that a module is made for. Anything above the default is a declared need of
/// the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Target {
    /// Vulkan 1.1, SPIR-V 1.3.
    #[default]
    Vulkan11,
    /// Vulkan 1.2, SPIR-V 1.5.
    Vulkan12,
    /// Vulkan 1.3, SPIR-V 1.6.
    Vulkan13,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vulkan11 => "vulkan1.1",
            Self::Vulkan12 => "vulkan1.2",
            Self::Vulkan13 => "vulkan1.3",
        })
    }
}

/// One kernel to compile: the file and everything that is put around it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Build {
    /// The kernel file.
    pub source: Source,
    /// Put before the file: after its `#version` and the `#extension` lines at its head.
    pub preamble: Option<Source>,
    /// Macros by name and value, as `-D` of a compiler.
    pub defines: Vec<(String, String)>,
    /// The environment that the modules need.
    #[serde(default)]
    pub target: Target,
}

impl Build {
    /// The file alone, for the default target.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self { source, preamble: None, defines: Vec::new(), target: Target::default() }
    }

    /// The same build with one more macro.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.defines.push((name.into(), value.into()));
        self
    }
}

/// The two modules of a kernel, in SPIR-V words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Modules {
    /// Unoptimised, with names and source lines: for reflection and for the interpreter.
    pub debug: Vec<u32>,
    /// Optimised for speed: for drivers.
    pub optimized: Vec<u32>,
}
