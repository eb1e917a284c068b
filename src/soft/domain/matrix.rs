//! Tangents through products of cooperative matrices.

use crate::soft::matrix::Matrix;
use crate::soft::observer::Moment;
use crate::soft::program::Slot;
use crate::soft::scalar::Scalar;

use super::dual::Tangent;
use super::numbers::number;
use super::observer::Tangents;

type Element = (f64, Tangent);

impl Tangents {
    pub(super) fn multiplied(&mut self, moment: &Moment<'_>, matrix: &Matrix) {
        let size = moment.here.subgroup_size;
        let [m, n, k] = [matrix.m, matrix.n, matrix.k].map(|len| len as usize);
        let lanes: Vec<usize> = moment.active.iter().collect();
        let parts: Vec<usize> =
            lanes.chunk_by(|a, b| a / size == b / size).map(|part| part[0] / size * size).collect();
        let mut found = Vec::new();
        for start in parts {
            let a = self.gathered(moment, &matrix.a, m * k, start);
            let b = self.gathered(moment, &matrix.b, k * n, start);
            let c = self.gathered(moment, &matrix.c, m * n, start);
            let elements: Vec<Tangent> = (0..m * n)
                .map(|at| {
                    let products = (0..k).map(|step| (a[at / n * k + step], b[step * n + at % n]));
                    let terms = products.map(|((a, da), (b, db))| da * b + db * a);
                    terms.fold(c[at].1, |sum, term| sum + term)
                })
                .collect();
            found.push((start, elements));
        }
        let is_bits = !matrix.to.is_float();
        let moves = found.iter().flat_map(|(_, all)| all).any(|tangent| !tangent.is_zero());
        if is_bits && moves {
            self.dual.lose(moment, "a product of matrices of a float's bits");
        }
        let registers = self.registers(&moment.here);
        for (start, elements) in found {
            for (row, slot) in elements.chunks(size).zip(&matrix.dst) {
                for (lane, tangent) in (start..).zip(row) {
                    let kept = if is_bits { Tangent::default() } else { *tangent };
                    registers.put(*slot, lane, kept);
                }
            }
        }
    }

    /// The first `len` elements of a matrix; what isn't there is 0.
    fn gathered(
        &self,
        moment: &Moment<'_>,
        (scalar, slots): &(Scalar, Vec<Slot>),
        len: usize,
        start: usize,
    ) -> Vec<Element> {
        let size = moment.here.subgroup_size;
        let registers = &self.seats[moment.here.seat].registers;
        let element = |at: usize| -> Option<Element> {
            let (slot, lane) = (*slots.get(at / size)?, start + at % size);
            if lane >= moment.here.width || !moment.active.has(lane) {
                return None;
            }
            let value = number(moment.registers, slot, *scalar, lane);
            Some((value, registers.get(slot, lane)))
        };
        (0..len).map(|at| element(at).unwrap_or_default()).collect()
    }
}
