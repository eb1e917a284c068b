//! A first look at a kernel: command-line options in place of a kernel file, whose text they become.

mod interface;
mod options;
mod text;

use std::path::PathBuf;

use thiserror::Error;

pub use options::{
    Assignment, BUFFER_FORM, BufferOption, DEFINE_FORM, GROUPS_FORM, Groups, PUSH_FORM, SHAPE_FORM,
    SPEC_FORM,
};

use super::{FilesError, Matrices, Targets, TargetsError};
use crate::check::{CheckError, shell_word};
use crate::glsl::{Compiler, Target};
use crate::kernel_file::KernelFileError;
use crate::ops::Registry;
use crate::worker::Unsaved;
use text::{Lines, lines};

/// One dispatch of one kernel, as options describe it.
#[derive(Clone, Debug)]
pub struct Look {
    /// A .comp or .spv file.
    pub kernel: PathBuf,
    /// Workgroups.
    pub groups: Groups,
    /// Named dimensions.
    pub shapes: Vec<Assignment>,
    /// What stands behind its bindings.
    pub buffers: Vec<BufferOption>,
    /// Push constants by member.
    pub push: Vec<Assignment>,
    /// Macros.
    pub defines: Vec<Assignment>,
    /// Specialization constants by name or id.
    pub spec: Vec<Assignment>,
    /// Folders for `#include`.
    pub includes: Vec<PathBuf>,
    /// What GLSL is compiled for.
    pub target: Option<Target>,
}

/// Why options make no kernel file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LookError {
    /// The kernel can't be read or compiled.
    #[error("{0}")]
    Kernel(String),
    /// An option that says something wrong.
    #[error("{option} {given}: {message}; expected {option} {form}")]
    Option {
        /// Which.
        option: &'static str,
        /// Its value, as a shell takes it.
        given: String,
        /// What is wrong with it.
        message: String,
        /// What it takes.
        form: &'static str,
    },
    /// What the kernel needs and no option gives.
    #[error("{kernel}: {message}; expected {option} {form}")]
    Missing {
        /// The kernel.
        kernel: String,
        /// What is missing.
        message: String,
        /// The option that gives it.
        option: &'static str,
        /// What it takes.
        form: &'static str,
    },
    /// A buffer of a kind that isn't bound here.
    #[error(
        "{kernel}: binding {set}.{binding} is no storage buffer, and nothing else can be bound"
    )]
    NoStorage {
        /// The kernel.
        kernel: String,
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
    },
    /// The text can't be used.
    #[error(transparent)]
    Targets(#[from] TargetsError),
}

impl Look {
    /// The text of the kernel file that says the same, to be saved beside the kernel.
    ///
    /// # Errors
    /// A kernel that doesn't compile; options that don't fit it.
    pub fn text(&self, compiler: &Compiler) -> Result<String, LookError> {
        self.lines(compiler).map(|lines| lines.text())
    }

    /// The kernel as a target.
    ///
    /// # Errors
    /// As [`Look::text`]; expressions that come to nothing.
    pub fn targets(
        &self,
        registry: &Registry,
        compiler: &Compiler,
        matrices: Matrices,
    ) -> Result<Targets, LookError> {
        let lines = self.lines(compiler)?;
        let unsaved = Unsaved { text: lines.text(), asked: self.arguments() };
        Targets::of_text(registry, &self.kernel, unsaved, matrices)
            .map_err(|error| blamed(error, &lines))
    }

    fn lines(&self, compiler: &Compiler) -> Result<Lines, LookError> {
        let interface = self.interface(compiler)?;
        self.fits(&interface)?;
        Ok(lines(self, &interface))
    }

    /// The arguments that stand for it, quoted for a shell.
    #[must_use]
    pub fn arguments(&self) -> String {
        let mut words = vec![shell_word(&self.kernel.display().to_string())];
        let mut say =
            |option: &str, value: &str| words.push(format!("{option} {}", shell_word(value)));
        say("--groups", &self.groups.0.join(","));
        self.shapes.iter().for_each(|shape| say("--shape", &shape.given));
        self.buffers.iter().for_each(|buffer| say("--buffer", &buffer.given));
        self.push.iter().for_each(|push| say("--push", &push.given));
        self.defines.iter().for_each(|define| say("--define", &define.given));
        self.spec.iter().for_each(|spec| say("--spec", &spec.given));
        self.includes.iter().for_each(|include| say("--include", &include.display().to_string()));
        if let Some(target) = self.target {
            say("--target", &target.to_string());
        }
        words.join(" ")
    }
}

/// An error at a line of the text is one of the option that made the line.
fn blamed(error: TargetsError, lines: &Lines) -> LookError {
    let (TargetsError::File(FilesError::File(wrong))
    | TargetsError::File(FilesError::Check(CheckError::File(wrong)))) = &error
    else {
        return error.into();
    };
    let KernelFileError::Wrong { place, message } = wrong else { return error.into() };
    match lines.origin(place.line) {
        Some(origin) => origin.wrong(message.clone()),
        None => error.into(),
    }
}
