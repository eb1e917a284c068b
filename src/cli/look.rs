//! `vklab check KERNEL.comp`: options in place of a kernel file.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::glsl::{Compiler, CompilerOptions, Target, default_cache_dir};
use crate::ops::Registry;
use crate::run::{Assignment, BufferOption, Groups, Look, Matrices, Targets};

use super::args::CheckOptions;
use super::{CliError, Ending};

/// What a kernel file would say, for a target that is a kernel.
#[derive(Args, Debug)]
#[command(next_help_heading = "A first look at one kernel, a .comp or .spv as the TARGET")]
pub(super) struct LookOptions {
    /// Workgroups along x, y and z: integers or expressions over names of --shape, --spec and
    /// --define.
    #[arg(long, value_name = "X[,Y[,Z]]")]
    groups: Option<Groups>,
    /// A buffer: `0=f32:1024`, `1=i32:n:0..63:in`. INIT is uniform, normal, zeros, ones, iota,
    /// undefined or LOW..HIGH; ROLE is in, out, inout or scratch, otherwise what `readonly` and
    /// `writeonly` say. One for each binding.
    #[arg(long, value_name = "[SET.]BINDING=TYPE:LEN[:INIT][:ROLE]", requires = "groups")]
    buffer: Vec<BufferOption>,
    /// A named dimension; several values are swept.
    #[arg(
        long,
        value_name = "NAME=VALUE[,VALUE...]",
        value_parser = Assignment::valued,
        requires = "groups"
    )]
    shape: Vec<Assignment>,
    /// A push constant: a number, an expression, or several for a vector. One for each member.
    #[arg(
        long,
        value_name = "MEMBER=VALUE[,VALUE...]",
        value_parser = Assignment::valued,
        requires = "groups"
    )]
    push: Vec<Assignment>,
    /// A macro.
    #[arg(long, value_name = "NAME[=VALUE]", requires = "groups")]
    define: Vec<Assignment>,
    /// A specialization constant; several values are a matrix of builds.
    #[arg(
        long,
        value_name = "NAME_OR_ID=VALUE[,VALUE...]",
        value_parser = Assignment::valued,
        requires = "groups"
    )]
    spec: Vec<Assignment>,
    /// A folder for `#include`, searched after the kernel's own.
    #[arg(long, value_name = "DIR", requires = "groups")]
    include: Vec<PathBuf>,
    /// What GLSL is compiled for: vulkan1.1, vulkan1.2 or vulkan1.3.
    #[arg(long, value_name = "VULKAN", value_parser = vulkan, requires = "groups")]
    target: Option<Target>,
    /// Check nothing: print the kernel file that says the same, to be saved beside the kernel.
    #[arg(long, requires = "groups")]
    pub(super) as_file: bool,
}

fn vulkan(text: &str) -> Result<Target, String> {
    let all = [Target::Vulkan11, Target::Vulkan12, Target::Vulkan13];
    let found = all.into_iter().find(|target| target.to_string() == text);
    found.ok_or_else(|| "expected vulkan1.1, vulkan1.2 or vulkan1.3".to_owned())
}

/// The targets of a check: a kernel with options, or what the arguments name.
pub(super) fn targets(
    registry: &Registry,
    options: &CheckOptions,
    matrices: Matrices,
) -> Result<Targets, CliError> {
    match look(options)? {
        Some(look) => Ok(look.targets(registry, &compiler()?, matrices)?),
        None => Ok(Targets::parse(registry, &options.targets, matrices)?),
    }
}

/// The kernel file that the options stand for.
pub(super) fn print(options: &CheckOptions) -> Result<Ending, CliError> {
    if let Some(look) = look(options)? {
        println!("{}", look.text(&compiler()?)?.trim_end());
    }
    Ok(Ending::Clean)
}

fn compiler() -> Result<Compiler, CliError> {
    let options = CompilerOptions { cache: default_cache_dir(), ..CompilerOptions::default() };
    Ok(Compiler::new(options)?)
}

fn look(options: &CheckOptions) -> Result<Option<Look>, CliError> {
    let given = &options.look;
    let Some(groups) = given.groups.clone() else { return Ok(None) };
    let is_kernel =
        |path: &String| Path::new(path).extension().is_some_and(|e| e == "comp" || e == "spv");
    let [kernel] = options.targets.as_slice() else {
        return Err(CliError::Usage("--groups goes with one TARGET, a .comp or .spv".to_owned()));
    };
    if !is_kernel(kernel) {
        let message = format!("--groups goes with a .comp or .spv, and `{kernel}` is neither");
        return Err(CliError::Usage(message));
    }
    Ok(Some(Look {
        kernel: PathBuf::from(kernel),
        groups,
        shapes: given.shape.clone(),
        buffers: given.buffer.clone(),
        push: given.push.clone(),
        defines: given.define.clone(),
        spec: given.spec.clone(),
        includes: given.include.clone(),
        target: given.target,
    }))
}
