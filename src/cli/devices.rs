//! `vklab devices`.

use comfy_table::{ContentArrangement, Table, presets};

use crate::vulkan;

use super::{CliError, Ending};

pub(super) fn devices(json: bool) -> Result<Ending, CliError> {
    let found = vulkan::enumerate()?;
    if json {
        for device in &found {
            let mut object = serde_json::to_value(&device.info).map_err(std::io::Error::other)?;
            object["left_out"] = device.left_out.clone().into();
            println!("{object}");
        }
        return Ok(Ending::Clean);
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
    table.set_header(["device", "kind", "driver", "Vulkan", "subgroup", "f16", "atomic f32"]);
    let word = |has: bool| if has { "yes" } else { "no" };
    for device in &found {
        let info = &device.info;
        table.add_row([
            info.name.clone(),
            info.kind.clone(),
            format!("{} {}", info.driver, info.driver_version),
            info.api_version.clone(),
            info.limits.subgroup_size.to_string(),
            word(info.features.storage_f16).to_owned(),
            word(info.features.atomic_add_f32).to_owned(),
        ]);
    }
    println!("{table}");
    for device in &found {
        if let Some(reason) = &device.left_out {
            println!("left out: {}: {reason}", device.info.name);
        }
    }
    if found.is_empty() {
        println!("no device: install a driver, or run ./vklab, which installs lavapipe");
    }
    Ok(Ending::Clean)
}
