//! Amber scripts: shaders, buffers, pipelines and what their results should be, in one text.
//!
//! [`parse`] reads a text into a [`Script`]; docs/amber.md lists the statements. [`check`] runs it
//! on a device and answers with an outcome. What the lab doesn't do (images, graphics) ends the
//! reading with a reason and makes the outcome `unsupported`.

mod build;
mod contents;
mod error;
mod judge;
mod needs;
mod number;
mod parse;
mod prepare;
mod run;
mod script;
mod token;
mod types;

pub use error::{AmberError, Unsupported};
pub use number::Number;
pub use parse::parse;
pub use run::{CASE, check};
pub use script::{
    Action, Bind, BindKind, Buffer, Command, Comparator, Expect, Format, Init, Need, NeedKind,
    Part, Pipeline, Script, Shader, Source, SubgroupSize, Target, Text, Tolerance,
};
pub use types::{Element, Field, Layout, Member, Struct, Type};

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// How every script begins.
const FIRST: &str = "#!amber";

impl Script {
    /// Reads a script from disk.
    ///
    /// # Errors
    /// What is wrong with it, at the line and column.
    pub fn load(path: &Path) -> Result<Self, AmberError> {
        let text = fs::read_to_string(path).map_err(|error| AmberError::Unreadable {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        parse(path, &text)
    }

    /// Whether a file is meant to be a script: its first line says so.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        let mut start = [0; FIRST.len()];
        let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && start == *FIRST.as_bytes()
    }
}
