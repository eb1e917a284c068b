//! Runs a plan on buffers and brings back what it wrote.

use std::collections::BTreeMap;

use crate::device::{LineCost, Observation};
use crate::memory::{Access, Guard, Handle, MemoryFinding, Poison, Request, Site};
use crate::ops::{Plan, Problem, Role, Scratch, Target, Variant};
use crate::tensor::{Dtype, Tensor};

use super::question::Question;
use super::staged::{Placed, Staged, exact_buffers};
use super::subject::Subject;
use super::{CheckError, Session};

/// A buffer of a run.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Name in the record.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Shape.
    pub shape: Vec<usize>,
    /// What the plan does with it.
    pub role: Role,
    /// What it starts with; poison where there is nothing.
    pub contents: Option<Tensor>,
    /// How it lies in memory.
    pub place: Place,
}

/// How a buffer lies in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The buffer whose memory it shares.
    pub shares: Option<String>,
    /// Bytes in front of the data, beside those of the setting.
    pub before_bytes: u64,
    /// Elements that nobody writes are no finding.
    pub is_partial: bool,
    /// The line that declares it, where that isn't the lab's own.
    pub site: Option<Site>,
}

impl Slot {
    /// An input with its data.
    #[must_use]
    pub fn input(name: &str, tensor: &Tensor) -> Self {
        Self::with(name, tensor, Role::In)
    }

    /// A buffer that is updated in place.
    #[must_use]
    pub fn in_out(name: &str, tensor: &Tensor) -> Self {
        Self::with(name, tensor, Role::InOut)
    }

    /// An output that starts as poison.
    #[must_use]
    pub fn output(name: &str, dtype: Dtype, shape: Vec<usize>) -> Self {
        Self {
            name: name.to_owned(),
            dtype,
            shape,
            role: Role::Out,
            contents: None,
            place: Place::default(),
        }
    }

    /// Scratch memory of a plan.
    fn scratch(scratch: &Scratch) -> Self {
        let output = Self::output(&scratch.name, scratch.dtype, vec![scratch.len]);
        Self { role: Role::InOut, ..output }
    }

    fn with(name: &str, tensor: &Tensor, role: Role) -> Self {
        Self {
            name: name.to_owned(),
            dtype: tensor.dtype(),
            shape: tensor.shape().to_vec(),
            role,
            contents: Some(tensor.clone()),
            place: Place::default(),
        }
    }

    /// Bytes of its elements.
    pub(super) fn bytes(&self) -> usize {
        self.dtype.bytes_for(self.len()).unwrap_or(usize::MAX)
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// What the plan's kernels may do with it.
    pub(crate) const fn access(&self) -> Access {
        match self.role {
            Role::In => Access::Read,
            Role::Out => Access::Write,
            Role::InOut => Access::ReadWrite,
        }
    }
}

/// The buffers of a run with the scratch memory of its plan behind them.
pub(crate) fn with_scratch(slots: &[Slot], plan: &Plan) -> Vec<Slot> {
    slots.iter().cloned().chain(plan.scratch.iter().map(Slot::scratch)).collect()
}

/// How a plan is run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Invocations per workgroup.
    pub workgroup: u32,
    /// What unwritten memory and guards hold.
    pub poison: Poison,
    /// Bytes in front of the data of every buffer, in units of the device's offset alignment.
    pub offset_steps: u64,
    /// An input and the output that shares its memory.
    pub alias: Option<(&'static str, &'static str)>,
    /// The subgroup size that every kernel must run at; the driver's choice if there is none.
    pub subgroup_size: Option<u32>,
}

impl Setting {
    /// The variant's default workgroup, NaN poison, no offset, no sharing.
    #[must_use]
    pub fn default_for(variant: &Variant) -> Self {
        Self::at(variant.workgroups[0])
    }

    /// The same for anything that can be asked about.
    #[must_use]
    pub(super) fn first(question: &dyn Question) -> Self {
        Self::at(question.workgroups()[0])
    }

    const fn at(workgroup: u32) -> Self {
        Self { workgroup, poison: Poison::Nan, offset_steps: 0, alias: None, subgroup_size: None }
    }
}

/// What came back.
#[derive(Debug, Default)]
pub struct Executed {
    /// Every buffer that the plan writes.
    pub written: BTreeMap<String, Tensor>,
    /// What the ledger saw.
    pub memory: Vec<MemoryFinding>,
    /// Messages of the validation layer.
    pub messages: Vec<String>,
    /// What the device saw the kernels do, where it watches.
    pub observations: Vec<Observation>,
    /// What source lines cost, where the device counts.
    pub costs: Vec<LineCost>,
    /// Steps that use the same memory without a barrier between them.
    pub unordered: Vec<String>,
}

/// Plans and runs what is asked about.
///
/// # Errors
/// As [`execute`].
pub(super) fn put(
    session: &mut Session,
    question: &dyn Question,
    slots: &[Slot],
    setting: &Setting,
) -> Result<Executed, CheckError> {
    let mut limits = session.info().limits;
    let subgroup_size = setting.subgroup_size.or(session.way.subgroup_size);
    limits.subgroup_size = subgroup_size.unwrap_or(limits.subgroup_size);
    let plan = question.plan(&Target { limits: &limits, workgroup: setting.workgroup })?;
    let executed = run_plan(session, &plan, slots, setting)?;
    session.heard(&executed);
    Ok(executed)
}

/// Plans the variant for the problem and runs it.
///
/// # Errors
/// Everything that keeps the plan from being run; what a kernel did wrong is in the result.
pub fn execute(
    session: &mut Session,
    subject: &Subject<'_>,
    problem: &Problem<'_>,
    slots: &[Slot],
    setting: &Setting,
) -> Result<Executed, CheckError> {
    let plan = planned(session, subject, problem, setting)?;
    let executed = run_plan(session, &plan, slots, setting)?;
    session.heard(&executed);
    Ok(executed)
}

/// The variant's plan with the subject's changes.
///
/// # Errors
/// What the device lacks for it.
pub(crate) fn planned(
    session: &Session,
    subject: &Subject<'_>,
    problem: &Problem<'_>,
    setting: &Setting,
) -> Result<Plan, CheckError> {
    let limits = session.info().limits;
    Ok(subject.plan(problem, &Target { limits: &limits, workgroup: setting.workgroup })?)
}

/// Runs a plan on buffers.
///
/// # Errors
/// As [`execute`].
pub fn run_plan(
    session: &mut Session,
    plan: &Plan,
    slots: &[Slot],
    setting: &Setting,
) -> Result<Executed, CheckError> {
    let exact = exact_buffers(session, plan)?;
    let slots = with_scratch(slots, plan);
    let mut handles = BTreeMap::new();
    let allocated = allocate(session, &slots, &exact, setting, &mut handles);
    let result = allocated.and_then(|()| record_and_wait(session, plan, &slots, &handles, setting));
    let mut freed: Vec<Handle> = handles.values().map(|b| b.handle).collect();
    freed.sort_unstable();
    freed.dedup();
    for handle in freed {
        // After a lost device there is nothing to give back; the first error is the one to tell.
        let free = session.ledger.free(handle);
        if result.is_ok() {
            free?;
        }
    }
    result
}

fn allocate(
    session: &mut Session,
    slots: &[Slot],
    exact: &[String],
    setting: &Setting,
    handles: &mut BTreeMap<String, Placed>,
) -> Result<(), CheckError> {
    let limits = session.info().limits;
    let base = |slot: &Slot| -> Option<String> {
        let in_place = setting.alias.filter(|(_, output)| *output == slot.name);
        slot.place.shares.clone().or(in_place.map(|(input, _)| input.to_owned()))
    };
    let (sharing, owning): (Vec<&Slot>, Vec<&Slot>) =
        slots.iter().partition(|slot| base(slot).is_some());
    for slot in owning {
        let guests = sharing.iter().filter(|guest| base(guest).as_ref() == Some(&slot.name));
        let is_exact =
            exact.contains(&slot.name) || guests.clone().any(|g| exact.contains(&g.name));
        let guard = if is_exact { Guard::Exact } else { Guard::Words(GUARD_WORDS) };
        let handle = session.ledger.allocate(&Request {
            name: slot.name.clone(),
            dtype: slot.dtype,
            len: slot.len(),
            before_bytes: slot.place.before_bytes
                + setting.offset_steps * limits.storage_offset_alignment.max(4),
            guard,
            poison: setting.poison,
            poison_index: poison_index(slot, setting.poison),
            site: slot.place.site.clone(),
        })?;
        handles
            .insert(slot.name.clone(), Placed { handle, access: slot.access(), dtype: slot.dtype });
    }
    for slot in sharing {
        let name = base(slot);
        let bytes = slots.iter().find(|s| Some(&s.name) == name.as_ref()).map_or(0, Slot::bytes);
        let Some(owner) = name.and_then(|name| handles.get_mut(&name)) else {
            return Err(CheckError::Interface {
                kernel: "plan".to_owned(),
                what: format!("`{}` shares the memory of a buffer that isn't there", slot.name),
            });
        };
        if exact.contains(&slot.name) && slot.bytes() != bytes {
            return Err(CheckError::Interface {
                kernel: "plan".to_owned(),
                what: format!(
                    "a kernel asks for the length of `{}`, which is shorter than the buffer whose \
                     memory it shares: {} of {bytes} bytes",
                    slot.name,
                    slot.bytes()
                ),
            });
        }
        owner.access = Access::ReadWrite;
        let placed = Placed { dtype: slot.dtype, ..*owner };
        handles.insert(slot.name.clone(), placed);
    }
    Ok(())
}

/// What an unwritten integer holds. In an operand that is a valid index wherever there is an element
/// to point at; in an output it differs from poison to poison, since a kernel may well write either.
/// Scratch memory may hold anything, the bits of floats among them, and zero is what a forgotten fill
/// would have written: so it starts from 1.0 or 2.0.
pub(super) fn poison_index(slot: &Slot, poison: Poison) -> u32 {
    match (slot.role, poison) {
        // Nothing tells its elements apart from results, so they may as well be the same.
        _ if slot.place.is_partial => 0,
        (Role::Out, Poison::Huge) => 1,
        (Role::InOut, Poison::Nan) if slot.contents.is_none() => 1f32.to_bits(),
        (Role::InOut, Poison::Huge) if slot.contents.is_none() => 2f32.to_bits(),
        _ => 0,
    }
}

/// Guard behind each buffer: one word for each invocation of the widest workgroup.
const GUARD_WORDS: u32 = 256;

fn record_and_wait(
    session: &mut Session,
    plan: &Plan,
    slots: &[Slot],
    handles: &BTreeMap<String, Placed>,
    setting: &Setting,
) -> Result<Executed, CheckError> {
    let subgroup_size = setting.subgroup_size.or(session.way.subgroup_size);
    let staged = Staged::at(session, plan, handles, subgroup_size)?;
    let mut recorder = session.ledger.recorder();
    recorder.schedule(session.way.schedule);
    for slot in slots {
        if let Some(tensor) = &slot.contents
            && slot.place.shares.is_none()
            && !tensor.is_empty()
        {
            recorder.upload(handles[&slot.name].handle, tensor.bytes())?;
        }
    }
    recorder.barrier();
    staged.record(&mut recorder)?;
    recorder.barrier();
    let is_scratch = |slot: &&Slot| !plan.scratch.iter().any(|s| s.name == slot.name);
    let is_filled = |s: &&Slot| s.role != Role::In && s.len() > 0;
    let written: Vec<&Slot> = slots.iter().filter(is_scratch).filter(is_filled).collect();
    for slot in &written {
        let handle = handles[&slot.name].handle;
        // In-place buffers start with data, so only fresh outputs can show that nobody wrote them.
        let is_fresh = slot.contents.is_none() && setting.alias.is_none();
        if is_fresh && !slot.place.is_partial && slot.place.shares.is_none() {
            recorder.download_written(handle)?;
        } else {
            recorder.download(handle)?;
        }
    }
    let recorded = recorder.finish();
    let in_flight = session.ledger.submit(&recorded)?;
    let finished = session.ledger.wait(in_flight)?;
    let mut executed = Executed {
        memory: finished.findings,
        messages: finished.messages,
        observations: finished.observations,
        costs: finished.costs,
        unordered: staged.unordered().to_vec(),
        ..Executed::default()
    };
    for (slot, mut bytes) in written.into_iter().zip(finished.downloads) {
        // Memory may be shared with a longer buffer.
        bytes.truncate(slot.bytes());
        if slot.place.is_partial {
            blank(session, handles[&slot.name], slot, &mut bytes)?;
        }
        let tensor = Tensor::from_bytes(slot.dtype, &slot.shape, bytes);
        executed.written.insert(slot.name.clone(), tensor);
    }
    for slot in slots.iter().filter(|s| s.role != Role::In && s.len() == 0) {
        executed.written.insert(slot.name.clone(), Tensor::new(slot.dtype, &slot.shape, &[]));
    }
    Ok(executed)
}

/// Writes zeros over what nobody wrote and nobody had to, so that it is the same in every run.
fn blank(
    session: &Session,
    placed: Placed,
    slot: &Slot,
    bytes: &mut [u8],
) -> Result<(), CheckError> {
    for element in bytes.chunks_mut(slot.dtype.block_bytes()) {
        if session.ledger.is_poison(placed.handle, element)? {
            element.fill(0);
        }
    }
    Ok(())
}
