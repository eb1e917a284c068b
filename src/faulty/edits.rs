//! Defects of plans: each takes a plan and leaves out or exchanges one thing in it.

use crate::ops::{Constant, Dispatch, Plan, Push, PushValue, Socket, Step};

/// Nothing is ordered.
pub(super) fn without_barriers(mut plan: Plan) -> Plan {
    plan.steps.retain(|step| *step != Step::Barrier);
    plan
}

/// Memory that should start from zero starts from whatever is there.
pub(super) fn without_fills(mut plan: Plan) -> Plan {
    plan.steps.retain(|step| !matches!(step, Step::Fill { .. }));
    plan
}

/// The last kernel never runs.
pub(super) fn without_last_dispatch(mut plan: Plan) -> Plan {
    if let Some(at) = plan.steps.iter().rposition(|step| matches!(step, Step::Dispatch(_))) {
        plan.steps.remove(at);
    }
    plan
}

/// Every scratch buffer is one element short.
pub(super) fn with_short_scratch(mut plan: Plan) -> Plan {
    for scratch in &mut plan.scratch {
        scratch.len -= 1;
    }
    plan
}

/// As if the number of workgroups had been rounded down.
pub(super) fn with_one_group_less(plan: Plan) -> Plan {
    each(plan, |dispatch| dispatch.groups[0] = dispatch.groups[0].saturating_sub(1).max(1))
}

/// `m` where `n` belongs, and the reverse.
pub(super) fn with_rows_for_columns(plan: Plan) -> Plan {
    each(plan, |dispatch| {
        let Push::Members(members) = &mut dispatch.push else { return };
        for (member, _) in members {
            match member.as_ref() {
                "m" => *member = "n".into(),
                "n" => *member = "m".into(),
                _ => {}
            }
        }
    })
}

/// The first operand is bound twice.
pub(super) fn with_a_for_b(plan: Plan) -> Plan {
    each(plan, |dispatch| dispatch.renamed.push((Socket::Named("b".into()), "a".into())))
}

/// The kernel's default for `TILE`.
pub(super) fn without_tile(plan: Plan) -> Plan {
    each(plan, |dispatch| dispatch.spec.retain(|(name, _)| *name != Constant::Named("TILE".into())))
}

/// Workgroups of 64 invocations, as many as there would be of the right size.
pub(super) fn with_workgroup_of_64(plan: Plan) -> Plan {
    each(plan, |dispatch| set_workgroup(dispatch, 64))
}

/// Workgroups of 512 invocations, as many as there would be of the right size.
pub(super) fn with_workgroup_of_512(plan: Plan) -> Plan {
    each(plan, |dispatch| set_workgroup(dispatch, 512))
}

/// The same number of workgroups whatever the problem, all of them along x.
pub(super) fn with_70_000_groups(plan: Plan) -> Plan {
    each(plan, |dispatch| dispatch.groups = [70_000, 1, 1])
}

fn set_workgroup(dispatch: &mut Dispatch, invocations: u32) {
    for (name, value) in &mut dispatch.spec {
        if *name == Constant::Named("WORKGROUP".into()) {
            *value = PushValue::U32(invocations);
        }
    }
}

fn each(mut plan: Plan, change: impl Fn(&mut Dispatch)) -> Plan {
    for step in &mut plan.steps {
        if let Step::Dispatch(dispatch) = step {
            change(dispatch);
        }
    }
    plan
}
