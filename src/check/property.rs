//! Property: algebra that holds without a reference. The kernel is compared with itself; the
//! reference lends its error bounds where two roundings may differ, never its values.

use std::collections::BTreeSet;

use crate::numeric::{Regime, Stream};
use crate::ops::{Case, Problem, Property};
use crate::tensor::Tensor;

use super::compare::Expected;
use super::execute::{Setting, Slot, Subject, execute};
use super::gradient::scaled_exactly;
use super::trial::{Trial, draw_inputs, forward_slots};
use super::{CheckError, Finding, Kind, Outcome, Session, describe};

/// Checks every property of the record.
///
/// # Errors
/// What keeps the variant from running.
pub(super) fn check(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
) -> Result<Outcome, CheckError> {
    let mut worst: f64 = 0.0;
    for property in subject.op.properties {
        let mut algebra = Algebra { session, subject, case, property, ran: Vec::new() };
        match algebra.check()? {
            Broken::No { worst: fraction } => worst = worst.max(fraction),
            Broken::Yes(outcome) => return Ok(outcome),
        }
    }
    Ok(Outcome::Pass { worst })
}

enum Broken {
    No { worst: f64 },
    Yes(Outcome),
}

struct Algebra<'a, 's> {
    session: &'a mut Session,
    subject: &'a Subject<'s>,
    case: &'a Case,
    property: &'a Property,
    /// The buffers of the latest run.
    ran: Vec<Slot>,
}

type Verdict = Result<Broken, CheckError>;

impl Algebra<'_, '_> {
    fn check(&mut self) -> Verdict {
        match *self.property {
            Property::Linear(operands) => self.linear(operands),
            Property::Homogeneous(operand) => self.scaled(&[operand]),
            Property::Odd(operands) => self.odd(operands),
            Property::ShiftInvariant(operand) => self.shift_invariant(operand),
            Property::RowsIndependent(operands) => self.rows_independent(operands),
            Property::Commutes(a, b) => self.commutes(a, b),
            Property::Selects(operand) => self.selects(operand),
            Property::RowsSumToOne => self.rows_sum_to_one(),
            Property::Convex(operand) => self.convex(operand),
            Property::Idempotent => self.idempotent(),
            Property::Involution(a, b) => self.involution(a, b),
            Property::Repeated { operand, dim, factor } => self.repeated(operand, dim, factor),
        }
    }

    fn draw(&self, regime: Regime) -> Vec<Tensor> {
        draw_inputs(self.subject.op, &Case { regime, ..self.case.clone() })
    }

    fn position(&self, operand: &str) -> usize {
        let mut inputs = self.case.problem(self.subject.op).inputs();
        let found = inputs.position(|o| o.name == operand);
        found.unwrap_or_else(|| panic!("{} reads no operand {operand}", self.subject.op.name))
    }

    fn run(&mut self, inputs: &[Tensor]) -> Result<Vec<(String, Tensor)>, CheckError> {
        let problem = self.case.problem(self.subject.op);
        self.run_problem(&problem, inputs)
    }

    fn run_problem(
        &mut self,
        problem: &Problem<'_>,
        inputs: &[Tensor],
    ) -> Result<Vec<(String, Tensor)>, CheckError> {
        let setting = Setting::default_for(self.subject.variant);
        let slots = forward_slots(problem, inputs);
        let mut executed = execute(self.session, self.subject, problem, &slots, &setting)?;
        self.ran = slots;
        let named = problem.outputs().map(|o| o.name.to_owned());
        Ok(named.filter_map(|name| executed.written.remove_entry(&name)).collect())
    }

    /// Error bounds of a run on these inputs, by output.
    fn bounds(&self, inputs: &[Tensor]) -> Vec<Vec<f64>> {
        let trial = Trial::forward(self.subject.op, self.case, inputs, &self.session.model);
        trial.expected.into_iter().map(|e| e.bounds).collect()
    }

    fn holds(&self, want: &Expected, got: &Tensor) -> Broken {
        let comparison = want.compare(got);
        if comparison.bad.is_empty() {
            return Broken::No { worst: comparison.worst };
        }
        let message = format!("{} breaks {:?}", want.name, self.property);
        let finding = Finding::new(Kind::Property, message);
        Broken::Yes(describe::differing(finding, &self.ran, want, got))
    }

    fn all(&self, pairs: impl IntoIterator<Item = (Expected, Tensor)>) -> Broken {
        let mut worst: f64 = 0.0;
        for (want, got) in pairs {
            match self.holds(&want, &got) {
                Broken::No { worst: fraction } => worst = worst.max(fraction),
                broken @ Broken::Yes(_) => return broken,
            }
        }
        Broken::No { worst }
    }

    /// Replaces some operands by a function of themselves.
    fn mapped(&self, inputs: &[Tensor], operands: &[&str], f: impl Fn(f64) -> f64) -> Vec<Tensor> {
        let mut changed = inputs.to_vec();
        for operand in operands {
            let at = self.position(operand);
            let values: Vec<f64> = inputs[at].values().into_iter().map(&f).collect();
            changed[at] = Tensor::new(inputs[at].dtype(), inputs[at].shape(), &values);
        }
        changed
    }

    fn linear(&mut self, operands: &[&str]) -> Verdict {
        if let broken @ Broken::Yes(_) = self.scaled(operands)? {
            return Ok(broken);
        }
        // Small integers: every bound is zero where the op is exact on them.
        let first = self.draw(Regime::Integers);
        let second = self.mapped(&first, operands, |v| 2.0 - v);
        let sum = self.mapped(&first, operands, |_| 2.0);
        let bounds = [self.bounds(&first), self.bounds(&second), self.bounds(&sum)];
        let (a, b, both) = (self.run(&first)?, self.run(&second)?, self.run(&sum)?);
        let pairs = both.into_iter().enumerate().map(|(output, (name, got))| {
            let mut want = Expected::exactly(&name, &got);
            let (a, b) = (a[output].1.values(), b[output].1.values());
            for at in 0..want.values.len() {
                want.values[at] = a[at] + b[at];
                want.bounds[at] = bounds.iter().map(|of| of[output][at]).sum();
            }
            (want, got)
        });
        Ok(self.all(pairs))
    }

    fn scaled(&mut self, operands: &[&str]) -> Verdict {
        let inputs = self.draw(Regime::Normal);
        let base = self.run(&inputs)?;
        for power in [3, -3] {
            let scaled = self.mapped(&inputs, operands, |v| v * 2f64.powi(power));
            let outputs = self.run(&scaled)?;
            let pairs = base
                .iter()
                .zip(outputs)
                .map(|((name, from), (_, got))| (scaled_exactly(name, from, &got, power), got));
            if let broken @ Broken::Yes(_) = self.all(pairs) {
                return Ok(broken);
            }
        }
        Ok(Broken::No { worst: 0.0 })
    }

    fn odd(&mut self, operands: &[&str]) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let negated = self.mapped(&inputs, operands, |v| -v);
        let (plus, minus) = (self.run(&inputs)?, self.run(&negated)?);
        let problem = self.case.problem(self.subject.op);
        let domains = problem.outputs().map(|o| (o.domain)(&problem)).collect::<Vec<_>>();
        let pairs =
            plus.into_iter().zip(minus).zip(domains).map(|(((name, a), (_, b)), domain)| {
                let mut want = Expected::exactly(&name, &a);
                // What can't be negative, such as a second moment, is even instead.
                if domain != crate::numeric::Domain::NonNegative {
                    want.values.iter_mut().for_each(|v| *v = -*v);
                }
                (want, b)
            });
        Ok(self.all(pairs))
    }

    fn shift_invariant(&mut self, operand: &str) -> Verdict {
        // A shift by a small power of two of numbers on a grid is exact.
        let inputs = self.draw(Regime::Normal);
        let grid = self.mapped(&inputs, &[operand], |v| (v * 64.0).round() / 64.0);
        let shifted = self.mapped(&grid, &[operand], |v| v + 2.0);
        let bounds = [self.bounds(&grid), self.bounds(&shifted)];
        let (a, b) = (self.run(&grid)?, self.run(&shifted)?);
        let pairs = a.into_iter().zip(b).enumerate().map(|(output, ((name, a), (_, got)))| {
            let mut want = Expected::exactly(&name, &a);
            for (at, bound) in want.bounds.iter_mut().enumerate() {
                *bound = bounds[0][output][at] + bounds[1][output][at];
            }
            (want, got)
        });
        Ok(self.all(pairs))
    }

    fn rows_independent(&mut self, operands: &[&str]) -> Verdict {
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

    fn commutes(&mut self, a: &str, b: &str) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let (a, b) = (self.position(a), self.position(b));
        if inputs[a].shape() != inputs[b].shape() {
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

    fn selects(&mut self, operand: &str) -> Verdict {
        let inputs = self.draw(Regime::Infinities);
        let source = &inputs[self.position(operand)];
        let size = source.dtype().size_bytes();
        let known: BTreeSet<Vec<u8>> = source.bytes().chunks(size).map(<[u8]>::to_vec).collect();
        for (name, got) in self.run(&inputs)? {
            let foreign = |element: &[u8]| !known.contains(element);
            let Some(at) = got.bytes().chunks(size).position(foreign) else { continue };
            // The nearest element that it could have been shows what was done to it.
            let value = got.values()[at];
            let distance = |v: &f64| (v - value).abs();
            let source = source.values();
            let near = source.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
            let mut want = Expected::exactly(&name, &got);
            want.values[at] = near.copied().unwrap_or(f64::NAN);
            if let broken @ Broken::Yes(_) = self.holds(&want, &got) {
                return Ok(broken);
            }
        }
        Ok(Broken::No { worst: 0.0 })
    }

    fn rows_sum_to_one(&mut self) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let bounds = self.bounds(&inputs);
        let outputs = self.run(&inputs)?;
        let Some((name, got)) = outputs.into_iter().next() else {
            return Ok(Broken::No { worst: 0.0 });
        };
        let cols = got.shape().last().copied().unwrap_or(1).max(1);
        let step = crate::numeric::ulp_of(got.dtype(), 1.0);
        let (mut sums, mut allowed) = (Vec::new(), Vec::new());
        for (row, bound) in got.values().chunks(cols).zip(bounds[0].chunks(cols)) {
            sums.push(row.iter().sum::<f64>());
            // Storage rounds each element by at most an ulp of itself, and together they make 1.
            allowed.push(bound.iter().sum::<f64>() + step + cols as f64 * 2f64.powi(-24));
        }
        let want = Expected {
            name: format!("row sums of {name}"),
            dtype: crate::tensor::Dtype::F32,
            shape: vec![sums.len()],
            values: vec![1.0; sums.len()],
            bounds: allowed,
        };
        let sums = Tensor::new(want.dtype, &want.shape, &sums);
        Ok(self.holds(&want, &sums))
    }

    fn convex(&mut self, operand: &str) -> Verdict {
        let grid = |v: f64| (v * 64.0).round() / 64.0;
        let first = self.draw(Regime::Normal);
        let first = self.mapped(&first, &[operand], grid);
        let second = self.mapped(&first, &[operand], |v| 0.5 - v);
        // Each element of the second point is the first's mirror, so the midpoint is 0.25; a
        // second pair with the elements reversed gives a midpoint that varies.
        let at = self.position(operand);
        let mut reversed = second[at].values();
        reversed.reverse();
        let mut other = first.clone();
        other[at] = Tensor::new(first[at].dtype(), first[at].shape(), &reversed);
        let middle: Vec<f64> =
            first[at].values().iter().zip(&reversed).map(|(a, b)| f64::midpoint(*a, *b)).collect();
        let mut mid = first.clone();
        mid[at] = Tensor::new(first[at].dtype(), first[at].shape(), &middle);
        let bounds = [self.bounds(&first), self.bounds(&other), self.bounds(&mid)];
        let (a, b, m) = (self.run(&first)?, self.run(&other)?, self.run(&mid)?);
        let pairs = m.into_iter().enumerate().map(|(output, (name, got))| {
            let mut want = Expected::exactly(&name, &got);
            let (a, b) = (a[output].1.values(), b[output].1.values());
            for at in 0..want.values.len() {
                // Only an excess is wrong: what lies below the chord is put on it.
                let chord = f64::midpoint(a[at], b[at]);
                let storage = crate::numeric::ulp_of(want.dtype, chord);
                want.values[at] = chord.min(want.values[at]);
                want.bounds[at] = bounds.iter().map(|of| of[output][at]).sum::<f64>() + storage;
            }
            (want, got)
        });
        Ok(self.all(pairs))
    }

    fn idempotent(&mut self) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let once = self.run(&inputs)?;
        let again: Vec<Tensor> = once.iter().map(|(_, tensor)| tensor.clone()).collect();
        let twice = self.run(&again)?;
        let pairs = once
            .into_iter()
            .zip(twice)
            .map(|((name, want), (_, got))| (Expected::exactly(&name, &want), got));
        Ok(self.all(pairs))
    }

    fn involution(&mut self, a: &str, b: &str) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let once: Vec<Tensor> = self.run(&inputs)?.into_iter().map(|(_, t)| t).collect();
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

    fn repeated(&mut self, operand: &str, dim: &str, factor: i32) -> Verdict {
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
                for at in 0..want.values.len() {
                    want.values[at] *= f64::from(factor);
                    want.bounds[at] = 2.0 * bounds[output][at];
                }
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
    let block: usize =
        tensor.shape()[axis..].iter().product::<usize>() * tensor.dtype().size_bytes();
    let bytes = tensor.bytes().chunks(block.max(1)).flat_map(|b| b.iter().chain(b)).copied();
    Tensor::from_bytes(tensor.dtype(), shape, bytes.collect())
}
