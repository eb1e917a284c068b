//! Properties of arrangement: what must happen to the results when rows, operands or dimensions
//! change places, are repeated, or go through the op again.

use crate::check::compare::Expected;
use crate::check::trial::Trial;
use crate::numeric::{Regime, Stream};
use crate::ops::{Case, Problem};
use crate::tensor::Tensor;

use super::{Algebra, Broken, Verdict};

impl Algebra<'_, '_> {
    pub(super) fn rows_independent(&mut self, operands: &[&str]) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let first = self.position(operands[0]);
        let rows = inputs[first].shape()[0];
        let order = shuffled(rows, self.case.seed);
        let mut permuted = inputs.clone();
        for operand in operands {
            let at = self.position(operand);
            // One row serves all rows: broadcast.
            if inputs[at].shape()[0] == rows {
                permuted[at] = permute_rows(&inputs[at], &order);
            }
        }
        let (plain, moved) = (self.run(&inputs)?, self.run(&permuted)?);
        let pairs = plain.into_iter().zip(moved).map(|((name, plain), (_, got))| {
            (Expected::exactly(&name, &permute_rows(&plain, &order)), got)
        });
        Ok(self.all(pairs))
    }

    pub(super) fn commutes(&mut self, a: &str, b: &str) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let (a, b) = (self.position(a), self.position(b));
        let exchangeable = |t: &Tensor| (t.dtype(), t.shape().to_vec());
        if exchangeable(&inputs[a]) != exchangeable(&inputs[b]) {
            return Ok(Broken::No { worst: 0.0 });
        }
        let mut exchanged = inputs.clone();
        exchanged.swap(a, b);
        let (plain, other) = (self.run(&inputs)?, self.run(&exchanged)?);
        let pairs = plain
            .into_iter()
            .zip(other)
            .map(|((name, want), (_, got))| (Expected::exactly(&name, &want), got));
        Ok(self.all(pairs))
    }

    pub(super) fn idempotent(&mut self) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let once = self.run(&inputs)?;
        let again: Vec<Tensor> = once.iter().map(|(_, tensor)| tensor.clone()).collect();
        // A result of another storage can't go in again.
        if again.iter().zip(&inputs).any(|(again, first)| again.dtype() != first.dtype()) {
            return Ok(Broken::No { worst: 0.0 });
        }
        let twice = self.run(&again)?;
        let pairs = once
            .into_iter()
            .zip(twice)
            .map(|((name, want), (_, got))| (Expected::exactly(&name, &want), got));
        Ok(self.all(pairs))
    }

    pub(super) fn involution(&mut self, a: &str, b: &str) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let once: Vec<Tensor> = self.run(&inputs)?.into_iter().map(|(_, t)| t).collect();
        if once.iter().zip(&inputs).any(|(once, first)| once.dtype() != first.dtype()) {
            return Ok(Broken::No { worst: 0.0 });
        }
        let mut dims = self.case.dims.clone();
        let place = |name| self.subject.op.dims.iter().position(|d| d.name == name);
        if let (Some(a), Some(b)) = (place(a), place(b)) {
            dims.swap(a, b);
        }
        let exchanged = Problem { dims: &dims, ..self.case.problem(self.subject.op) };
        let twice = self.run_problem(&exchanged, &once)?;
        let pairs = inputs.iter().zip(twice).map(|(want, (name, got))| {
            let got = Tensor::from_bytes(got.dtype(), want.shape(), got.bytes().to_vec());
            (Expected::exactly(&name, want), got)
        });
        Ok(self.all(pairs))
    }

    pub(super) fn repeated(&mut self, operand: &str, dim: &str, factor: i32) -> Verdict {
        // Integers, so that a sum is exact in any order.
        let inputs = self.draw(Regime::Integers);
        let once = self.run(&inputs)?;
        let (at, axis) = (self.position(operand), self.position_of_dim(dim));
        let mut dims = self.case.dims.clone();
        dims[axis] *= 2;
        let longer = Case { dims: dims.clone(), ..self.case.clone() };
        let problem = longer.problem(self.subject.op);
        let shape = (problem.inputs().nth(at).expect("the operand exists").shape)(&problem);
        let mut doubled = inputs.clone();
        doubled[at] = repeat_axis(&inputs[at], &shape);
        let twice = self.run_problem(&problem, &doubled)?;
        let bounds: Vec<Vec<f64>> = {
            let trial = Trial::forward(self.subject.op, &longer, &doubled, &self.session.model);
            trial.expected.into_iter().map(|e| e.bounds).collect()
        };
        let pairs =
            once.into_iter().zip(twice).enumerate().map(|(output, ((name, a), (_, got)))| {
                let mut want = Expected::exactly(&name, &a);
                want.values.iter_mut().for_each(|value| *value *= f64::from(factor));
                want.bounds = bounds[output].iter().map(|bound| 2.0 * bound).collect();
                (want, got)
            });
        Ok(self.all(pairs))
    }

    fn position_of_dim(&self, dim: &str) -> usize {
        let found = self.subject.op.dims.iter().position(|d| d.name == dim);
        found.unwrap_or_else(|| panic!("{} has no dimension {dim}", self.subject.op.name))
    }
}

/// A permutation without a plan: Fisher and Yates on the case's seed.
fn shuffled(len: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    let mut stream = Stream::new(seed, &["permutation"]);
    for last in (1..len).rev() {
        order.swap(last, stream.index(last + 1));
    }
    order
}

fn permute_rows(tensor: &Tensor, order: &[usize]) -> Tensor {
    let row = tensor.bytes().len() / order.len().max(1);
    let bytes = order.iter().flat_map(|i| &tensor.bytes()[i * row..(i + 1) * row]).copied();
    Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes.collect())
}

/// Repeats a tensor along the one axis in which `shape` is twice as long.
fn repeat_axis(tensor: &Tensor, shape: &[usize]) -> Tensor {
    let axis = (0..shape.len()).find(|a| shape[*a] != tensor.shape()[*a]).unwrap_or(0);
    let len: usize = tensor.shape()[axis..].iter().product();
    let block = len / tensor.dtype().block_len() * tensor.dtype().block_bytes();
    let bytes = tensor.bytes().chunks(block.max(1)).flat_map(|b| b.iter().chain(b)).copied();
    Tensor::from_bytes(tensor.dtype(), shape, bytes.collect())
}
