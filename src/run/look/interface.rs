//! What a kernel declares against what the options give.

use super::options::{BUFFER_FORM, DEFINE_FORM, PUSH_FORM, SHAPE_FORM, SPEC_FORM};
use super::text::Origin;
use super::{Assignment, Look, LookError};
use crate::glsl::Compiler;
use crate::import::{Command, interface_of};
use crate::ops::{nearest, suggested};
use crate::spirv::{Binding, BindingKind, ElementType, Interface};

impl Look {
    /// What the kernel says of itself when it is built with these options.
    pub(super) fn interface(&self, compiler: &Compiler) -> Result<Interface, LookError> {
        let defines = self.defines.iter();
        let define = |d: &Assignment| (d.name.clone(), d.value.clone().unwrap_or_default());
        let command = Command {
            source: self.kernel.clone(),
            includes: self.includes.clone(),
            defines: defines.map(define).collect(),
            target: self.target.unwrap_or_default(),
            output: None,
        };
        interface_of(&command, compiler).map_err(LookError::Kernel)
    }

    /// Whether the options speak of what the kernel has, and of all of it.
    pub(super) fn fits(&self, interface: &Interface) -> Result<(), LookError> {
        for (option, given, form) in [
            ("--shape", &self.shapes, SHAPE_FORM),
            ("--push", &self.push, PUSH_FORM),
            ("--define", &self.defines, DEFINE_FORM),
            ("--spec", &self.spec, SPEC_FORM),
        ] {
            for (at, assignment) in given.iter().enumerate() {
                if given[..at].iter().any(|other| other.name == assignment.name) {
                    let message = format!("`{}` is given twice", assignment.name);
                    return Err(Origin::new(option, &assignment.given, form).wrong(message));
                }
            }
        }
        self.buffers_fit(&interface.bindings)?;
        self.push_fits(interface)?;
        let constants = &interface.spec_constants;
        let names = constants.iter().flat_map(|c| [c.name.clone(), c.id.to_string()]);
        let known: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        self.spec.iter().try_for_each(|spec| {
            let origin = Origin::new("--spec", &spec.given, SPEC_FORM);
            named(&spec.name, &known, "specialization constant", &origin)
        })
    }

    fn buffers_fit(&self, bindings: &[Binding]) -> Result<(), LookError> {
        let kernel = self.kernel.display().to_string();
        if let Some(other) = bindings.iter().find(|b| b.kind != BindingKind::Storage) {
            let (set, binding) = (other.set, other.binding);
            return Err(LookError::NoStorage { kernel, set, binding });
        }
        for (at, buffer) in self.buffers.iter().enumerate() {
            let place = (buffer.set, buffer.binding);
            let origin = Origin::new("--buffer", &buffer.given, BUFFER_FORM);
            if self.buffers[..at].iter().any(|b| (b.set, b.binding) == place) {
                return Err(origin.wrong("the binding is given twice".to_owned()));
            }
            if !bindings.iter().any(|b| (b.set, b.binding) == place) {
                let known: Vec<String> = bindings.iter().map(shown).collect();
                return Err(origin.wrong(format!("the kernel binds {}", listed(&known))));
            }
        }
        let is_given = |b: &Binding| {
            self.buffers.iter().any(|buffer| (buffer.set, buffer.binding) == (b.set, b.binding))
        };
        let missing: Vec<String> = bindings.iter().filter(|b| !is_given(b)).map(shown).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!("no buffer is given for {}", missing.join(", "));
        Err(LookError::Missing { kernel, message, option: "--buffer", form: BUFFER_FORM })
    }

    fn push_fits(&self, interface: &Interface) -> Result<(), LookError> {
        let kernel = self.kernel.display().to_string();
        let known: Vec<String> = interface.push.iter().map(|m| m.name.clone()).collect();
        for push in &self.push {
            let origin = Origin::new("--push", &push.given, PUSH_FORM);
            named(&push.name, &known, "push constant", &origin)?;
        }
        let is_given = |name: &&String| self.push.iter().any(|push| push.name == **name);
        let missing: Vec<&str> =
            known.iter().filter(|n| !is_given(n)).map(String::as_str).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = if missing.contains(&"") {
            // Options name members, and an optimised module names none.
            "its push constants have no names; describe them in a kernel file".to_owned()
        } else {
            format!("no value is given for the push constants {}", missing.join(", "))
        };
        Err(LookError::Missing { kernel, message, option: "--push", form: PUSH_FORM })
    }
}

fn named(name: &str, known: &[String], what: &str, origin: &Origin) -> Result<(), LookError> {
    if known.iter().any(|other| other == name) {
        return Ok(());
    }
    let near = nearest(name, known.iter().cloned());
    let (near, known) = (suggested(&near), listed(known));
    Err(origin.wrong(format!("no {what} `{name}`{near}; the kernel has {known}")))
}

/// A binding with what an option for it would begin with.
fn shown(binding: &Binding) -> String {
    let set = if binding.set == 0 { String::new() } else { format!("{}.", binding.set) };
    let ty = match binding.element {
        ElementType::Struct | ElementType::Opaque | ElementType::Bool => "TYPE".to_owned(),
        ty => ty.to_string(),
    };
    let name = if binding.name.is_empty() { &binding.block } else { &binding.name };
    format!("{set}{}={ty}:LEN (`{name}`)", binding.binding)
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
