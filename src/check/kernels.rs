//! From a plan's dispatch to a kernel on the device: compile, reflect, match by name.

use std::collections::HashMap;
use std::rc::Rc;

use crate::device::{Kernel, KernelId, SpecValue};
use crate::glsl::{Build, Chain, Compiler, Folders, Includes, Library, Modules};
use crate::memory::Ledger;
use crate::ops::{Code, Constant, Dispatch, Name, Others, PushValue, Socket};
use crate::spirv::{self, Binding, BindingKind, ElementType, Interface, SpecConstant};
use crate::tensor::Dtype;

use super::{CheckError, push};

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

type Key = (Code, Vec<(String, String)>);

/// Kernels that a device has.
pub(super) type Loaded = HashMap<(Key, Vec<SpecValue>, Option<u32>), KernelId>;

/// Kernels built and loaded so far.
#[derive(Default)]
pub(super) struct Kernels {
    /// Files that every kernel may include, besides those of its own folders and the lab's.
    pub(super) includes: Vec<Box<dyn Includes>>,
    built: HashMap<Key, Rc<Built>>,
    pub(super) loaded: Loaded,
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
        let modules = self.modules(compiler, &key)?;
        let name = dispatch.code.path().to_owned();
        let interface = spirv::reflect(&modules.debug)
            .map_err(|source| CheckError::Spirv { kernel: name.clone(), source })?;
        let built = Rc::new(Built { name, modules, interface });
        self.built.insert(key, Rc::clone(&built));
        Ok(built)
    }

    fn modules(&self, compiler: &Compiler, (code, defines): &Key) -> Result<Modules, CheckError> {
        Ok(match code {
            Code::Glsl { source, preamble, folders, target } => {
                let build = Build {
                    source: source.clone(),
                    preamble: preamble.clone(),
                    defines: defines.clone(),
                    target: *target,
                };
                // The text of a registry's kernel is embedded; its path is none on this disk.
                let folders = Folders::new(folders.iter().cloned());
                let mut links: Vec<&dyn Includes> = vec![&folders];
                links.extend(self.includes.iter().map(Box::as_ref));
                links.push(&Library);
                compiler.compile(&build, &Chain::new(links))?
            }
            Code::Spirv { words, .. } => {
                Modules { debug: words.to_vec(), optimized: words.to_vec() }
            }
        })
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
        subgroup_size: Option<u32>,
    ) -> Result<KernelId, CheckError> {
        let spec = specialization(built, dispatch)?;
        let key = (key(dispatch), spec.clone(), subgroup_size);
        if let Some(id) = self.loaded.get(&key) {
            return Ok(*id);
        }
        fits(ledger, built, &spec, subgroup_size)?;
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
            subgroup_size,
            capabilities: built.interface.capabilities.clone(),
        })?;
        self.loaded.insert(key, id);
        Ok(id)
    }
}

fn key(dispatch: &Dispatch) -> Key {
    let defines = dispatch.defines.iter().map(|(n, v)| (n.to_string(), v.to_string()));
    (dispatch.code.clone(), defines.collect())
}

fn mismatch(built: &Built, what: String) -> CheckError {
    CheckError::Interface { kernel: built.name.clone(), what }
}

/// What a built kernel takes of a device with its specialization constants.
pub(super) struct Taken {
    /// Invocations of a workgroup along x, y and z.
    pub(super) size: [u32; 3],
    /// Shared memory of a workgroup.
    pub(super) shared_bytes: u32,
}

/// What the kernel of a dispatch takes, whether or not a device has it.
///
/// # Errors
/// A constant that the kernel doesn't declare.
pub(super) fn taken(built: &Built, dispatch: &Dispatch) -> Result<Taken, CheckError> {
    specialized(built, &specialization(built, dispatch)?)
}

fn specialized(built: &Built, spec: &[SpecValue]) -> Result<Taken, CheckError> {
    let values: Vec<(u32, u32)> = spec.iter().map(|s| (s.id, s.bits)).collect();
    let interface = spirv::reflect_with(&built.modules.debug, &values)
        .map_err(|source| CheckError::Spirv { kernel: built.name.clone(), source })?;
    let size = built.interface.local_size_with(&values);
    Ok(Taken { size, shared_bytes: interface.shared_bytes })
}

/// A workgroup or its shared memory that exceeds the device's limits is unsupported, with numbers.
fn fits(
    ledger: &Ledger,
    built: &Built,
    spec: &[SpecValue],
    subgroup_size: Option<u32>,
) -> Result<(), CheckError> {
    let limits = ledger.device().info().limits;
    let Taken { size, shared_bytes: shared } = specialized(built, spec)?;
    let invocations: u64 = size.iter().map(|n| u64::from(*n)).product();
    if invocations > u64::from(limits.workgroup_invocations) {
        return Err(CheckError::Unsupported(format!(
            "{}: workgroup of {invocations} invocations, the device has {}",
            built.name, limits.workgroup_invocations
        )));
    }
    let most = limits.workgroup_subgroups;
    if let Some(size) = subgroup_size
        && invocations > u64::from(size) * u64::from(most)
    {
        return Err(CheckError::Unsupported(format!(
            "{}: workgroup of {invocations} invocations in subgroups of {size}, the device has {most} subgroups",
            built.name
        )));
    }
    if shared > limits.shared_bytes {
        return Err(CheckError::Unsupported(format!(
            "{}: {shared} bytes of shared memory, the device has {}",
            built.name, limits.shared_bytes
        )));
    }
    Ok(())
}

fn specialization(built: &Built, dispatch: &Dispatch) -> Result<Vec<SpecValue>, CheckError> {
    let constants = &built.interface.spec_constants;
    let mut spec = Vec::new();
    for (wanted, value) in &dispatch.spec {
        let (found, shown) = match wanted {
            Constant::Named(name) => (constants.iter().find(|c| c.name == *name), name.to_string()),
            Constant::Id(id) => (constants.iter().find(|c| c.id == *id), id.to_string()),
        };
        let constant = found.ok_or_else(|| {
            let known: Vec<String> =
                constants.iter().map(|c| format!("{} ({})", c.name, c.id)).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let what = format!("no specialization constant `{shown}`; it has {}", listed(&known));
            mismatch(built, what)
        })?;
        let bits = constant_bits(constant, value).ok_or_else(|| {
            let what = format!("constant `{shown}` is {}, and {value:?} is none", constant.ty);
            mismatch(built, what)
        })?;
        spec.push(SpecValue { id: constant.id, bits });
    }
    spec.sort_unstable();
    Ok(spec)
}

/// A value in the constant's own type.
fn constant_bits(constant: &SpecConstant, value: &PushValue) -> Option<u32> {
    let number = match value {
        PushValue::U32(bits) => return Some(*bits),
        PushValue::F32(number) => f64::from(*number),
        PushValue::Numbers(numbers) => match numbers.as_slice() {
            [number] => *number,
            _ => return None,
        },
    };
    if constant.ty == ElementType::Bool {
        return Some(u32::from(number != 0.0));
    }
    let dtype = constant.ty.dtype()?;
    let fits = dtype.is_float() || dtype.round(number) == number;
    let mut bytes = dtype.encode(&[number]);
    bytes.resize(4, 0);
    fits.then(|| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// The push constant block of a dispatch, packed as the kernel declares it.
///
/// # Errors
/// A member that only one side has, or of another type.
pub(super) fn push_block(built: &Built, dispatch: &Dispatch) -> Result<Vec<u8>, CheckError> {
    push::block(&built.interface, &dispatch.push).map_err(|what| mismatch(built, what))
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
    let is_at = |binding: &Binding, socket: &Socket| match socket {
        Socket::Named(name) => binding.name == *name,
        Socket::At { set, binding: number } => (binding.set, binding.binding) == (*set, *number),
    };
    // A binding that the kernel doesn't declare is what a layout for several kernels has.
    let named = dispatch.renamed.iter().filter_map(|(socket, _)| match socket {
        Socket::Named(name) => Some(name),
        Socket::At { .. } => None,
    });
    let mut extra = named.filter(|name| bindings.iter().all(|b| b.name != **name));
    if let Some(name) = extra.next() {
        let known: Vec<String> =
            bindings.iter().map(|b| format!("{}.{} `{}`", b.set, b.binding, b.name)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(mismatch(built, format!("no buffer `{name}`; it has {}", listed(&known))));
    }
    bindings
        .iter()
        .map(|binding| {
            if binding.kind != BindingKind::Storage {
                let what = format!("binding {} is no storage buffer", binding.binding);
                return Err(mismatch(built, what));
            }
            let renamed = dispatch.renamed.iter().find(|(socket, _)| is_at(binding, socket));
            match (renamed, dispatch.others) {
                (Some((_, buffer)), _) => Ok((binding, buffer.as_ref())),
                (None, Others::ByName) => Ok((binding, binding.name.as_str())),
                (None, Others::Unbound) => {
                    let (set, number, name) = (binding.set, binding.binding, &binding.name);
                    let what = format!("the step binds nothing to {set}.{number} (`{name}`)");
                    Err(mismatch(built, what))
                }
            }
        })
        .collect()
}

/// Whether a binding's elements are those of a buffer. A kernel from outside may see a binding
/// through several blocks, of which one is enough, or take bits apart that it has as unsigned
/// integers or structures.
///
/// # Errors
/// The binding, its type and what the record says.
pub(super) fn check_type(
    built: &Built,
    dispatch: &Dispatch,
    binding: &Binding,
    buffer: &str,
    dtype: Dtype,
) -> Result<(), CheckError> {
    let place = (binding.set, binding.binding);
    let at = |(socket, _): &(Socket, Name)| matches!(socket, Socket::At { set, binding } if (*set, *binding) == place);
    let is_foreign = dispatch.renamed.iter().any(at);
    let views = built.interface.bindings.iter().filter(|b| (b.set, b.binding) == place);
    let is_seen = |view: &Binding| {
        let takes_bits = matches!(
            view.element,
            ElementType::Struct
                | ElementType::U8
                | ElementType::U16
                | ElementType::U32
                | ElementType::U64
        );
        takes_bits || stores(view.element, dtype)
    };
    if stores(binding.element, dtype) || is_foreign && views.into_iter().any(is_seen) {
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

/// Whether elements of that type are what a buffer holds.
fn stores(element: ElementType, dtype: Dtype) -> bool {
    // Blocks are structures, or words that the kernel takes apart.
    let takes_blocks = matches!(
        element,
        ElementType::Struct | ElementType::U8 | ElementType::U16 | ElementType::U32
    );
    match (element, dtype) {
        // Atomics on floats go through their bits; GLSL without an extension has bf16 as bits.
        (ElementType::U32, Dtype::F32) | (ElementType::U16, Dtype::BF16) => true,
        _ => element.dtype() == Some(dtype) || dtype.is_quantised() && takes_blocks,
    }
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
