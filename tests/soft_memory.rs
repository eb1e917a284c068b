//! What a sanitised run takes of memory. The figure is the process's, so this test has one of its own.
#![cfg(target_os = "linux")]

use std::fs;
use std::time::Duration;

use vklab::device::{Binding, BufferId, Command, Device, Extent, Kernel, Recording};
use vklab::glsl::{Build, Compiler, CompilerOptions, Library, Source};
use vklab::soft::{Soft, SoftOptions};
use vklab::spirv;

const SAXPY: &str = "#version 450
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    y[i] = 2.0 * x[i] + y[i];
}
";

const MIB: u64 = 1 << 20;
/// Of each of two.
const BUFFER_BYTES: u64 = 32 * MIB;

/// The most that this process ever held, in bytes.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the process's status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("its peak");
    let kib = line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
    kib.expect("a number of KiB") * 1024
}

#[test]
fn a_sanitised_run_takes_at_most_eight_times_its_buffers() {
    let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
    let build = Build::new(Source::new("saxpy.comp", SAXPY));
    let modules = compiler.compile(&build, &Library).expect("a kernel that compiles");
    let interface = spirv::reflect(&modules.debug).expect("a module that can be read");
    let mut soft = Soft::open(&SoftOptions::default()).expect("the usual options");
    let kernel = Kernel {
        name: "saxpy".to_owned(),
        optimized: modules.optimized,
        debug: modules.debug,
        entry: interface.entry,
        bindings: vec![(0, 0), (0, 1)],
        push_bytes: 0,
        spec: Vec::new(),
        subgroup_size: None,
        capabilities: interface.capabilities,
    };
    let kernel = soft.load(&kernel).expect("a kernel that it can run");
    let buffers = ["x", "y"].map(|name| soft.allocate(name, BUFFER_BYTES).expect("memory"));
    let fill = |buffer: BufferId, value: f32| Command::Fill {
        buffer,
        offset_bytes: 0,
        len_bytes: BUFFER_BYTES,
        word: value.to_bits(),
    };
    let binding = |binding: u32, buffer: BufferId| Binding {
        set: 0,
        binding,
        buffer,
        extent: Extent { offset_bytes: 0, range_bytes: BUFFER_BYTES, logical_bytes: BUFFER_BYTES },
    };
    let groups = u32::try_from(BUFFER_BYTES / 4 / 256).expect("a dispatch that fits");
    let commands = vec![
        fill(buffers[0], 3.0),
        fill(buffers[1], 1.0),
        Command::Barrier,
        Command::Dispatch {
            kernel,
            bindings: vec![binding(0, buffers[0]), binding(1, buffers[1])],
            push: Vec::new(),
            groups: [groups, 1, 1],
        },
        Command::Barrier,
        Command::Download { buffer: buffers[1], offset_bytes: BUFFER_BYTES - 4, len_bytes: 4 },
    ];
    let ticket = soft.submit(&Recording { commands, schedule: 0 }).expect("a sound recording");
    let outcome = soft.wait(ticket, Duration::from_secs(60)).expect("it is done");
    assert_eq!(outcome.downloads, [7f32.to_le_bytes()], "the last element");
    assert!(outcome.observations.is_empty(), "{:?}", outcome.observations);
    let (peak, buffers) = (peak_bytes(), 2 * BUFFER_BYTES);
    println!("{} MiB for {} MiB of buffers", peak / MIB, buffers / MIB);
    assert!(peak <= 8 * buffers + 64 * MIB, "{} MiB at most", peak / MIB);
    assert!(peak > buffers, "the buffers are in it");
}
