//! The training loop, the same for every machine.

use super::data::{CLASSES, Digits, Examples, shuffled};
use super::machine::Machine;
use super::perceptron::{Optimizer, Perceptron, ScaledGradient};
use super::tape::{Life, TensorId};
use crate::numeric::Stream;

/// Everything that decides how a training goes, whoever computes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// How parameters move.
    pub optimizer: Optimizer,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Images in a batch.
    pub batch: usize,
    /// Number of steps.
    pub steps: usize,
    /// Seed of the initial parameters and of the batches.
    pub seed: u64,
}

/// What a training left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trained {
    /// The mean loss of each step's batch.
    pub losses: Vec<f64>,
    /// The gradients of the first step, in the order of the parameters.
    pub first_gradients: Vec<Vec<f64>>,
    /// The parameters after the last step.
    pub parameters: Vec<Vec<f64>>,
}

impl Recipe {
    /// The model with its training step, and a fault on purpose.
    #[must_use]
    pub fn model(&self, fault: Option<&ScaledGradient>) -> Perceptron {
        Perceptron::learning(self.batch, self.hidden, self.optimizer, fault)
    }

    /// The images of each step: the training set in a new order for every epoch, cut into batches;
    /// what is left over is not used in that epoch.
    ///
    /// # Panics
    /// When a batch is empty or larger than the training set.
    #[must_use]
    pub fn batches(&self, training: &Examples) -> Vec<Examples> {
        assert!((1..=training.len()).contains(&self.batch), "a batch of {}", self.batch);
        let epoch = |epoch: usize| {
            let mut stream = Stream::new(self.seed, &["digits", "epoch", &epoch.to_string()]);
            let order = shuffled(training.len(), &mut stream);
            let whole = order.chunks_exact(self.batch);
            whole.map(|batch| training.pick(batch)).collect::<Vec<_>>()
        };
        (0..).flat_map(epoch).take(self.steps).collect()
    }
}

/// Trains a model of [`Perceptron::learning`], and tells each step's loss.
///
/// # Errors
/// Those of the machine.
pub fn train<M: Machine>(
    machine: &mut M,
    model: &Perceptron,
    recipe: &Recipe,
    batches: &[Examples],
    tell: &mut dyn FnMut(usize, f64),
) -> Result<Trained, M::Error> {
    for (tensor, values) in model.initial(recipe.seed).iter().chain(&model.constants) {
        machine.set(*tensor, values);
    }
    let gradients: Vec<TensorId> = model.parameters.iter().filter_map(|p| p.gradient).collect();
    let parameters: Vec<TensorId> = model.parameters.iter().map(|p| p.tensor).collect();
    let mut trained = Trained::default();
    for (step, batch) in batches.iter().enumerate() {
        let mut inputs = vec![(model.pixels, batch.pixels.as_slice())];
        inputs.extend(model.labels.map(|labels| (labels, batch.labels.as_slice())));
        let mut wanted: Vec<TensorId> = model.loss.into_iter().collect();
        if step == 0 {
            wanted.extend(&gradients);
        }
        if step + 1 == batches.len() {
            wanted.extend(&parameters);
        }
        let mut found = machine.step(&inputs, &wanted)?.into_iter();
        let loss = found.next().and_then(|loss| loss.first().copied()).unwrap_or(f64::NAN);
        trained.losses.push(loss);
        tell(step + 1, loss);
        if step == 0 {
            trained.first_gradients = found.by_ref().take(gradients.len()).collect();
        }
        if step + 1 == batches.len() {
            trained.parameters = found.collect();
        }
    }
    Ok(trained)
}

/// The model that answers all held-out images at once, its parameters given as inputs.
#[must_use]
pub fn answering(recipe: &Recipe, digits: &Digits) -> Perceptron {
    Perceptron::answering(digits.held_out.len(), recipe.hidden, Life::Input)
}

/// How many of the images the machine, made for a model of [`answering`], tells right.
///
/// # Errors
/// Those of the machine.
pub fn count_right<M: Machine>(
    machine: &mut M,
    model: &Perceptron,
    parameters: &[Vec<f64>],
    images: &Examples,
) -> Result<usize, M::Error> {
    let mut inputs = vec![(model.pixels, images.pixels.as_slice())];
    let given = model.parameters.iter().zip(parameters);
    inputs.extend(given.map(|(parameter, values)| (parameter.tensor, values.as_slice())));
    let logits = machine.step(&inputs, &[model.logits])?.concat();
    let answers = logits.chunks(CLASSES).map(best);
    Ok(answers.zip(&images.labels).filter(|(answer, label)| *answer as f64 == **label).count())
}

/// The class with the highest score.
fn best(scores: &[f64]) -> usize {
    let highest = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    highest.map_or(0, |(class, _)| class)
}
