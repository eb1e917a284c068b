//! A derivative of a forward kernel, run in dual numbers, beside a gradient that another kernel wrote:
//! `<w, Jv>` and `<g, v>` are one number if both are right.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::numeric::ulp_of;
use crate::soft::{Tangent, Tie};
use crate::tensor::{Dtype, Tensor, unravel};

use super::execute::{Executed, Slot};
use super::{CheckError, Finding, Kind, Mismatch, Outcome, Session};

/// Agreement demanded, relative to `||w o Jv||`.
const AGREEMENT: f64 = 1e-5;
/// Roundings of f32 that the terms of a derivative may have on their way, where they cancel.
const ROUNDINGS: f64 = 32.0;
/// The same of narrower storage, to which each value is rounded once.
const STORED_ROUNDINGS: f64 = 4.0;

/// A forward kernel that can be run along any direction of one of its inputs.
pub(super) trait Forwards {
    /// Runs it; `along` is an input's name and its direction.
    fn forward(&mut self, along: Option<(&str, &[f64])>, tie: Tie) -> Result<Forward, CheckError>;
}

/// A run of a forward kernel.
pub(super) struct Forward {
    pub(super) outputs: BTreeMap<String, Tensor>,
    tangents: BTreeMap<String, Vec<Tangent>>,
    kinks: Vec<String>,
    lost: Vec<String>,
}

impl Forward {
    /// What `run` does on an interpreter in dual numbers, along a direction of one of `slots`.
    pub(super) fn of(
        session: &mut Session,
        slots: &[Slot],
        along: Option<(&str, &[f64])>,
        tie: Tie,
        run: impl FnOnce(&mut Session) -> Result<Executed, CheckError>,
    ) -> Result<Self, CheckError> {
        session.in_dual_numbers(|session, dual| {
            dual.begin(tie);
            if let Some((name, direction)) = along
                && let Some(slot) = slots.iter().find(|slot| slot.name == name)
            {
                dual.set_tangent(name, element_bytes(slot.dtype), direction);
            }
            let executed = run(session)?;
            let tangents = executed.written.iter().map(|(name, tensor)| {
                let found = dual.tangent(name, element_bytes(tensor.dtype()), tensor.len());
                (name.clone(), found)
            });
            Ok(Self {
                tangents: tangents.collect(),
                outputs: executed.written,
                kinks: dual.kinks(),
                lost: dual.lost(),
            })
        })
    }
}

/// A gradient, without what was in its buffer before.
pub(super) struct Given {
    /// The input that it is of.
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
    /// What it was added to, and rounded with.
    pub(super) before: Vec<f64>,
}

impl Given {
    /// The gradient of an input as a run left it in `g` and the input's name, added to what the slot
    /// held; none where it has none.
    pub(super) fn added(name: &str, slots: &[Slot], executed: &Executed) -> Option<Self> {
        let buffer = format!("g{name}");
        let written = executed.written.get(&buffer)?;
        let values = written.values();
        let before = match contents(slots, &buffer) {
            Some(before) => before.values(),
            None => vec![0.0; values.len()],
        };
        Some(Self {
            name: name.to_owned(),
            dtype: written.dtype(),
            shape: written.shape().to_vec(),
            values: values.iter().zip(&before).map(|(g, before)| g - before).collect(),
            before,
        })
    }
}

/// What comparisons came to, input by input.
#[derive(Default)]
pub(super) struct Tally {
    worst: f64,
    heard: Vec<String>,
    /// Inputs of which nothing follows, and why.
    silent: BTreeMap<String, String>,
}

impl Tally {
    /// Compares a gradient with the forward's derivative along a direction. `slots` are the VJP's:
    /// the cotangent of an output is `g` and its name.
    ///
    /// # Errors
    /// What keeps the forward from running.
    pub(super) fn compare(
        &mut self,
        forwards: &mut dyn Forwards,
        given: &Given,
        direction: &[f64],
        slots: &[Slot],
    ) -> Result<Option<Box<Finding>>, CheckError> {
        let forward = forwards.forward(Some((&given.name, direction)), Tie::First)?;
        let sides = Sides::new(&forward, given, direction, slots);
        let mut silent = forward.lost.first().cloned();
        if !sides.forward.is_finite() {
            silent.get_or_insert_with(|| "the forward's derivative is not finite".to_owned());
        }
        if let (None, Some(kink)) = (&silent, forward.kinks.first()) {
            let other = forwards.forward(Some((&given.name, direction)), Tie::Second)?;
            let other = Sides::new(&other, given, direction, slots);
            // Both sides may well have the same slope, as those of a maximum that is subtracted.
            if !((other.forward - sides.forward).abs() <= sides.allowed) {
                silent = Some(format!("the forward has a kink: {kink}"));
            }
        }
        if let Some(reason) = silent {
            self.silent.entry(given.name.clone()).or_insert(reason);
            return Ok(None);
        }
        let excess = sides.excess();
        if excess <= 1.0 {
            self.worst = self.worst.max(excess);
            self.heard.push(given.name.clone());
            return Ok(None);
        }
        let mut finding = Finding::new(Kind::WrongGradient, sides.told(&given.name));
        finding.mismatch = wrong_element(forwards, given, direction, slots)?;
        Ok(Some(Box::new(finding)))
    }

    /// The verdict where nothing was found.
    ///
    /// # Errors
    /// An input of which nothing could be compared.
    pub(super) fn end(self) -> Result<Outcome, CheckError> {
        match self.silent.into_iter().find(|(name, _)| !self.heard.contains(name)) {
            Some((name, reason)) => {
                Err(CheckError::Unsupported(format!("nothing follows for {name}: {reason}")))
            }
            None => Ok(Outcome::Pass { worst: self.worst }),
        }
    }
}

/// The element of the gradient that is wrong, or one of them: of the direction the half that differs
/// less is left out until one element is left.
fn wrong_element(
    forwards: &mut dyn Forwards,
    given: &Given,
    direction: &[f64],
    slots: &[Slot],
) -> Result<Option<Mismatch>, CheckError> {
    let mut range = 0..direction.len();
    if let Some(at) = given.values.iter().position(|g| !g.is_finite()) {
        range = at..at + 1;
    }
    loop {
        let middle = range.start + range.len() / 2;
        let halves = if range.len() > 1 {
            vec![range.start..middle, middle..range.end]
        } else {
            vec![range.clone()]
        };
        let mut most: Option<(Range<usize>, Sides)> = None;
        for half in halves {
            let mut part = vec![0.0; direction.len()];
            match half.len() {
                // One element alone is asked for its own derivative.
                1 => part[half.start] = 1.0,
                _ => part[half.clone()].copy_from_slice(&direction[half.clone()]),
            }
            let forward = forwards.forward(Some((&given.name, &part)), Tie::First)?;
            let sides = Sides::new(&forward, given, &part, slots);
            if most.as_ref().is_none_or(|(_, most)| !(sides.excess() <= most.excess())) {
                most = Some((half, sides));
            }
        }
        match most {
            Some((half, sides)) if half.len() == 1 => {
                return Ok(Some(Mismatch {
                    buffer: format!("g{}", given.name),
                    bad: 1,
                    total: direction.len(),
                    index: unravel(&given.shape, half.start),
                    got: format!("{}", sides.backward),
                    expected: format!("{}", sides.forward),
                    bound: format!("{:.3e}", sides.allowed),
                }));
            }
            Some((half, _)) if !half.is_empty() => range = half,
            _ => return Ok(None),
        }
    }
}

/// Both numbers, and how far they may lie apart.
struct Sides {
    forward: f64,
    backward: f64,
    allowed: f64,
}

impl Sides {
    fn new(forward: &Forward, given: &Given, direction: &[f64], slots: &[Slot]) -> Self {
        let (mut terms, mut sizes) = (Vec::new(), Vec::new());
        let mut stored = rounding(given.dtype);
        for (name, tangents) in &forward.tangents {
            let Some(weights) = contents(slots, &format!("g{name}")) else { continue };
            stored = stored.max(rounding(forward.outputs[name].dtype()));
            // What has no weight isn't asked about, whatever it is.
            let weighed = tangents.iter().zip(weights.values()).filter(|(_, w)| *w != 0.0);
            for (tangent, w) in weighed {
                terms.push(w * tangent.value);
                sizes.push(w * tangent.size);
            }
        }
        let along = |g: &[f64]| -> Vec<f64> {
            let moved = g.iter().zip(direction).filter(|(_, v)| **v != 0.0);
            moved.map(|(g, v)| g * v).collect()
        };
        let narrow = if stored > rounding(Dtype::F32) { STORED_ROUNDINGS * stored } else { 0.0 };
        let noise = ROUNDINGS * rounding(Dtype::F32) + narrow;
        Self {
            forward: terms.iter().sum(),
            backward: along(&given.values).iter().sum(),
            allowed: AGREEMENT * norm(&terms)
                + noise * (norm(&sizes) + norm(&along(&given.before))),
        }
    }

    /// The distance as a part of what is allowed; a NaN is beyond all.
    fn excess(&self) -> f64 {
        let distance = (self.backward - self.forward).abs();
        if distance == 0.0 {
            0.0
        } else if distance.is_nan() {
            f64::INFINITY
        } else {
            distance / self.allowed
        }
    }

    fn told(&self, name: &str) -> String {
        let Self { forward, backward, allowed } = self;
        let ratio = if *forward == 0.0 {
            String::new()
        } else {
            format!(", {:.6} times as much", backward / forward)
        };
        format!(
            "g{name}: <w, Jv> of the forward kernel along {name} is {forward:.9e}, <g, v> of the VJP \
             {backward:.9e}{ratio}; {allowed:.1e} apart are allowed"
        )
    }
}

fn norm(terms: &[f64]) -> f64 {
    terms.iter().map(|term| term * term).sum::<f64>().sqrt()
}

/// Half a unit in the last place of 1.
fn rounding(dtype: Dtype) -> f64 {
    match dtype {
        half @ (Dtype::F16 | Dtype::BF16) => ulp_of(half, 1.0) / 2.0,
        _ => ulp_of(Dtype::F32, 1.0) / 2.0,
    }
}

fn element_bytes(dtype: Dtype) -> u32 {
    dtype.bytes_for(1).and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(u32::MAX)
}

fn contents<'t>(slots: &'t [Slot], name: &str) -> Option<&'t Tensor> {
    slots.iter().find(|slot| slot.name == name)?.contents.as_ref()
}

/// The buffers of a VJP with what a forward kernel wrote in place of what they hold.
pub(super) fn with_outputs(slots: Vec<Slot>, outputs: &BTreeMap<String, Tensor>) -> Vec<Slot> {
    let swapped = slots.into_iter().map(|slot| match outputs.get(&slot.name) {
        Some(output) => {
            let own = Tensor::new(slot.dtype, &slot.shape, &output.values());
            Slot { contents: Some(own), ..slot }
        }
        None => slot,
    });
    swapped.collect()
}
