//! The digits trained on a device, and the same training by the references.

use std::convert::Infallible;
use std::num::NonZero;
use std::thread;

use super::curve::{Band, Distance, furthest_apart, relative_difference};
use super::data::{Digits, Examples};
use super::host::Host;
use super::machine::HostScalar;
use super::on_device::OnDevice;
use super::perceptron::{PARAMETERS, Perceptron, ScaledGradient};
use super::swap::{Swap, ways};
use super::train::{Recipe, Trained, answering, count_right, train};
use crate::check::{CheckError, Session};
use crate::memory::MemoryFinding;
use crate::numeric::{Order, Shuffled};

/// What a training should look like, whichever device it is held against.
#[derive(Clone, Debug)]
pub struct Truth {
    /// By the f64 references.
    pub trained: Trained,
    /// Held-out images that the f64 references tell right.
    pub right: usize,
    /// Where f32 runs lie that differ in the order of their sums; `None` without such runs.
    pub band: Option<Band>,
}

impl Truth {
    /// Trains on the host: once in f64 and `host_runs` times in f32 with shuffled sums.
    #[must_use]
    pub fn new(recipe: &Recipe, digits: &Digits, host_runs: usize) -> Self {
        let model = recipe.model(None);
        let batches = recipe.batches(&digits.training);
        let trained = on_host(&model, recipe, &batches, |x: f64| x);
        let answers = answering(recipe, digits);
        let mut host = Host::new(&answers.tape, |x: f64| x);
        let right =
            certain(count_right(&mut host, &answers, &trained.parameters, &digits.held_out));
        let runs = shuffled_runs(&model, recipe, &batches, host_runs);
        Self { trained, right, band: (!runs.is_empty()).then(|| Band::around(&runs)) }
    }
}

fn on_host<S: HostScalar>(
    model: &Perceptron,
    recipe: &Recipe,
    batches: &[Examples],
    lift: impl Fn(f64) -> S,
) -> Trained {
    certain(train(&mut Host::new(&model.tape, lift), model, recipe, batches, &mut |_, _| {}))
}

fn certain<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

/// Loss curves of f32 runs, each with its own orders; as many at once as there are processors.
fn shuffled_runs(
    model: &Perceptron,
    recipe: &Recipe,
    batches: &[Examples],
    count: usize,
) -> Vec<Vec<f64>> {
    let run = |number: usize| {
        let order = Order::new(recipe.seed, &["digits", "order", &number.to_string()]);
        on_host(model, recipe, batches, |x| Shuffled::new(x, &order)).losses
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut curves = vec![Vec::new(); count];
    for (at, some) in curves.chunks_mut(threads).enumerate() {
        thread::scope(|scope| {
            for (number, curve) in (at * threads..).zip(some) {
                scope.spawn(move || *curve = run(number));
            }
        });
    }
    curves
}

/// How a training on a device compares with its truth.
#[derive(Clone, Debug)]
pub struct Report {
    /// The mean loss of each step's batch, on the device.
    pub losses: Vec<f64>,
    /// Held-out images that the device tells right.
    pub right: usize,
    /// The largest distance of the loss curve from that of the f64 references.
    pub furthest: Distance,
    /// That distance at the last step.
    pub last: Distance,
    /// Largest difference of each parameter's gradient in the first step from the f64 references,
    /// as a fraction of the largest element.
    pub gradients: Vec<(&'static str, f64)>,
    /// The largest distance of the loss curve from the middle of the band, in spreads.
    pub spreads: Option<Distance>,
    /// Where the loss curve leaves the band.
    pub departure: Option<Distance>,
    /// What the ledger saw.
    pub findings: Vec<MemoryFinding>,
    /// Messages of the validation layer.
    pub messages: Vec<String>,
}

impl Report {
    /// Whether the curve stayed in the band and nobody complained.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.departure.is_none() && self.findings.is_empty() && self.messages.is_empty()
    }
}

/// Trains on the session's device and tells each step's loss as soon as it is there.
///
/// # Errors
/// Whatever keeps the device from training the model.
pub fn train_on_device(
    session: &mut Session,
    recipe: &Recipe,
    digits: &Digits,
    truth: &Truth,
    swaps: &[Swap],
    fault: Option<&ScaledGradient>,
    tell: &mut dyn FnMut(usize, f64),
) -> Result<Report, CheckError> {
    let model = recipe.model(fault);
    let batches = recipe.batches(&digits.training);
    let mut device = OnDevice::new(session, &model.tape, ways(&model.tape, swaps))?;
    let trained = train(&mut device, &model, recipe, &batches, tell)?;
    let (mut findings, mut messages) = device.close();

    let answers = answering(recipe, digits);
    let mut device = OnDevice::new(session, &answers.tape, ways(&answers.tape, swaps))?;
    let right = count_right(&mut device, &answers, &trained.parameters, &digits.held_out)?;
    let (more_findings, more_messages) = device.close();
    findings.extend(more_findings);
    messages.extend(more_messages);

    let last = recipe.steps.saturating_sub(1);
    let tail = furthest_apart(&trained.losses[last..], &truth.trained.losses[last..]);
    let gradients = trained.first_gradients.iter().zip(&truth.trained.first_gradients);
    let differences = gradients.map(|(got, want)| relative_difference(got, want));
    let band = truth.band.as_ref();
    Ok(Report {
        right,
        furthest: furthest_apart(&trained.losses, &truth.trained.losses),
        last: Distance { step: last + tail.step, ..tail },
        gradients: PARAMETERS.into_iter().zip(differences).collect(),
        spreads: band.map(|band| band.furthest(&trained.losses)),
        departure: band.and_then(|band| band.first_outside(&trained.losses)),
        losses: trained.losses,
        findings,
        messages,
    })
}
