//! A tape executed by the references, in f64 or in f32 with shuffled sums.

use std::convert::Infallible;

use super::machine::{HostScalar, Machine, Operands};
use super::tape::{Tape, TensorId};

/// Executes a tape with one kind of scalar.
pub struct Host<'t, S, L> {
    tape: &'t Tape,
    operands: Vec<Operands>,
    /// Makes a scalar of a number that storage holds.
    lift: L,
    contents: Vec<Vec<S>>,
    step: u32,
}

impl<'t, S: HostScalar, L: Fn(f64) -> S> Host<'t, S, L> {
    /// A tape with nothing in its tensors.
    pub fn new(tape: &'t Tape, lift: L) -> Self {
        let operands = tape.nodes().iter().map(Operands::of).collect();
        Self { tape, operands, lift, contents: vec![Vec::new(); tape.tensors().len()], step: 0 }
    }
}

impl<S: HostScalar, L: Fn(f64) -> S> Machine for Host<'_, S, L> {
    type Error = Infallible;

    fn set(&mut self, tensor: TensorId, values: &[f64]) {
        let dtype = self.tape.declared(tensor).dtype;
        self.contents[tensor.0] = values.iter().map(|v| (self.lift)(dtype.round(*v))).collect();
    }

    fn step(
        &mut self,
        inputs: &[(TensorId, &[f64])],
        wanted: &[TensorId],
    ) -> Result<Vec<Vec<f64>>, Infallible> {
        self.step += 1;
        for (tensor, values) in inputs {
            self.set(*tensor, values);
        }
        for (node, operands) in self.tape.nodes().iter().zip(&self.operands) {
            let contents = &self.contents;
            let results = operands.evaluate(node, self.step, |id| contents[id.0].clone());
            for (id, result) in operands.results.iter().zip(results) {
                self.contents[id.0] = result;
            }
        }
        let values = |id: &TensorId| self.contents[id.0].iter().map(|s| s.value()).collect();
        Ok(wanted.iter().map(values).collect())
    }
}
