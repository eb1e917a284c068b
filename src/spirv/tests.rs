//! Modules made by hand: what no GLSL compiler emits, and what isn't a module at all.

use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    MemoryModel, Op, StorageClass, Word,
};

use super::{Access, ElementType, Interface, LocalSize, SpirvError, reflect};

/// A module with an empty `main` of local size 8, and whatever `build` adds.
fn module(build: impl FnOnce(&mut Builder, Word)) -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 3);
    b.capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let void = b.type_void();
    let signature = b.type_function(void, vec![]);
    let main = b.id();
    b.entry_point(ExecutionModel::GLCompute, main, "main", vec![]);
    build(&mut b, main);
    b.begin_function(void, Some(main), FunctionControl::NONE, signature).unwrap();
    b.begin_block(None).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    b.module().assemble()
}

/// A storage buffer `block { float x[]; }` at set 0, binding 0; the variable and the block.
fn buffer(b: &mut Builder) -> (Word, Word) {
    let float = b.type_float(32, None);
    let array = b.type_runtime_array(float);
    b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
    let block = b.type_struct([array]);
    b.decorate(block, Decoration::Block, []);
    b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
    let pointer = b.type_pointer(None, StorageClass::StorageBuffer, block);
    let variable = b.variable(pointer, None, StorageClass::StorageBuffer, None);
    b.decorate(variable, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
    b.decorate(variable, Decoration::Binding, [Operand::LiteralBit32(0)]);
    b.member_name(block, 0, "x");
    b.name(block, "block");
    (variable, block)
}

fn literal_size(b: &mut Builder, main: Word) {
    b.execution_mode(main, ExecutionMode::LocalSize, [8, 1, 1]);
}

fn reflected(build: impl FnOnce(&mut Builder, Word)) -> Result<Interface, SpirvError> {
    reflect(&module(build))
}

#[test]
fn a_variable_can_carry_the_qualifier_of_its_block() {
    let interface = reflected(|b, main| {
        literal_size(b, main);
        let (variable, _) = buffer(b);
        b.decorate(variable, Decoration::NonWritable, []);
    });
    let binding = &interface.unwrap().bindings[0];
    assert_eq!((binding.name.as_str(), binding.access), ("x", Access::ReadOnly));
    assert_eq!((binding.element, binding.stride_bytes), (ElementType::F32, 4));
}

#[test]
fn local_size_id_is_read() {
    let interface = reflected(|b, main| {
        let uint = b.type_int(32, 0);
        let x = b.spec_constant_bit32(uint, 16);
        b.decorate(x, Decoration::SpecId, [Operand::LiteralBit32(5)]);
        let one = b.constant_bit32(uint, 1);
        b.execution_mode_id(main, ExecutionMode::LocalSizeId, [x, one, one]);
    })
    .unwrap();
    let spec = LocalSize::Spec { id: 5, default: 16 };
    let one = LocalSize::Literal(1);
    assert_eq!(interface.local_size, [spec, one, one]);
    assert_eq!(interface.spec_constants[0].name, "local_size_x");
    assert_eq!(interface.local_size_with(&[(5, 32)]), [32, 1, 1]);
}

#[test]
fn what_is_missing_is_said() {
    let cases = [
        (reflected(|_, _| {}), "malformed SPIR-V: no workgroup size"),
        (
            reflected(|b, main| {
                literal_size(b, main);
                let (variable, _) = buffer(b);
                b.module_mut().annotations.retain(|i| i.operands[0] != Operand::IdRef(variable));
            }),
            "malformed SPIR-V: a variable without DescriptorSet",
        ),
        (
            reflected(|b, main| {
                literal_size(b, main);
                b.entry_point(ExecutionModel::GLCompute, main, "other", vec![]);
            }),
            "unsupported SPIR-V: several compute entry points",
        ),
        (
            reflect(&[0x0723_0203, 0x0001_0300, 0, 9, 0]),
            "unsupported SPIR-V: no compute entry point",
        ),
    ];
    for (result, message) in cases {
        assert_eq!(result.unwrap_err().to_string(), message);
    }
}

#[test]
fn types_that_contain_themselves_are_an_error() {
    let interface = reflected(|b, main| {
        literal_size(b, main);
        let (_, block) = buffer(b);
        for instruction in &mut b.module_mut().types_global_values {
            if instruction.class.opcode == Op::TypeStruct {
                instruction.operands[0] = Operand::IdRef(block);
            }
        }
    });
    assert!(matches!(interface, Err(SpirvError::Malformed { .. })), "{interface:?}");
}

#[test]
fn nesting_that_doubles_is_stopped() {
    let interface = reflected(|b, main| {
        literal_size(b, main);
        let mut ty = b.type_float(32, None);
        for _ in 0..60 {
            ty = b.type_struct([ty, ty]);
        }
        let pointer = b.type_pointer(None, StorageClass::Workgroup, ty);
        b.variable(pointer, None, StorageClass::Workgroup, None);
    });
    assert!(matches!(interface, Err(SpirvError::Unsupported { .. })), "{interface:?}");
}

#[test]
fn every_cut_is_an_error() {
    let words = module(|b, main| {
        literal_size(b, main);
        buffer(b);
    });
    assert!(reflect(&words).is_ok());
    for len in 0..words.len() {
        assert!(reflect(&words[..len]).is_err(), "{len} of {} words", words.len());
    }
}

#[test]
fn garbage_is_never_a_panic() {
    let words = module(|b, main| {
        literal_size(b, main);
        let uint = b.type_int(32, 0);
        let two = b.constant_bit32(uint, 2);
        let len = b.spec_constant_op(uint, Op::IMul);
        let expression = b.module_mut().types_global_values.last_mut().unwrap();
        expression.operands.extend([two, two].map(Operand::IdRef));
        let array = b.type_array(uint, len);
        let pointer = b.type_pointer(None, StorageClass::Workgroup, array);
        b.variable(pointer, None, StorageClass::Workgroup, None);
        buffer(b);
    });
    assert_eq!(reflect(&words).unwrap().shared_bytes, 16);
    // Numbers that mean something somewhere: opcodes, ids, word counts, extremes.
    let values = (0..0x180).chain([u32::MAX, 1 << 31, 0xffff, 0x1_0034, 0x6_0034, 0x3_002b]);
    let mut error_count = 0;
    for value in values {
        for at in 0..words.len() {
            let mut altered = words.clone();
            altered[at] = value;
            error_count += usize::from(reflect(&altered).is_err());
            altered[at] = (words[at] & 0xffff_0000) | (value & 0xffff);
            error_count += usize::from(reflect(&altered).is_err());
        }
    }
    assert!(error_count > words.len(), "{error_count} errors");
}
