//! Bad input to the interpreter: each is an error that says what is wrong, and none is a panic.

use std::time::Duration;

use vklab::device::{
    Binding, Command, Device, DeviceError, Extent, Hazard, Kernel, Outcome, Recording,
};
use vklab::glsl::{Build, Compiler, CompilerOptions, Library, Source};
use vklab::soft::{Soft, SoftOptions};

fn compiler() -> Compiler {
    Compiler::new(CompilerOptions::default()).expect("a compiler")
}

fn soft() -> Soft {
    Soft::open(&SoftOptions { fuel: 1 << 16, ..SoftOptions::default() }).expect("opens")
}

fn kernel(words: Vec<u32>, bindings: &[(u32, u32)]) -> Kernel {
    Kernel {
        name: "k".to_owned(),
        optimized: words.clone(),
        debug: words,
        entry: "main".to_owned(),
        bindings: bindings.to_vec(),
        push_bytes: 0,
        spec: Vec::new(),
        subgroup_size: None,
        capabilities: Vec::new(),
    }
}

fn compiled(text: &'static str) -> Vec<u32> {
    let build = Build::new(Source::new("k.comp", text));
    compiler().compile(&build, &Library).expect("it compiles").debug
}

/// What loading says, which must be an error.
fn refused(words: Vec<u32>) -> String {
    match soft().load(&kernel(words, &[])) {
        Ok(_) => panic!("it was loaded"),
        Err(error) => error.to_string(),
    }
}

/// A module of the usual head, types, and a body, assembled without a look at its sense.
fn assembled(size: &str, globals: &str, body: &str) -> Vec<u32> {
    let text = format!(
        "OpCapability Shader
OpCapability Float64
%glsl = OpExtInstImport \"GLSL.std.450\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize {size}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%double = OpTypeFloat 64
%one = OpConstant %float 1
%done = OpConstant %double 1
%pointer = OpTypePointer Function %double
{globals}
%main = OpFunction %void None %fn
%entry = OpLabel
{body}
OpReturn
OpFunctionEnd
"
    );
    compiler().assemble(&Source::new("k.spvasm", text), 3).expect("it assembles")
}

/// Dispatches with one buffer of as many bytes at 0.0.
fn run(words: Vec<u32>, bytes: u64, groups: [u32; 3]) -> Result<Outcome, DeviceError> {
    let mut soft = soft();
    let id = soft.load(&kernel(words, &[(0, 0)]))?;
    let buffer = soft.allocate("y", bytes)?;
    let extent = Extent { offset_bytes: 0, range_bytes: bytes, logical_bytes: bytes };
    let commands = vec![
        Command::Fill { buffer, offset_bytes: 0, len_bytes: bytes, word: 0 },
        Command::Dispatch {
            kernel: id,
            bindings: vec![Binding { set: 0, binding: 0, buffer, extent }],
            push: Vec::new(),
            groups,
        },
        Command::Download { buffer, offset_bytes: 0, len_bytes: bytes },
    ];
    let ticket = soft.submit(&Recording { commands, schedule: 0 })?;
    soft.wait(ticket, Duration::from_secs(1))
}

#[test]
fn words_that_are_no_module_are_refused() {
    let sound = compiled("#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n");
    for words in [vec![], vec![1, 2, 3], vec![0; 64], sound[..sound.len() - 3].to_vec()] {
        let said = refused(words);
        assert!(said.contains("SPIR-V"), "{said}");
    }
}

#[test]
fn what_the_interpreter_lacks_is_named_all_at_once() {
    let words = assembled("1 1 1", "%image = OpTypeImage %float 2D 0 0 0 1 Unknown", "");
    let head = compiler()
        .assemble(
            &Source::new("h", "OpCapability Tessellation\nOpCapability SampledRect\n".to_owned()),
            3,
        )
        .expect("it assembles");
    let all = [&words[..5], &head[5..], &words[5..]].concat();
    let said = refused(all);
    for part in ["capability Tessellation", "capability SampledRect", "images and samplers"] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
}

const LENGTH: &str = "#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Y { uint n; uint pad[3]; uvec4 y[]; };
void main() {
    n = y.length() + 7;
    pad[0] = y[0].x;
}
";

#[test]
fn a_buffer_too_small_for_its_array_has_none_of_it() {
    let outcome = run(compiled(LENGTH), 16, [1; 3]).expect("it ends");
    assert_eq!(outcome.downloads[0][..4], [7, 0, 0, 0]);
    let found: Vec<_> =
        outcome.observations.iter().map(|seen| (seen.hazard, seen.act.line)).collect();
    assert_eq!(found, [(Hazard::OobRead, 6)], "{:?}", outcome.observations);
}

#[test]
fn a_dispatch_of_no_workgroups_is_refused() {
    for groups in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
        let said = run(compiled(LENGTH), 16, groups).expect_err("it is refused").to_string();
        assert!(said.contains("0 workgroups"), "{said}");
    }
}

#[test]
fn a_kernel_that_never_ends_is_stopped_where_it_loops() {
    let text = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer Y { uint y[]; };
void main() {
    y[0] = 1;
    while (y[gl_LocalInvocationID.x] < 2) {
        y[1] += 2;
    }
}
";
    let error = run(compiled(text), 16, [1; 3]).expect_err("it is stopped");
    assert!(matches!(error, DeviceError::Endless { .. }), "{error}");
    let said = error.to_string();
    assert!(["k.comp:6", "k.comp:7"].iter().any(|at| said.contains(at)), "{said}");
}

#[test]
fn a_workgroup_has_a_size_that_can_be() {
    let most = u32::MAX;
    for size in [format!("{most} {most} {most}"), "0 1 1".to_owned(), "128 128 1".to_owned()] {
        let said = refused(assembled(&size, "", ""));
        assert!(said.contains("invocations in a workgroup"), "{size}: {said}");
    }
}

#[test]
fn a_value_of_one_type_used_as_another_is_refused() {
    // The second word of the operand would be the result's own register.
    let sum = "%z = OpFAdd %double %done %done
%x = OpFAdd %float %one %one
%y = OpFAdd %double %done %x";
    // The second word of the value lies behind the last register.
    let store = "%v = OpVariable %pointer Function\n%x = OpFAdd %float %one %one\nOpStore %v %x";
    for body in [sum, store] {
        let said = refused(assembled("1 1 1", "", body));
        assert!(said.contains("used as one of a larger type"), "{body}: {said}");
    }
}

#[test]
fn an_extended_instruction_has_all_its_operands() {
    let mut words = assembled("1 1 1", "", "%x = OpExtInst %double %glsl FMax %done %done");
    // No assembler would leave the second one out.
    let whole = 7 << 16 | 12;
    let at = words.iter().position(|word| *word == whole).expect("an OpExtInst");
    words[at] = 6 << 16 | 12;
    words.remove(at + 6);
    let said = refused(words);
    assert!(said.contains("without an operand"), "{said}");
}

#[test]
fn what_takes_more_memory_than_a_workgroup_has_is_refused() {
    let globals = "%size = OpConstant %uint 60000
%array = OpTypeArray %float %size
%inside = OpTypePointer Function %array";
    let body = "%v = OpVariable %inside Function";
    let said = refused(assembled("8192 1 1", globals, body));
    assert!(said.contains("60000 registers") && said.contains("1,024 MiB"), "{said}");
}

#[test]
fn a_part_beyond_all_registers_is_refused() {
    // As many words as overflow 32 bits, before an element that nobody has room for.
    let globals = "%some = OpConstant %uint 60000
%many = OpConstant %uint 4000000000
%inner = OpTypeArray %float %some
%outer = OpTypeArray %inner %many
%inside = OpTypePointer Function %outer";
    let body = "%v = OpVariable %inside Function
%x = OpLoad %outer %v
%y = OpCompositeExtract %inner %x 3999999999";
    let said = refused(assembled("1 1 1", globals, body));
    assert!(said.contains("has no values"), "{said}");
    let constant = "%p = OpSpecConstantOp %inner CompositeExtract %u 3999999999";
    let globals = format!("{globals}\n%u = OpUndef %inner\n{constant}");
    let said = refused(assembled("1 1 1", &globals, ""));
    assert!(said.contains("SPIR-V"), "{said}");
}

#[test]
fn a_vector_of_as_many_components_as_a_word_counts_ends_soon() {
    let globals = "%wide = OpTypeVector %float 4294967295
%block = OpTypeStruct %wide
%in_block = OpTypePointer StorageBuffer %block
%in_wide = OpTypePointer StorageBuffer %wide
%zero = OpConstant %uint 0
%buffer = OpVariable %in_block StorageBuffer";
    let head = "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\n";
    let body = "%at = OpAccessChain %in_wide %buffer %zero\nOpStore %at %one";
    let said = refused(assembled("1 1 1", &format!("{head}{globals}"), body));
    assert!(said.contains("has no values"), "{said}");
}
