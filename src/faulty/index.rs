//! Swapped or forgotten parts of an index, wrong strides.

use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "add_row_ignored",
        family: Family::Index,
        wrong: "the row is left out of the index into b",
        op: "add",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "add/naive.comp", text: text!("add_row_ignored") },
    },
    Fault {
        name: "embedding_neighbour_lane",
        family: Family::Index,
        wrong: "each lane looks up the index of its neighbour",
        op: "embedding",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "embedding/naive.comp",
            text: text!("embedding_neighbour_lane"),
        },
    },
    Fault {
        name: "mean_vjp_wrong_axis",
        family: Family::Index,
        wrong: "the cotangent is looked up by the column alone",
        op: "mean",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "mean/vjp_naive.comp", text: text!("mean_vjp_wrong_axis") },
    },
    Fault {
        name: "sum_odd_rows_backwards",
        family: Family::Index,
        wrong: "odd rows are added from the other end, so that a row depends on its place",
        op: "sum",
        variant: "naive",
        caught_by: Check::Property,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "sum/naive.comp", text: text!("sum_odd_rows_backwards") },
    },
    Fault {
        name: "transpose_wrong_stride",
        family: Family::Index,
        wrong: "rows are taken to be as long as columns",
        op: "transpose",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "transpose/naive.comp",
            text: text!("transpose_wrong_stride"),
        },
    },
];
