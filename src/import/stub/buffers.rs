//! One table for each buffer that a kernel binds.

use std::collections::HashSet;

use super::super::Built;
use super::super::matrix::explains;
use super::super::types::glsl_name;
use super::{bare, each, question, quoted};
use crate::spirv::{Access, Binding, BindingKind, ElementType};

/// A set and binding, with every block that the GLSL declares there.
pub(super) struct Slot {
    pub(super) set: u32,
    pub(super) binding: u32,
    pub(super) kind: BindingKind,
    /// The name of the buffer in the kernel file.
    pub(super) name: String,
    /// Where its blocks stand in the bindings of each build.
    blocks: Vec<usize>,
}

/// The slots of a stub. Its builds bind the same blocks, so that the first speaks for all.
pub(super) fn slots(builds: &[Built]) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    for (at, binding) in builds[0].interface.bindings.iter().enumerate() {
        let place = (binding.set, binding.binding);
        match slots.last_mut() {
            Some(last) if (last.set, last.binding) == place => last.blocks.push(at),
            _ => slots.push(Slot {
                set: binding.set,
                binding: binding.binding,
                kind: binding.kind,
                name: binding.name.clone(),
                blocks: vec![at],
            }),
        }
    }
    let mut taken = HashSet::new();
    for slot in &mut slots {
        if slot.name.is_empty() {
            slot.name = "buffer".to_owned();
        }
        let numbered = format!("{}_{}_{}", slot.name, slot.set, slot.binding);
        if slot.name == "buffer" || !taken.insert(slot.name.clone()) {
            taken.insert(numbered.clone());
            slot.name = numbered;
        }
    }
    slots
}

impl Slot {
    /// What is known of the buffer, and what has to be asked.
    pub(super) fn table(&self, builds: &[Built], lines: &mut Vec<String>) {
        let first = |at: &usize| &builds[0].interface.bindings[*at];
        let blocks: Vec<&Binding> = self.blocks.iter().map(first).collect();
        let place = match self.set {
            0 => format!("binding {}", self.binding),
            set => format!("set {set}, binding {}", self.binding),
        };
        lines.push(String::new());
        for at in &self.blocks {
            lines.push(format!("# {place}: {}", declared(builds, *at)));
        }
        if self.kind == BindingKind::Opaque {
            lines.push("# It is an image or a sampler, which a kernel file can't bind.".to_owned());
            return;
        }
        lines.push(format!("[buffer.{}]", bare(&self.name)));
        let element = self.element(builds);
        lines.push(match &element {
            Element::Known(ty) => format!("type = \"{ty}\""),
            Element::Define(name) => format!("type = {}", quoted(name)),
            Element::Unknown(why) => question("type", why),
        });
        lines.push(self.len(&blocks, &element));
        lines.push(role(&blocks));
    }

    /// The element types of every block in every build.
    fn element(&self, builds: &[Built]) -> Element {
        let of_build = |built: &Built, at: usize| built.interface.bindings[at].element;
        let all = |at: &usize| builds.iter().map(|built| of_build(built, *at)).collect::<Vec<_>>();
        let elements: Vec<Vec<ElementType>> = self.blocks.iter().map(all).collect();
        let mut distinct = elements.concat();
        distinct.sort_unstable();
        distinct.dedup();
        match (distinct.as_slice(), elements.as_slice()) {
            ([one], _) if one.dtype().is_some() => return Element::Known(*one),
            (_, [of_one_block]) => {
                if let Some(name) = explains(builds, of_one_block) {
                    return Element::Define(name);
                }
            }
            _ => {}
        }
        let names: Vec<String> = distinct.iter().map(ElementType::to_string).collect();
        Element::Unknown(if distinct.contains(&ElementType::Struct) {
            "The GLSL has a structure here: a block-quantised type, or the scalars it is made of."
                .to_owned()
        } else {
            format!("One of {}: the declarations differ.", names.join(", "))
        })
    }

    fn len(&self, blocks: &[&Binding], element: &Element) -> String {
        if let ([block], Element::Known(ty)) = (blocks, element)
            && let Some(len) = fixed_len(block, *ty)
        {
            return format!("len = {len}");
        }
        let unit = match element {
            Element::Known(ty) => format!("{ty} elements"),
            Element::Define(name) => format!("scalars of {name}"),
            Element::Unknown(_) => "elements of its type".to_owned(),
        };
        let mut text = format!(
            "How many {unit} does {} hold? An integer or an expression over [shapes].",
            self.name
        );
        if let ([block], Element::Known(ty)) = (blocks, element)
            && ty.dtype().is_some()
        {
            let scalars = block.stride_bytes / ty.scalar_bytes();
            if scalars > 1 {
                text.push_str(&format!(" {scalars} to each of its elements in GLSL."));
            }
        }
        if let Some(before) = blocks.iter().map(|block| block.offset_bytes).max()
            && before > 0
        {
            text.push_str(&format!(" With the {before} bytes before the array."));
        }
        question("len", &text)
    }
}

enum Element {
    Known(ElementType),
    /// The define that holds it.
    Define(String),
    /// Why it has to be asked.
    Unknown(String),
}

/// The scalars of a block whose length the GLSL fixes.
fn fixed_len(block: &Binding, ty: ElementType) -> Option<u32> {
    let all = block.len?.checked_mul(block.stride_bytes)?.checked_add(block.offset_bytes)?;
    let size = ty.dtype().map(|_| ty.scalar_bytes())?;
    (all % size == 0).then_some(all / size)
}

fn role(blocks: &[&Binding]) -> String {
    let all = |access| blocks.iter().all(|block| block.access == access);
    if all(Access::ReadOnly) {
        "role = \"in\"".to_owned()
    } else if all(Access::WriteOnly) {
        "role = \"out\"".to_owned()
    } else {
        question("role", "\"in\", \"out\", \"inout\" or \"scratch\"? The GLSL doesn't tell.")
    }
}

/// A block as the GLSL declares it.
fn declared(builds: &[Built], at: usize) -> String {
    let block = &builds[0].interface.bindings[at];
    let mut text = match (block.kind, block.access) {
        (BindingKind::Opaque, _) => return block.name.clone(),
        (BindingKind::Uniform, _) => "uniform ".to_owned(),
        (BindingKind::Storage, Access::ReadOnly) => "readonly ".to_owned(),
        (BindingKind::Storage, Access::WriteOnly) => "writeonly ".to_owned(),
        (BindingKind::Storage, Access::ReadWrite) => String::new(),
    };
    text.push_str(&each(builds, |built| {
        let block = &built.interface.bindings[at];
        glsl_name(block.element, block.components)
    }));
    let len = match block.len {
        None => "[]".to_owned(),
        Some(1) => String::new(),
        Some(len) => format!("[{len}]"),
    };
    let stride = each(builds, |built| built.interface.bindings[at].stride_bytes.to_string());
    // A module without names is an optimised one.
    let named = |name: &str| if name.is_empty() { "?".to_owned() } else { name.to_owned() };
    let (name, of) = (named(&block.name), named(&block.block));
    text.push_str(&format!(" {name}{len} in block {of}"));
    text.push_str(&format!(", offset {}, stride {stride} bytes", block.offset_bytes));
    match block.descriptor_count {
        1 => {}
        0 => text.push_str(", an array of blocks without a length"),
        count => text.push_str(&format!(", an array of {count} blocks")),
    }
    if block.uses_length {
        text.push_str("; the kernel asks for its length()");
    }
    if block.atomic {
        text.push_str("; coherent or atomic");
    }
    text
}
