//! From a pipeline to a kernel.

use std::fs;

use super::script::{
    BindKind, Format, Pipeline, Script, Shader, Source, SubgroupSize, Target, Text,
};
use crate::check::{CheckError, Session};
use crate::device::{DeviceInfo, Kernel};
use crate::glsl;
use crate::glsl::{Build, Folders};
use crate::spirv::{self, BindingKind, Interface};

/// A kernel, and what it declares.
pub(super) struct Built {
    pub(super) kernel: Kernel,
    pub(super) interface: Interface,
}

/// Compiles the pipeline's shader.
///
/// Amber gives drivers what the front end made, and some scripts are about just that (which lanes
/// are together after a branch), so both modules of the kernel are the unoptimised one.
pub(super) fn build(
    session: &Session,
    script: &Script,
    pipeline: &Pipeline,
) -> Result<Built, CheckError> {
    let shader = pipeline.shader.and_then(|index| script.shaders.get(index));
    let shader = shader.ok_or_else(|| fault(script, pipeline.line, "no shader".to_owned()))?;
    let words = words(session, script, shader)?;
    let name = format!("{}:{} `{}`", script.path.display(), pipeline.line, pipeline.name);
    let interface = spirv::reflect(&words).map_err(|source| match source {
        spirv::SpirvError::Unsupported { reason } => CheckError::Unsupported(reason),
        source => CheckError::Spirv { kernel: name.clone(), source },
    })?;
    if interface.entry != pipeline.entry {
        let what = format!("the shader's entry point is `{}`", interface.entry);
        return Err(fault(script, pipeline.line, what));
    }
    fits(pipeline, &interface, &words, session.info())?;
    let kernel = Kernel {
        name,
        optimized: words.clone(),
        debug: words,
        entry: pipeline.entry.clone(),
        bindings: Vec::new(),
        push_bytes: interface.push_bytes.next_multiple_of(4),
        spec: specialization(pipeline, &interface),
        subgroup_size: subgroup_size(pipeline, session.info())?,
        capabilities: interface.capabilities.clone(),
    };
    Ok(Built { kernel, interface })
}

/// A workgroup or its shared memory that exceeds the device's limits is unsupported, with numbers.
fn fits(
    pipeline: &Pipeline,
    interface: &Interface,
    words: &[u32],
    info: &DeviceInfo,
) -> Result<(), CheckError> {
    let values: Vec<(u32, u32)> = pipeline.spec.iter().map(|s| (s.id, s.bits)).collect();
    let (name, limits) = (&pipeline.name, &info.limits);
    let size = interface.local_size_with(&values);
    let invocations = size.iter().map(|n| u64::from(*n)).fold(1, u64::saturating_mul);
    let is_wide = size.iter().zip(limits.workgroup_size).any(|(n, most)| *n > most);
    if is_wide || invocations > u64::from(limits.workgroup_invocations) {
        let what = format!("pipeline `{name}` has workgroups of {size:?} invocations");
        return Err(CheckError::Unsupported(what));
    }
    let shared = spirv::reflect_with(words, &values).map_or(0, |module| module.shared_bytes);
    if shared > limits.shared_bytes {
        let most = limits.shared_bytes;
        let what = format!("pipeline `{name}` takes {shared} bytes of shared memory, of {most}");
        return Err(CheckError::Unsupported(what));
    }
    Ok(())
}

/// Values of constants that the module has: Vulkan ignores the others, as Amber does.
fn specialization(pipeline: &Pipeline, interface: &Interface) -> Vec<crate::device::SpecValue> {
    let is_known = |id| interface.spec_constants.iter().any(|constant| constant.id == id);
    let mut spec = pipeline.spec.clone();
    spec.retain(|value| is_known(value.id));
    spec.sort_unstable_by_key(|value| value.id);
    spec
}

fn subgroup_size(pipeline: &Pipeline, info: &DeviceInfo) -> Result<Option<u32>, CheckError> {
    let Some(wanted) = pipeline.subgroup_size else { return Ok(None) };
    let size = match wanted {
        SubgroupSize::Least => info.subgroup_sizes().min(),
        SubgroupSize::Most => info.subgroup_sizes().max(),
        SubgroupSize::Exactly(size) => info.subgroup_sizes().find(|offered| *offered == size),
    };
    let lacking = || CheckError::Unsupported(format!("subgroup size {wanted:?} isn't offered"));
    size.map(Some).ok_or_else(lacking)
}

fn words(session: &Session, script: &Script, shader: &Shader) -> Result<Vec<u32>, CheckError> {
    let path = script.path.display().to_string();
    let (path, bytes) = match &shader.source {
        Source::Inline(text) => (path, in_place(text).into_bytes()),
        Source::File(name) => {
            let file = script.folder().join(name);
            let bytes = fs::read(&file).map_err(|error| {
                fault(script, shader.line, format!("failed to read {}: {error}", file.display()))
            })?;
            (file.display().to_string(), bytes)
        }
    };
    if shader.format == Format::Binary {
        let (words, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(fault(script, shader.line, format!("{path} is no SPIR-V module")));
        }
        return Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect());
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| fault(script, shader.line, format!("{path} is no text")))?;
    let source = glsl::Source::new(path, text);
    if shader.format == Format::Assembly {
        return Ok(session.compiler().assemble(&source, version(shader.target))?);
    }
    let build = Build { target: glsl_target(shader.target), ..Build::new(source) };
    let folders = Folders::new([script.folder().to_owned()]);
    Ok(session.compiler().compile(&build, &folders)?.debug)
}

/// The text with so many lines above that messages name those of the script. `#version` has to be
/// the first of all in some versions, so that they go below it.
fn in_place(text: &Text) -> String {
    let body = text.text.trim_start();
    let skipped = text.text.len() - body.len();
    let skipped = text.text[..skipped].matches('\n').count();
    let above = usize::try_from(text.line).unwrap_or(1).saturating_sub(1) + skipped;
    let above = "\n".repeat(above);
    match body.split_once('\n') {
        Some((first, rest)) if first.starts_with("#version") => format!("{first}\n{above}{rest}"),
        _ => above + body,
    }
}

const fn glsl_target(target: Target) -> glsl::Target {
    match target {
        Target::Spirv10 | Target::Spirv13 => glsl::Target::Vulkan11,
        Target::Spirv14 | Target::Spirv15 => glsl::Target::Vulkan12,
        Target::Spirv16 => glsl::Target::Vulkan13,
    }
}

/// The minor version of SPIR-V.
const fn version(target: Target) -> u8 {
    match target {
        Target::Spirv10 => 0,
        Target::Spirv13 => 3,
        Target::Spirv14 => 4,
        Target::Spirv15 => 5,
        Target::Spirv16 => 6,
    }
}

/// Whether a binding of the module is what a script binds there.
pub(super) fn is_kind(declared: BindingKind, bound: BindKind) -> bool {
    match declared {
        BindingKind::Storage => bound == BindKind::Storage,
        BindingKind::Uniform => bound == BindKind::Uniform,
        BindingKind::Opaque => false,
    }
}

/// A script that contradicts its shaders.
pub(super) fn fault(script: &Script, line: u32, what: String) -> CheckError {
    CheckError::Interface { kernel: format!("{}:{line}", script.path.display()), what }
}
