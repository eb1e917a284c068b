//! What a recording must satisfy before it becomes commands.

use std::collections::HashMap;
use std::ops::Range;

use super::memory::Buffer;
use super::pipeline::Pipeline;
use crate::device::{Binding, BufferId, Command, DeviceError, DeviceInfo, KernelId, Recording};

/// What a recording can name.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) device: &'a DeviceInfo,
    pub(super) buffers: &'a HashMap<BufferId, Buffer>,
    pub(super) kernels: &'a HashMap<KernelId, Pipeline>,
}

/// What a recording takes beside its buffers and kernels.
#[derive(Debug, Default)]
pub(super) struct Needs {
    pub(super) upload_bytes: u64,
    pub(super) download_bytes: u64,
    /// Where each download lies in the readback buffer.
    pub(super) downloads: Vec<Range<usize>>,
    pub(super) timestamp_count: u32,
}

/// A broken rule, before the command that breaks it is known.
enum Broken {
    Malformed(String),
    Unsupported(String),
}

/// Checks every command.
pub(super) fn check(recording: &Recording, known: Known<'_>) -> Result<Needs, DeviceError> {
    let mut needs = Needs::default();
    for (index, command) in recording.commands.iter().enumerate() {
        check_command(command, known, &mut needs).map_err(|broken| {
            let device = known.device.name.clone();
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

fn check_command(command: &Command, known: Known<'_>, needs: &mut Needs) -> Result<(), Broken> {
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

fn buffer_bytes(known: Known<'_>, buffer: BufferId) -> Result<u64, Broken> {
    known
        .buffers
        .get(&buffer)
        .map(|buffer| buffer.len_bytes)
        .ok_or_else(|| Broken::Malformed(format!("buffer {} doesn't exist", buffer.0)))
}

/// A transfer's part of a buffer: VUID-vkCmdCopyBuffer-srcOffset-00113 and its kind.
fn inside(
    known: Known<'_>,
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
    known: Known<'_>,
    kernel: KernelId,
    bindings: &[Binding],
    push: &[u8],
    groups: [u32; 3],
) -> Result<(), Broken> {
    let pipeline = known
        .kernels
        .get(&kernel)
        .ok_or_else(|| Broken::Malformed(format!("kernel {} doesn't exist", kernel.0)))?;
    let name = &pipeline.name;
    if push.len() != pipeline.push_bytes as usize {
        return Err(Broken::Malformed(format!(
            "kernel '{name}' has {} bytes of push constants, the dispatch {}",
            pipeline.push_bytes,
            push.len()
        )));
    }
    let limits = &known.device.limits;
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
    same_bindings(pipeline, bindings)?;
    bindings.iter().try_for_each(|binding| bound_range(known, name, binding))
}

/// Every descriptor of the kernel once and no other.
fn same_bindings(pipeline: &Pipeline, bindings: &[Binding]) -> Result<(), Broken> {
    let name = &pipeline.name;
    let given = |place: (u32, u32)| bindings.iter().filter(|b| (b.set, b.binding) == place).count();
    let declared = |place| pipeline.bindings.iter().filter(|other| **other == place).count();
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
    if bindings.len() == pipeline.bindings.len() {
        return Ok(());
    }
    match pipeline.bindings.iter().find(|place| given(**place) < declared(**place)) {
        None => Ok(()),
        Some((set, binding)) => {
            Err(Broken::Malformed(format!("binding {set}.{binding} of kernel '{name}' is missing")))
        }
    }
}

/// VUID-VkDescriptorBufferInfo-offset-00340, -range-00341, -range-00342 and
/// VUID-VkWriteDescriptorSet-descriptorType-00328, -00333.
fn bound_range(known: Known<'_>, name: &str, binding: &Binding) -> Result<(), Broken> {
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
    let limits = &known.device.limits;
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
