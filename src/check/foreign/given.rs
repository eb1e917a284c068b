//! A kernel file on the data that it describes itself.

use crate::device::Limits;
use crate::kernel_file::{Buffer, BufferRole, Expect, Init, Instance, Truth, Want};
use crate::memory::{FindingKind, Poison, Site};
use crate::numeric::Stream;
use crate::ops::{Need, Order, Pass, Plan, Role, Scratch, Target, Unsupported};
use crate::tensor::{Dtype, Tensor};

use super::super::compare::{Expected, Nan};
use super::super::execute::{Place, Setting, Slot, run_plan};
use super::super::question::{Question, Region};
use super::super::suite::Promise;
use super::super::trial::Trial;
use super::super::{CheckError, Finding, Session, unwritten};
use super::{FileCase, Foreign};

/// A kernel file in one of its cases.
pub(super) struct Given<'a> {
    pub(super) foreign: &'a Foreign,
    pub(super) instance: &'a Instance,
    pub(super) case: &'a FileCase,
}

impl Question for Given<'_> {
    fn pass(&self) -> Pass {
        Pass::Forward
    }

    fn order(&self) -> Order {
        self.foreign.file.order()
    }

    fn workgroups(&self) -> &[u32] {
        // Workgroup sizes of a kernel file are in its matrix of builds.
        &[1]
    }

    fn subgroup_sizes(&self) -> &[u32] {
        self.foreign.file.subgroup_sizes()
    }

    fn aliases(&self) -> &[(&'static str, &'static str)] {
        &[]
    }

    fn needs(&self) -> &[Need] {
        self.foreign.file.needs()
    }

    fn regions(&self) -> Vec<Region> {
        self.instance.buffers.iter().map(|buffer| region(self.foreign, buffer)).collect()
    }

    fn plan(&self, _target: &Target<'_>) -> Result<Plan, Unsupported> {
        let plan = self.instance.plan.clone();
        Ok(with_scratch(plan, &self.instance.buffers))
    }

    fn trial(&self, session: &mut Session) -> Result<Trial, CheckError> {
        let id = self.foreign.id(self.case);
        let mut slots = Vec::new();
        for buffer in self.instance.buffers.iter().filter(|b| !is_scratch(b)) {
            let slot = slot(self.foreign, buffer, &id, self.case.seed);
            slots.push(slot);
        }
        let written = |b: &&Buffer| matches!(b.role, BufferRole::Out | BufferRole::InOut);
        let outputs = self.instance.buffers.iter().filter(written);
        let expected = match &self.instance.truth {
            Truth::Kernel(plan) => self.twin(session, plan, &slots)?,
            Truth::None | Truth::Op(_) => outputs.filter_map(expected).collect(),
        };
        Ok(Trial { slots, expected })
    }
}

impl Given<'_> {
    /// Whether the file says what its outputs should hold.
    pub(super) fn promise(&self) -> Promise {
        let expects = |b: &Buffer| b.expect.as_ref().is_some_and(|e| e.want.is_some());
        let is_twin = matches!(self.instance.truth, Truth::Kernel(_));
        if is_twin || self.instance.buffers.iter().any(expects) {
            Promise::Results
        } else {
            Promise::Nothing
        }
    }

    /// What the naive twin leaves on the same data.
    fn twin(
        &self,
        session: &mut Session,
        plan: &Plan,
        slots: &[Slot],
    ) -> Result<Vec<Expected>, CheckError> {
        let plan = with_scratch(plan.clone(), &self.instance.buffers);
        let nan = Setting::first(self);
        let ran = run_plan(session, &plan, slots, &nan)?;
        let huge = Setting { poison: Poison::Huge, ..nan };
        let again = run_plan(session, &plan, slots, &huge)?;
        let mut memory = ran.memory.clone();
        memory.retain(|finding| finding.kind != FindingKind::Unwritten);
        memory.extend(unwritten::in_both(slots, &ran, &again));
        if let Some(finding) = Finding::of_memory(memory) {
            return Err(self.foreign.fault(format!("the naive twin is wrong itself: {finding}")));
        }
        let outputs = self.instance.buffers.iter().filter_map(|buffer| {
            let tensor = ran.written.get(&buffer.name)?;
            let tolerance = match &buffer.expect {
                Some(expect) => Tolerance { rtol: expect.rtol, atol: expect.atol },
                None => Tolerance::usual(tensor),
            };
            Some(tolerance.around(&buffer.name, tensor))
        });
        Ok(outputs.collect())
    }
}

/// What two runs of one kernel may differ by where nothing says what is right.
pub(in super::super) fn usual(name: &str, tensor: &Tensor) -> Expected {
    Tolerance::usual(tensor).around(name, tensor)
}

/// `|got - want| <= atol + rtol |want|`.
#[derive(Clone, Copy, Debug)]
struct Tolerance {
    rtol: f64,
    atol: f64,
}

impl Tolerance {
    /// What two ways to compute in a format may differ by, where the file says nothing: about 2^10
    /// units, relative to the element or, where terms cancel, to a tenth of the buffer's root mean
    /// square. Whole numbers and quantised blocks are equal or wrong.
    fn usual(tensor: &Tensor) -> Self {
        let rtol = match tensor.dtype() {
            Dtype::F64 => 1e-10,
            Dtype::F32 => 1e-4,
            Dtype::F16 => 4e-3,
            Dtype::BF16 => 3e-2,
            _ => 0.0,
        };
        let values = tensor.values();
        let finite = values.iter().filter(|v| v.is_finite());
        let squares: f64 = finite.map(|v| v * v).sum();
        let rms = (squares / values.len().max(1) as f64).sqrt();
        Self { rtol, atol: 0.1 * rtol * rms }
    }

    fn around(self, name: &str, tensor: &Tensor) -> Expected {
        let values = tensor.values();
        let allowed = |v: &f64| if v.is_finite() { self.atol + self.rtol * v.abs() } else { 0.0 };
        Expected {
            name: name.to_owned(),
            dtype: tensor.dtype(),
            shape: tensor.shape().to_vec(),
            bounds: values.iter().map(allowed).collect(),
            values,
            nan: Nan::Kept,
        }
    }
}

pub(super) fn expected(buffer: &Buffer) -> Option<Expected> {
    let Expect { want, rtol, atol } = buffer.expect.as_ref()?;
    let tensor = match want.as_ref()? {
        Want::Bytes(bytes) => Tensor::from_bytes(buffer.dtype, &[buffer.len], bytes.clone()),
        Want::Values(values) => {
            let values: Vec<f64> = values.iter().copied().cycle().take(buffer.len).collect();
            Tensor::new(buffer.dtype, &[buffer.len], &values)
        }
    };
    let tensor = behind_offset(buffer, tensor);
    Some(Tolerance { rtol: *rtol, atol: *atol }.around(&buffer.name, &tensor))
}

/// Scratch memory without wishes of its own belongs to the plan.
pub(super) fn is_scratch(buffer: &Buffer) -> bool {
    buffer.role == BufferRole::Scratch && buffer.alias.is_none() && buffer.offset_bytes.is_none()
}

pub(super) fn with_scratch(mut plan: Plan, buffers: &[Buffer]) -> Plan {
    plan.scratch.extend(buffers.iter().filter(|b| is_scratch(b)).map(|buffer| Scratch {
        name: buffer.name.clone().into(),
        dtype: buffer.dtype,
        len: buffer.len,
    }));
    plan
}

/// What keeps the device from binding the case's buffers, with the numbers.
pub(super) fn unbindable(instance: &Instance, limits: &Limits) -> Option<String> {
    too_large(instance, limits)
        .or_else(|| instance.buffers.iter().find_map(|b| misaligned(b, limits)))
}

/// A buffer that the device can't allocate or bind as a whole.
fn too_large(instance: &Instance, limits: &Limits) -> Option<String> {
    let most = limits.storage_range_bytes.min(limits.allocation_bytes);
    let bytes = |buffer: &Buffer| match buffer.dtype.bytes_for(buffer.len) {
        Some(bytes) => u64::try_from(bytes).unwrap_or(u64::MAX),
        None => u64::MAX,
    };
    let buffer = instance.buffers.iter().find(|buffer| bytes(buffer) > most)?;
    let (name, bytes) = (&buffer.name, bytes(buffer));
    Some(format!("buffer `{name}` is {bytes} bytes, the device has at most {most} in one binding"))
}

fn misaligned(buffer: &Buffer, limits: &Limits) -> Option<String> {
    let alignment = limits.storage_offset_alignment.max(4);
    let offset = buffer.offset_bytes.filter(|offset| !offset.is_multiple_of(alignment))?;
    let name = &buffer.name;
    Some(format!(
        "`{name}` is bound at offset {offset}, the device aligns storage buffers to {alignment}"
    ))
}

/// The buffer as it is bound.
pub(super) fn region(foreign: &Foreign, buffer: &Buffer) -> Region {
    Region {
        name: buffer.name.clone(),
        dtype: buffer.dtype,
        len: buffer.len,
        offset_bytes: buffer.offset_bytes.unwrap_or(0),
        site: place(foreign, buffer).site,
    }
}

/// The buffer with its contents before the first step.
pub(super) fn slot(foreign: &Foreign, buffer: &Buffer, id: &str, seed: u64) -> Slot {
    let file = foreign.file.path();
    // The same data wherever the file lies.
    let stem =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut stream = Stream::new(seed, &[&stem, id, &buffer.name]);
    let tensor = contents(buffer, &mut stream).map(|tensor| behind_offset(buffer, tensor));
    let shape = match &tensor {
        Some(tensor) => tensor.shape().to_vec(),
        None => behind_offset_len(buffer),
    };
    Slot {
        name: buffer.name.clone(),
        dtype: buffer.dtype,
        shape,
        role: match buffer.role {
            BufferRole::In => Role::In,
            BufferRole::Out => Role::Out,
            BufferRole::InOut | BufferRole::Scratch => Role::InOut,
        },
        contents: tensor,
        place: place(foreign, buffer),
    }
}

pub(super) fn place(foreign: &Foreign, buffer: &Buffer) -> Place {
    Place {
        shares: buffer.alias.clone(),
        before_bytes: buffer.offset_bytes.unwrap_or(0),
        is_partial: buffer.unwritten || buffer.role == BufferRole::Scratch,
        site: Some(Site { file: foreign.shown().into(), line: buffer.line }),
    }
}

/// What a kernel sees of a buffer that is bound behind its beginning.
fn behind_offset(buffer: &Buffer, tensor: Tensor) -> Tensor {
    match buffer.offset_bytes {
        Some(offset) if offset > 0 => {
            let skipped = usize::try_from(offset).unwrap_or(usize::MAX).min(tensor.bytes().len());
            let bytes = tensor.bytes()[skipped..].to_vec();
            Tensor::from_bytes(buffer.dtype, &behind_offset_len(buffer), bytes)
        }
        _ => tensor,
    }
}

fn behind_offset_len(buffer: &Buffer) -> Vec<usize> {
    let offset = usize::try_from(buffer.offset_bytes.unwrap_or(0)).unwrap_or(usize::MAX);
    vec![buffer.len.saturating_sub(buffer.dtype.len_of(offset))]
}

fn contents(buffer: &Buffer, stream: &mut Stream) -> Option<Tensor> {
    let (dtype, len) = (buffer.dtype, buffer.len);
    let is_whole = dtype.is_integer();
    let mut draw = |value: &mut dyn FnMut(&mut Stream) -> f64| -> Vec<f64> {
        (0..len).map(|_| value(stream)).collect()
    };
    let values = match &buffer.init {
        Init::Undefined => return None,
        Init::Bytes(bytes) => return Some(Tensor::from_bytes(dtype, &[len], bytes.clone())),
        Init::Zeros => vec![0.0; len],
        Init::Ones => vec![1.0; len],
        Init::Iota => (0..len).map(|at| at as f64).collect(),
        Init::Values(values) => values.iter().copied().cycle().take(len).collect(),
        Init::Uniform if is_whole => {
            let low = dtype.round(-128.0);
            draw(&mut |s| low + s.index(256) as f64)
        }
        Init::Uniform => draw(&mut |s| s.uniform(-1.0, 1.0)),
        Init::Normal if is_whole => draw(&mut |s| (16.0 * s.normal()).round()),
        Init::Normal => draw(&mut Stream::normal),
        Init::Range { low, high } if is_whole => {
            draw(&mut |s| (low + s.uniform(0.0, high - low + 1.0)).floor().min(*high))
        }
        Init::Range { low, high } => draw(&mut |s| s.uniform(*low, *high)),
    };
    Some(Tensor::new(dtype, &[len], &values))
}
