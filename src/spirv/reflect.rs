//! From a module's words to its interface.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass};

use super::constants::{LIMIT_DEPTH, Values, default_bits};
use super::module::{Module, id, malformed, number, result, result_type};
use super::types::{Layout, Type, too_large};
use super::uses::uses;
use super::{
    ElementType, Interface, LocalSize, PushMember, SharedVariable, SpecConstant, SpirvError,
};

/// The interface of a module's compute entry point, with specialization constants at their
/// defaults. Names come from the debug module; an optimised one has none.
///
/// # Errors
/// Words that aren't SPIR-V, or SPIR-V without exactly one compute entry point.
pub fn reflect(words: &[u32]) -> Result<Interface, SpirvError> {
    reflect_with(words, &[])
}

/// As [`reflect`], with sizes as they are when these specialization constants (id, bits) are set.
/// `default_bits` and the defaults of the workgroup size stay those of the module.
///
/// # Errors
/// As [`reflect`].
pub fn reflect_with(words: &[u32], specialized: &[(u32, u32)]) -> Result<Interface, SpirvError> {
    let module = &Module::new(words)?;
    let values = Values::new(module, specialized);
    let (entry_id, entry) = entry(module)?;
    let local = local_size_source(module, entry_id)?;
    let (push, push_bytes) = values.push()?;
    let shared = values.shared()?;
    let mut sizes = shared.iter().map(|variable| variable.bytes);
    let shared_bytes = sizes.try_fold(0_u32, u32::checked_add);
    Ok(Interface {
        entry,
        local_size: local_size(module, &local)?,
        bindings: values.bindings(&uses(module))?,
        push,
        push_bytes,
        spec_constants: spec_constants(module, &local)?,
        capabilities: capabilities(module),
        shared,
        shared_bytes: shared_bytes.ok_or_else(too_large)?,
    })
}

fn entry(module: &Module) -> Result<(u32, String), SpirvError> {
    let mut found = None;
    for instruction in &module.instructions {
        if let (Op::EntryPoint, [Operand::ExecutionModel(model), rest @ ..]) =
            (instruction.class.opcode, instruction.operands.as_slice())
            && *model == ExecutionModel::GLCompute
        {
            let [Operand::IdRef(function), Operand::LiteralString(name), ..] = rest else {
                return Err(malformed(instruction, 1));
            };
            if found.replace((*function, name.clone())).is_some() {
                return Err(SpirvError::unsupported("several compute entry points"));
            }
        }
    }
    let found = found.ok_or(SpirvError::OtherStage)?;
    match module.definition(found.0)?.class.opcode {
        Op::Function => Ok(found),
        _ => Err(SpirvError::malformed("an entry point that is not a function")),
    }
}

/// Where the workgroup size stands.
enum LocalSizeSource {
    Literals([u32; 3]),
    Constants([u32; 3]),
}

/// A constant decorated `WorkgroupSize` outranks the execution modes.
fn local_size_source(module: &Module, entry: u32) -> Result<LocalSizeSource, SpirvError> {
    let mut by_mode = None;
    for instruction in &module.instructions {
        match instruction.class.opcode {
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let composite = result(instruction)?;
                let builtin = module.decoration(composite, Decoration::BuiltIn);
                if builtin == Some(BuiltIn::WorkgroupSize as u32) {
                    let ids = [id(instruction, 0)?, id(instruction, 1)?, id(instruction, 2)?];
                    return Ok(LocalSizeSource::Constants(ids));
                }
            }
            Op::ExecutionMode | Op::ExecutionModeId if id(instruction, 0)? == entry => {
                let three = |read: fn(&Instruction, usize) -> Result<u32, SpirvError>| {
                    Ok([read(instruction, 2)?, read(instruction, 3)?, read(instruction, 4)?])
                };
                match instruction.operands.get(1) {
                    Some(Operand::ExecutionMode(ExecutionMode::LocalSize)) => {
                        by_mode = Some(LocalSizeSource::Literals(three(number)?));
                    }
                    Some(Operand::ExecutionMode(ExecutionMode::LocalSizeId)) => {
                        by_mode = Some(LocalSizeSource::Constants(three(id)?));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    by_mode.ok_or_else(|| SpirvError::malformed("no workgroup size"))
}

fn local_size(module: &Module, source: &LocalSizeSource) -> Result<[LocalSize; 3], SpirvError> {
    let ids = match source {
        LocalSizeSource::Literals(sizes) => return Ok(sizes.map(LocalSize::Literal)),
        LocalSizeSource::Constants(ids) => ids,
    };
    let mut sizes = [LocalSize::Literal(1); 3];
    for (size, constant) in sizes.iter_mut().zip(ids) {
        let instruction = module.definition(*constant)?;
        let default = match instruction.class.opcode {
            Op::SpecConstantOp => {
                return Err(SpirvError::unsupported("a workgroup size by an expression"));
            }
            _ => default_bits(instruction)?,
        };
        *size = match module.decoration(*constant, Decoration::SpecId) {
            Some(id) => LocalSize::Spec { id, default },
            None => LocalSize::Literal(default),
        };
    }
    Ok(sizes)
}

/// `local_size_x_id` and a constant of the same id are two instructions in the module; the one
/// with a name speaks for both.
fn spec_constants(
    module: &Module,
    local: &LocalSizeSource,
) -> Result<Vec<SpecConstant>, SpirvError> {
    let mut constants: Vec<SpecConstant> = Vec::new();
    for instruction in &module.instructions {
        let ty = match instruction.class.opcode {
            Op::SpecConstantTrue | Op::SpecConstantFalse => ElementType::Bool,
            Op::SpecConstant => {
                let values = Values::new(module, &[]);
                values.scalars(result_type(instruction)?)?.element
            }
            _ => continue,
        };
        let defined = result(instruction)?;
        let Some(spec_id) = module.decoration(defined, Decoration::SpecId) else {
            continue;
        };
        let constant = SpecConstant {
            id: spec_id,
            name: module.name(defined).to_owned(),
            default_bits: default_bits(instruction)?,
            ty,
        };
        match constants.iter_mut().find(|other| other.id == spec_id) {
            Some(other) if other.name.is_empty() => *other = constant,
            Some(_) => {}
            None => constants.push(constant),
        }
    }
    for constant in constants.iter_mut().filter(|c| c.name.is_empty()) {
        if let Some(axis) = axis_of(module, local, constant.id) {
            axis.clone_into(&mut constant.name);
        }
    }
    constants.sort_by_key(|constant| constant.id);
    Ok(constants)
}

fn axis_of(module: &Module, local: &LocalSizeSource, id: u32) -> Option<&'static str> {
    let LocalSizeSource::Constants(ids) = local else {
        return None;
    };
    let axes = ["local_size_x", "local_size_y", "local_size_z"];
    let mut named = ids.iter().zip(axes);
    named
        .find(|(constant, _)| module.decoration(**constant, Decoration::SpecId) == Some(id))
        .map(|(_, axis)| axis)
}

fn capabilities(module: &Module) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for instruction in &module.instructions {
        if let (Op::Capability, Some(Operand::Capability(capability))) =
            (instruction.class.opcode, instruction.operands.first())
        {
            names.push(format!("{capability:?}"));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// A variable, of module scope or of a function.
pub(super) struct Variable {
    pub(super) id: u32,
    pub(super) class: StorageClass,
    pub(super) pointee: u32,
}

impl Values<'_> {
    pub(super) fn variables(&self) -> Result<Vec<Variable>, SpirvError> {
        let mut variables = Vec::new();
        for instruction in &self.module.instructions {
            if instruction.class.opcode != Op::Variable {
                continue;
            }
            let Type::Pointer { class, pointee } = self.ty(result_type(instruction)?)? else {
                return Err(SpirvError::malformed("a variable that is not behind a pointer"));
            };
            variables.push(Variable { id: result(instruction)?, class, pointee });
        }
        Ok(variables)
    }

    pub(super) fn members(&self, block: u32) -> Result<Vec<(u32, u32)>, SpirvError> {
        match self.ty(block)? {
            Type::Struct { members } => Ok((0..).zip(members).collect()),
            _ => Err(SpirvError::malformed(format!("id {block} is not a structure"))),
        }
    }

    fn push(&self) -> Result<(Vec<PushMember>, u32), SpirvError> {
        let mut members = Vec::new();
        for variable in self.variables()? {
            if variable.class == StorageClass::PushConstant {
                self.push_members(variable.pointee, "", 0, LIMIT_DEPTH, &mut members)?;
            }
        }
        members.sort_by_key(|member| member.offset);
        let mut end = 0;
        for member in &members {
            let last = member.offset.checked_add(member.size);
            end = end.max(last.ok_or_else(too_large)?);
        }
        Ok((members, end))
    }

    fn push_members(
        &self,
        block: u32,
        prefix: &str,
        base: u32,
        depth: u32,
        out: &mut Vec<PushMember>,
    ) -> Result<(), SpirvError> {
        let depth = self.deeper(depth)?;
        for (member, ty) in self.members(block)? {
            let name = format!("{prefix}{}", self.module.member_name(block, member));
            let offset = self.module.member_decoration(block, member, Decoration::Offset);
            let missing = || SpirvError::malformed(format!("push member {name} without Offset"));
            let offset = offset.ok_or_else(missing)?;
            let offset = base.checked_add(offset).ok_or_else(too_large)?;
            let len = match self.ty(ty)? {
                Type::Struct { .. } => {
                    self.push_members(ty, &format!("{name}."), offset, depth, out)?;
                    continue;
                }
                Type::Array { len, .. } => Some(len),
                _ => None,
            };
            let scalars = self.scalars(ty)?;
            out.push(PushMember {
                size: self.member_size(block, member, ty)?,
                name,
                offset,
                ty: scalars.element,
                components: scalars.components,
                len,
            });
        }
        Ok(())
    }

    fn shared(&self) -> Result<Vec<SharedVariable>, SpirvError> {
        let mut shared = Vec::new();
        for variable in self.variables()? {
            if variable.class == StorageClass::Workgroup {
                shared.push(SharedVariable {
                    name: self.module.name(variable.id).to_owned(),
                    bytes: self.size(variable.pointee, Layout::Packed)?,
                });
            }
        }
        Ok(shared)
    }
}
