//! Whether a device has what a script asks for.

use super::script::{Need, NeedKind, Script};
use crate::check::CheckError;
use crate::device::Features;

/// Whether the device has what the script names.
pub(super) fn needs(script: &Script, features: &Features) -> Result<(), CheckError> {
    let lacking = |need: &&Need| match need.kind {
        NeedKind::Feature => !has_feature(features, &need.name),
        NeedKind::Property => !has_property(features, &need.name),
        NeedKind::Extension => !has_extension(features, &need.name),
    };
    match script.needs.iter().find(lacking) {
        None => Ok(()),
        Some(Need { line, name, .. }) => Err(CheckError::Unsupported(format!(
            "line {line}: {name} isn't there, or isn't switched on here"
        ))),
    }
}

/// Features by Amber's names. One that isn't listed is never switched on.
fn has_feature(features: &Features, name: &str) -> bool {
    match name {
        "shaderInt16" => features.arithmetic_i16,
        "shaderInt64" => features.int64,
        "shaderFloat64" => features.float64,
        "Float16Int8Features.shaderFloat16" => features.arithmetic_f16,
        "Float16Int8Features.shaderInt8" => features.arithmetic_i8,
        "Storage16BitFeatures.storageBuffer16BitAccess"
        | "Storage16BitFeatures.uniformAndStorageBuffer16BitAccess" => features.storage_f16,
        "Storage8BitFeatures.storageBuffer8BitAccess"
        | "Storage8BitFeatures.uniformAndStorageBuffer8BitAccess" => features.storage_i8,
        "SubgroupSizeControl.subgroupSizeControl" | "SubgroupSizeControl.computeFullSubgroups" => {
            features.subgroup_size_control
        }
        "SubgroupSupportedOperations.basic" | "SubgroupSupportedStages.compute" => true,
        "SubgroupSupportedOperations.vote"
        | "SubgroupSupportedOperations.arithmetic"
        | "SubgroupSupportedOperations.ballot"
        | "SubgroupSupportedOperations.shuffle"
        | "SubgroupSupportedOperations.shuffleRelative"
        | "SubgroupSupportedOperations.clustered"
        | "SubgroupSupportedOperations.quad" => features.subgroup_arithmetic,
        "VariablePointerFeatures.variablePointers"
        | "VariablePointerFeatures.variablePointersStorageBuffer" => features.variable_pointers,
        "VulkanMemoryModelFeatures.vulkanMemoryModel"
        | "VulkanMemoryModelFeatures.vulkanMemoryModelDeviceScope" => features.vulkan_memory_model,
        "ZeroInitializeWorkgroupMemoryFeatures.shaderZeroInitializeWorkgroupMemory" => {
            features.zeroed_shared
        }
        "Storage8BitFeatures.storagePushConstant8" => features.push_i8,
        "Storage16BitFeatures.storagePushConstant16" => features.push_f16,
        _ => false,
    }
}

/// Most extensions say nothing that the module's capabilities don't; this one has no capability.
fn has_extension(features: &Features, name: &str) -> bool {
    name != "VK_KHR_zero_initialize_workgroup_memory" || features.zeroed_shared
}

fn has_property(features: &Features, name: &str) -> bool {
    match name {
        "FloatControlsProperties.shaderRoundingModeRTEFloat32" => features.rounding_rte_f32,
        "FloatControlsProperties.shaderDenormPreserveFloat32" => features.denorm_preserve_f32,
        _ => false,
    }
}
