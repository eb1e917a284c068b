//! Guards dropped or widened, loops that start late or end early.

use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "bias_add_last_column",
        family: Family::Bounds,
        wrong: "the loop over the columns ends one early",
        op: "bias_add",
        variant: "row_per_workgroup",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "bias_add/row_per_workgroup.comp",
            text: text!("bias_add_last_column"),
        },
    },
    Fault {
        name: "embedding_vjp_one_more",
        family: Family::Bounds,
        wrong: "the loop over positions runs one too far",
        op: "embedding",
        variant: "vjp_naive",
        caught_by: Check::Determinism,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "embedding/vjp_naive.comp",
            text: text!("embedding_vjp_one_more"),
        },
    },
    Fault {
        name: "matmul_first_term",
        family: Family::Bounds,
        wrong: "the inner loop starts at 1",
        op: "matmul",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "matmul/naive.comp", text: text!("matmul_first_term") },
    },
    Fault {
        name: "relu_no_guard",
        family: Family::Bounds,
        wrong: "invocations past the end are not stopped",
        op: "relu",
        variant: "naive",
        caught_by: Check::Memory,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "relu/naive.comp", text: text!("relu_no_guard") },
    },
    Fault {
        name: "relu_one_past_at_256",
        family: Family::Bounds,
        wrong: "one element past the end is written by workgroups of 256",
        op: "relu",
        variant: "naive",
        caught_by: Check::Memory,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "relu/naive.comp", text: text!("relu_one_past_at_256") },
    },
    Fault {
        name: "scale_vjp_one_past",
        family: Family::Bounds,
        wrong: "the guard lets one invocation past the end through",
        op: "scale",
        variant: "vjp_naive",
        caught_by: Check::Memory,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "scale/vjp_naive.comp", text: text!("scale_vjp_one_past") },
    },
    Fault {
        name: "softmax_256_columns",
        family: Family::Bounds,
        wrong: "a row ends at its 256th column",
        op: "softmax",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Full,
        defect: Defect::Kernel { twin: "softmax/naive.comp", text: text!("softmax_256_columns") },
    },
    Fault {
        name: "softmax_max_past_end",
        family: Family::Bounds,
        wrong: "the maximum takes in one number behind the row",
        op: "softmax",
        variant: "naive",
        caught_by: Check::Determinism,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "softmax/naive.comp", text: text!("softmax_max_past_end") },
    },
];
