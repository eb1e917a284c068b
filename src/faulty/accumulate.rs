//! Lost or doubled terms, wrong identities, low precision, orders that depend on data.

use super::edits::without_fills;
use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "cross_entropy_max_from_zero",
        family: Family::Accumulate,
        wrong: "the maximum starts from 0",
        op: "cross_entropy",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "cross_entropy/naive.comp",
            text: text!("cross_entropy_max_from_zero"),
        },
    },
    Fault {
        name: "embedding_vjp_lost_updates",
        family: Family::Accumulate,
        wrong: "a load and a store stand for the atomic exchange, where lanes collide",
        op: "embedding",
        variant: "vjp_atomic",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "embedding/vjp_scatter.comp",
            text: text!("embedding_vjp_lost_updates"),
        },
    },
    Fault {
        name: "embedding_vjp_no_zero",
        family: Family::Accumulate,
        wrong: "the total is not zeroed before it is added to",
        op: "embedding",
        variant: "vjp_atomic",
        caught_by: Check::Determinism,
        needs: Cases::Quick,
        defect: Defect::Plan(without_fills),
    },
    Fault {
        name: "matmul_half_sum",
        family: Family::Accumulate,
        wrong: "the sum is cut to the mantissa of half precision",
        op: "matmul",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "matmul/naive.comp", text: text!("matmul_half_sum") },
    },
    Fault {
        name: "matmul_slice_dropped",
        family: Family::Accumulate,
        wrong: "the last slice is not added where there are several",
        op: "matmul",
        variant: "split_k",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "matmul/split_k_reduce.comp",
            text: text!("matmul_slice_dropped"),
        },
    },
    Fault {
        name: "mean_order_by_size",
        family: Family::Accumulate,
        wrong: "the order of the sum depends on the size of its first term",
        op: "mean",
        variant: "naive",
        caught_by: Check::Property,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "mean/naive.comp", text: text!("mean_order_by_size") },
    },
    Fault {
        name: "sum_starts_from_output",
        family: Family::Accumulate,
        wrong: "the sum starts where the unwritten output says",
        op: "sum",
        variant: "naive",
        caught_by: Check::Determinism,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "sum/naive.comp", text: text!("sum_starts_from_output") },
    },
];
