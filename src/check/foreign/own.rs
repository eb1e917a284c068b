//! A kernel file as a variant of an op: the plan in the op's names, and what its buffers change of
//! the op's trials.

use crate::kernel_file::{Buffer, Instance, OpTruth, Truth};
use crate::numeric::Regime;
use crate::ops::{Case, Need, Op, Order, Pass, Plan, Problem, Step, Target, Unsupported, Variant};
use crate::tensor::Dtype;

use super::super::CheckError;
use super::super::compare::Expected;
use super::super::execute::{Place, Slot};
use super::super::question::Region;
use super::given::{expected, is_scratch, place, region, slot, with_scratch};
use super::mapping::{fits, mapped};
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
    /// What the file expects of those.
    extra_expected: Vec<Expected>,
    regions: Vec<Region>,
    subgroup_sizes: Vec<u32>,
    needs: Vec<Need>,
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
    pub(crate) fn plan(&self, problem: &Problem<'_>) -> Result<Plan, Unsupported> {
        if problem.dims != self.dims || problem.attributes != self.attributes {
            return Err(Unsupported("a kernel file has plans for its own shapes only".to_owned()));
        }
        Ok(self.plan.clone())
    }

    /// The subgroup sizes that the file asks for.
    pub(crate) fn subgroup_sizes(&self) -> &[u32] {
        &self.subgroup_sizes
    }

    /// What the file declares that it needs.
    pub(crate) fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// The file's buffers.
    pub(in crate::check) fn regions(&self) -> &[Region] {
        &self.regions
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

    /// Leaves out what the file doesn't compute, allows what it asks for, and adds what it expects
    /// of its own buffers.
    pub(crate) fn fit_expectations(&self, expected: &mut Vec<Expected>) {
        expected.retain(|want| self.operands.iter().any(|o| o.name == want.name));
        for want in expected.iter_mut() {
            let operand = self.operands.iter().find(|o| o.name == want.name);
            if let Some((rtol, atol)) = operand.and_then(|o| o.tolerance) {
                for (bound, value) in want.bounds.iter_mut().zip(&want.values) {
                    if value.is_finite() {
                        *bound = bound.max(atol + rtol * value.abs());
                    }
                }
            }
        }
        expected.extend(self.extra_expected.iter().cloned());
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
    let extra: Vec<&Buffer> =
        instance.buffers.iter().filter(|b| !is_mapped(b) && !is_scratch(b)).collect();
    let wanted = extra.iter().filter_map(|buffer| expected(buffer));
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
        extra_expected: wanted.map(|want| Expected { name: name_of(&want.name), ..want }).collect(),
        extra: extra
            .iter()
            .map(|buffer| {
                let slot = slot(foreign, buffer, &id, case.seed);
                Slot { name: name_of(&buffer.name), place: shared(slot.place, &name_of), ..slot }
            })
            .collect(),
        regions: instance.buffers.iter().map(|buffer| region(foreign, buffer)).collect(),
        subgroup_sizes: foreign.file.subgroup_sizes().to_vec(),
        needs: foreign.file.needs().to_vec(),
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
