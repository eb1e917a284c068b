//! What is measured where nobody chose a shape.

use crate::numeric::Regime;
use crate::ops::{Case, Gradient, Op, Operand, Pass, Problem, Role};

/// Most elements of the iteration space at which a case still grows. The checks before the
/// measurement bound this: a broadcast's reference gradient takes the square of it.
const GROW_BELOW: usize = 1 << 14;
/// Elements of the iteration space above which a case shrinks, for products of many dimensions.
const SHRINK_ABOVE: usize = 1 << 21;

/// A case with every dimension some tiles long and 3 longer, so that the tail is in it too: four
/// tiles, more where that is a small problem and fewer where it is a large one. Attributes have
/// their defaults.
#[must_use]
pub fn mid_size(op: &Op, seed: u64) -> Case {
    let dims = |tiles: usize| -> Vec<usize> {
        op.dims.iter().map(|dim| tiles.saturating_mul(dim.tile).saturating_add(3)).collect()
    };
    let space = |tiles| dims(tiles).into_iter().fold(1, usize::saturating_mul);
    let mut tiles = 4;
    while tiles < GROW_BELOW && space(2 * tiles) <= GROW_BELOW {
        tiles *= 2;
    }
    while tiles > 1 && space(tiles) > SHRINK_ABOVE {
        tiles /= 2;
    }
    Case {
        dims: dims(tiles),
        attributes: op.default_attributes(),
        dtype: op.dtypes[0],
        regime: Regime::Normal,
        seed,
        storage: Vec::new(),
    }
}

/// Bytes that every variant of the pass must move at least, each element once: of a forward all
/// operands, those updated in place both ways; of a VJP the cotangents and the gradients, twice
/// those that it adds to. What a VJP reads of the inputs and outputs depends on the formula.
#[must_use]
pub fn least_bytes(op: &Op, pass: Pass, case: &Case) -> u64 {
    let problem = case.problem(op);
    op.operands.iter().map(|operand| passes(operand, pass) * size_bytes(operand, &problem)).sum()
}

/// How often each element of the operand, or of its cotangent and gradient, is moved.
fn passes(operand: &Operand, pass: Pass) -> u64 {
    let gradient = match operand.gradient {
        Gradient::None => 0,
        Gradient::Overwrite => 1,
        Gradient::Add => 2,
    };
    match (pass, operand.role) {
        (Pass::Forward, Role::In | Role::Out) => 1,
        (Pass::Forward, Role::InOut) => 2,
        (Pass::Vjp, Role::In | Role::Out) => gradient,
        (Pass::Vjp, Role::InOut) => 1 + gradient,
    }
}

fn size_bytes(operand: &Operand, problem: &Problem<'_>) -> u64 {
    let len: usize = (operand.shape)(problem).iter().product();
    let dtype = problem.dtype_of(operand);
    (len.div_ceil(dtype.block_len()) * dtype.block_bytes()) as u64
}

#[cfg(test)]
mod tests {
    use super::{SHRINK_ABOVE, least_bytes, mid_size};
    use crate::ops::{ALL, Pass, add, find_op};

    #[test]
    fn every_op_gets_a_case_that_is_neither_empty_nor_huge() {
        for op in ALL {
            let case = mid_size(op, 0);
            let space: usize = case.dims.iter().product();
            assert!((100..=SHRINK_ABOVE).contains(&space), "{} {:?}", op.name, case.dims);
            assert!(op.dims.iter().zip(&case.dims).all(|(dim, n)| n % dim.tile == 3 % dim.tile));
        }
    }

    #[test]
    fn bytes_are_those_of_the_operands() {
        let case = mid_size(&add::OP, 0);
        let y = case.dims[0] * case.dims[1] * 4;
        let b = (add::OP.operands[1].shape)(&case.problem(&add::OP)).iter().product::<usize>() * 4;
        assert_eq!(least_bytes(&add::OP, Pass::Forward, &case), (2 * y + b) as u64);
        assert_eq!(least_bytes(&add::OP, Pass::Vjp, &case), (2 * y + b) as u64);
    }

    #[test]
    fn what_is_updated_in_place_moves_both_ways() {
        let op = find_op("sgd").expect("sgd");
        let case = mid_size(op, 0);
        let moved = least_bytes(op, Pass::Forward, &case);
        let once: usize = op.operands.iter().map(|_| case.dims[0] * 4).sum();
        assert!(moved > once as u64, "{moved} bytes, {once} if each operand moved once");
    }
}
