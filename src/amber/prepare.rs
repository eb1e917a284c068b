//! Kernels with the buffers that pipelines bind to them.

use std::collections::BTreeMap;

use super::build::{build, fault, is_kind};
use super::script::{Part, Pipeline, Script};
use crate::check::{CheckError, Session};
use crate::device::KernelId;
use crate::memory::{Access, Bound, Handle, Window};

/// A pipeline that can be run.
pub(super) struct Prepared {
    pub(super) kernel: KernelId,
    pub(super) bounds: Vec<Bound>,
    pub(super) windows: Vec<Window>,
    pub(super) push: Vec<u8>,
}

/// Builds and loads the kernels of all pipelines.
pub(super) fn prepare(
    session: &mut Session,
    script: &Script,
    handles: &[Handle],
    contents: &[Vec<u8>],
) -> Result<Vec<Prepared>, CheckError> {
    let prepare = |pipeline| prepare_one(session, script, pipeline, handles, contents);
    script.pipelines.iter().map(prepare).collect()
}

fn prepare_one(
    session: &mut Session,
    script: &Script,
    pipeline: &Pipeline,
    handles: &[Handle],
    contents: &[Vec<u8>],
) -> Result<Prepared, CheckError> {
    let mut built = build(session, script, pipeline)?;
    let (mut bounds, mut windows) = (Vec::new(), Vec::new());
    // Several blocks may share a binding.
    let declared = built.interface.bindings.iter().map(|b| ((b.set, b.binding), b));
    for ((set, binding), declared) in declared.collect::<BTreeMap<_, _>>() {
        let bind = pipeline.binds.iter().find(|b| (b.set, b.binding) == (set, binding));
        let bind = bind.ok_or_else(|| {
            let what = format!("the shader has a binding {set}.{binding}, where nothing is bound");
            fault(script, pipeline.line, what)
        })?;
        if !is_kind(declared.kind, bind.kind) {
            let what = format!("{set}.{binding} is {:?} in the shader", declared.kind);
            return Err(fault(script, bind.line, what));
        }
        if declared.descriptor_count as usize != bind.parts.len() {
            let (count, given) = (declared.descriptor_count, bind.parts.len());
            let what = format!("{set}.{binding} has {count} descriptors, {given} are bound");
            return Err(fault(script, bind.line, what));
        }
        // A buffer may be written through another binding, so none is held to be unchanged.
        let access = Access::ReadWrite;
        for part in &bind.parts {
            let window = window(part, contents[part.buffer].len());
            let outside = || {
                let what = format!("{set}.{binding} begins behind the buffer's end");
                fault(script, bind.line, what)
            };
            windows.push(window.ok_or_else(outside)?);
            bounds.push(Bound { set, binding, handle: handles[part.buffer], access });
            built.kernel.bindings.push((set, binding));
        }
    }
    let mut push = pipeline.push.map_or(Vec::new(), |buffer| contents[buffer].clone());
    let push_bytes = built.kernel.push_bytes as usize;
    if push.len() < built.interface.push_bytes as usize {
        let what = format!("{push_bytes} bytes of push constants, {} are bound", push.len());
        return Err(fault(script, pipeline.line, what));
    }
    push.resize(push_bytes, 0);
    let kernel = session.ledger_mut().load(&built.kernel)?;
    Ok(Prepared { kernel, bounds, windows, push })
}

/// The part of a buffer that a descriptor shows, which ends with the buffer at the latest.
fn window(part: &Part, len: usize) -> Option<Window> {
    let left = (len as u64).checked_sub(part.offset_bytes).filter(|left| *left > 0)?;
    let range_bytes = part.range_bytes.unwrap_or(left).min(left);
    (range_bytes > 0).then_some(Window { offset_bytes: part.offset_bytes, range_bytes })
}
