//! `[needs]`: what a device has to offer beyond what all devices do.

use super::keys::NEEDS;
use super::load::sizes;
use super::read::{Entry, Read, Value};
use crate::device::Limits;
use crate::ops::{Feature, Need, nearest, suggested};

/// What is given as one number.
type Counted = fn(u32) -> Need;

pub(super) fn needs(entry: Entry<'_>) -> Read<Vec<Need>> {
    let table = &entry.value.table(entry.at, NEEDS)?;
    let mut needs = Vec::new();
    let counts: [(&str, Counted); 4] = [
        ("invocations", Need::Invocations),
        ("depth", Need::Depth),
        ("shared_bytes", Need::SharedBytes),
        ("push_bytes", Need::PushBytes),
    ];
    for (key, need) in counts {
        needs.extend(table.get(key).map(count).transpose()?.map(need));
    }
    if let Some(value) = table.get("range_bytes") {
        needs.push(Need::RangeBytes(value.integer_of("a number of bytes")?));
    }
    needs.extend(table.get("workgroups").map(workgroups).transpose()?);
    needs.extend(table.get("offset_alignment").map(alignment).transpose()?);
    if table.get("subgroup_sizes").is_some() {
        let all = sizes(table, "subgroup_sizes")?.into_iter().fold(0, |all, size| all | size);
        needs.push(Need::SubgroupSizes(all));
    }
    if let Some(value) = table.get("features") {
        for value in value.list("features")? {
            needs.push(Need::Feature(feature(value)?));
        }
    }
    Ok(needs)
}

fn count(value: Value<'_>) -> Read<u32> {
    value.integer_of("a number of 32 bits")
}

/// What is left out is what the specification requires.
fn workgroups(value: Value<'_>) -> Read<Need> {
    let list = value.list("up to three numbers of workgroups")?;
    if list.is_empty() || list.len() > 3 {
        return Err(value.wrong(format!("one to three numbers are wanted, not {}", list.len())));
    }
    let mut counts = Limits::REQUIRED.workgroup_count;
    for (place, value) in counts.iter_mut().zip(list) {
        *place = count(value)?;
    }
    Ok(Need::Workgroups(counts))
}

fn alignment(value: Value<'_>) -> Read<Need> {
    let bytes: u64 = value.integer_of("an alignment in bytes")?;
    if bytes.is_power_of_two() {
        Ok(Need::OffsetAlignment(bytes))
    } else {
        Err(value.wrong(format!("{bytes}: alignments are powers of two")))
    }
}

fn feature(value: Value<'_>) -> Read<Feature> {
    let name = value.str()?;
    Feature::ALL.into_iter().find(|feature| feature.name() == name).ok_or_else(|| {
        let near = nearest(name, Feature::ALL.iter().map(|feature| feature.name().to_owned()));
        value.wrong(format!("no feature `{name}` that a device lacks{}", suggested(&near)))
    })
}
