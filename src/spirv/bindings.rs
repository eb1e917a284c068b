//! The blocks that a kernel binds.

use rspirv::spirv::{Decoration, StorageClass};

use super::constants::Values;
use super::reflect::Variable;
use super::types::{Layout, Type};
use super::uses::Uses;
use super::{Access, Binding, BindingKind, ElementType, SpirvError};

impl Values<'_> {
    pub(super) fn bindings(&self, uses: &Uses) -> Result<Vec<Binding>, SpirvError> {
        let mut bindings = Vec::new();
        for variable in self.variables()? {
            let old_storage = || self.has(variable.pointee, Decoration::BufferBlock);
            let kind = match variable.class {
                StorageClass::StorageBuffer => BindingKind::Storage,
                StorageClass::Uniform if old_storage() => BindingKind::Storage,
                StorageClass::Uniform => BindingKind::Uniform,
                StorageClass::UniformConstant => BindingKind::Opaque,
                _ => continue,
            };
            bindings.push(self.binding(&variable, kind, uses)?);
        }
        bindings.sort_by_key(|binding| (binding.set, binding.binding));
        Ok(bindings)
    }

    fn has(&self, id: u32, decoration: Decoration) -> bool {
        self.module.decoration(id, decoration).is_some()
    }

    fn binding(
        &self,
        variable: &Variable,
        kind: BindingKind,
        uses: &Uses,
    ) -> Result<Binding, SpirvError> {
        let decorated = |decoration| {
            let value = self.module.decoration(variable.id, decoration);
            let missing = || SpirvError::malformed(format!("a variable without {decoration:?}"));
            value.ok_or_else(missing)
        };
        let (block, descriptor_count) = match self.ty(variable.pointee)? {
            Type::Array { element, len } => (element, len),
            Type::RuntimeArray { element } => (element, 0),
            _ => (variable.pointee, 1),
        };
        let mut binding = Binding {
            set: decorated(Decoration::DescriptorSet)?,
            binding: decorated(Decoration::Binding)?,
            descriptor_count,
            kind,
            name: self.module.name(variable.id).to_owned(),
            block: self.module.name(block).to_owned(),
            access: self.access(variable.id, block, kind)?,
            element: ElementType::Opaque,
            components: 1,
            stride_bytes: 0,
            offset_bytes: 0,
            len: Some(1),
            uses_length: uses.length.contains(&variable.id),
            atomic: uses.atomic.contains(&variable.id)
                || self.qualified(variable.id, block, Decoration::Coherent)?,
        };
        if kind != BindingKind::Opaque {
            self.elements(block, &mut binding)?;
        }
        Ok(binding)
    }

    /// What the block holds: the last member if that is an array, else the block as a whole.
    fn elements(&self, block: u32, binding: &mut Binding) -> Result<(), SpirvError> {
        let members = self.members(block)?;
        binding.name.clone_from(&binding.block);
        let (whole, last) = (self.size(block, Layout::Explicit)?, members.last());
        let Some((member, ty)) = last.copied() else {
            return Ok(());
        };
        let offset = self.module.member_decoration(block, member, Decoration::Offset);
        let (element, len) = match self.ty(ty)? {
            Type::Array { element, len } => (element, Some(len)),
            Type::RuntimeArray { element } => (element, None),
            _ => {
                let single = members.len() == 1;
                let scalars = self.scalars(if single { ty } else { block })?;
                (binding.element, binding.components) = (scalars.element, scalars.components);
                binding.stride_bytes = whole;
                return Ok(());
            }
        };
        let scalars = self.scalars(element)?;
        let stride = self.module.decoration(ty, Decoration::ArrayStride);
        self.module.member_name(block, member).clone_into(&mut binding.name);
        (binding.element, binding.components) = (scalars.element, scalars.components);
        binding.stride_bytes = match stride {
            Some(stride) => stride,
            None => self.size(element, Layout::Explicit)?,
        };
        binding.offset_bytes = offset.unwrap_or(0);
        binding.len = len;
        Ok(())
    }

    /// Whether the variable or every member of its block has a decoration.
    fn qualified(&self, variable: u32, block: u32, by: Decoration) -> Result<bool, SpirvError> {
        if self.has(variable, by) {
            return Ok(true);
        }
        let Type::Struct { members } = self.ty(block)? else {
            return Ok(false);
        };
        let mut each = (0_u32..).zip(&members);
        let all = each.all(|(m, _)| self.module.member_decoration(block, m, by).is_some());
        Ok(all && !members.is_empty())
    }

    fn access(&self, variable: u32, block: u32, kind: BindingKind) -> Result<Access, SpirvError> {
        let read_only = self.qualified(variable, block, Decoration::NonWritable)?;
        let write_only = self.qualified(variable, block, Decoration::NonReadable)?;
        Ok(match (read_only, write_only) {
            _ if kind == BindingKind::Uniform => Access::ReadOnly,
            (true, false) => Access::ReadOnly,
            (false, true) => Access::WriteOnly,
            _ => Access::ReadWrite,
        })
    }
}
