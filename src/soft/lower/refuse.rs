//! What the interpreter knows; everything else is refused before anything runs.

use std::collections::BTreeSet;

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op};

use crate::spirv::module::Module;

const CAPABILITIES: &[Capability] = &[
    Capability::Matrix,
    Capability::Shader,
    Capability::Float16,
    Capability::Float64,
    Capability::Int8,
    Capability::Int16,
    Capability::Int64,
    Capability::Int64Atomics,
    Capability::AtomicStorage,
    Capability::Groups,
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
    Capability::VariablePointersStorageBuffer,
    Capability::VariablePointers,
    Capability::DenormPreserve,
    Capability::SignedZeroInfNanPreserve,
    Capability::RoundingModeRTE,
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformClustered,
    Capability::GroupNonUniformQuad,
    Capability::GroupNonUniformRotateKHR,
    Capability::QuadControlKHR,
    Capability::SubgroupBallotKHR,
    Capability::SubgroupVoteKHR,
    Capability::VulkanMemoryModel,
    Capability::VulkanMemoryModelDeviceScope,
    Capability::PhysicalStorageBufferAddresses,
    Capability::WorkgroupMemoryExplicitLayoutKHR,
    Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
    Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
    Capability::AtomicFloat16AddEXT,
    Capability::AtomicFloat32AddEXT,
    Capability::AtomicFloat64AddEXT,
    Capability::AtomicFloat16MinMaxEXT,
    Capability::AtomicFloat32MinMaxEXT,
    Capability::AtomicFloat64MinMaxEXT,
    Capability::DotProduct,
    Capability::DotProductInputAll,
    Capability::DotProductInput4x8Bit,
    Capability::DotProductInput4x8BitPacked,
    Capability::CooperativeMatrixKHR,
    Capability::BFloat16TypeKHR,
    Capability::BFloat16DotProductKHR,
    Capability::BFloat16CooperativeMatrixKHR,
    Capability::ExpectAssumeKHR,
    Capability::DeviceGroup,
    Capability::UniformBufferArrayDynamicIndexing,
    Capability::StorageBufferArrayDynamicIndexing,
    Capability::FloatControls2,
];

/// Capabilities and instructions that the grammar has no name for, which the parser would stop at.
pub(super) fn unheard(words: &[u32]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut at = HEADER_LEN;
    while let Some(first) = words.get(at) {
        let (len, opcode) = (first >> 16, first & 0xffff);
        let is_capability = opcode == Op::Capability as u32;
        let capability = words.get(at + 1).filter(|_| is_capability);
        if let Some(number) = capability.filter(|number| Capability::from_u32(**number).is_none()) {
            found.insert(format!("capability {number}"));
        }
        if Op::from_u32(opcode).is_none() {
            found.insert(format!("instruction {opcode}"));
        }
        // A length of zero is the parser's to refuse.
        at += len.max(1) as usize;
    }
    found.into_iter().collect()
}

/// Magic, version, generator, bound, schema.
const HEADER_LEN: usize = 5;

/// What the grammar has a name for and the interpreter doesn't know.
pub(super) fn unknown(module: &Module) -> Vec<String> {
    let mut found = BTreeSet::new();
    for instruction in &module.instructions {
        match instruction.class.opcode {
            Op::Capability => {
                if let Some(Operand::Capability(capability)) = instruction.operands.first()
                    && !CAPABILITIES.contains(capability)
                {
                    found.insert(format!("capability {capability:?}"));
                }
            }
            Op::ExtInstImport => {
                if let Some(Operand::LiteralString(name)) = instruction.operands.first()
                    && name != "GLSL.std.450"
                    && !name.starts_with("NonSemantic.")
                {
                    found.insert(format!("extended instructions {name}"));
                }
            }
            Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage => {
                found.insert("images and samplers".to_owned());
            }
            _ => {}
        }
    }
    found.into_iter().collect()
}
