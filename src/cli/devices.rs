//! `vklab devices`.

use crate::device::{DeviceError, DeviceInfo};
use crate::report::wrapped;
use crate::soft::SoftOptions;
use crate::vulkan;

use super::{CliError, Ending};

pub(super) fn devices(json: bool) -> Result<Ending, CliError> {
    let found = match vulkan::enumerate() {
        Ok(found) if found.is_empty() => Err(DeviceError::NoDriver),
        answer => answer,
    };
    let found = found.unwrap_or_else(|error| {
        eprintln!("vklab: {error}");
        Vec::new()
    });
    let vulkan = found.into_iter().map(|device| (device.info, device.left_out));
    let soft = std::iter::once((SoftOptions::default().info(), None));
    for (info, left_out) in vulkan.chain(soft) {
        if json {
            let mut object = serde_json::to_value(&info).map_err(std::io::Error::other)?;
            object["left_out"] = left_out.into();
            println!("{object}");
        } else {
            show(&info, left_out.as_deref());
        }
    }
    Ok(Ending::Clean)
}

fn show(info: &DeviceInfo, left_out: Option<&str>) {
    println!("{}", info.selector());
    if let Some(reason) = left_out {
        println!("  {:<10}{}", "left out", wrapped(reason.split(' '), INDENT, INDENT));
    }
    let driver = format!("{} {}, Vulkan {}", info.driver, info.driver_version, info.api_version);
    for (name, text) in [
        ("kind", info.kind.clone()),
        ("driver", driver),
        ("limits", limits(info)),
        ("has", has(info)),
    ] {
        println!("  {name:<10}{}", wrapped(text.split(' '), INDENT, INDENT));
    }
}

/// Column at which the values start.
const INDENT: usize = 12;

fn limits(info: &DeviceInfo) -> String {
    let limits = &info.limits;
    format!(
        "subgroup {}{}, workgroup {}, shared {} B, push {} B, binding {} MiB, offsets {} B",
        limits.subgroup_size,
        choice(info),
        limits.workgroup_invocations,
        limits.shared_bytes,
        limits.push_bytes,
        limits.storage_range_bytes >> 20,
        limits.storage_offset_alignment
    )
}

/// The subgroup sizes that a kernel may require, where there are several.
fn choice(info: &DeviceInfo) -> String {
    let sizes: Vec<String> = info.subgroup_sizes().map(|size| size.to_string()).collect();
    if sizes.len() > 1 { format!(" (or {})", sizes.join(", ")) } else { String::new() }
}

fn has(info: &DeviceInfo) -> String {
    let features = &info.features;
    let named = [
        (features.storage_f16, "f16 storage"),
        (features.arithmetic_f16, "f16 arithmetic"),
        (features.storage_i8, "i8 storage"),
        (features.arithmetic_i8, "i8 arithmetic"),
        (features.arithmetic_i16, "i16"),
        (features.int64, "i64"),
        (features.float64, "f64"),
        (features.atomic_add_f32, "atomicAdd on f32"),
        (features.subgroup_arithmetic, "subgroup arithmetic"),
        (features.subgroup_size_control, "subgroup size control"),
        (features.rounding_rte_f32, "rounding to nearest"),
        (features.denorm_preserve_f32, "subnormals"),
        (info.limits.timestamp_bits > 0, "timestamps"),
    ];
    let present: Vec<&str> = named.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect();
    present.join(", ")
}
