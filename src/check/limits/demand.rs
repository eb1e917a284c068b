//! What a plan demands of a device, each with who demands it.

use crate::ops::{Code, Dispatch, Feature, Need, Plan, Step};
use crate::tensor::Dtype;

use super::super::kernels::taken;
use super::super::question::{Question, Region};
use super::super::{CheckError, Session};

/// A need with who has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Demand {
    pub(super) need: Need,
    /// A kernel, or what a kernel binds.
    pub(super) by: String,
    /// A line of a kernel or of a kernel file, where one is to blame.
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
}

/// Everything that the plan's kernels, dispatches and bindings demand, kernel by kernel.
///
/// # Errors
/// A kernel that doesn't compile or isn't what the plan takes it for.
pub(super) fn demands(
    session: &mut Session,
    question: &dyn Question,
    plan: &Plan,
) -> Result<Vec<Demand>, CheckError> {
    let mut demands = Vec::new();
    for step in &plan.steps {
        if let Step::Dispatch(dispatch) = step {
            demands.extend(of_dispatch(session, dispatch)?);
        }
    }
    // An empty plan binds nothing.
    if !plan.steps.is_empty() {
        demands.extend(question.regions().iter().flat_map(of_region));
        demands.extend(plan.scratch.iter().map(|scratch| {
            let need = Need::RangeBytes(bytes(scratch.dtype, scratch.len));
            Demand { need, by: format!("`{}`", scratch.name), file: None, line: None }
        }));
    }
    let sizes = question.subgroup_sizes();
    if !sizes.is_empty() {
        let need = Need::SubgroupSizes(sizes.iter().fold(0, |all, size| all | size));
        demands.push(Demand { need, by: "`subgroup.sizes`".to_owned(), file: None, line: None });
    }
    Ok(demands)
}

fn of_dispatch(session: &mut Session, dispatch: &Dispatch) -> Result<Vec<Demand>, CheckError> {
    let built = session.kernels.build(&session.compiler, dispatch)?;
    let taken = taken(&built, dispatch)?;
    let invocations: u64 = taken.size.iter().map(|n| u64::from(*n)).product();
    let mut needs = vec![
        Need::Invocations(u32::try_from(invocations).unwrap_or(u32::MAX)),
        Need::Depth(taken.size[2]),
        Need::SharedBytes(taken.shared_bytes),
        Need::PushBytes(built.interface.push_bytes),
        Need::Workgroups(dispatch.groups),
    ];
    let capabilities = built.interface.capabilities.iter();
    let mut features: Vec<Feature> =
        capabilities.filter_map(|name| Feature::of_capability(name)).collect();
    features.sort_unstable();
    features.dedup();
    needs.extend(features.into_iter().map(Need::Feature));
    let path = dispatch.code.path();
    let demand = |need| Demand {
        need,
        by: path.to_owned(),
        file: Some(path.to_owned()),
        line: line(&dispatch.code, need),
    };
    Ok(needs.into_iter().map(demand).collect())
}

/// The line of the kernel's own file that asks for it. A module keeps no line for what it declares.
fn line(code: &Code, need: Need) -> Option<u32> {
    let Code::Glsl { source, .. } = code else { return None };
    let words: &[&str] = match need {
        Need::Invocations(_) | Need::Depth(_) => &["local_size"],
        Need::SharedBytes(_) => &["shared "],
        Need::PushBytes(_) => &["push_constant"],
        Need::Workgroups(_) => &["gl_WorkGroupID", "gl_GlobalInvocationID"],
        _ => &[],
    };
    let asks = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        words.iter().any(|word| code.contains(word))
    };
    let at = source.text.lines().position(asks)?;
    u32::try_from(at + 1).ok()
}

fn of_region(region: &Region) -> Vec<Demand> {
    let range = bytes(region.dtype, region.len).saturating_sub(region.offset_bytes);
    let mut demands = vec![of(region, Need::RangeBytes(range))];
    if region.offset_bytes > 0 {
        let alignment = 1 << region.offset_bytes.trailing_zeros();
        demands.push(of(region, Need::OffsetAlignment(alignment)));
    }
    demands
}

fn of(region: &Region, need: Need) -> Demand {
    Demand {
        need,
        by: format!("`{}`", region.name),
        file: region.site.as_ref().map(|site| site.file.to_string()),
        line: region.site.as_ref().map(|site| site.line),
    }
}

/// What it takes to hold the data. It comes with the case: no kernel for it could do without. What is
/// computed with is the kernel's own choice.
pub(super) const fn of_data(dtype: Dtype) -> &'static [Feature] {
    match dtype {
        Dtype::F32 | Dtype::I32 | Dtype::U32 => &[],
        Dtype::F64 => &[Feature::Float64],
        Dtype::I64 | Dtype::U64 => &[Feature::Int64],
        Dtype::I8 | Dtype::U8 => &[Feature::StorageBuffer8BitAccess],
        Dtype::F16 | Dtype::BF16 | Dtype::I16 | Dtype::U16 => &[Feature::StorageBuffer16BitAccess],
        // Their blocks are made of halves and bytes.
        _ => &[Feature::StorageBuffer16BitAccess, Feature::StorageBuffer8BitAccess],
    }
}

fn bytes(dtype: Dtype, len: usize) -> u64 {
    dtype.bytes_for(len).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(u64::MAX)
}
