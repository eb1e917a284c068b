//! A two-layer perceptron as a tape: `logits = relu(x w1 + b1) w2 + b2`, the mean of its
//! cross-entropy, all gradients, and an optimizer's step.

use super::data::{CLASSES, PIXELS};
use super::tape::{Life, Tape, TensorId, Value};
use crate::numeric::Stream;
use crate::ops::{adamw, bias_add, cross_entropy, matmul, mean, relu, scale, sgd};
use crate::tensor::Dtype;

/// How parameters move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// Gradient descent.
    Sgd {
        /// The rate.
        rate: f64,
    },
    /// Adam with decoupled weight decay, moments and decay as the op's record has them.
    AdamW {
        /// The rate.
        rate: f64,
    },
}

impl Optimizer {
    /// Gradient descent at a rate that suits the digits.
    pub const SGD: Self = Self::Sgd { rate: 0.25 };
    /// `AdamW` at a rate that suits the digits.
    pub const ADAMW: Self = Self::AdamW { rate: 0.01 };

    /// The rate.
    #[must_use]
    pub const fn rate(self) -> f64 {
        match self {
            Self::Sgd { rate } | Self::AdamW { rate } => rate,
        }
    }

    /// The name of its op.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sgd { .. } => sgd::OP.name,
            Self::AdamW { .. } => adamw::OP.name,
        }
    }
}

/// A fault on purpose: a parameter's gradient reaches the optimizer multiplied by a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledGradient {
    /// The parameter.
    pub parameter: String,
    /// The factor.
    pub factor: f64,
}

/// A tensor that the model learns.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// `w1`, `b1`, `w2` or `b2`.
    pub name: &'static str,
    /// Its values.
    pub tensor: TensorId,
    /// What the optimizer takes for its gradient; `None` on a tape that doesn't learn.
    pub gradient: Option<TensorId>,
    /// Terms of each sum that its outputs are, 0 for a bias.
    fan_in: usize,
}

/// The tape with the tensors that matter outside of it.
#[derive(Clone)]
pub struct Perceptron {
    /// The ops.
    pub tape: Tape,
    /// Images of a batch.
    pub pixels: TensorId,
    /// Their digits; `None` on a tape that doesn't learn.
    pub labels: Option<TensorId>,
    /// One score for each image and digit.
    pub logits: TensorId,
    /// The mean loss of the batch before the step; `None` on a tape that doesn't learn.
    pub loss: Option<TensorId>,
    /// What it learns, in the order of the layers.
    pub parameters: Vec<Parameter>,
    /// Contents of what is set once, parameters excepted.
    pub constants: Vec<(TensorId, Vec<f64>)>,
}

/// Names of the parameters, in the order of the layers.
pub const PARAMETERS: [&str; 4] = ["w1", "b1", "w2", "b2"];

impl Perceptron {
    /// The model's answer to `rows` images, with parameters of the given life.
    #[must_use]
    pub fn answering(rows: usize, hidden: usize, life: Life) -> Self {
        let mut tape = Tape::default();
        let pixels = tape.declare("x", Dtype::F32, &[rows, PIXELS], Life::Input);
        let shapes = [vec![PIXELS, hidden], vec![hidden], vec![hidden, CLASSES], vec![CLASSES]];
        let fans = [PIXELS, 0, hidden, 0];
        let parameters: Vec<Parameter> = PARAMETERS
            .into_iter()
            .zip(shapes)
            .zip(fans)
            .map(|((name, shape), fan_in)| {
                let tensor = tape.declare(name, Dtype::F32, &shape, life);
                Parameter { name, tensor, gradient: None, fan_in }
            })
            .collect();
        let p = |at: usize| parameters[at].tensor;
        let product = [1, rows, hidden, PIXELS];
        let h = tape.push(&matmul::OP, &product, &[], &[pixels, p(0)], "xw1")[0];
        let h = tape.push(&bias_add::OP, &[rows, hidden], &[], &[h, p(1)], "h")[0];
        let h = tape.push(&relu::OP, &[rows * hidden], &[], &[h], "relu_h")[0];
        let product = [1, rows, CLASSES, hidden];
        let y = tape.push(&matmul::OP, &product, &[], &[h, p(2)], "hw2")[0];
        let logits = tape.push(&bias_add::OP, &[rows, CLASSES], &[], &[y, p(3)], "logits")[0];
        let (labels, loss, constants) = (None, None, Vec::new());
        Self { tape, pixels, labels, logits, loss, parameters, constants }
    }

    /// A training step on a batch of `rows` images.
    #[must_use]
    pub fn learning(
        rows: usize,
        hidden: usize,
        optimizer: Optimizer,
        fault: Option<&ScaledGradient>,
    ) -> Self {
        let mut model = Self::answering(rows, hidden, Life::State);
        let tape = &mut model.tape;
        let labels = tape.declare("digit", Dtype::U32, &[rows], Life::Input);
        let dims = [rows, CLASSES];
        let losses = tape.push(&cross_entropy::OP, &dims, &[], &[model.logits, labels], "losses");
        let loss = tape.push(&mean::OP, &[1, rows, 1], &[], &losses, "loss")[0];
        let cotangent = tape.declare("gloss", Dtype::F32, &[1, 1], Life::State);
        tape.backward(loss, cotangent);
        model.constants.push((cotangent, vec![1.0]));
        for parameter in &mut model.parameters {
            let len = tape.declared(parameter.tensor).len();
            let gradient = tape.gradient(parameter.tensor).map(|gradient| match fault {
                Some(fault) if fault.parameter == parameter.name => {
                    let alpha = [("alpha", Value::Fixed(fault.factor))];
                    let name = format!("scaled_g{}", parameter.name);
                    tape.push(&scale::OP, &[len], &alpha, &[gradient], &name)[0]
                }
                _ => gradient,
            });
            parameter.gradient = gradient;
            if let Some(gradient) = gradient {
                let state = update(tape, optimizer, parameter, gradient);
                model.constants.extend(state.into_iter().map(|id| (id, vec![0.0; len])));
            }
        }
        Self { labels: Some(labels), loss: Some(loss), ..model }
    }

    /// What the parameters begin with: weights `N(0, 2 / fan-in)`, biases 0. Source: He, Zhang, Ren
    /// and Sun, "Delving Deep into Rectifiers", 2015.
    #[must_use]
    pub fn initial(&self, seed: u64) -> Vec<(TensorId, Vec<f64>)> {
        let values = |parameter: &Parameter| {
            let mut stream = Stream::new(seed, &["digits", "initial", parameter.name]);
            let deviation = match parameter.fan_in {
                0 => 0.0,
                fan_in => libm::sqrt(2.0 / fan_in as f64),
            };
            let len = self.tape.declared(parameter.tensor).len();
            (parameter.tensor, (0..len).map(|_| deviation * stream.normal()).collect())
        };
        self.parameters.iter().map(values).collect()
    }
}

/// Adds the optimizer's step of one parameter; returns the state that it keeps, which begins as 0.
fn update(
    tape: &mut Tape,
    optimizer: Optimizer,
    parameter: &Parameter,
    gradient: TensorId,
) -> Vec<TensorId> {
    let shape = tape.declared(parameter.tensor).shape.clone();
    let len = tape.declared(parameter.tensor).len();
    match optimizer {
        Optimizer::Sgd { rate } => {
            let attributes = [("lr", Value::Fixed(rate))];
            tape.push(&sgd::OP, &[len], &attributes, &[parameter.tensor, gradient], "");
            Vec::new()
        }
        Optimizer::AdamW { rate } => {
            let attributes = [("lr", Value::Fixed(rate)), ("step", Value::StepNumber)];
            let mut state = |of: &str| {
                let name = format!("{of}_{}", parameter.name);
                tape.declare(&name, Dtype::F32, &shape, Life::State)
            };
            let (m, v) = (state("m"), state("v"));
            let read = [parameter.tensor, m, v, gradient];
            tape.push(&adamw::OP, &[len], &attributes, &read, "");
            vec![m, v]
        }
    }
}
