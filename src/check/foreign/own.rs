//! A kernel file as a variant of an op: the plan in the op's names, and what its buffers change of
//! the op's trials.

use crate::kernel_file::{Buffer, BufferRole, Instance, OpTruth, Truth};
use crate::numeric::Regime;
use crate::ops::{
    Case, Gradient, Op, Order, Pass, Plan, Problem, Step, Target, Unsupported, Variant,
};
use crate::tensor::Dtype;

use super::super::CheckError;
use super::super::compare::Expected;
use super::super::execute::{Place, Slot};
use super::given::{aligned, is_scratch, place, slot, with_scratch};
use super::{FileCase, Foreign};

/// What a kernel file brings in place of a variant's plans.
#[derive(Clone, Debug)]
pub struct Own {
    plan: Plan,
    dims: Vec<usize>,
    attributes: Vec<f64>,
    pass: Pass,
    /// The op's buffers that take part.
    operands: Vec<Operand>,
    /// Buffers that the op doesn't know.
    extra: Vec<Slot>,
    buffers: Vec<Buffer>,
}

/// A buffer of the op as the file has it.
#[derive(Clone, Debug)]
struct Operand {
    name: String,
    place: Place,
    tolerance: Option<(f64, f64)>,
}

impl Own {
    /// The plan for the file's own shapes.
    ///
    /// # Errors
    /// Any other problem.
    pub(crate) fn plan(
        &self,
        problem: &Problem<'_>,
        target: &Target<'_>,
    ) -> Result<Plan, Unsupported> {
        if problem.dims != self.dims || problem.attributes != self.attributes {
            return Err(Unsupported("a kernel file has plans for its own shapes only".to_owned()));
        }
        self.buffers.iter().try_for_each(|buffer| aligned(buffer, target))?;
        Ok(self.plan.clone())
    }

    /// The plan itself.
    pub(super) fn into_plan(self) -> Plan {
        self.plan
    }

    /// The variant that the file is.
    pub(super) fn variant(&self, order: Order) -> Variant {
        let none = |_: &Problem<'_>, _: &Target<'_>| -> Result<Plan, Unsupported> {
            Err(Unsupported("a kernel file brings its own plan".to_owned()))
        };
        let variant = match self.pass {
            Pass::Forward => Variant::forward("file", none),
            Pass::Vjp => Variant::vjp("file", none),
        };
        // Workgroup sizes of a kernel file are in its matrix of builds.
        Variant { order, ..variant.with_workgroups(&[1]) }
    }

    /// The op's buffers as the file has them, and its own.
    pub(crate) fn fitted(&self, slots: Vec<Slot>) -> Vec<Slot> {
        let place_of = |name: &str| self.operands.iter().find(|o| o.name == name).map(|o| &o.place);
        let mut fitted: Vec<Slot> = slots
            .into_iter()
            .filter_map(|slot| Some(Slot { place: place_of(&slot.name)?.clone(), ..slot }))
            .collect();
        fitted.extend(self.extra.iter().cloned());
        fitted
    }

    /// Leaves out what the file doesn't compute, and allows what it asks for.
    pub(crate) fn fit_expectations(&self, expected: &mut Vec<Expected>) {
        expected.retain(|want| self.operands.iter().any(|o| o.name == want.name));
        for want in expected {
            let operand = self.operands.iter().find(|o| o.name == want.name);
            if let Some((rtol, atol)) = operand.and_then(|o| o.tolerance) {
                for (bound, value) in want.bounds.iter_mut().zip(&want.values) {
                    if value.is_finite() {
                        *bound = bound.max(atol + rtol * value.abs());
                    }
                }
            }
        }
    }
}

/// Whether bits may be compared: every value is stored as the op has it, and no tolerance is asked
/// for.
pub(super) fn is_exact(instance: &Instance) -> bool {
    instance.buffers.iter().all(|b| {
        let is_plain = matches!(b.dtype, Dtype::F32 | Dtype::F16) || b.dtype.is_integer();
        is_plain && b.expect.as_ref().is_none_or(|e| e.rtol == 0.0 && e.atol == 0.0)
    })
}

/// The file as a variant of its op, in one of its cases.
///
/// # Errors
/// Operands that the op doesn't have or the file misses, lengths that don't fit.
pub(super) fn view(
    foreign: &Foreign,
    instance: &Instance,
    case: &FileCase,
) -> Result<(Own, Case), CheckError> {
    let (Some(op), Truth::Op(truth)) = (foreign.op, &instance.truth) else {
        return Err(foreign.fault("its truth is no op".to_owned()));
    };
    let mapped = mapped(foreign, op, truth, instance)?;
    let mut inner = Case {
        dims: dims(foreign, op, truth, instance)?,
        attributes: attributes(foreign, op, truth)?,
        dtype: Dtype::F32,
        regime: case.regime.unwrap_or(Regime::Normal),
        seed: case.seed,
        storage: Vec::new(),
    };
    inner.storage = mapped.iter().map(|(name, buffer)| (name.clone(), buffer.dtype)).collect();
    fits(foreign, &inner.problem(op), &mapped)?;
    let name_of = |buffer: &str| {
        let operand = mapped.iter().find(|(_, b)| b.name == buffer);
        // A name of the file's own must not be taken for an operand's.
        operand.map_or_else(|| format!("{buffer} of the file"), |(name, _)| name.clone())
    };
    let is_mapped = |buffer: &&Buffer| mapped.iter().any(|(_, b)| b.name == buffer.name);
    let id = foreign.id(case);
    let extra = instance.buffers.iter().filter(|b| !is_mapped(b) && !is_scratch(b));
    let own = Own {
        plan: renamed(with_scratch(instance.plan.clone(), &instance.buffers), &name_of),
        dims: inner.dims.clone(),
        attributes: inner.attributes.clone(),
        pass: truth.pass,
        operands: mapped
            .iter()
            .map(|(name, buffer)| Operand {
                name: name.clone(),
                place: shared(place(foreign, buffer), &name_of),
                tolerance: buffer.expect.as_ref().map(|e| (e.rtol, e.atol)),
            })
            .collect(),
        extra: extra
            .map(|buffer| {
                let slot = slot(foreign, buffer, &id, case.seed);
                Slot { name: name_of(&buffer.name), place: shared(slot.place, &name_of), ..slot }
            })
            .collect(),
        buffers: instance.buffers.clone(),
    };
    Ok((own, inner))
}

fn shared(place: Place, name_of: &impl Fn(&str) -> String) -> Place {
    Place { shares: place.shares.as_deref().map(name_of), ..place }
}

fn renamed(mut plan: Plan, name_of: &impl Fn(&str) -> String) -> Plan {
    for scratch in &mut plan.scratch {
        scratch.name = name_of(&scratch.name).into();
    }
    for step in &mut plan.steps {
        match step {
            Step::Dispatch(dispatch) => {
                for (_, buffer) in &mut dispatch.renamed {
                    *buffer = name_of(buffer).into();
                }
            }
            Step::Fill { buffer, .. } => *buffer = name_of(buffer).into(),
            Step::Barrier => {}
        }
    }
    plan
}

/// Names of the op's buffers with the file's buffers behind them.
fn mapped<'i>(
    foreign: &Foreign,
    op: &Op,
    truth: &OpTruth,
    instance: &'i Instance,
) -> Result<Vec<(String, &'i Buffer)>, CheckError> {
    let outputs: Vec<&str> =
        op.operands.iter().filter(|o| o.is_written()).map(|o| o.name).collect();
    let known = buffer_names(op, truth.pass);
    let mut mapped: Vec<(String, &Buffer)> = Vec::new();
    for (operand, buffer) in &truth.map {
        let name = match outputs.as_slice() {
            [only] if operand == "out" && !known.contains(operand) => (*only).to_owned(),
            _ => operand.clone(),
        };
        if !known.contains(&name) {
            let known = known.join(", ");
            return Err(
                foreign.fault(format!("{} has no operand `{name}`; it has {known}", op.name))
            );
        }
        let found = instance.buffers.iter().find(|b| b.name == *buffer);
        let found =
            found.ok_or_else(|| foreign.fault(format!("truth.map: no buffer `{buffer}`")))?;
        if mapped.iter().any(|(_, b)| b.name == *buffer) {
            return Err(foreign.fault(format!("truth.map names `{buffer}` twice")));
        }
        mapped.push((name, found));
    }
    let read = op.operands.iter().filter(|o| o.is_read() && truth.pass == Pass::Forward);
    if let Some(missing) = read.map(|o| o.name).find(|name| mapped.iter().all(|(n, _)| n != name)) {
        return Err(
            foreign.fault(format!("truth.map names no buffer for `{missing}` of {}", op.name))
        );
    }
    for (name, buffer) in &mapped {
        contract(op, truth.pass, name, buffer).map_err(|what| foreign.fault(what))?;
    }
    Ok(mapped)
}

/// The buffers of an op's pass.
fn buffer_names(op: &Op, pass: Pass) -> Vec<String> {
    let operands = op.operands.iter().map(|o| o.name.to_owned());
    let gradients = op.operands.iter().filter(|o| o.gradient != Gradient::None);
    let gradients = gradients.map(|o| format!("g{}", o.name));
    match pass {
        Pass::Forward => operands.collect(),
        Pass::Vjp => operands.chain(gradients).collect(),
    }
}

/// Whether the file treats a buffer as the op does.
fn contract(op: &Op, pass: Pass, name: &str, buffer: &Buffer) -> Result<(), String> {
    let gradient_of = op.operands.iter().find(|o| o.is_read() && name == format!("g{}", o.name));
    let adds = pass == Pass::Vjp && gradient_of.is_some_and(|o| o.gradient == Gradient::Add);
    if adds == buffer.accumulate {
        return Ok(());
    }
    let (does, says) =
        if adds { ("adds to", "accumulate = true") } else { ("overwrites", "no accumulate") };
    Err(format!(
        "{} {does} `{name}`, so `{}` needs {says}; else compare with truth.kernel",
        op.name, buffer.name
    ))
}

fn dims(
    foreign: &Foreign,
    op: &Op,
    truth: &OpTruth,
    instance: &Instance,
) -> Result<Vec<usize>, CheckError> {
    if let Some((unknown, _)) = truth.dims.iter().find(|(n, _)| op.dims.iter().all(|d| d.name != n))
    {
        let known: Vec<&str> = op.dims.iter().map(|d| d.name).collect();
        let what = format!("{} has no dimension `{unknown}`; it has {}", op.name, known.join(", "));
        return Err(foreign.fault(what));
    }
    // What is left out is the file's shape of that name, else 1; a buffer of another length shows a
    // dimension that was forgotten.
    let given = |name: &str| truth.dims.iter().find(|(n, _)| n == name).map(|(_, extent)| *extent);
    let shape = |name: &str| whole(*instance.names.get(name)?);
    let extent = |name: &str| given(name).or_else(|| shape(name)).unwrap_or(1);
    op.dims
        .iter()
        .map(|dim| match extent(dim.name) {
            extent if extent < dim.least => {
                let what = format!("{} needs at least {} of `{}`", op.name, dim.least, dim.name);
                Err(foreign.fault(what))
            }
            extent => Ok(extent),
        })
        .collect()
}

/// A number as an extent. One that no buffer could have is none.
fn whole(value: f64) -> Option<usize> {
    let extents = 0.0..=f64::from(u32::MAX);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, in range")]
    (value.fract() == 0.0 && extents.contains(&value)).then_some(value as usize)
}

fn attributes(foreign: &Foreign, op: &Op, truth: &OpTruth) -> Result<Vec<f64>, CheckError> {
    let mut attributes = op.default_attributes();
    for (name, value) in &truth.attributes {
        let at = op.attributes.iter().position(|a| a.name == name).ok_or_else(|| {
            let known: Vec<&str> = op.attributes.iter().map(|a| a.name).collect();
            foreign.fault(format!(
                "{} has no attribute `{name}`; it has {}",
                op.name,
                known.join(", ")
            ))
        })?;
        attributes[at] = *value;
    }
    Ok(attributes)
}

/// Lengths and types of the buffers against the op's operands.
fn fits(
    foreign: &Foreign,
    problem: &Problem<'_>,
    mapped: &[(String, &Buffer)],
) -> Result<(), CheckError> {
    for (name, buffer) in mapped {
        let is_gradient = |o: &&crate::ops::Operand| *name == format!("g{}", o.name);
        let operands = problem.op.operands;
        let operand =
            operands.iter().find(|o| o.name == name).or(operands.iter().find(is_gradient));
        let Some(operand) = operand else { continue };
        let shape = (operand.shape)(problem);
        if shape.iter().product::<usize>() != buffer.len {
            return Err(foreign.fault(format!(
                "`{}` holds {} elements, `{name}` of {} has the shape {shape:?}",
                buffer.name, buffer.len, problem.op.name
            )));
        }
        let whole = operand.dtype.is_some_and(Dtype::is_integer);
        if whole != buffer.dtype.is_integer() {
            return Err(foreign.fault(format!(
                "`{}` is {}, and `{name}` of {} isn't",
                buffer.name, buffer.dtype, problem.op.name
            )));
        }
        if buffer.offset_bytes.is_some_and(|offset| offset > 0)
            || buffer.role == BufferRole::Scratch
        {
            return Err(
                foreign.fault(format!("an operand is a whole buffer, and `{}` isn't", buffer.name))
            );
        }
    }
    Ok(())
}
