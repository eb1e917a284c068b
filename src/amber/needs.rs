//! Whether a device has what a script asks for.

use super::script::{Need, NeedKind, Script};
use crate::check::CheckError;
use crate::device::Features;

/// Whether the device has what the script names.
pub(super) fn needs(script: &Script, features: &Features) -> Result<(), CheckError> {
    let lacking = |need: &&Need| match need.kind {
        NeedKind::Feature => !has_feature(features, &need.name),
        NeedKind::Property => !has_property(features, &need.name),
        // An extension alone says nothing that the features and the module's capabilities don't.
        NeedKind::Extension => false,
    };
    match script.needs.iter().find(lacking) {
        None => Ok(()),
        Some(Need { line, name, .. }) => Err(CheckError::Unsupported(format!(
            "line {line}: {name} isn't there, or isn't switched on here"
        ))),
    }
}

/// Features by Amber's names. Of those that the lab doesn't ask devices for, the module's
/// capabilities tell as much, and the device decides on them.
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
        | "VariablePointerFeatures.variablePointersStorageBuffer"
        | "VulkanMemoryModelFeatures.vulkanMemoryModel"
        | "VulkanMemoryModelFeatures.vulkanMemoryModelDeviceScope"
        | "ZeroInitializeWorkgroupMemoryFeatures.shaderZeroInitializeWorkgroupMemory"
        | "Storage8BitFeatures.storagePushConstant8"
        | "Storage16BitFeatures.storagePushConstant16" => true,
        _ => false,
    }
}

fn has_property(features: &Features, name: &str) -> bool {
    match name {
        "FloatControlsProperties.shaderRoundingModeRTEFloat32" => features.rounding_rte_f32,
        "FloatControlsProperties.shaderDenormPreserveFloat32" => features.denorm_preserve_f32,
        _ => false,
    }
}
