//! What executes a tape, and what the ops of a tape compute by their references.

use super::tape::{Node, TensorId};
use crate::numeric::{Scalar, Shuffled};
use crate::ops::{Gradient, Pass, Problem, Reference, Role};

/// Executes a tape step by step.
pub trait Machine {
    /// Why it could not.
    type Error;

    /// Sets a tensor of [`super::Life::State`] before the next step.
    fn set(&mut self, tensor: TensorId, values: &[f64]);

    /// Executes every op once, with the inputs of this step; returns `wanted` as they are at its
    /// end.
    ///
    /// # Errors
    /// Whatever keeps the step from being executed.
    fn step(
        &mut self,
        inputs: &[(TensorId, &[f64])],
        wanted: &[TensorId],
    ) -> Result<Vec<Vec<f64>>, Self::Error>;
}

/// A scalar that records can run their references with.
pub trait HostScalar: Scalar {
    /// [`crate::ops::Formula::forward`].
    fn forward(
        reference: &dyn Reference,
        problem: &Problem<'_>,
        inputs: &[Vec<Self>],
    ) -> Vec<Vec<Self>>;

    /// [`crate::ops::Formula::vjp`].
    fn vjp(
        reference: &dyn Reference,
        problem: &Problem<'_>,
        inputs: &[Vec<Self>],
        outputs: &[Vec<Self>],
        cotangents: &[Vec<Self>],
    ) -> Vec<Vec<Self>>;
}

impl HostScalar for f64 {
    fn forward(
        reference: &dyn Reference,
        problem: &Problem<'_>,
        inputs: &[Vec<Self>],
    ) -> Vec<Vec<Self>> {
        reference.forward(problem, inputs)
    }

    fn vjp(
        reference: &dyn Reference,
        problem: &Problem<'_>,
        inputs: &[Vec<Self>],
        outputs: &[Vec<Self>],
        cotangents: &[Vec<Self>],
    ) -> Vec<Vec<Self>> {
        reference.vjp(problem, inputs, outputs, cotangents)
    }
}

impl HostScalar for Shuffled<'_> {
    fn forward(
        reference: &dyn Reference,
        problem: &Problem<'_>,
        inputs: &[Vec<Self>],
    ) -> Vec<Vec<Self>> {
        reference.forward_shuffled(problem, inputs)
    }

    fn vjp(
        reference: &dyn Reference,
        problem: &Problem<'_>,
        inputs: &[Vec<Self>],
        outputs: &[Vec<Self>],
        cotangents: &[Vec<Self>],
    ) -> Vec<Vec<Self>> {
        reference.vjp_shuffled(problem, inputs, outputs, cotangents)
    }
}

/// The tensors of a node in the order in which its reference takes and returns them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Operands {
    pub(super) inputs: Vec<TensorId>,
    /// Of a VJP: what the forward returned.
    outputs: Vec<TensorId>,
    /// Of a VJP.
    cotangents: Vec<TensorId>,
    pub(super) results: Vec<TensorId>,
}

impl Operands {
    pub(super) fn of(node: &Node) -> Self {
        let mut found = Self::default();
        for operand in node.op.operands {
            let gradient = format!("g{}", operand.name);
            if operand.is_read() {
                found.inputs.extend(node.tensor(operand.name));
            }
            match node.pass {
                Pass::Forward if operand.is_written() => {
                    found.results.extend(node.tensor(operand.name));
                }
                Pass::Forward => {}
                Pass::Vjp if operand.role == Role::Out => {
                    found.outputs.extend(node.tensor(operand.name));
                    found.cotangents.extend(node.tensor(&gradient));
                }
                Pass::Vjp if operand.gradient != Gradient::None => {
                    found.results.extend(node.tensor(&gradient));
                }
                Pass::Vjp => {}
            }
        }
        found
    }

    /// Everything that the reference reads, each once.
    pub(super) fn read(&self) -> Vec<TensorId> {
        let all = [&self.inputs, &self.outputs, &self.cotangents];
        let mut read: Vec<TensorId> = all.into_iter().flatten().copied().collect();
        read.sort_unstable();
        read.dedup();
        read
    }

    /// Runs the node's reference in the step of that number; one result per [`Operands::results`].
    pub(super) fn evaluate<S: HostScalar>(
        &self,
        node: &Node,
        step: u32,
        contents: impl Fn(TensorId) -> Vec<S>,
    ) -> Vec<Vec<S>> {
        let attributes = node.attributes_at(step);
        let problem = node.problem(&attributes);
        let all =
            |ids: &[TensorId]| -> Vec<Vec<S>> { ids.iter().map(|id| contents(*id)).collect() };
        let reference = node.op.reference;
        match node.pass {
            Pass::Forward => S::forward(reference, &problem, &all(&self.inputs)),
            Pass::Vjp => {
                let (outputs, cotangents) = (all(&self.outputs), all(&self.cotangents));
                S::vjp(reference, &problem, &all(&self.inputs), &outputs, &cotangents)
            }
        }
    }
}
