//! The smallest failing case over an op's named dimensions.

use crate::ops::{Case, Op};

/// Runs allowed for one finding.
const ATTEMPTS: usize = 96;

/// Makes dimensions smaller, one at a time, as long as the case still fails. `fails` runs the check.
pub fn shrink(op: &Op, case: &Case, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut smallest = case.clone();
    let mut attempts = 0;
    let mut progress = true;
    while progress && attempts < ATTEMPTS {
        progress = false;
        for (at, dim) in op.dims.iter().enumerate() {
            let mut step = smallest.dims[at].saturating_sub(dim.least);
            // Halving the step finds a threshold exactly: it ends with a step of one that passes.
            while step > 0 && attempts < ATTEMPTS {
                let mut candidate = smallest.clone();
                candidate.dims[at] -= step.min(candidate.dims[at] - dim.least);
                attempts += 1;
                if candidate.dims[at] < smallest.dims[at] && fails(&candidate) {
                    smallest = candidate;
                    progress = true;
                    step = step.min(smallest.dims[at] - dim.least);
                } else {
                    step /= 2;
                }
            }
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use crate::numeric::Regime;
    use crate::ops::{Case, add};
    use crate::tensor::Dtype;

    #[test]
    fn a_threshold_is_found_exactly() {
        let case = Case {
            dims: vec![33, 1000],
            attributes: vec![0.0],
            dtype: Dtype::F32,
            regime: Regime::Normal,
            seed: 0,
            storage: Vec::new(),
        };
        let smallest = shrink(&add::OP, &case, |c| c.dims[0] >= 1 && c.dims[1] >= 257);
        assert_eq!(smallest.dims, [1, 257]);
        let odd = shrink(&add::OP, &case, |c| c.dims[0] * c.dims[1] > 700);
        assert!(odd.dims[0] * odd.dims[1] > 700 && (odd.dims[0] - 1) * odd.dims[1] <= 700);
    }
}
