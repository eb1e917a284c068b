//! What can go wrong between a GLSL file and its modules.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How bad a message of the compiler is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// No module comes out.
    Error,
    /// A module comes out all the same.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The file as its [`Source`](super::Source) names it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// The text of that line.
    pub text: String,
}

/// One message of the compiler, at the place its author wrote.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The file, an included one where the fault lies there.
    pub file: String,
    /// Counted from 1; none where the compiler names none (faults at link time, for example).
    pub line: Option<u32>,
    /// Error or warning.
    pub severity: Severity,
    /// The compiler's own words.
    pub message: String,
    /// The source line, where the message has a line.
    pub text: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}: {}", self.severity, self.message)?;
        if let Some(text) = &self.text {
            write!(f, "\n    {}", text.trim())?;
        }
        Ok(())
    }
}

/// Why there are no modules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GlslError {
    /// The GLSL is wrong.
    #[error("{}", lines(diagnostics))]
    Compile {
        /// At least one, in the compiler's order.
        diagnostics: Vec<Diagnostic>,
    },
    /// SPIR-V assembly that is none.
    #[error("{file}: error: {messages}")]
    Assembly {
        /// The file.
        file: String,
        /// The assembler's own words.
        messages: String,
    },
    /// An `#include` names a file that is in none of the places.
    #[error("{}:{}: error: include \"{name}\" not found{}", site.file, site.line, hints(site, places, nearest.as_deref()))]
    MissingInclude {
        /// The name as written.
        name: String,
        /// The `#include` line.
        site: Box<Site>,
        /// Where it was looked for.
        places: Vec<String>,
        /// The most similar name that exists.
        nearest: Option<String>,
    },
    /// A file includes itself, directly or through others.
    #[error("include cycle:{}", chain(sites))]
    IncludeCycle {
        /// The `#include` lines from the file's first inclusion to the one that closes the cycle.
        sites: Vec<Site>,
    },
    /// An `#include` that isn't followed by a quoted name or one in angle brackets.
    #[error("{}:{}: error: #include expects \"name\" or <name>\n    {}", site.file, site.line, site.text.trim())]
    MalformedInclude {
        /// The `#include` line.
        site: Site,
    },
    /// Files that include each other many times over.
    #[error("{file}: error: the text grows beyond {limit_bytes} bytes by its includes")]
    TooLarge {
        /// The kernel file.
        file: String,
        /// The most that is accepted.
        limit_bytes: usize,
    },
    /// Neither the file nor its preamble says which GLSL it is.
    #[error("{file}:1: error: no #version; compute kernels start with `#version 450`")]
    MissingVersion {
        /// The kernel file.
        file: String,
    },
    /// A macro that no compiler would take.
    #[error("macro `{name}`: {reason}")]
    InvalidDefine {
        /// The macro's name.
        name: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// No compiler is linked and none was found.
    #[error(
        "no GLSL compiler: {reason}; install glslc (Debian, Ubuntu, Fedora: the package glslc; \
         Arch, Homebrew: shaderc; Windows: the Vulkan SDK), or build vklab with its feature \
         `glsl`, or use a SPIR-V file"
    )]
    NoCompiler {
        /// What was tried and what the system said.
        reason: String,
    },
    /// The compiler itself failed, with no word about the source.
    #[error("{file}: the GLSL compiler failed: {reason}")]
    Backend {
        /// The kernel file.
        file: String,
        /// What the compiler said.
        reason: String,
    },
    /// A file could not be read.
    #[error("{path}: {reason}")]
    Io {
        /// Which file.
        path: String,
        /// What the system said.
        reason: String,
    },
}

fn lines(diagnostics: &[Diagnostic]) -> String {
    let shown: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    shown.join("\n")
}

fn hints(site: &Site, places: &[String], nearest: Option<&str>) -> String {
    let mut shown = format!("\n    {}", site.text.trim());
    if places.is_empty() {
        shown.push_str("\n  no include folder is known");
    } else {
        // Writing to a String can't fail.
        let _ = write!(shown, "\n  looked in {}", places.join(", "));
    }
    if let Some(name) = nearest {
        let _ = write!(shown, "\n  did you mean \"{name}\"?");
    }
    shown
}

fn chain(sites: &[Site]) -> String {
    let mut shown = String::new();
    for site in sites {
        let _ = write!(shown, "\n  {}:{}: {}", site.file, site.line, site.text.trim());
    }
    shown
}
