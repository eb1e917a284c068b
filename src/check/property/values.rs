//! Properties of values: what must happen to the results when the inputs are scaled, shifted, negated
//! or added, and what the results must be among themselves.

use std::collections::BTreeSet;

use crate::check::compare::{Expected, Nan};
use crate::check::gradient::scaled_exactly;
use crate::numeric::{Domain, Regime, min_normal, ulp_of};
use crate::tensor::{Dtype, Tensor};

use super::{Algebra, Broken, Verdict};

impl Algebra<'_, '_> {
    pub(super) fn linear(&mut self, operands: &[&str]) -> Verdict {
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

    pub(super) fn scaled(&mut self, operands: &[&str]) -> Verdict {
        // A power of two is exact as long as nothing becomes subnormal, which f16 soon does.
        let drawn = self.draw(Regime::Normal);
        let coarse = |v: f64| (v * 256.0).round() / 256.0;
        let inputs = if drawn.iter().any(|tensor| tensor.dtype() == Dtype::F16) {
            self.mapped(&drawn, operands, coarse)
        } else {
            drawn
        };
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

    pub(super) fn odd(&mut self, operands: &[&str]) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let negated = self.mapped(&inputs, operands, |v| -v);
        let (plus, minus) = (self.run(&inputs)?, self.run(&negated)?);
        let problem = self.case.problem(self.subject.op);
        let domains = problem.outputs().map(|o| (o.domain)(&problem)).collect::<Vec<_>>();
        let pairs =
            plus.into_iter().zip(minus).zip(domains).map(|(((name, a), (_, b)), domain)| {
                let mut want = Expected::exactly(&name, &a);
                // What can't be negative, such as a second moment, is even instead.
                if domain != Domain::NonNegative {
                    want.values.iter_mut().for_each(|v| *v = -*v);
                }
                (want, b)
            });
        Ok(self.all(pairs))
    }

    pub(super) fn shift_invariant(&mut self, operand: &str) -> Verdict {
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

    pub(super) fn selects(&mut self, operand: &str) -> Verdict {
        let inputs = self.draw(Regime::Infinities);
        let source = &inputs[self.position(operand)];
        let size = source.dtype().block_bytes();
        let known: BTreeSet<Vec<u8>> = source.bytes().chunks(size).map(<[u8]>::to_vec).collect();
        for (name, got) in self.run(&inputs)? {
            if got.dtype() != source.dtype() {
                continue;
            }
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

    pub(super) fn rows_sum_to_one(&mut self) -> Verdict {
        let inputs = self.draw(self.case.regime);
        let bounds = self.bounds(&inputs);
        let outputs = self.run(&inputs)?;
        let Some((name, got)) = outputs.into_iter().next() else {
            return Ok(Broken::No { worst: 0.0 });
        };
        let cols = got.shape().last().copied().unwrap_or(1).max(1);
        let step = ulp_of(got.dtype(), 1.0);
        let (mut sums, mut allowed) = (Vec::new(), Vec::new());
        for (row, bound) in got.values().chunks(cols).zip(bounds[0].chunks(cols)) {
            sums.push(row.iter().sum::<f64>());
            // Storage rounds each element by at most an ulp of itself, and together they make 1.
            allowed.push(bound.iter().sum::<f64>() + step + flushed(got.dtype(), row));
        }
        let want = Expected {
            name: format!("row sums of {name}"),
            dtype: Dtype::F32,
            shape: vec![sums.len()],
            values: vec![1.0; sums.len()],
            bounds: allowed,
            nan: Nan::Open,
        };
        let sums = Tensor::new(want.dtype, &want.shape, &sums);
        Ok(self.holds(&want, &sums))
    }

    pub(super) fn convex(&mut self, operand: &str) -> Verdict {
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
                let storage = ulp_of(want.dtype, chord);
                want.values[at] = chord.min(want.values[at]);
                want.bounds[at] = bounds.iter().map(|of| of[output][at]).sum::<f64>() + storage;
            }
            (want, got)
        });
        Ok(self.all(pairs))
    }
}

/// What storage may take from a row: half an ulp at 1 for each element, and all of what is
/// subnormal in 16 bits, which a device may flush.
fn flushed(dtype: Dtype, row: &[f64]) -> f64 {
    let subnormal = min_normal(dtype);
    let half = matches!(dtype, Dtype::F16 | Dtype::BF16);
    let small = row.iter().filter(|v| half && v.abs() <= subnormal).count();
    row.len() as f64 * 2f64.powi(-24) + small as f64 * subnormal
}
