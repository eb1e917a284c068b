//! Widths, exchanged and defaulted constants, sizes that a kernel takes for granted.

use super::edits::{with_rows_for_columns, without_tile};
use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "bias_add_vjp_tree_of_64",
        family: Family::Type,
        wrong: "the tree is that of 64 invocations",
        op: "bias_add",
        variant: "vjp_shared",
        caught_by: Check::Portability,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "bias_add/vjp_bias_shared.comp",
            text: text!("bias_add_vjp_tree_of_64"),
        },
    },
    Fault {
        name: "exp_workgroup_of_64",
        family: Family::Type,
        wrong: "a workgroup is taken to have 64 invocations",
        op: "exp",
        variant: "naive",
        caught_by: Check::Portability,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "exp/naive.comp", text: text!("exp_workgroup_of_64") },
    },
    Fault {
        name: "matmul_default_tile",
        family: Family::Type,
        wrong: "the tile keeps its default, whatever the workgroup",
        op: "matmul",
        variant: "tiled",
        caught_by: Check::Portability,
        needs: Cases::Quick,
        defect: Defect::Plan(without_tile),
    },
    Fault {
        name: "matmul_push_swapped",
        family: Family::Type,
        wrong: "the push constants m and n are exchanged",
        op: "matmul",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Plan(with_rows_for_columns),
    },
    Fault {
        name: "relu_nan_at_64",
        family: Family::Type,
        wrong: "workgroups of 64 divide zero by zero",
        op: "relu",
        variant: "naive",
        caught_by: Check::Portability,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "relu/naive.comp", text: text!("relu_nan_at_64") },
    },
    Fault {
        name: "relu_short_index",
        family: Family::Type,
        wrong: "the index has 15 bits",
        op: "relu",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "relu/naive.comp", text: text!("relu_short_index") },
    },
    Fault {
        name: "scale_push_past_128",
        family: Family::Type,
        wrong: "the push constants end at 136 bytes",
        op: "scale",
        variant: "naive",
        caught_by: Check::Limits,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "scale/naive.comp", text: text!("scale_push_past_128") },
    },
    Fault {
        name: "softmax_stride_of_64",
        family: Family::Type,
        wrong: "the sum strides over 64 columns, whatever the workgroup",
        op: "softmax",
        variant: "shared",
        caught_by: Check::Portability,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "softmax/shared.comp", text: text!("softmax_stride_of_64") },
    },
];
