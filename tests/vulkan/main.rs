//! The Vulkan device on lavapipe, which every machine that tests this crate has.
#![cfg(feature = "glsl")]

mod recordings;
mod refusals;

use std::thread;
use std::time::Duration;

use vklab::device::{
    Binding, BufferId, Command, Device, DeviceError, Extent, Kernel, KernelId, Outcome, Recording,
};
use vklab::vulkan::{Found, OpenOptions, Validation, VulkanDevice, enumerate, open};

const LONG: Duration = Duration::from_secs(60);

fn lavapipe() -> Found {
    let found = enumerate().expect("the tests need lavapipe (mesa-vulkan-drivers)");
    found
        .into_iter()
        .find(|device| device.info.driver == "llvmpipe")
        .expect("the tests need lavapipe (mesa-vulkan-drivers); a driver is there, but another one")
}

fn device() -> VulkanDevice {
    open(&lavapipe(), &OpenOptions::default()).expect("lavapipe opens")
}

/// `None`, and said so, where the Khronos layer isn't installed.
fn validated() -> Option<VulkanDevice> {
    let options = OpenOptions { validate: Validation::On, ..OpenOptions::default() };
    match open(&lavapipe(), &options) {
        Ok(device) => Some(device),
        Err(error @ DeviceError::Unsupported { .. }) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn kernel(name: &str, source: &str, bindings: u32, push_bytes: u32) -> Kernel {
    let compiler = shaderc::Compiler::new().expect("shaderc starts");
    let mut options = shaderc::CompileOptions::new().expect("shaderc takes options");
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_1 as u32);
    let module = compiler
        .compile_into_spirv(source, shaderc::ShaderKind::Compute, name, "main", Some(&options))
        .expect("the test's GLSL compiles");
    Kernel {
        name: name.into(),
        optimized: module.as_binary().to_vec(),
        debug: Vec::new(),
        entry: "main".into(),
        bindings: (0..bindings).map(|binding| (0, binding)).collect(),
        push_bytes,
        spec: Vec::new(),
        subgroup_size: None,
        capabilities: vec!["Shader".into()],
    }
}

/// `x[i] = x[i] * K + add`, K a specialization constant with default 2.
fn scale() -> Kernel {
    let source = "#version 450
        layout(local_size_x = 64) in;
        layout(constant_id = 7) const uint K = 2;
        layout(binding = 0) buffer X { uint x[]; };
        layout(push_constant) uniform P { uint len; uint add; };
        void main() {
            uint i = gl_GlobalInvocationID.x;
            if (i < len) x[i] = x[i] * K + add;
        }";
    kernel("scale", source, 1, 8)
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn bind(binding: u32, buffer: BufferId, offset_bytes: u64, range_bytes: u64) -> Binding {
    let extent = Extent { offset_bytes, range_bytes, logical_bytes: range_bytes };
    Binding { set: 0, binding, buffer, extent }
}

fn dispatch(kernel: KernelId, bindings: Vec<Binding>, push: &[u32], groups: u32) -> Command {
    Command::Dispatch { kernel, bindings, push: bytes(push), groups: [groups, 1, 1] }
}

fn upload(buffer: BufferId, data: &[u32]) -> Command {
    Command::Upload { buffer, offset_bytes: 0, data: bytes(data) }
}

fn download(buffer: BufferId, offset_bytes: u64, len_bytes: u64) -> Command {
    Command::Download { buffer, offset_bytes, len_bytes }
}

fn run(device: &mut VulkanDevice, commands: Vec<Command>) -> Outcome {
    let ticket = device.submit(&Recording { commands, ..Recording::default() }).expect("submits");
    device.wait(ticket, LONG).expect("finishes")
}

fn refusal(device: &mut VulkanDevice, command: Command) -> DeviceError {
    device.submit(&Recording { commands: vec![command], schedule: 0 }).expect_err("is refused")
}

/// The loader keeps lists for the whole process; see `src/vulkan/loader.rs`.
#[test]
fn devices_come_and_go_while_others_work() {
    let kernel = scale();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..4 {
                    device().load(&kernel).expect("it loads");
                }
            });
        }
    });
}
