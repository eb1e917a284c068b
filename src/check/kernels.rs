//! From a plan's dispatch to a kernel on the device: compile, reflect, match by name.

use std::collections::HashMap;
use std::rc::Rc;

use crate::device::{Kernel, KernelId, SpecValue};
use crate::glsl::{Build, Compiler, Library, Modules, Source};
use crate::memory::Ledger;
use crate::ops::{Dispatch, PushValue};
use crate::spirv::{self, Binding, BindingKind, ElementType, Interface};
use crate::tensor::Dtype;

use super::CheckError;

/// A compiled kernel with its interface.
#[derive(Debug)]
pub(super) struct Built {
    /// For messages.
    pub(super) name: String,
    /// Both modules.
    pub(super) modules: Modules,
    /// As reflected from the unoptimised one.
    pub(super) interface: Interface,
}

type Key = (Source, Vec<(String, String)>);

/// Kernels built and loaded so far.
#[derive(Default)]
pub(super) struct Kernels {
    built: HashMap<Key, Rc<Built>>,
    loaded: HashMap<(Key, Vec<SpecValue>), KernelId>,
}

impl Kernels {
    /// Compiles the kernel of a dispatch, once.
    ///
    /// # Errors
    /// GLSL that doesn't compile, SPIR-V that doesn't parse.
    pub(super) fn build(
        &mut self,
        compiler: &Compiler,
        dispatch: &Dispatch,
    ) -> Result<Rc<Built>, CheckError> {
        let key = key(dispatch);
        if let Some(built) = self.built.get(&key) {
            return Ok(Rc::clone(built));
        }
        let mut build = Build::new(dispatch.source.clone());
        build.defines.clone_from(&key.1);
        let modules = compiler.compile(&build, &Library)?;
        let name = dispatch.source.path.to_string();
        let interface = spirv::reflect(&modules.debug)
            .map_err(|source| CheckError::Spirv { kernel: name.clone(), source })?;
        let built = Rc::new(Built { name, modules, interface });
        self.built.insert(key, Rc::clone(&built));
        Ok(built)
    }

    /// Makes a pipeline of a built kernel with the dispatch's specialization constants, once.
    ///
    /// # Errors
    /// A constant that the kernel doesn't declare; the device's refusal.
    pub(super) fn load(
        &mut self,
        ledger: &mut Ledger,
        built: &Built,
        dispatch: &Dispatch,
    ) -> Result<KernelId, CheckError> {
        let spec = specialization(built, dispatch)?;
        let key = (key(dispatch), spec.clone());
        if let Some(id) = self.loaded.get(&key) {
            return Ok(*id);
        }
        fits(ledger, built, &spec)?;
        let mut bindings: Vec<(u32, u32)> =
            built.interface.bindings.iter().map(|b| (b.set, b.binding)).collect();
        bindings.dedup();
        let id = ledger.load(&Kernel {
            name: built.name.clone(),
            optimized: built.modules.optimized.clone(),
            debug: built.modules.debug.clone(),
            entry: built.interface.entry.clone(),
            bindings,
            push_bytes: built.interface.push_bytes.next_multiple_of(4),
            spec,
            capabilities: built.interface.capabilities.clone(),
        })?;
        self.loaded.insert(key, id);
        Ok(id)
    }
}

fn key(dispatch: &Dispatch) -> Key {
    let defines = dispatch.defines.iter().map(|(n, v)| (n.to_string(), v.to_string()));
    (dispatch.source.clone(), defines.collect())
}

fn mismatch(built: &Built, what: String) -> CheckError {
    CheckError::Interface { kernel: built.name.clone(), what }
}

/// A workgroup or its shared memory that exceeds the device's limits is unsupported, with numbers.
fn fits(ledger: &Ledger, built: &Built, spec: &[SpecValue]) -> Result<(), CheckError> {
    let limits = ledger.device().info().limits;
    let values: Vec<(u32, u32)> = spec.iter().map(|s| (s.id, s.bits)).collect();
    let size = built.interface.local_size_with(&values);
    let invocations: u64 = size.iter().map(|n| u64::from(*n)).product();
    if invocations > u64::from(limits.workgroup_invocations) {
        return Err(CheckError::Unsupported(format!(
            "{}: workgroup of {invocations} invocations, the device has {}",
            built.name, limits.workgroup_invocations
        )));
    }
    let shared = spirv::reflect_with(&built.modules.debug, &values)
        .map_err(|source| CheckError::Spirv { kernel: built.name.clone(), source })?
        .shared_bytes;
    if shared > limits.shared_bytes {
        return Err(CheckError::Unsupported(format!(
            "{}: {shared} bytes of shared memory, the device has {}",
            built.name, limits.shared_bytes
        )));
    }
    Ok(())
}

fn specialization(built: &Built, dispatch: &Dispatch) -> Result<Vec<SpecValue>, CheckError> {
    let mut spec = Vec::new();
    for (name, bits) in &dispatch.spec {
        let constant = built.interface.spec_constant(name).ok_or_else(|| {
            let known: Vec<&str> =
                built.interface.spec_constants.iter().map(|c| c.name.as_str()).collect();
            mismatch(
                built,
                format!("no specialization constant `{name}`; it has {}", listed(&known)),
            )
        })?;
        spec.push(SpecValue { id: constant.id, bits: *bits });
    }
    spec.sort_unstable();
    Ok(spec)
}

/// The push constant block of a dispatch, packed as the kernel declares it.
///
/// # Errors
/// A member that only one side has, or of another type.
pub(super) fn push_block(built: &Built, dispatch: &Dispatch) -> Result<Vec<u8>, CheckError> {
    let members = &built.interface.push;
    let names: Vec<&str> = members.iter().map(|m| m.name.as_str()).collect();
    if let Some((extra, _)) = dispatch.push.iter().find(|(name, _)| !names.contains(name)) {
        let what = format!("no push constant `{extra}`; it has {}", listed(&names));
        return Err(mismatch(built, what));
    }
    let mut block = vec![0; built.interface.push_bytes.next_multiple_of(4) as usize];
    for member in members {
        let value = dispatch.push.iter().find(|(name, _)| *name == member.name);
        let (_, value) = value.ok_or_else(|| {
            mismatch(built, format!("push constant `{}` is not given by the plan", member.name))
        })?;
        let (bytes, fits, given) = match value {
            PushValue::U32(v) => {
                let fits = matches!(member.ty, ElementType::U32 | ElementType::I32);
                (v.to_le_bytes(), fits, "u32")
            }
            PushValue::F32(v) => (v.to_le_bytes(), member.ty == ElementType::F32, "f32"),
        };
        if !fits || member.components != 1 || member.len.is_some() {
            return Err(mismatch(
                built,
                format!(
                    "push constant `{}` at offset {} is {} x {}, the plan gives one {given}",
                    member.name, member.offset, member.ty, member.components
                ),
            ));
        }
        let at = member.offset as usize;
        block[at..at + 4].copy_from_slice(&bytes);
    }
    Ok(block)
}

/// The buffers that a kernel declares, each with the name that the plan binds there.
///
/// # Errors
/// A binding that isn't a storage buffer.
pub(super) fn bound_names<'b>(
    built: &'b Built,
    dispatch: &'b Dispatch,
) -> Result<Vec<(&'b Binding, &'b str)>, CheckError> {
    let bindings = &built.interface.bindings;
    let known: Vec<&str> = bindings.iter().map(|b| b.name.as_str()).collect();
    if let Some((extra, _)) = dispatch.renamed.iter().find(|(glsl, _)| !known.contains(glsl)) {
        return Err(mismatch(built, format!("no buffer `{extra}`; it has {}", listed(&known))));
    }
    bindings
        .iter()
        .map(|binding| {
            if binding.kind != BindingKind::Storage {
                let what = format!("binding {} is no storage buffer", binding.binding);
                return Err(mismatch(built, what));
            }
            let renamed = dispatch.renamed.iter().find(|(glsl, _)| *glsl == binding.name);
            Ok((binding, renamed.map_or(binding.name.as_str(), |(_, buffer)| *buffer)))
        })
        .collect()
}

/// Whether a binding's elements are those of a buffer.
///
/// # Errors
/// The binding, its type and what the record says.
pub(super) fn check_type(
    built: &Built,
    binding: &Binding,
    buffer: &str,
    dtype: Dtype,
) -> Result<(), CheckError> {
    let fits = matches!(
        (binding.element, dtype),
        (ElementType::F32, Dtype::F32)
            | (ElementType::F16, Dtype::F16)
            | (ElementType::U32, Dtype::U32)
            | (ElementType::I32, Dtype::I32)
            | (ElementType::BF16, Dtype::BF16)
            | (ElementType::F64, Dtype::F64)
            | (ElementType::I8, Dtype::I8)
            | (ElementType::U8, Dtype::U8)
            | (ElementType::I16, Dtype::I16)
            | (ElementType::U16, Dtype::U16)
            | (ElementType::I64, Dtype::I64)
            | (ElementType::U64, Dtype::U64)
            // Atomics on floats go through their bits.
            | (ElementType::U32, Dtype::F32)
            // GLSL without an extension for it has bf16 as bits.
            | (ElementType::U16, Dtype::BF16)
    );
    // Blocks are structures, or words that the kernel takes apart.
    let takes_blocks = matches!(
        binding.element,
        ElementType::Struct | ElementType::U8 | ElementType::U16 | ElementType::U32
    );
    let fits = fits || dtype.is_quantised() && takes_blocks;
    if fits {
        return Ok(());
    }
    Err(mismatch(
        built,
        format!(
            "binding {} (`{}`) holds {}, the record stores `{buffer}` as {dtype}",
            binding.binding, binding.name, binding.element
        ),
    ))
}

/// The error for a binding that nothing in the record or plan is named like.
#[must_use]
pub(super) fn unknown_buffer(
    built: &Built,
    binding: &Binding,
    buffer: &str,
    known: &[&str],
) -> CheckError {
    mismatch(
        built,
        format!(
            "binding {} (`{}`) wants a buffer `{buffer}`; the op and its plan have {}",
            binding.binding,
            binding.name,
            listed(known)
        ),
    )
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
