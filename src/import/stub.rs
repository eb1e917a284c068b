//! The text of a stub: valid TOML for what is known, comments for what has to be asked.

mod buffers;
mod values;

use std::path::Path;

use super::matrix;
use super::paths::seen_from;
use super::types::glsl_name;
use super::{Built, Stub};
use crate::glsl::Target;
use crate::spirv::{BindingKind, Interface, LocalSize, PushMember, SpecConstant};
use buffers::{Slot, slots};
pub(crate) use values::{bare, define_value, quoted};
use values::{define, spec_value};

/// Inline tables go up to here.
const WIDTH: usize = 100;

/// A key that the user has to give, and what is asked.
pub(super) fn question(key: &str, text: &str) -> String {
    format!("# {key} = ?  # {text}")
}

/// The whole kernel file, as seen from the resolved folder.
pub(super) fn text(stub: &Stub, folder: &Path) -> String {
    let source = stub.source.file_name().map(|name| name.to_string_lossy().into_owned());
    let source = source.unwrap_or_default();
    let kernel = identifier(source.split('.').next().unwrap_or_default());
    let interface = &stub.builds[0].interface;
    let slots = slots(&stub.builds);
    let mut lines = vec![
        format!("# A stub, made of what {source} says about itself. A line `# key = ?` asks for"),
        "# what it can't say: give the value and take the first `#` away.".to_owned(),
        "version = 1".to_owned(),
    ];
    if interface.bindings.iter().any(|binding| binding.atomic) {
        lines.push(question(
            "order",
            "A buffer is `coherent` or atomic. \"atomic\" if floats are added in any order.",
        ));
    }
    kernel_table(stub, folder, &kernel, &mut lines);
    spec_table(&stub.builds, &kernel, &mut lines);
    lines.extend([
        String::new(),
        "[shapes]".to_owned(),
        question("NAME", "The dimensions by name: each an integer, or a list that is swept."),
    ]);
    for slot in &slots {
        slot.table(&stub.builds, &mut lines);
    }
    step_table(interface, &slots, &kernel, &mut lines);
    lines.extend([
        String::new(),
        "# What is right? One of these; with none, memory, determinism and portability are checked."
            .to_owned(),
        "# [truth]".to_owned(),
        question("op", "An op of the lab; `map` says which buffer is which operand."),
        question("kernel", "A naive twin: a kernel file, a .comp or a .spv."),
    ]);
    lines.join("\n") + "\n"
}

fn kernel_table(stub: &Stub, folder: &Path, kernel: &str, lines: &mut Vec<String>) {
    let first = &stub.builds[0];
    lines.push(String::new());
    lines.push(workgroup(&stub.builds));
    if first.interface.shared_bytes > 0 {
        lines.push(shared(&stub.builds));
    }
    lines.push(capabilities(&stub.builds));
    lines.push(format!("[kernel.{kernel}]"));
    lines.push(format!("file = {}", quoted(&seen_from(folder, &stub.source))));
    let own = stub.source.parent().unwrap_or(Path::new(""));
    let mut includes: Vec<String> = Vec::new();
    for include in first.includes.iter().map(|include| super::resolved(include)) {
        let seen = quoted(&seen_from(folder, &include));
        // The file's own folder is searched in any case.
        if include != own && !includes.contains(&seen) {
            includes.push(seen);
        }
    }
    if !includes.is_empty() {
        lines.push(format!("include = [{}]", includes.join(", ")));
    }
    if first.target != Target::default() {
        lines.push(format!("target = \"{}\"", first.target));
    }
    let defines: Vec<String> = matrix::values(&stub.builds)
        .iter()
        .map(|(name, values)| format!("{} = {}", bare(name), define(values)))
        .collect();
    let inline = format!("defines = {{ {} }}", defines.join(", "));
    if defines.is_empty() {
        return;
    }
    if inline.len() <= WIDTH {
        lines.push(inline);
    } else {
        lines.push(format!("[kernel.{kernel}.defines]"));
        lines.extend(defines);
    }
}

/// Distinct texts of all builds, in the order in which they come.
fn each(builds: &[Built], text: impl Fn(&Built) -> String) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for text in builds.iter().map(text) {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct.join(" or ")
}

fn workgroup(builds: &[Built]) -> String {
    let axis = |size: &LocalSize| match size {
        LocalSize::Literal(size) => size.to_string(),
        LocalSize::Spec { id, default } => format!("constant {id} (default {default})"),
    };
    let size = |built: &Built| built.interface.local_size.each_ref().map(axis).join(" x ");
    format!("# Workgroup size {}.", each(builds, size))
}

fn shared(builds: &[Built]) -> String {
    let bytes = each(builds, |built| built.interface.shared_bytes.to_string());
    format!("# Shared memory: {bytes} bytes, with constants at their defaults.")
}

fn capabilities(builds: &[Built]) -> String {
    format!("# Capabilities: {}.", each(builds, |built| built.interface.capabilities.join(" ")))
}

fn spec_table(builds: &[Built], kernel: &str, lines: &mut Vec<String>) {
    let constants = &builds[0].interface.spec_constants;
    if constants.is_empty() {
        return;
    }
    lines.push(String::new());
    lines.push("# Specialization constants, each with its default.".to_owned());
    lines.push(format!("[kernel.{kernel}.spec]"));
    for (at, constant) in constants.iter().enumerate() {
        let unique = constants.iter().filter(|other| other.name == constant.name).count() == 1;
        let named = unique && !constant.name.is_empty();
        let key = if named { bare(&constant.name) } else { constant.id.to_string() };
        let default = |built: &Built| spec_value(&built.interface.spec_constants[at]);
        lines.push(format!("{key} = {}  # {}", default(&builds[0]), about(constant, &builds[0])));
    }
}

fn about(constant: &SpecConstant, built: &Built) -> String {
    let axes = ["x", "y", "z"].into_iter().zip(&built.interface.local_size);
    let is_size =
        |size: &LocalSize| matches!(size, LocalSize::Spec { id, .. } if *id == constant.id);
    let axes: Vec<&str> = axes.filter(|(_, size)| is_size(size)).map(|(axis, _)| axis).collect();
    let mut text = format!("{}, constant_id {}", glsl_name(constant.ty, 1), constant.id);
    if !axes.is_empty() {
        text.push_str(&format!(": the workgroup size along {}", axes.join(" and ")));
    }
    text
}

fn step_table(interface: &Interface, slots: &[Slot], kernel: &str, lines: &mut Vec<String>) {
    lines.extend([String::new(), "[[step]]".to_owned(), format!("kernel = \"{kernel}\"")]);
    let bound = slots.iter().filter(|slot| slot.kind != BindingKind::Opaque);
    let bound: Vec<String> = bound
        .map(|slot| match slot.set {
            0 => format!("{} = \"{}\"", slot.binding, slot.name),
            set => format!("\"{set}.{}\" = \"{}\"", slot.binding, slot.name),
        })
        .collect();
    if !bound.is_empty() {
        lines.push(format!("bind = {{ {} }}", bound.join(", ")));
    }
    lines.push(question(
        "groups",
        "How many workgroups along x, y, z? Up to three integers or expressions over [shapes].",
    ));
    let plain = |member: &PushMember| {
        !member.name.is_empty() && member.components == 1 && member.len.is_none()
    };
    if interface.push.is_empty() {
        return;
    }
    if interface.push.iter().all(plain) {
        lines.push("[step.push]".to_owned());
        for member in &interface.push {
            let ty = glsl_name(member.ty, 1);
            let key = bare(&member.name);
            lines.push(question(&key, &format!("{ty} at offset {}", member.offset)));
        }
    } else {
        push_list(&interface.push, lines);
    }
}

/// Members of several scalars, or without names, can only be given one scalar at a time.
fn push_list(members: &[PushMember], lines: &mut Vec<String>) {
    lines.push(
        "# Push constants as a list, since a member has several scalars or no name. Each"
            .to_owned(),
    );
    lines.push(
        "# `?` asks for an integer, a float or an expression; take the `#` before it away."
            .to_owned(),
    );
    lines.push("push = [".to_owned());
    for member in members {
        let count = member.len.unwrap_or(1).max(1);
        let stride = member.size / count;
        for index in 0..count {
            for component in 0..member.components {
                let bytes = member.ty.scalar_bytes();
                let offset = member.offset + index * stride + component * bytes;
                let element = member.len.map(|_| format!("[{index}]")).unwrap_or_default();
                let scalar = match member.components {
                    1 => String::new(),
                    count => format!(", scalar {component} of {count}"),
                };
                lines.push(format!(
                    "#   {{ type = \"{}\", offset = {offset}, value = ? }},  # {}{element}{scalar}",
                    member.ty, member.name
                ));
            }
        }
    }
    lines.push("]".to_owned());
}

/// A bare key that expressions can name too.
fn identifier(stem: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name: String = stem.chars().map(|c| if keep(c) { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        format!("k{name}")
    } else {
        name
    }
}
