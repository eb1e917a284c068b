//! The interface as text: stable, so that snapshots show a change of the kernel and nothing else.

use std::fmt;

use super::{
    Access, Binding, BindingKind, ElementType, Interface, LocalSize, PushMember, SpecConstant,
};

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::Bool => "bool",
            Self::Struct => "struct",
            Self::Opaque => "opaque",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ReadOnly => "read",
            Self::WriteOnly => "write",
            Self::ReadWrite => "read-write",
        })
    }
}

impl fmt::Display for LocalSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(size) => write!(f, "{size}"),
            Self::Spec { id, default } => write!(f, "id {id} (default {default})"),
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "set {} binding {}: ", self.set, self.binding)?;
        match self.kind {
            BindingKind::Storage => {}
            BindingKind::Uniform => f.write_str("uniform ")?,
            BindingKind::Opaque => f.write_str("opaque ")?,
        }
        write!(f, "{} {} ", self.access, typed(self.element, self.components))?;
        match self.len {
            None => write!(f, "{}[]", self.name)?,
            Some(1) => f.write_str(&self.name)?,
            Some(len) => write!(f, "{}[{len}]", self.name)?,
        }
        write!(f, " in {}, offset {} stride {}", self.block, self.offset_bytes, self.stride_bytes)?;
        if self.descriptor_count != 1 {
            write!(f, ", {} descriptors", self.descriptor_count)?;
        }
        if self.uses_length {
            f.write_str(", length")?;
        }
        if self.atomic {
            f.write_str(", atomic")?;
        }
        Ok(())
    }
}

impl fmt::Display for PushMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {} size {}: ", self.offset, self.size)?;
        write!(f, "{} {}", typed(self.ty, self.components), self.name)?;
        match self.len {
            Some(len) => write!(f, "[{len}]"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for SpecConstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "id {}: {} ", self.id, self.ty)?;
        if !self.name.is_empty() {
            write!(f, "{} ", self.name)?;
        }
        f.write_str("= ")?;
        let bits = self.default_bits;
        match self.ty {
            ElementType::F32 => write!(f, "{:?}", f32::from_bits(bits)),
            ElementType::I8 | ElementType::I16 | ElementType::I32 => {
                write!(f, "{}", bits.cast_signed())
            }
            ElementType::Bool => write!(f, "{}", bits != 0),
            _ => write!(f, "{bits}"),
        }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = &self.local_size;
        writeln!(f, "entry {}", self.entry)?;
        writeln!(f, "local size {x} x {y} x {z}")?;
        for binding in &self.bindings {
            writeln!(f, "{binding}")?;
        }
        if !self.push.is_empty() {
            writeln!(f, "push {} bytes", self.push_bytes)?;
        }
        for member in &self.push {
            writeln!(f, "  {member}")?;
        }
        if !self.spec_constants.is_empty() {
            writeln!(f, "specialization constants")?;
        }
        for constant in &self.spec_constants {
            writeln!(f, "  {constant}")?;
        }
        if !self.shared.is_empty() {
            writeln!(f, "shared {} bytes", self.shared_bytes)?;
        }
        for variable in &self.shared {
            writeln!(f, "  {}: {} bytes", variable.name, variable.bytes)?;
        }
        writeln!(f, "capabilities {}", self.capabilities.join(" "))
    }
}

fn typed(ty: ElementType, components: u32) -> String {
    match components {
        1 => ty.to_string(),
        count => format!("{ty}x{count}"),
    }
}
