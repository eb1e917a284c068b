//! Ignored cotangents, missing reductions and terms, broken contracts.

use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "add_vjp_not_reduced",
        family: Family::Backward,
        wrong: "the gradient of a broadcast row is that of the first row alone",
        op: "add",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "add/vjp_b.comp", text: text!("add_vjp_not_reduced") },
    },
    Fault {
        name: "cross_entropy_vjp_no_cotangent",
        family: Family::Backward,
        wrong: "the cotangent is ignored",
        op: "cross_entropy",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "cross_entropy/vjp_naive.comp",
            text: text!("cross_entropy_vjp_no_cotangent"),
        },
    },
    Fault {
        name: "embedding_vjp_last_wins",
        family: Family::Backward,
        wrong: "of positions with the same index only the last counts",
        op: "embedding",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "embedding/vjp_naive.comp",
            text: text!("embedding_vjp_last_wins"),
        },
    },
    Fault {
        name: "embedding_vjp_overwrites",
        family: Family::Backward,
        wrong: "the gradient buffer is overwritten instead of added to",
        op: "embedding",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "embedding/vjp_naive.comp",
            text: text!("embedding_vjp_overwrites"),
        },
    },
    Fault {
        name: "exp_vjp_of_input",
        family: Family::Backward,
        wrong: "the input is used for the output",
        op: "exp",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "exp/vjp_naive.comp", text: text!("exp_vjp_of_input") },
    },
    Fault {
        name: "layernorm_vjp_no_mean",
        family: Family::Backward,
        wrong: "the gradient through the mean is left out",
        op: "layernorm",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "layernorm/vjp_x_naive.comp",
            text: text!("layernorm_vjp_no_mean"),
        },
    },
    Fault {
        name: "mul_vjp_own_operand",
        family: Family::Backward,
        wrong: "the gradient of a is made of a",
        op: "mul",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "mul/vjp_a.comp", text: text!("mul_vjp_own_operand") },
    },
    Fault {
        name: "softmax_vjp_no_row_sum",
        family: Family::Backward,
        wrong: "the sum over the row is not subtracted",
        op: "softmax",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "softmax/vjp_naive.comp",
            text: text!("softmax_vjp_no_row_sum"),
        },
    },
];
