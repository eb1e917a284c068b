//! Wrong dispatch sizes and bindings, missing dispatches.

use super::edits::{
    with_70_000_groups, with_a_for_b, with_one_group_less, with_workgroup_of_64,
    with_workgroup_of_512, without_last_dispatch,
};
use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "add_one_group_less",
        family: Family::Launch,
        wrong: "the last workgroup is missing",
        op: "add",
        variant: "naive",
        caught_by: Check::Memory,
        needs: Cases::Quick,
        defect: Defect::Plan(with_one_group_less),
    },
    Fault {
        name: "exp_70_000_groups",
        family: Family::Launch,
        wrong: "70,000 workgroups lie along x",
        op: "exp",
        variant: "naive",
        caught_by: Check::Limits,
        needs: Cases::Quick,
        defect: Defect::Plan(with_70_000_groups),
    },
    Fault {
        name: "matmul_wrong_binding",
        family: Family::Launch,
        wrong: "a is bound where b belongs",
        op: "matmul",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Plan(with_a_for_b),
    },
    Fault {
        name: "mul_vjp_half_done",
        family: Family::Launch,
        wrong: "the last dispatch is missing",
        op: "mul",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Plan(without_last_dispatch),
    },
    Fault {
        name: "relu_workgroup_of_512",
        family: Family::Launch,
        wrong: "workgroups have 512 invocations",
        op: "relu",
        variant: "naive",
        caught_by: Check::Limits,
        needs: Cases::Quick,
        defect: Defect::Plan(with_workgroup_of_512),
    },
    Fault {
        name: "transpose_workgroup_of_64",
        family: Family::Launch,
        wrong: "workgroups are counted for one size and run with another",
        op: "transpose",
        variant: "naive",
        caught_by: Check::Portability,
        needs: Cases::Quick,
        defect: Defect::Plan(with_workgroup_of_64),
    },
];
