//! What a kernel and a recording must satisfy on any device before they are taken.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Binding, BufferId, Command, DeviceError, DeviceInfo, Kernel, KernelId, Recording};

/// What a recording can name.
pub(crate) trait Known {
    /// The device.
    fn info(&self) -> &DeviceInfo;

    /// The length of a buffer that exists.
    fn buffer_bytes(&self, buffer: BufferId) -> Option<u64>;

    /// What a dispatch of a kernel that exists must fit.
    fn face(&self, kernel: KernelId) -> Option<Face<'_>>;
}

/// What a dispatch of a kernel must fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Face<'a> {
    pub(crate) name: &'a str,
    /// (set, binding), ascending.
    pub(crate) bindings: &'a [(u32, u32)],
    pub(crate) push_bytes: u32,
}

/// What a recording takes beside its buffers and kernels.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) upload_bytes: u64,
    pub(crate) download_bytes: u64,
    /// Where each download lies in the readback buffer.
    pub(crate) downloads: Vec<Range<usize>>,
    pub(crate) timestamp_count: u32,
}

/// Refuses a kernel that the device can't run, or that no device may be given.
pub(crate) fn check_kernel(kernel: &Kernel, info: &DeviceInfo) -> Result<(), DeviceError> {
    let (name, limits) = (&kernel.name, &info.limits);
    let refuse = |what: String| {
        let what = format!("kernel '{name}' {what}");
        Err(DeviceError::Unsupported { device: info.name.clone(), what })
    };
    let lacks = |capability: &&String| !info.features.has(capability);
    if let Some(lacking) = kernel.capabilities.iter().find(lacks) {
        return refuse(format!("needs {lacking}, which this device lacks"));
    }
    if let Some(size) = kernel.subgroup_size
        && !info.subgroup_sizes().any(|offered| offered == size)
    {
        let offered: Vec<String> =
            info.subgroup_sizes().map(|offered| offered.to_string()).collect();
        let offered = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
        return refuse(format!(
            "requires a subgroup size of {size}; this device lets one require {offered}"
        ));
    }
    let count = kernel.bindings.len();
    if count > limits.storage_buffers as usize {
        return refuse(format!(
            "binds {count} storage buffers; this device allows {}",
            limits.storage_buffers
        ));
    }
    let push_bytes = kernel.push_bytes;
    if push_bytes > limits.push_bytes {
        return refuse(format!(
            "has {push_bytes} bytes of push constants; this device allows {}",
            limits.push_bytes
        ));
    }
    if !push_bytes.is_multiple_of(4) {
        return refuse(format!("has {push_bytes} bytes of push constants, no multiple of 4"));
    }
    if kernel.spec.iter().map(|value| value.id).collect::<BTreeSet<_>>().len() != kernel.spec.len()
    {
        return refuse("sets a specialization constant twice".into());
    }
    Ok(())
}

/// A broken rule, before the command that breaks it is known.
enum Broken {
    Malformed(String),
    Unsupported(String),
}

/// Checks every command.
pub(crate) fn check(recording: &Recording, known: &dyn Known) -> Result<Needs, DeviceError> {
    let mut needs = Needs::default();
    for (index, command) in recording.commands.iter().enumerate() {
        check_command(command, known, &mut needs).map_err(|broken| {
            let device = known.info().name.clone();
            match broken {
                Broken::Malformed(what) => {
                    DeviceError::Malformed { device, what: format!("command {index}: {what}") }
                }
                Broken::Unsupported(what) => {
                    DeviceError::Unsupported { device, what: format!("command {index}: {what}") }
                }
            }
        })?;
    }
    Ok(needs)
}

fn check_command(command: &Command, known: &dyn Known, needs: &mut Needs) -> Result<(), Broken> {
    match command {
        Command::Upload { buffer, offset_bytes, data } => {
            let len = data.len() as u64;
            inside(known, "upload", *buffer, *offset_bytes, len)?;
            needs.upload_bytes = sum(needs.upload_bytes, len)?;
        }
        Command::Fill { buffer, offset_bytes, len_bytes, .. } => {
            inside(known, "fill", *buffer, *offset_bytes, *len_bytes)?;
        }
        Command::Undefine { buffer, offset_bytes, len_bytes, .. } => {
            inside(known, "undefine", *buffer, *offset_bytes, *len_bytes)?;
        }
        Command::Download { buffer, offset_bytes, len_bytes } => {
            inside(known, "download", *buffer, *offset_bytes, *len_bytes)?;
            let end = sum(needs.download_bytes, *len_bytes)?;
            let place = |bytes: u64| {
                usize::try_from(bytes).map_err(|_| {
                    Broken::Unsupported("downloads exceed this host's address space".into())
                })
            };
            needs.downloads.push(place(needs.download_bytes)?..place(end)?);
            needs.download_bytes = end;
        }
        Command::Retire { buffer } => {
            buffer_bytes(known, *buffer)?;
        }
        Command::Dispatch { kernel, bindings, push, groups } => {
            dispatch(known, *kernel, bindings, push, *groups)?;
        }
        Command::Timestamp => needs.timestamp_count += 1,
        Command::Barrier => {}
    }
    Ok(())
}

fn sum(a: u64, b: u64) -> Result<u64, Broken> {
    a.checked_add(b).ok_or_else(|| Broken::Malformed("copies exceed 2^64 bytes".into()))
}

fn buffer_bytes(known: &dyn Known, buffer: BufferId) -> Result<u64, Broken> {
    known
        .buffer_bytes(buffer)
        .ok_or_else(|| Broken::Malformed(format!("buffer {} doesn't exist", buffer.0)))
}

/// A transfer's part of a buffer: VUID-vkCmdCopyBuffer-srcOffset-00113 and its kind.
fn inside(
    known: &dyn Known,
    what: &str,
    buffer: BufferId,
    offset: u64,
    len: u64,
) -> Result<(), Broken> {
    let whole = buffer_bytes(known, buffer)?;
    if len == 0 || !len.is_multiple_of(4) || !offset.is_multiple_of(4) {
        return Err(Broken::Malformed(format!(
            "{what} of {len} bytes at {offset}: both must be multiples of 4, the length positive"
        )));
    }
    if offset.checked_add(len).is_none_or(|end| end > whole) {
        return Err(Broken::Malformed(format!(
            "{what} of {len} bytes at {offset} leaves buffer {} of {whole} bytes",
            buffer.0
        )));
    }
    Ok(())
}

fn dispatch(
    known: &dyn Known,
    kernel: KernelId,
    bindings: &[Binding],
    push: &[u8],
    groups: [u32; 3],
) -> Result<(), Broken> {
    let face = known
        .face(kernel)
        .ok_or_else(|| Broken::Malformed(format!("kernel {} doesn't exist", kernel.0)))?;
    let name = face.name;
    if push.len() != face.push_bytes as usize {
        return Err(Broken::Malformed(format!(
            "kernel '{name}' has {} bytes of push constants, the dispatch {}",
            face.push_bytes,
            push.len()
        )));
    }
    let limits = &known.info().limits;
    for (axis, (count, limit)) in groups.into_iter().zip(limits.workgroup_count).enumerate() {
        let axis = ["x", "y", "z"][axis];
        if count == 0 {
            return Err(Broken::Malformed(format!(
                "kernel '{name}' with 0 workgroups along {axis}"
            )));
        }
        if count > limit {
            return Err(Broken::Unsupported(format!(
                "kernel '{name}' with {count} workgroups along {axis}; this device allows {limit}"
            )));
        }
    }
    same_bindings(face, bindings)?;
    bindings.iter().try_for_each(|binding| bound_range(known, name, binding))
}

/// Every descriptor of the kernel once and no other.
fn same_bindings(face: Face<'_>, bindings: &[Binding]) -> Result<(), Broken> {
    let name = face.name;
    let given = |place: (u32, u32)| bindings.iter().filter(|b| (b.set, b.binding) == place).count();
    let declared = |place| face.bindings.iter().filter(|other| **other == place).count();
    for Binding { set, binding, .. } in bindings {
        let (given, declared) = (given((*set, *binding)), declared((*set, *binding)));
        if declared == 0 {
            return Err(Broken::Malformed(format!(
                "kernel '{name}' has no binding {set}.{binding}"
            )));
        }
        if given > declared {
            let times = if declared == 1 { "twice" } else { "too often" };
            return Err(Broken::Malformed(format!(
                "binding {set}.{binding} of kernel '{name}' is given {times}"
            )));
        }
    }
    // None too often and each declared: only a smaller number can differ.
    if bindings.len() == face.bindings.len() {
        return Ok(());
    }
    match face.bindings.iter().find(|place| given(**place) < declared(**place)) {
        None => Ok(()),
        Some((set, binding)) => {
            Err(Broken::Malformed(format!("binding {set}.{binding} of kernel '{name}' is missing")))
        }
    }
}

/// VUID-VkDescriptorBufferInfo-offset-00340, -range-00341, -range-00342 and
/// VUID-VkWriteDescriptorSet-descriptorType-00328, -00333.
fn bound_range(known: &dyn Known, name: &str, binding: &Binding) -> Result<(), Broken> {
    let Binding { set, binding: number, buffer, extent } = *binding;
    let place = || format!("binding {set}.{number} of kernel '{name}'");
    let whole = buffer_bytes(known, buffer)?;
    let (offset, range) = (extent.offset_bytes, extent.range_bytes);
    if range == 0 || extent.logical_bytes > range {
        return Err(Broken::Malformed(format!(
            "{}: a range of {range} bytes with {} bytes of data",
            place(),
            extent.logical_bytes
        )));
    }
    if offset.checked_add(range).is_none_or(|end| end > whole) {
        return Err(Broken::Malformed(format!(
            "{}: {range} bytes at {offset} leave buffer {} of {whole} bytes",
            place(),
            buffer.0
        )));
    }
    if !offset.is_multiple_of(4) {
        return Err(Broken::Malformed(format!("{}: offset {offset} is no multiple of 4", place())));
    }
    let limits = &known.info().limits;
    let alignment = limits.storage_offset_alignment;
    if alignment > 0 && !offset.is_multiple_of(alignment) {
        return Err(Broken::Unsupported(format!(
            "{}: offset {offset} is no multiple of {alignment}, which this device asks for",
            place()
        )));
    }
    if range > limits.storage_range_bytes {
        return Err(Broken::Unsupported(format!(
            "{}: {range} bytes; this device binds at most {}",
            place(),
            limits.storage_range_bytes
        )));
    }
    Ok(())
}
