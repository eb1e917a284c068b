//! Steps of the file to a plan.

use super::KernelFile;
use super::error::Text;
use super::read::Read;
use super::scope::{Choice, Values};
use super::steps::{DispatchDecl, Does, PushDecl, StepDecl};
use crate::ops::{Dispatch, HostMember, Name, Others, Plan, Push, PushValue, Step};

impl KernelFile {
    /// # Errors
    /// An expression that comes to nothing that fits its place.
    pub(super) fn plan(&self, values: &Values<'_>, steps: &[StepDecl]) -> Read<Plan> {
        let mut plan = Plan::empty();
        // A step without workgroups is dropped; the barrier before it isn't.
        let mut is_ordered = false;
        for step in steps {
            is_ordered |= step.barrier_before;
            let does = match &step.does {
                Does::Dispatch(decl) => {
                    self.dispatch(values, decl)?.map(|d| Step::Dispatch(Box::new(d)))
                }
                Does::Fill { buffer, word } => {
                    Some(Step::Fill { buffer: buffer.clone().into(), word: *word })
                }
            };
            let Some(does) = does else { continue };
            if is_ordered && !plan.steps.is_empty() {
                plan.steps.push(Step::Barrier);
            }
            is_ordered = false;
            plan.steps.push(does);
        }
        Ok(plan)
    }

    /// None where a number of workgroups is zero.
    fn dispatch(&self, values: &Values<'_>, decl: &DispatchDecl) -> Read<Option<Dispatch>> {
        let kernel = &self.kernels[decl.kernel];
        let mut dispatch = Dispatch::of(kernel.code.clone());
        for (group, formula) in dispatch.groups.iter_mut().zip(&decl.groups) {
            let count = formula.whole(&self.text, values, u64::from(u32::MAX))?;
            *group = u32::try_from(count).unwrap_or(u32::MAX);
        }
        for at in &kernel.defines {
            let value = match values.choice(*at) {
                Choice::Flag(false) => continue,
                Choice::Flag(true) => "",
                other => other.shown(),
            };
            let name: Name = self.scope.variables[*at].name.clone().into();
            dispatch.defines.push((name, value.to_owned().into()));
        }
        for (constant, at) in &kernel.spec {
            if let Some(number) = values.of(*at) {
                let value = PushValue::Numbers(vec![number.to_f64()]);
                dispatch.spec.push((constant.clone(), value));
            }
        }
        let bound = decl.bind.iter();
        dispatch.renamed = bound.map(|(socket, b)| (socket.clone(), b.clone().into())).collect();
        dispatch.others = Others::Unbound;
        dispatch.push = push(&self.text, values, &decl.push)?;
        Ok((!dispatch.groups.contains(&0)).then_some(dispatch))
    }
}

fn push(text: &Text, values: &Values<'_>, decl: &PushDecl) -> Read<Push> {
    match decl {
        PushDecl::Members(members) => {
            let mut given = Vec::new();
            for (name, scalars) in members {
                let scalars: Read<Vec<f64>> =
                    scalars.iter().map(|scalar| Ok(scalar.value(text, values)?.to_f64())).collect();
                given.push((Name::from(name.clone()), PushValue::Numbers(scalars?)));
            }
            Ok(Push::Members(given))
        }
        PushDecl::Block(members) => {
            let mut given = Vec::new();
            for member in members {
                let value = member.value.value(text, values)?.to_f64();
                let dtype = member.dtype;
                if !dtype.is_float() && dtype.round(value) != value {
                    let what = format!("{value} is none of {dtype}");
                    return Err(text.wrong(member.value.at(), what));
                }
                given.push(HostMember {
                    name: member.name.clone().map(Name::from),
                    offset_bytes: member.offset_bytes,
                    dtype,
                    value,
                });
            }
            Ok(Push::Block(given))
        }
    }
}
