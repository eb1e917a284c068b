//! A plan on buffers that exist: kernels loaded and bindings matched, ready to be recorded.

use std::collections::BTreeMap;

use crate::device::KernelId;
use crate::memory::{self, Access, Bound, Handle, Recorder};
use crate::ops::{Dispatch, Plan, Step};
use crate::spirv;
use crate::tensor::Dtype;

use super::kernels::{bound_names, check_type, push_block, unknown_buffer};
use super::order::Unordered;
use super::{CheckError, Session};

/// A buffer that a plan may bind.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The buffer.
    pub handle: Handle,
    /// What the plan's kernels may do with it.
    pub access: Access,
    /// Element type.
    pub dtype: Dtype,
}

/// A plan that only waits to be recorded, as often as its buffers live.
#[derive(Debug)]
pub struct Staged {
    commands: Vec<Command>,
    unordered: Vec<String>,
}

#[derive(Debug)]
enum Command {
    Barrier,
    Fill { handle: Handle, word: u32 },
    Dispatch { kernel: KernelId, bindings: Vec<Bound>, push: Vec<u8>, groups: [u32; 3] },
}

impl Staged {
    /// Builds and loads the plan's kernels and matches what they bind with `buffers` by name,
    /// scratch buffers included.
    ///
    /// # Errors
    /// A kernel that doesn't compile, an interface that differs from the plan or the buffers, what
    /// the device lacks.
    pub fn new(
        session: &mut Session,
        plan: &Plan,
        buffers: &BTreeMap<String, Placed>,
    ) -> Result<Self, CheckError> {
        let mut commands = Vec::with_capacity(plan.steps.len());
        let mut order = Unordered::new();
        for step in &plan.steps {
            commands.push(match step {
                Step::Barrier => {
                    order.barrier();
                    Command::Barrier
                }
                Step::Fill { buffer, word } => {
                    let placed =
                        buffers.get(buffer.as_ref()).ok_or_else(|| CheckError::Interface {
                            kernel: "plan".to_owned(),
                            what: format!("fills `{buffer}`, which is neither operand nor scratch"),
                        })?;
                    order.step("a fill", vec![(placed.handle, Access::Write, buffer.as_ref())]);
                    Command::Fill { handle: placed.handle, word: *word }
                }
                Step::Dispatch(dispatch) => prepare(session, dispatch, buffers, &mut order)?,
            });
        }
        Ok(Self { commands, unordered: order.finish() })
    }

    /// Pairs of steps that use the same memory without a barrier between them, a sentence each.
    #[must_use]
    pub fn unordered(&self) -> &[String] {
        &self.unordered
    }

    /// Adds the plan to a recording. What orders it against its neighbours is the caller's.
    ///
    /// # Errors
    /// A buffer that was freed since.
    pub fn record(&self, recorder: &mut Recorder<'_>) -> Result<(), CheckError> {
        for command in &self.commands {
            match command {
                Command::Barrier => recorder.barrier(),
                Command::Fill { handle, word } => recorder.fill(*handle, *word)?,
                Command::Dispatch { kernel, bindings, push, groups } => {
                    recorder.dispatch(&memory::Dispatch {
                        kernel: *kernel,
                        bindings,
                        push,
                        groups: *groups,
                    })?;
                }
            }
        }
        Ok(())
    }
}

fn prepare(
    session: &mut Session,
    dispatch: &Dispatch,
    buffers: &BTreeMap<String, Placed>,
    order: &mut Unordered<Handle>,
) -> Result<Command, CheckError> {
    let built = session.kernels.build(&session.compiler, dispatch)?;
    let (mut bindings, mut uses) = (Vec::new(), Vec::new());
    for (binding, buffer) in bound_names(&built, dispatch)? {
        let placed = buffers.get(buffer).ok_or_else(|| {
            let known: Vec<&str> = buffers.keys().map(String::as_str).collect();
            unknown_buffer(&built, binding, buffer, &known)
        })?;
        check_type(&built, dispatch, binding, buffer, placed.dtype)?;
        uses.push((placed.handle, declared(binding.access), buffer));
        let bound = Bound {
            set: binding.set,
            binding: binding.binding,
            handle: placed.handle,
            access: placed.access,
        };
        // Several blocks may view one binding.
        if !bindings.contains(&bound) {
            bindings.push(bound);
        }
    }
    order.step(dispatch.code.path(), uses);
    within(dispatch, session.info().limits.workgroup_count)?;
    let push = push_block(&built, dispatch)?;
    let kernel = session.kernels.load(&mut session.ledger, &built, dispatch)?;
    Ok(Command::Dispatch { kernel, bindings, push, groups: dispatch.groups })
}

/// A dispatch of more workgroups than the device takes is unsupported, with the numbers. Some drivers
/// run it all the same, and another would not.
fn within(dispatch: &Dispatch, most: [u32; 3]) -> Result<(), CheckError> {
    let axes = ["x", "y", "z"].into_iter().zip(dispatch.groups).zip(most);
    match axes.into_iter().find(|((_, groups), most)| groups > most) {
        Some(((axis, groups), most)) => Err(CheckError::Unsupported(format!(
            "{}: {groups} workgroups along {axis}, the device has {most}",
            dispatch.code.path()
        ))),
        None => Ok(()),
    }
}

/// What a kernel says of itself; the plan's word for the same buffer covers all its kernels.
pub(super) const fn declared(access: spirv::Access) -> Access {
    match access {
        spirv::Access::ReadOnly => Access::Read,
        spirv::Access::WriteOnly => Access::Write,
        spirv::Access::ReadWrite => Access::ReadWrite,
    }
}

/// Names of buffers whose kernels ask for `.length()`, so that their range must be exact.
///
/// # Errors
/// A kernel that doesn't compile or binds what is no storage buffer.
pub fn exact_buffers(session: &mut Session, plan: &Plan) -> Result<Vec<String>, CheckError> {
    let mut exact = Vec::new();
    for step in &plan.steps {
        if let Step::Dispatch(dispatch) = step {
            let built = session.kernels.build(&session.compiler, dispatch)?;
            let names = bound_names(&built, dispatch)?;
            exact.extend(names.iter().filter(|(b, _)| b.uses_length).map(|(_, n)| (*n).to_owned()));
        }
    }
    Ok(exact)
}
