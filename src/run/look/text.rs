//! The text of a kernel file, and which option each of its lines comes from.

use std::path::Path;

use super::options::{
    BUFFER_FORM, BufferOption, DEFINE_FORM, GROUPS_FORM, PUSH_FORM, SHAPE_FORM, SPEC_FORM, Start,
};
use super::{Assignment, Look, LookError};
use crate::check::shell_word;
use crate::import::{bare, define_value, quoted, resolved, seen_from};
use crate::spirv::{Access, Interface};

/// The option behind a line.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    option: &'static str,
    given: String,
    form: &'static str,
}

impl Origin {
    pub(super) fn new(option: &'static str, given: &str, form: &'static str) -> Self {
        Self { option, given: shell_word(given), form }
    }

    pub(super) fn wrong(&self, message: String) -> LookError {
        let (option, form) = (self.option, self.form);
        LookError::Option { option, given: self.given.clone(), message, form }
    }
}

/// Lines of a kernel file.
#[derive(Default)]
pub(super) struct Lines(Vec<(String, Option<Origin>)>);

impl Lines {
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|(line, _)| format!("{line}\n")).collect()
    }

    /// The option behind a line, counted from 1.
    pub(super) fn origin(&self, line: u32) -> Option<&Origin> {
        self.0.get(usize::try_from(line).ok()?.checked_sub(1)?)?.1.as_ref()
    }

    fn fixed(&mut self, line: impl Into<String>) {
        self.0.push((line.into(), None));
    }

    fn of(&mut self, origin: &Origin, line: String) {
        self.0.push((line, Some(origin.clone())));
    }
}

/// The kernel file of options that fit the kernel's interface.
pub(super) fn lines(look: &Look, interface: &Interface) -> Lines {
    let mut lines = Lines::default();
    let arguments = look.arguments();
    if !arguments.contains(char::is_control) {
        lines.fixed(format!("# vklab check {arguments}"));
    }
    lines.fixed("version = 1");
    kernel(look, &mut lines);
    if !look.shapes.is_empty() {
        lines.fixed("[shapes]");
        assignments("--shape", SHAPE_FORM, &look.shapes, &mut lines);
    }
    let names: Vec<String> = look.buffers.iter().map(|b| name(look, interface, b)).collect();
    for (option, name) in look.buffers.iter().zip(&names) {
        buffer(option, name, interface, &mut lines);
    }
    let bound = look.buffers.iter().zip(&names).map(|(b, name)| match b.set {
        0 => format!("{} = \"{name}\"", b.binding),
        set => format!("\"{set}.{}\" = \"{name}\"", b.binding),
    });
    let bound: Vec<String> = bound.collect();
    lines.fixed("[[step]]");
    lines.fixed("kernel = \"main\"");
    lines.fixed(format!("bind = {{ {} }}", bound.join(", ")));
    let groups: Vec<String> = look.groups.0.iter().map(|count| value(count)).collect();
    let origin = Origin::new("--groups", &look.groups.0.join(","), GROUPS_FORM);
    lines.of(&origin, format!("groups = [{}]", groups.join(", ")));
    if !look.push.is_empty() {
        lines.fixed("[step.push]");
        assignments("--push", PUSH_FORM, &look.push, &mut lines);
    }
    lines
}

fn kernel(look: &Look, lines: &mut Lines) {
    lines.fixed("[kernel.main]");
    let file = look.kernel.file_name().map(|name| name.to_string_lossy().into_owned());
    lines.fixed(format!("file = {}", quoted(&file.unwrap_or_default())));
    if !look.includes.is_empty() {
        let folder = resolved(look.kernel.parent().unwrap_or(Path::new("")));
        let seen = |include| quoted(&seen_from(&folder, &resolved(include)));
        let seen: Vec<String> = look.includes.iter().map(|include| seen(include)).collect();
        let given: Vec<String> = look.includes.iter().map(|i| i.display().to_string()).collect();
        let origin = Origin::new("--include", &given.join(" "), "DIR");
        lines.of(&origin, format!("include = [{}]", seen.join(", ")));
    }
    if let Some(target) = look.target {
        let origin = Origin::new("--target", &target.to_string(), "VULKAN");
        lines.of(&origin, format!("target = \"{target}\""));
    }
    for (at, define) in look.defines.iter().enumerate() {
        let origin = Origin::new("--define", &define.given, DEFINE_FORM);
        if at == 0 {
            lines.of(&origin, "[kernel.main.defines]".to_owned());
        }
        let value = define_value(Some(define.value.as_deref().unwrap_or_default()));
        lines.of(&origin, format!("{} = {value}", bare(&define.name)));
    }
    if !look.spec.is_empty() {
        lines.fixed("[kernel.main.spec]");
        assignments("--spec", SPEC_FORM, &look.spec, lines);
    }
}

fn assignments(option: &'static str, form: &'static str, all: &[Assignment], lines: &mut Lines) {
    for assignment in all {
        let values: Vec<String> = assignment.values().iter().map(|v| value(v)).collect();
        let right = match values.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let origin = Origin::new(option, &assignment.given, form);
        lines.of(&origin, format!("{} = {right}", bare(&assignment.name)));
    }
}

fn buffer(option: &BufferOption, name: &str, interface: &Interface, lines: &mut Lines) {
    let origin = Origin::new("--buffer", &option.given, BUFFER_FORM);
    lines.of(&origin, format!("[buffer.{name}]"));
    lines.of(&origin, format!("type = {}", quoted(&option.ty)));
    lines.of(&origin, format!("len = {}", value(&option.len)));
    let role = option.role.unwrap_or_else(|| role(option, interface));
    lines.of(&origin, format!("role = \"{role}\""));
    match &option.init {
        Some(Start::Named(init)) => lines.of(&origin, format!("init = \"{init}\"")),
        Some(Start::Range(low, high)) => {
            let range = format!("[{}, {}]", value(low), value(high));
            lines.of(&origin, format!("init = {{ uniform = {range} }}"));
        }
        None => {}
    }
}

/// What the kernel's qualifiers say of all blocks at the binding.
fn role(option: &BufferOption, interface: &Interface) -> &'static str {
    let place = (option.set, option.binding);
    let here = || interface.bindings.iter().filter(|b| (b.set, b.binding) == place);
    if here().all(|b| b.access == Access::ReadOnly) {
        "in"
    } else if here().all(|b| b.access == Access::WriteOnly) {
        "out"
    } else {
        "inout"
    }
}

/// The GLSL name, where it is one and no other binding has it.
fn name(look: &Look, interface: &Interface, option: &BufferOption) -> String {
    let named = |b: &BufferOption| {
        let place = (b.set, b.binding);
        interface.bindings.iter().find(|other| (other.set, other.binding) == place)
    };
    let own = named(option).map(|binding| binding.name.clone()).unwrap_or_default();
    let same = look.buffers.iter().filter(|b| named(b).is_some_and(|n| n.name == own)).count();
    if same == 1 && !own.is_empty() {
        own
    } else {
        format!("buffer_{}_{}", option.set, option.binding)
    }
}

/// A number or a boolean as TOML writes it; an expression as a text.
fn value(text: &str) -> String {
    if let Ok(integer) = text.parse::<i64>() {
        return integer.to_string();
    }
    match text.parse::<f64>() {
        Ok(float) if float.is_finite() => format!("{float:?}"),
        _ if matches!(text, "true" | "false") => text.to_owned(),
        _ => quoted(text),
    }
}
