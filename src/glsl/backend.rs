//! The two compilers: shaderc, linked, and the program `glslc`.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use super::{GlslError, Target};

/// Which compiler to use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// shaderc where the feature `glsl` links it, else the `glslc` on the `PATH`.
    #[default]
    Auto,
    /// shaderc; an error where it isn't linked.
    Shaderc,
    /// A `glslc` program, by name or path.
    Glslc(PathBuf),
}

/// Which of a kernel's two modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Unoptimised, with names and lines.
    Debug,
    /// Optimised for speed.
    Optimized,
}

/// A text to compile, with all that the module depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) defines: &'a [(String, String)],
    pub(super) target: Target,
}

/// Why a compiler returned no module.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Messages about the source, unparsed.
    Messages(String),
    /// Everything else.
    Error(GlslError),
}

/// The flags of a form; they are part of the cache's key.
pub(super) fn flags(form: Form) -> &'static [&'static str] {
    match form {
        Form::Debug => &["-g", "-O0"],
        Form::Optimized => &["-O"],
    }
}

/// The version text of a `glslc` program.
pub(super) fn glslc_version(program: &Path) -> Result<String, GlslError> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| not_started(program, &error))?;
    if !output.status.success() {
        return Err(GlslError::NoCompiler {
            reason: format!("`{} --version` fails ({})", program.display(), output.status),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// One module by a `glslc` program.
pub(super) fn glslc_compile(program: &Path, job: Job<'_>, form: Form) -> Result<Vec<u32>, Refusal> {
    let mut command = Command::new(program);
    command
        .arg("-fshader-stage=compute")
        .arg(format!("--target-env={}", job.target))
        .args(flags(form))
        .args(job.defines.iter().map(|(n, v)| format!("-D{n}={v}")))
        .args(["-o", "-", "-"]);
    let output = exchange(&mut command, job.text)
        .map_err(|error| Refusal::Error(not_started(program, &error)))?;
    module(program, job.path, output)
}

/// One module of a text of SPIR-V assembly. The program knows that language by a file's name only.
pub(super) fn glslc_assemble(
    program: &Path,
    path: &str,
    text: &str,
    minor: u8,
) -> Result<Vec<u32>, Refusal> {
    let io = |error: std::io::Error| {
        Refusal::Error(GlslError::Io { path: path.to_owned(), reason: error.to_string() })
    };
    let mut file = tempfile::Builder::new().suffix(".spvasm").tempfile().map_err(io)?;
    file.write_all(text.as_bytes()).map_err(io)?;
    let output = Command::new(program)
        .arg(format!("--target-env={}", environment(minor)))
        .args(["-o", "-"])
        .arg(file.path())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Refusal::Error(not_started(program, &error)))?;
    module(program, path, output)
}

/// The least environment that takes SPIR-V 1.`minor`.
const fn environment(minor: u8) -> &'static str {
    match minor {
        0 => "vulkan1.0",
        1..=3 => "vulkan1.1",
        4 | 5 => "vulkan1.2",
        _ => "vulkan1.3",
    }
}

/// The module that a program wrote, or its messages.
fn module(program: &Path, path: &str, output: Output) -> Result<Vec<u32>, Refusal> {
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Refusal::Messages(if messages.trim().is_empty() {
            format!("{path}: error: {} says nothing", program.display())
        } else {
            messages
        }));
    }
    let (words, rest) = output.stdout.as_chunks::<4>();
    if words.is_empty() || !rest.is_empty() {
        return Err(Refusal::Error(GlslError::Backend {
            file: path.to_owned(),
            reason: format!("{} bytes are no SPIR-V module", output.stdout.len()),
        }));
    }
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Runs a program with a text as its input. The text is written by a thread of its own, since a
/// program that answers before it has read everything would block a single one for ever.
fn exchange(command: &mut Command, text: &str) -> std::io::Result<Output> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let input = child.stdin.take();
    thread::scope(|scope| {
        scope.spawn(move || {
            // A program that stops reading has its reason in its own messages.
            input.map(|mut input| input.write_all(text.as_bytes()).is_ok())
        });
        child.wait_with_output()
    })
}

fn not_started(program: &Path, error: &std::io::Error) -> GlslError {
    let shown = program.display();
    GlslError::NoCompiler {
        reason: match error.kind() {
            ErrorKind::NotFound => format!("the program `{shown}` was not found"),
            _ => format!("the program `{shown}` does not run: {error}"),
        },
    }
}

#[cfg(feature = "glsl")]
pub(super) mod linked {
    //! shaderc as a library.

    use super::{Form, Job, Refusal};
    use crate::glsl::{GlslError, Target};

    /// The crate's exact version stands in the manifest; with it come shaderc 2025.3 and glslang
    /// 15.3. Change both together, else the cache serves modules of the old one.
    pub(in crate::glsl) const IDENTITY: &str = "shaderc crate 0.10.1";

    fn failed(file: &str, error: &shaderc::Error) -> GlslError {
        GlslError::Backend { file: file.to_owned(), reason: error.to_string() }
    }

    /// Makes a compiler, which costs about 0.1 s.
    pub(in crate::glsl) fn open(file: &str) -> Result<shaderc::Compiler, GlslError> {
        shaderc::Compiler::new().map_err(|error| failed(file, &error))
    }

    /// One module of a text of SPIR-V assembly.
    pub(in crate::glsl) fn assemble(
        compiler: &shaderc::Compiler,
        path: &str,
        text: &str,
        minor: u8,
    ) -> Result<Vec<u32>, Refusal> {
        let mut options =
            shaderc::CompileOptions::new().map_err(|error| Refusal::Error(failed(path, &error)))?;
        let version = match minor {
            0 => shaderc::EnvVersion::Vulkan1_0,
            1..=3 => shaderc::EnvVersion::Vulkan1_1,
            4 | 5 => shaderc::EnvVersion::Vulkan1_2,
            _ => shaderc::EnvVersion::Vulkan1_3,
        };
        options.set_target_env(shaderc::TargetEnv::Vulkan, version as u32);
        match compiler.assemble(text, Some(&options)) {
            Ok(artifact) => Ok(artifact.as_binary().to_vec()),
            Err(shaderc::Error::CompilationError(_, messages)) => Err(Refusal::Messages(messages)),
            Err(error) => Err(Refusal::Error(failed(path, &error))),
        }
    }

    /// One module.
    pub(in crate::glsl) fn compile(
        compiler: &shaderc::Compiler,
        job: Job<'_>,
        form: Form,
    ) -> Result<Vec<u32>, Refusal> {
        let mut options = shaderc::CompileOptions::new()
            .map_err(|error| Refusal::Error(failed(job.path, &error)))?;
        let (version, spirv) = match job.target {
            Target::Vulkan11 => (shaderc::EnvVersion::Vulkan1_1, shaderc::SpirvVersion::V1_3),
            Target::Vulkan12 => (shaderc::EnvVersion::Vulkan1_2, shaderc::SpirvVersion::V1_5),
            Target::Vulkan13 => (shaderc::EnvVersion::Vulkan1_3, shaderc::SpirvVersion::V1_6),
        };
        options.set_target_env(shaderc::TargetEnv::Vulkan, version as u32);
        options.set_target_spirv(spirv);
        match form {
            Form::Debug => {
                options.set_generate_debug_info();
                options.set_optimization_level(shaderc::OptimizationLevel::Zero);
            }
            Form::Optimized => {
                options.set_optimization_level(shaderc::OptimizationLevel::Performance);
            }
        }
        for (name, value) in job.defines {
            options.add_macro_definition(name, Some(value));
        }
        let kind = shaderc::ShaderKind::Compute;
        match compiler.compile_into_spirv(job.text, kind, job.path, "main", Some(&options)) {
            Ok(artifact) => Ok(artifact.as_binary().to_vec()),
            Err(shaderc::Error::CompilationError(_, messages)) => Err(Refusal::Messages(messages)),
            Err(error) => Err(Refusal::Error(failed(job.path, &error))),
        }
    }
}

#[cfg(all(test, feature = "glsl"))]
mod tests {
    #[test]
    fn the_identity_names_the_version_in_the_manifest() {
        let manifest = include_str!("../../Cargo.toml");
        let version = super::linked::IDENTITY.rsplit(' ').next().unwrap();
        assert!(manifest.contains(&format!("shaderc = {{ version = \"={version}\"")));
    }
}
