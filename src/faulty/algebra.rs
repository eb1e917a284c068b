//! Signs, factors, constants, unstable formulas.

use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "adamw_no_correction",
        family: Family::Algebra,
        wrong: "the correction of the first moment is left out",
        op: "adamw",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "adamw/naive.comp", text: text!("adamw_no_correction") },
    },
    Fault {
        name: "gelu_tanh_is_erf",
        family: Family::Algebra,
        wrong: "the exact function stands where the approximation is asked for",
        op: "gelu_tanh",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "gelu_tanh/naive.comp", text: text!("gelu_tanh_is_erf") },
    },
    Fault {
        name: "layernorm_eps_outside",
        family: Family::Algebra,
        wrong: "epsilon is added outside the root",
        op: "layernorm",
        variant: "shared",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "layernorm/shared.comp",
            text: text!("layernorm_eps_outside"),
        },
    },
    Fault {
        name: "layernorm_one_pass",
        family: Family::Algebra,
        wrong: "the variance is a difference of large numbers",
        op: "layernorm",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "layernorm/naive.comp", text: text!("layernorm_one_pass") },
    },
    Fault {
        name: "layernorm_sample_variance",
        family: Family::Algebra,
        wrong: "the variance is divided by n - 1",
        op: "layernorm",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "layernorm/naive.comp",
            text: text!("layernorm_sample_variance"),
        },
    },
    Fault {
        name: "rmsnorm_sign_dependent",
        family: Family::Algebra,
        wrong: "negative numbers are multiplied before they are divided",
        op: "rmsnorm",
        variant: "naive",
        caught_by: Check::Property,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "rmsnorm/naive.comp",
            text: text!("rmsnorm_sign_dependent"),
        },
    },
    Fault {
        name: "softmax_no_max",
        family: Family::Algebra,
        wrong: "the maximum is not subtracted",
        op: "softmax",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "softmax/naive.comp", text: text!("softmax_no_max") },
    },
];
