//! Gradient-exact of a kernel file that nobody wrote a reference for: its own forward in dual numbers
//! beside the files of `gradient.vjp`. Names connect them: a VJP's buffers are called as the
//! forward's are, `g` and an output's name is its cotangent, `g` and an input's name its gradient.

use crate::kernel_file::{Instance, KernelFile};
use crate::numeric::Stream;
use crate::ops::{Plan, Registry, Role};
use crate::soft::Tie;
use crate::tensor::{Dtype, Tensor};

use super::super::exact::{Forward, Forwards, Given as Gradient, Tally, with_outputs};
use super::super::execute::{Setting, Slot, run_plan};
use super::super::{CheckError, Finding, Outcome, Session};
use super::Foreign;
use super::given::{Given, is_scratch, slot, with_scratch};

/// Cotangents and directions that each gradient is compared with.
const DRAWS: u32 = 3;

/// The forward file in one of its cases.
struct OfFile<'a> {
    session: &'a mut Session,
    plan: Plan,
    slots: Vec<Slot>,
    setting: Setting,
}

impl Forwards for OfFile<'_> {
    fn forward(&mut self, along: Option<(&str, &[f64])>, tie: Tie) -> Result<Forward, CheckError> {
        let (plan, slots, setting) = (&self.plan, &self.slots, &self.setting);
        Forward::of(self.session, slots, along, tie, |session| {
            run_plan(session, plan, slots, setting)
        })
    }
}

/// A file of `gradient.vjp` in the forward's case.
struct Vjp {
    foreign: Foreign,
    plan: Plan,
    slots: Vec<Slot>,
    /// The forward's inputs whose gradients it writes.
    inputs: Vec<String>,
}

/// Compares every gradient that the listed files write with the forward's own derivative.
///
/// # Errors
/// What keeps a kernel from running; files that don't fit each other.
pub(super) fn check(session: &mut Session, given: &Given<'_>) -> Result<Outcome, CheckError> {
    let slots = data(given.foreign, given.instance, given);
    let plan = with_scratch(given.instance.plan.clone(), &given.instance.buffers);
    let setting = Setting::first(given);
    let mut vjps = Vec::new();
    for path in given.foreign.file.vjp() {
        vjps.push(vjp(given, KernelFile::load(path)?, &slots)?);
    }
    let mut of_file = OfFile { session, plan, slots, setting };
    let outputs = of_file.forward(None, Tie::First)?.outputs;
    let mut tally = Tally::default();
    for vjp in &vjps {
        let slots = with_outputs(vjp.slots.clone(), &outputs);
        for draw in 0..DRAWS {
            let slots = with_cotangents(slots.clone(), given, draw);
            let setting = &of_file.setting;
            let executed = run_plan(of_file.session, &vjp.plan, &slots, setting)?;
            of_file.session.heard(&executed);
            if let Some(finding) = Finding::of_memory(executed.memory.clone()) {
                return Ok(Outcome::fail(finding));
            }
            for name in &vjp.inputs {
                let Some(gradient) = Gradient::added(name, &slots, &executed) else { continue };
                let direction = drawn(given, &format!("v{name}#{draw}"), gradient.values.len());
                let direction: Vec<f64> = direction.into_iter().map(|v| v.normal).collect();
                let found = tally.compare(&mut of_file, &gradient, &direction, &slots)?;
                if let Some(mut finding) = found {
                    let path = vjp.foreign.file.path().display();
                    finding.message = format!("{path}: {}", finding.message);
                    return Ok(Outcome::Fail { finding });
                }
            }
        }
    }
    tally.end()
}

/// The buffers that a file brings, with its own data.
fn data(foreign: &Foreign, instance: &Instance, given: &Given<'_>) -> Vec<Slot> {
    let id = given.foreign.id(given.case);
    let buffers = instance.buffers.iter().filter(|buffer| !is_scratch(buffer));
    buffers.map(|buffer| slot(foreign, buffer, &id, given.case.seed)).collect()
}

/// A listed file with the forward's inputs in its buffers.
fn vjp(given: &Given<'_>, file: KernelFile, forward: &[Slot]) -> Result<Vjp, CheckError> {
    let foreign = Foreign::new(file, &Registry::new())?;
    let point = foreign.file.point(&given.foreign.id(given.case))?;
    let instance = foreign.file.instance(&point)?;
    let mut slots = data(&foreign, &instance, given);
    for slot in &mut slots {
        let Some(own) = forward.iter().find(|own| own.name == slot.name) else { continue };
        if (own.dtype, own.len()) != (slot.dtype, slot.len()) {
            let what = format!(
                "buffer `{}` is {} of {} here and {} of {} in {}",
                slot.name,
                slot.len(),
                slot.dtype,
                own.len(),
                own.dtype,
                given.foreign.file.path().display()
            );
            return Err(foreign.fault(what));
        }
        slot.contents.clone_from(&own.contents);
    }
    // Where it isn't said that the kernel adds, sums and results are the same on zeros.
    let adds = |name: &str| instance.buffers.iter().any(|b| b.name == name && b.accumulate);
    for slot in slots.iter_mut().filter(|slot| slot.role == Role::InOut && !adds(&slot.name)) {
        if slot.contents.is_some() {
            let zeros = vec![0.0; slot.len()];
            slot.contents = Some(Tensor::new(slot.dtype, &slot.shape, &zeros));
        }
    }
    let is_written =
        |name: &str| slots.iter().any(|slot| slot.name == name && slot.role != Role::In);
    let read = forward.iter().filter(|own| own.role == Role::In && is_float(own.dtype));
    let inputs = read.map(|own| own.name.clone()).filter(|name| is_written(&format!("g{name}")));
    let inputs: Vec<String> = inputs.collect();
    let plan = with_scratch(instance.plan.clone(), &instance.buffers);
    if inputs.is_empty() {
        let what = format!(
            "it writes no buffer that is called `g` and the name of a float input of {}",
            given.foreign.file.path().display()
        );
        return Err(foreign.fault(what));
    }
    Ok(Vjp { foreign, plan, slots, inputs })
}

const fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64)
}

/// Draws a cotangent for every output of the forward that the file takes one of.
fn with_cotangents(slots: Vec<Slot>, given: &Given<'_>, draw: u32) -> Vec<Slot> {
    let is_output = |name: &str| {
        let buffers = given.instance.buffers.iter();
        buffers.filter(|b| !is_scratch(b)).any(|b| format!("g{}", b.name) == name)
    };
    let filled = slots.into_iter().map(|slot| {
        if slot.role != Role::In || !is_output(&slot.name) {
            return slot;
        }
        let numbers = drawn(given, &format!("{}#{draw}", slot.name), slot.len());
        // On a coarse grid, so that no storage rounds them.
        let values: Vec<f64> =
            numbers.iter().map(|v| (v.cotangent * 256.0).round() / 256.0).collect();
        let tensor = Tensor::new(slot.dtype, &slot.shape, &values);
        Slot { contents: Some(tensor), ..slot }
    });
    filled.collect()
}

struct Drawn {
    normal: f64,
    cotangent: f64,
}

fn drawn(given: &Given<'_>, name: &str, len: usize) -> Vec<Drawn> {
    let id = given.foreign.id(given.case);
    let mut stream = Stream::new(given.case.seed, &["gradient-exact", &id, name]);
    (0..len).map(|_| Drawn { normal: stream.normal(), cotangent: stream.cotangent() }).collect()
}
