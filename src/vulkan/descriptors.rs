//! Descriptor sets: which buffers a dispatch sees.

use std::collections::HashMap;

use ash::vk;

use super::logical::Logical;
use super::pipeline::Pipeline;
use super::rules::Known;
use super::slot::Slot;
use crate::device::{Binding, Command, DeviceError, KernelId, Recording};

/// The descriptor sets of a dispatch: its kernel's sets, in their order, from `first` on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) first: usize,
}

/// Writes one group of descriptor sets for every distinct combination of kernel and bindings.
/// Returns the group of every dispatch and all sets.
pub(super) fn descriptor_sets(
    logical: &Logical,
    known: Known<'_>,
    slot: &mut Slot,
    recording: &Recording,
) -> Result<(Vec<Bound>, Vec<vk::DescriptorSet>), DeviceError> {
    let mut groups = HashMap::<(KernelId, &[Binding]), Bound>::new();
    let mut order = Vec::<(&Pipeline, &[Binding], Bound)>::new();
    let (mut bound, mut layouts, mut infos) = (Vec::new(), Vec::new(), Vec::new());
    for command in &recording.commands {
        let Command::Dispatch { kernel, bindings, .. } = command else {
            continue;
        };
        let group = *groups.entry((*kernel, bindings)).or_insert_with(|| {
            let pipeline = &known.kernels[kernel];
            let group = Bound { first: layouts.len() };
            layouts.extend(pipeline.sets.iter().map(|(_, layout)| layout.raw()));
            infos.extend(bindings.iter().map(|binding| {
                vk::DescriptorBufferInfo::default()
                    .buffer(known.buffers[&binding.buffer].raw)
                    .offset(binding.extent.offset_bytes)
                    .range(binding.extent.range_bytes)
            }));
            order.push((pipeline, bindings, group));
            group
        });
        bound.push(group);
    }
    let count = u32::try_from(infos.len())
        .map_err(|_| logical.unsupported("a recording with 2^32 distinct bindings"))?;
    let sets = slot.descriptor_sets(&layouts, count)?;
    let mut infos = infos.chunks_exact(1);
    let mut writes = Vec::with_capacity(infos.len());
    for (pipeline, bindings, group) in order {
        for (at, (binding, info)) in bindings.iter().zip(&mut infos).enumerate() {
            let Some(place) = pipeline.set_place(binding.set) else {
                continue;
            };
            writes.push(
                vk::WriteDescriptorSet::default()
                    .dst_set(sets[group.first + place])
                    .dst_binding(binding.binding)
                    .dst_array_element(binding.element_in(&bindings[..at]))
                    .descriptor_type(pipeline.kind((binding.set, binding.binding)))
                    .buffer_info(info),
            );
        }
    }
    // SAFETY: the sets were just allocated and are in no submission
    // (VUID-vkUpdateDescriptorSets-None-03047); bindings exist in their layouts
    // (VUID-VkWriteDescriptorSet-dstBinding-00315,
    // VUID-VkWriteDescriptorSet-dstArrayElement-00321), and ranges lie in their buffers
    // (VUID-VkDescriptorBufferInfo-range-00342), which `rules::check` saw to.
    unsafe { logical.raw.update_descriptor_sets(&writes, &[]) };
    Ok((bound, sets))
}
