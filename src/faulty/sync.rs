//! Barriers dropped or narrowed.

use super::edits::without_barriers;
use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "bias_add_vjp_tree_races",
        family: Family::Sync,
        wrong: "the rounds of the tree are not separated",
        op: "bias_add",
        variant: "vjp_shared",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "bias_add/vjp_bias_shared.comp",
            text: text!("bias_add_vjp_tree_races"),
        },
    },
    Fault {
        name: "layernorm_vjp_unordered",
        family: Family::Sync,
        wrong: "nothing orders the second kernel behind the first, which makes its inputs",
        op: "layernorm",
        variant: "vjp_shared",
        caught_by: Check::Memory,
        needs: Cases::Quick,
        defect: Defect::Plan(without_barriers),
    },
    Fault {
        name: "matmul_no_load_barrier",
        family: Family::Sync,
        wrong: "nothing waits for the tiles to be loaded",
        op: "matmul",
        variant: "tiled",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "matmul/tiled.comp", text: text!("matmul_no_load_barrier") },
    },
    Fault {
        name: "matmul_no_trailing_barrier",
        family: Family::Sync,
        wrong: "a fast subgroup loads the next tiles over those still in use",
        op: "matmul",
        variant: "tiled",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "matmul/tiled.comp",
            text: text!("matmul_no_trailing_barrier"),
        },
    },
    Fault {
        name: "matmul_slices_unordered",
        family: Family::Sync,
        wrong: "nothing orders the sum of the slices behind the slices",
        op: "matmul",
        variant: "split_k",
        caught_by: Check::Memory,
        needs: Cases::Quick,
        defect: Defect::Plan(without_barriers),
    },
    Fault {
        name: "transpose_memory_barrier",
        family: Family::Sync,
        wrong: "a memory barrier stands where invocations must wait",
        op: "transpose",
        variant: "tiled",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "transpose/tiled.comp",
            text: text!("transpose_memory_barrier"),
        },
    },
];
