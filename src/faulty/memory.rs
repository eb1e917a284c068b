//! Buffers too small, operands that share memory, inputs written.

use super::edits::with_short_scratch;
use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "add_through_output",
        family: Family::Memory,
        wrong: "b is parked in the output before a is read",
        op: "add",
        variant: "naive",
        caught_by: Check::Alias,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "add/naive.comp", text: text!("add_through_output") },
    },
    Fault {
        name: "matmul_slices_too_small",
        family: Family::Memory,
        wrong: "the buffer of the slices is one element short",
        op: "matmul",
        variant: "split_k",
        caught_by: Check::Memory,
        needs: Cases::Quick,
        defect: Defect::Plan(with_short_scratch),
    },
    Fault {
        name: "scale_vjp_through_gradient",
        family: Family::Memory,
        wrong: "alpha is parked in the gradient before the cotangent is read",
        op: "scale",
        variant: "vjp_naive",
        caught_by: Check::Alias,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "scale/vjp_naive.comp",
            text: text!("scale_vjp_through_gradient"),
        },
    },
    Fault {
        name: "softmax_max_by_position",
        family: Family::Memory,
        wrong: "the maximum is read again after the output may have replaced it",
        op: "softmax",
        variant: "naive",
        caught_by: Check::Alias,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "softmax/naive.comp",
            text: text!("softmax_max_by_position"),
        },
    },
    Fault {
        name: "softmax_row_in_shared",
        family: Family::Memory,
        wrong: "a row is kept in 40 KiB of shared memory",
        op: "softmax",
        variant: "shared",
        caught_by: Check::Limits,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "softmax/shared.comp",
            text: text!("softmax_row_in_shared"),
        },
    },
    Fault {
        name: "softmax_vjp_through_gradient",
        family: Family::Memory,
        wrong: "the cotangent is parked in the gradient before y is read again",
        op: "softmax",
        variant: "vjp_naive",
        caught_by: Check::Alias,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "softmax/vjp_naive.comp",
            text: text!("softmax_vjp_through_gradient"),
        },
    },
    Fault {
        name: "softmax_writes_input",
        family: Family::Memory,
        wrong: "the exponentials are kept in the input",
        op: "softmax",
        variant: "naive",
        caught_by: Check::Memory,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "softmax/naive.comp", text: text!("softmax_writes_input") },
    },
];
