//! What a module declares outside of its functions.

use std::rc::Rc;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, MemoryModel, Op, StorageClass};

use crate::device::Kernel;
use crate::soft::program::{BufferVariable, Code, End, Inactive, Region, SharedVariable};
use crate::spirv::SpirvError;
use crate::spirv::module::{id, malformed, number, result, result_type};

use super::access::Pointer;
use super::types::{Layout, Type};
use super::{Lower, Value, own, source_text};
use crate::soft::error::SoftError;

/// Shared memory beyond this is no device's.
const LIMIT_SHARED: u64 = 1 << 24;

/// Invocations of a workgroup beyond this are no device's.
const LIMIT_INVOCATIONS: u64 = 1 << 13;

impl Lower<'_> {
    pub(super) fn module_of(&mut self, kernel: &Kernel) -> Result<(), SoftError> {
        self.at = self.place(crate::soft::program::Place::default());
        let module = self.module;
        let entry = self.entry_point(&kernel.entry)?;
        self.current = self.block()?;
        let first = self.current;
        let mut inside: Option<(u32, usize)> = None;
        for (at, instruction) in module.instructions.iter().enumerate() {
            match instruction.class.opcode {
                Op::Function => inside = Some((result(instruction)?, at)),
                Op::FunctionEnd => {
                    if let Some((function, start)) = inside.take() {
                        self.functions.insert(function, start..at);
                    }
                }
                _ if inside.is_some() => {}
                _ => self.global(instruction, kernel)?,
            }
        }
        self.local_size(entry)?;
        let sizes = self.program.local_size.map(u64::from);
        let invocations = sizes.into_iter().fold(1, u64::saturating_mul);
        if invocations == 0 || invocations > LIMIT_INVOCATIONS {
            return Err(SoftError::TooLarge {
                kernel: kernel.name.clone(),
                what: format!("{invocations} invocations in a workgroup, at most 8,192"),
            });
        }
        // Unknown types make everything behind them unreadable.
        if !self.problems.is_empty() {
            return Ok(());
        }
        self.current = first;
        let main = self.inline(entry, &[], None, None, 0)?;
        // Included files are known by the lines that name them.
        self.sources_of();
        (self.current, self.at) = (first, self.place(crate::soft::program::Place::default()));
        self.end(End::Jump(main));
        self.program.has.waiting = super::order::may_wait(&self.program);
        Ok(())
    }

    fn entry_point(&mut self, name: &str) -> Result<u32, SpirvError> {
        for instruction in &self.module.instructions {
            if instruction.class.opcode != Op::EntryPoint {
                continue;
            }
            let is_named = instruction.operands.get(2).is_some_and(
                |operand| matches!(operand, Operand::LiteralString(other) if other == name),
            );
            if is_named {
                return id(instruction, 1);
            }
        }
        Err(SpirvError::malformed(format!("no entry point `{name}`")))
    }

    fn global(&mut self, instruction: &Instruction, kernel: &Kernel) -> Result<(), SpirvError> {
        let op = instruction.class.opcode;
        if op == Op::TypeForwardPointer {
            if let Some(Operand::StorageClass(class)) = instruction.operands.get(1) {
                self.types.forward(id(instruction, 0)?, *class);
            }
            return Ok(());
        }
        if is_type(op) {
            let constants = &self.constants;
            let known = self.types.define(
                self.module,
                instruction,
                |id| constants.word(id),
                self.subgroup_size,
            )?;
            if let Some(what) = known {
                self.problem(what);
            }
            return Ok(());
        }
        match op {
            Op::MemoryModel => {
                let model = instruction.operands.get(1);
                self.program.has.vulkan_memory =
                    model == Some(&Operand::MemoryModel(MemoryModel::Vulkan));
            }
            Op::Variable => self.global_variable(instruction)?,
            Op::ConstantTrue
            | Op::ConstantFalse
            | Op::Constant
            | Op::ConstantComposite
            | Op::ConstantNull
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstant
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
            | Op::Undef => {
                // A null pointer, which only physical ones have, is the address 0.
                let (module, types) = (self.module, &self.types);
                let known = self.constants.define(module, types, instruction, &kernel.spec)?;
                if let Some(what) = known {
                    self.problem(what);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn global_variable(&mut self, instruction: &Instruction) -> Result<(), SpirvError> {
        let (own, ty) = (own(instruction)?, result_type(instruction)?);
        let Some(Operand::StorageClass(class)) = instruction.operands.first() else {
            return Err(malformed(instruction, 0));
        };
        let Ok(Type::Pointer { to, .. }) = self.types.get(ty).cloned() else {
            return Ok(()); // The type was refused.
        };
        let name = self.module.name(own).to_owned();
        let at = |decoration| self.module.decoration(own, decoration);
        match class {
            StorageClass::StorageBuffer | StorageClass::Uniform => {
                let (Some(set), Some(binding)) =
                    (at(Decoration::DescriptorSet), at(Decoration::Binding))
                else {
                    return Err(SpirvError::malformed("a buffer without a binding"));
                };
                if let Type::Array { .. } | Type::Runtime { .. } = self.types.get(to)? {
                    self.problem("an array of buffers");
                    return Ok(());
                }
                let coherent = at(Decoration::Coherent).is_some();
                let volatile = at(Decoration::Volatile).is_some();
                let index = u32::try_from(self.program.buffers.len()).unwrap_or(u32::MAX);
                let name = if name.is_empty() { self.block_name(to) } else { name };
                self.program.buffers.push(BufferVariable { set, binding, name });
                let mut pointer = Pointer::memory(to, Region::Buffer(index), 0, Layout::Explicit);
                pointer.manner.coherent = coherent;
                pointer.manner.volatile = volatile;
                self.values.insert(own, Value::Pointer(Rc::new(pointer)));
            }
            StorageClass::PushConstant => {
                // What lies behind the last member is nobody's to push.
                let (size, _) = self.types.end(to, Layout::Explicit)?;
                self.program.push_bytes = u32::try_from(size).unwrap_or(u32::MAX);
                let pointer = Pointer::memory(to, Region::Push, 0, Layout::Explicit);
                self.values.insert(own, Value::Pointer(Rc::new(pointer)));
            }
            StorageClass::Workgroup => self.shared_variable(instruction, own, to, name)?,
            StorageClass::Private => {
                let current = self.current;
                self.variable_with(instruction, own, to, 1)?;
                self.current = current;
            }
            StorageClass::Input => self.input(own, to)?,
            StorageClass::Output => {}
            other => self.problem(format!("storage class {other:?}")),
        }
        Ok(())
    }

    fn block_name(&self, ty: u32) -> String {
        self.module.name(ty).to_owned()
    }

    fn variable_with(
        &mut self,
        instruction: &Instruction,
        own: u32,
        to: u32,
        initial: usize,
    ) -> Result<(), SpirvError> {
        let slots = self.fresh(to)?;
        let flat = self.types.flat(to)?;
        for (slot, scalar) in slots.iter().zip(flat.iter()) {
            self.program.variables.extend((0..scalar.words()).map(|word| slot + word));
        }
        if let Some(Operand::IdRef(initial)) = instruction.operands.get(initial) {
            let value = self.slots_of(*initial)?;
            self.copy_all(&slots, &value, &flat, Inactive::Keep)?;
        }
        self.values.insert(own, Value::Pointer(Rc::new(Pointer::registers(to, slots))));
        Ok(())
    }

    fn shared_variable(
        &mut self,
        instruction: &Instruction,
        own: u32,
        to: u32,
        name: String,
    ) -> Result<(), SpirvError> {
        // Blocks with a layout of their own all start at the same place.
        let is_block = self.module.decoration(to, Decoration::Block).is_some();
        let layout = if is_block { Layout::Explicit } else { Layout::Natural };
        let (size, align) = self.types.size(to, layout)?;
        let end = u64::from(self.program.shared_bytes);
        // Every variable starts at a multiple of 16, as a vector's may be asked to.
        let start = if is_block { 0 } else { end.next_multiple_of(align.max(16)) };
        let end = end.max(start.saturating_add(size));
        if end > LIMIT_SHARED {
            return Err(SpirvError::unsupported("more than 16 MiB of shared memory"));
        }
        let word = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        self.program.shared_bytes = word(end);
        let is_zeroed = instruction.operands.len() > 1;
        let (offset, bytes) = (word(start), word(size));
        self.program.shared.push(SharedVariable { name, offset, bytes, is_zeroed });
        let pointer = Pointer::memory(to, Region::Shared, offset, layout);
        self.values.insert(own, Value::Pointer(Rc::new(pointer)));
        Ok(())
    }

    fn input(&mut self, own: u32, to: u32) -> Result<(), SpirvError> {
        let Some(builtin) = self.module.decoration(own, Decoration::BuiltIn) else {
            self.problem("an input that is no builtin");
            return Ok(());
        };
        let Some(builtin) = BuiltIn::from_u32(builtin) else {
            self.problem(format!("builtin {builtin}"));
            return Ok(());
        };
        let known = matches!(
            builtin,
            BuiltIn::NumWorkgroups
                | BuiltIn::WorkgroupId
                | BuiltIn::LocalInvocationId
                | BuiltIn::GlobalInvocationId
                | BuiltIn::LocalInvocationIndex
                | BuiltIn::WorkgroupSize
                | BuiltIn::SubgroupSize
                | BuiltIn::NumSubgroups
                | BuiltIn::SubgroupId
                | BuiltIn::SubgroupLocalInvocationId
                | BuiltIn::SubgroupEqMask
                | BuiltIn::SubgroupGeMask
                | BuiltIn::SubgroupGtMask
                | BuiltIn::SubgroupLeMask
                | BuiltIn::SubgroupLtMask
                | BuiltIn::DeviceIndex
        );
        if !known {
            self.problem(format!("builtin {builtin:?}"));
            return Ok(());
        }
        let slots = self.fresh(to)?;
        self.program.builtins.push((builtin, slots.to_vec()));
        let mut pointer = Pointer::registers(to, slots);
        pointer.constant = true;
        self.values.insert(own, Value::Pointer(Rc::new(pointer)));
        Ok(())
    }

    /// A decorated constant stands over `LocalSizeId`, and that over `LocalSize`.
    fn local_size(&mut self, entry: u32) -> Result<(), SpirvError> {
        let mut size = [1, 1, 1];
        for instruction in &self.module.instructions {
            match instruction.class.opcode {
                Op::ExecutionMode | Op::ExecutionModeId if id(instruction, 0)? == entry => {}
                _ => continue,
            }
            match instruction.operands.get(1) {
                Some(Operand::ExecutionMode(ExecutionMode::LocalSize)) => {
                    for (axis, size) in size.iter_mut().enumerate() {
                        *size = number(instruction, axis + 2)?;
                    }
                }
                Some(Operand::ExecutionMode(ExecutionMode::LocalSizeId)) => {
                    for (axis, size) in size.iter_mut().enumerate() {
                        *size = self.constants.word(id(instruction, axis + 2)?)?;
                    }
                }
                Some(Operand::ExecutionMode(
                    ExecutionMode::SubgroupUniformControlFlowKHR
                    | ExecutionMode::MaximallyReconvergesKHR,
                )) => self.program.has.reconvergence = true,
                _ => {}
            }
        }
        for instruction in &self.module.instructions {
            let Some(own) = instruction.result_id else { continue };
            let builtin = self.module.decoration(own, Decoration::BuiltIn);
            if builtin == Some(BuiltIn::WorkgroupSize as u32)
                && let Some([x, y, z]) = self.constants.get(own)
            {
                size = [*x, *y, *z];
            }
        }
        self.program.local_size = size;
        Ok(())
    }

    /// The text of each file, where the module holds it.
    fn sources_of(&mut self) {
        let mut whole: Vec<(String, String)> = Vec::new();
        for instruction in &self.module.instructions {
            let text = |at: usize| match instruction.operands.get(at) {
                Some(Operand::LiteralString(text)) => Some(text.as_str()),
                _ => None,
            };
            match (instruction.class.opcode, instruction.operands.get(2)) {
                (Op::Source, Some(Operand::IdRef(string))) => {
                    let file = self.file(*string) as usize;
                    let name = self.program.files[file].name.clone();
                    whole.push((name, text(3).unwrap_or_default().to_owned()));
                }
                (Op::SourceContinued, _) => {
                    if let (Some((_, all)), Some(more)) = (whole.last_mut(), text(0)) {
                        all.push_str(more);
                    }
                }
                (Op::Function, _) => break,
                _ => {}
            }
        }
        for (name, text) in &whole {
            source_text::spread(name, text, &mut self.program.files);
        }
    }

    /// Registers that somebody asks for without a value: 0, and nobody wrote it.
    pub(super) fn undefined(&mut self, ty: u32) -> Result<Rc<[u32]>, SpirvError> {
        let slots = self.fresh(ty)?;
        let flat = self.types.flat(ty)?;
        for (slot, scalar) in slots.iter().zip(flat.iter()) {
            for word in 0..scalar.words() {
                let src = self.word(0)?;
                let dst = slot + word;
                self.emit(Code::Copy { dst, src, inactive: Inactive::Clobber })?;
                self.emit(Code::Undefine { dst })?;
            }
        }
        Ok(slots)
    }
}

/// Whether an instruction declares a type, known or not.
fn is_type(op: Op) -> bool {
    matches!(
        op,
        Op::TypeVoid
            | Op::TypeBool
            | Op::TypeInt
            | Op::TypeFloat
            | Op::TypeVector
            | Op::TypeMatrix
            | Op::TypeImage
            | Op::TypeSampler
            | Op::TypeSampledImage
            | Op::TypeArray
            | Op::TypeRuntimeArray
            | Op::TypeStruct
            | Op::TypeOpaque
            | Op::TypePointer
            | Op::TypeFunction
            | Op::TypeAccelerationStructureKHR
            | Op::TypeRayQueryKHR
            | Op::TypeCooperativeMatrixKHR
            | Op::TypeCooperativeMatrixNV
            | Op::TypeCooperativeVectorNV
    )
}
