//! The Vulkan device on lavapipe, which every machine that tests this crate has.
#![cfg(feature = "glsl")]

use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use vklab::device::{
    Binding, BufferId, Command, Device, DeviceError, Extent, Kernel, KernelId, Outcome, Recording,
    SpecValue,
};
use vklab::vulkan::{Found, OpenOptions, Validation, VulkanDevice, enumerate, open};

const LONG: Duration = Duration::from_secs(60);
/// Set in the processes that some tests start from themselves.
const CHILD: &str = "VKLAB_TEST_CHILD";

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

fn validated() -> VulkanDevice {
    let options = OpenOptions { validate: Validation::On, ..OpenOptions::default() };
    open(&lavapipe(), &options).expect("the tests need the validation layer")
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
    let ticket = device.submit(&Recording { commands }).expect("submits");
    device.wait(ticket, LONG).expect("finishes")
}

fn refusal(device: &mut VulkanDevice, command: Command) -> DeviceError {
    device.submit(&Recording { commands: vec![command] }).expect_err("is refused")
}

#[test]
fn devices_are_listed_with_what_they_can_do() {
    let found = lavapipe();
    assert_eq!(found.left_out, None);
    assert_eq!(found.info.kind, "cpu");
    let limits = found.info.limits;
    assert!(limits.workgroup_invocations >= 128);
    assert!(limits.shared_bytes >= 16384);
    assert!(limits.storage_range_bytes >= 1 << 27);
    assert!(limits.subgroup_size.is_power_of_two());
    assert_eq!((limits.timestamp_bits, limits.timestamp_period_ns), (64, 1.0));
    let features = found.info.features;
    assert!(features.storage_f16 && features.arithmetic_f16 && features.float64);
    assert!(features.atomic_add_f32 && features.subgroup_arithmetic);
}

#[test]
fn upload_dispatch_download() {
    let mut device = device();
    let scale = device.load(&scale()).expect("loads");
    let x = device.allocate("x", 400).expect("allocates");
    let data: Vec<u32> = (0..100).collect();
    let outcome = run(
        &mut device,
        vec![
            upload(x, &data),
            Command::Barrier,
            dispatch(scale, vec![bind(0, x, 0, 400)], &[100, 5], 2),
            Command::Barrier,
            download(x, 0, 400),
            download(x, 40, 8),
        ],
    );
    let want: Vec<u32> = data.iter().map(|x| x * 2 + 5).collect();
    assert_eq!(words(&outcome.downloads[0]), want);
    assert_eq!(words(&outcome.downloads[1]), want[10..12]);
    assert!(outcome.messages.is_empty() && outcome.timestamps_ns.is_empty());
}

#[test]
fn fills_and_undefined_parts() {
    let mut device = device();
    let x = device.allocate("x", 32).expect("allocates");
    let outcome = run(
        &mut device,
        vec![
            Command::Fill { buffer: x, offset_bytes: 0, len_bytes: 32, word: 1 },
            Command::Barrier,
            Command::Undefine { buffer: x, offset_bytes: 8, len_bytes: 12, pattern: 0x7fc0_1234 },
            Command::Barrier,
            download(x, 0, 32),
            Command::Retire { buffer: x },
        ],
    );
    let p = 0x7fc0_1234;
    assert_eq!(words(&outcome.downloads[0]), [1, 1, p, p, p, 1, 1, 1]);
}

#[test]
fn thousands_of_dispatches_in_one_recording() {
    let mut device = device();
    let scale = device.load(&scale()).expect("loads");
    let x = device.allocate("x", 256).expect("allocates");
    let mut commands = vec![upload(x, &[0; 64]), Command::Barrier];
    let mut want = 0_u32;
    for add in 0..3000 {
        commands.push(dispatch(scale, vec![bind(0, x, 0, 256)], &[64, add], 1));
        commands.push(Command::Barrier);
        want = want.wrapping_mul(2).wrapping_add(add);
    }
    commands.push(download(x, 0, 256));
    assert_eq!(words(&run(&mut device, commands).downloads[0]), [want; 64]);
}

#[test]
fn dispatches_without_barriers_split_too() {
    let mut device = device();
    let scale = device.load(&scale()).expect("loads");
    let x = device.allocate("x", 64 * 1300).expect("allocates");
    let mut commands = vec![
        Command::Fill { buffer: x, offset_bytes: 0, len_bytes: 64 * 1300, word: 3 },
        Command::Barrier,
    ];
    for part in 0..1300 {
        commands.push(dispatch(scale, vec![bind(0, x, part * 64, 64)], &[16, 1], 1));
    }
    commands.extend([Command::Barrier, download(x, 0, 64 * 1300)]);
    let got = words(&run(&mut device, commands).downloads[0]);
    assert!(got.iter().all(|&word| word == 7));
}

#[test]
fn a_binding_shows_its_range_and_no_more() {
    let mut device = device();
    let source = "#version 450
        layout(local_size_x = 1) in;
        layout(binding = 0) buffer X { uint x[]; };
        layout(binding = 1) buffer Y { uint y[]; };
        void main() { y[0] = uint(x.length()); y[1] = x[0]; }";
    let length = device.load(&kernel("length", source, 2, 0)).expect("loads");
    let x = device.allocate("x", 1024).expect("allocates");
    let y = device.allocate("y", 8).expect("allocates");
    let align = device.info().limits.storage_offset_alignment;
    let data: Vec<u32> = (0..256).collect();
    let outcome = run(
        &mut device,
        vec![
            upload(x, &data),
            Command::Barrier,
            dispatch(length, vec![bind(1, y, 0, 8), bind(0, x, 4 * align, 20)], &[], 1),
            Command::Barrier,
            download(y, 0, 8),
        ],
    );
    assert_eq!(words(&outcome.downloads[0]), [5, u32::try_from(align).expect("is small")]);
}

#[test]
fn bindings_in_several_sets() {
    let mut device = device();
    let source = "#version 450
        layout(local_size_x = 1) in;
        layout(set = 0, binding = 3) buffer X { uint x; };
        layout(set = 2, binding = 0) buffer Y { uint y; };
        layout(set = 2, binding = 1) buffer Z { uint z; };
        void main() { z = x * 10 + y; }";
    let mut sets = kernel("sets", source, 0, 0);
    sets.bindings = vec![(0, 3), (2, 0), (2, 1)];
    let sets = device.load(&sets).expect("loads");
    let x = device.allocate("x", 256).expect("allocates");
    let binding = |set, binding, offset| Binding { set, ..bind(binding, x, offset, 4) };
    let outcome = run(
        &mut device,
        vec![
            Command::Upload { buffer: x, offset_bytes: 0, data: bytes(&[4]) },
            Command::Upload { buffer: x, offset_bytes: 64, data: bytes(&[2]) },
            Command::Barrier,
            dispatch(sets, vec![binding(2, 1, 128), binding(0, 3, 0), binding(2, 0, 64)], &[], 1),
            Command::Barrier,
            download(x, 128, 4),
        ],
    );
    assert_eq!(words(&outcome.downloads[0]), [42]);
}

#[test]
fn specialization_constants_replace_defaults() {
    let mut device = device();
    let mut times_nine = scale();
    times_nine.spec = vec![SpecValue { id: 7, bits: 9 }];
    let nine = device.load(&times_nine).expect("loads");
    let two = device.load(&scale()).expect("loads");
    assert_ne!(nine, two);
    assert_eq!(device.load(&times_nine).expect("loads"), nine, "the same kernel is built once");
    let x = device.allocate("x", 4).expect("allocates");
    let binding = vec![bind(0, x, 0, 4)];
    let outcome = run(
        &mut device,
        vec![
            upload(x, &[1]),
            Command::Barrier,
            dispatch(nine, binding.clone(), &[1, 0], 1),
            Command::Barrier,
            dispatch(two, binding, &[1, 1], 1),
            Command::Barrier,
            download(x, 0, 4),
        ],
    );
    assert_eq!(words(&outcome.downloads[0]), [19]);
}

#[test]
fn timestamps_grow() {
    let mut device = device();
    let scale = device.load(&scale()).expect("loads");
    let x = device.allocate("x", 1 << 20).expect("allocates");
    for _ in 0..3 {
        let mut commands = vec![Command::Timestamp];
        for _ in 0..100 {
            commands.extend([
                dispatch(scale, vec![bind(0, x, 0, 1 << 20)], &[1 << 18, 1], 1 << 12),
                Command::Barrier,
                Command::Timestamp,
            ]);
        }
        let times = run(&mut device, commands).timestamps_ns;
        assert_eq!(times.len(), 101);
        assert_eq!(times[0], 0.0);
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
        assert!(times[100] < 60e9);
    }
}

#[test]
fn submissions_overlap_and_finish_in_any_order_of_waiting() {
    let mut device = device();
    let x = device.allocate("x", 4).expect("allocates");
    let y = device.allocate("y", 4).expect("allocates");
    let of = |buffer, word| Recording {
        commands: vec![upload(buffer, &[word]), Command::Barrier, download(buffer, 0, 4)],
    };
    let first = device.submit(&of(x, 1)).expect("submits");
    let second = device.submit(&of(y, 2)).expect("submits");
    assert_eq!(words(&device.wait(second, LONG).expect("finishes").downloads[0]), [2]);
    let end = Instant::now() + LONG;
    while !device.is_done(first).expect("is known") {
        assert!(Instant::now() < end);
    }
    let busy = device.free(x).expect_err("nobody waited for the first submission");
    assert!(busy.to_string().contains("nobody has waited for"), "{busy}");
    assert_eq!(words(&device.wait(first, LONG).expect("finishes").downloads[0]), [1]);
    assert!(matches!(device.wait(first, LONG), Err(DeviceError::Driver { .. })));
    device.free(x).expect("is free now");
    assert!(matches!(device.free(x), Err(DeviceError::Driver { .. })));
}

#[test]
fn malformed_recordings_are_refused() {
    let mut device = device();
    let scale = device.load(&scale()).expect("loads");
    let x = device.allocate("x", 64).expect("allocates");
    let gone = device.allocate("gone", 64).expect("allocates");
    device.free(gone).expect("frees");
    let whole = || vec![bind(0, x, 0, 64)];
    let upload_at =
        |offset_bytes, len| Command::Upload { buffer: x, offset_bytes, data: vec![0; len] };
    let fill =
        |offset_bytes, len_bytes| Command::Fill { buffer: x, offset_bytes, len_bytes, word: 0 };
    let cases = [
        (upload_at(0, 0), "multiples of 4"),
        (upload_at(0, 6), "multiples of 4"),
        (upload_at(2, 4), "multiples of 4"),
        (upload_at(64, 4), "leaves buffer"),
        (fill(0, 0), "multiples of 4"),
        (fill(60, 8), "leaves buffer"),
        (fill(u64::MAX - 3, 8), "leaves buffer"),
        (download(x, 4, 64), "leaves buffer"),
        (download(gone, 0, 4), "doesn't exist"),
        (Command::Retire { buffer: gone }, "doesn't exist"),
        (dispatch(KernelId(9999), whole(), &[0, 0], 1), "kernel 9999 doesn't exist"),
        (dispatch(scale, whole(), &[0], 1), "8 bytes of push constants, the dispatch 4"),
        (dispatch(scale, whole(), &[0, 0], 0), "0 workgroups along x"),
        (dispatch(scale, vec![], &[0, 0], 1), "binding 0.0 of kernel 'scale' is missing"),
        (dispatch(scale, [whole(), whole()].concat(), &[0, 0], 1), "given twice"),
        (dispatch(scale, vec![bind(1, x, 0, 64)], &[0, 0], 1), "no binding 0.1"),
        (dispatch(scale, vec![bind(0, x, 0, 68)], &[0, 0], 1), "leave buffer"),
        (dispatch(scale, vec![bind(0, x, 0, 0)], &[0, 0], 1), "a range of 0 bytes"),
        (dispatch(scale, vec![bind(0, x, 6, 4)], &[0, 0], 1), "no multiple of 4"),
        (dispatch(scale, vec![bind(0, gone, 0, 4)], &[0, 0], 1), "doesn't exist"),
    ];
    for (command, want) in cases {
        let error = refusal(&mut device, command.clone());
        assert!(matches!(error, DeviceError::Malformed { .. }), "{command:?}: {error}");
        assert!(error.to_string().contains(want), "{command:?}: {error}");
        assert!(error.to_string().contains("command 0"), "{error}");
    }
    // The device is as good as before.
    run(&mut device, vec![dispatch(scale, whole(), &[16, 0], 1)]);
}

#[test]
fn limits_are_named_with_their_number() {
    let mut device = device();
    let limits = device.info().limits;
    let loaded = device.load(&scale()).expect("loads");
    let x = device.allocate("x", 64).expect("allocates");
    let too_many = limits.workgroup_count[0] + 1;
    let cases = [
        (dispatch(loaded, vec![bind(0, x, 0, 64)], &[0, 0], too_many), limits.workgroup_count[0]),
        (dispatch(loaded, vec![bind(0, x, 4, 4)], &[0, 0], 1), 16),
    ];
    for (command, number) in cases {
        let error = refusal(&mut device, command);
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(&number.to_string()), "{error}");
    }
    let error = device.allocate("absurd", 1 << 50).expect_err("is too large");
    assert!(error.to_string().contains(&limits.allocation_bytes.to_string()), "{error}");
    assert!(device.allocate("odd", 6).is_err() && device.allocate("empty", 0).is_err());
}

#[test]
fn kernels_that_cannot_run_are_refused() {
    let mut device = device();
    let refused = |device: &mut VulkanDevice, change: &dyn Fn(&mut Kernel), want: &str| {
        let mut kernel = scale();
        change(&mut kernel);
        let error = device.load(&kernel).expect_err(want);
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(want), "{error}");
    };
    refused(&mut device, &|k| k.optimized.clear(), "is not a SPIR-V module");
    refused(&mut device, &|k| k.optimized[0] = 7, "is not a SPIR-V module");
    refused(&mut device, &|k| k.optimized[1] = 0x0001_0900, "is SPIR-V 1.9");
    refused(&mut device, &|k| k.bindings = vec![(0, 0), (0, 0)], "lists a binding twice");
    refused(&mut device, &|k| k.bindings = vec![(99, 0)], "descriptor set 99");
    refused(&mut device, &|k| k.push_bytes = 1 << 20, "push constants");
    refused(&mut device, &|k| k.spec = vec![SpecValue { id: 7, bits: 1 }; 2], "twice");
    refused(&mut device, &|k| k.entry = "ma\0in".into(), "NUL");
}

#[test]
fn a_correct_run_has_no_validation_messages() {
    let mut device = validated();
    let scale = device.load(&scale()).expect("loads");
    for round in 1..4_u32 {
        let x = device.allocate("x", 256 * u64::from(round)).expect("allocates");
        let mut commands = vec![Command::Timestamp, upload(x, &[round; 64]), Command::Barrier];
        for _ in 0..300 * round {
            commands.push(dispatch(scale, vec![bind(0, x, 0, 256)], &[64, 1], 1));
            commands.push(Command::Barrier);
        }
        commands.extend([Command::Timestamp, download(x, 0, 256)]);
        assert_eq!(run(&mut device, commands).messages, Vec::<String>::new());
        device.free(x).expect("frees");
    }
}

#[test]
fn the_validation_layer_speaks_through_outcomes() {
    let mut device = validated();
    let mut wrong = scale();
    // The module's block has 8 bytes.
    wrong.push_bytes = 4;
    device.load(&wrong).expect("lavapipe doesn't mind");
    let messages = run(&mut device, Vec::new()).messages;
    assert!(messages.iter().any(|message| message.contains("VUID-")), "{messages:?}");
    assert!(run(&mut device, Vec::new()).messages.is_empty(), "each comes once");
}

#[test]
fn pipelines_are_kept_between_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = OpenOptions { cache_dir: Some(folder.path().into()), ..OpenOptions::default() };
    let use_it = || {
        let mut device = open(&lavapipe(), &options).expect("opens");
        device.load(&scale()).expect("loads");
    };
    use_it();
    let files: Vec<_> = std::fs::read_dir(folder.path().join("pipelines"))
        .expect("the folder was made")
        .map(|entry| entry.expect("is readable").path())
        .collect();
    let [file] = &files[..] else { panic!("one file, not {files:?}") };
    let good = std::fs::read(file).expect("is readable");
    let mut flipped = good.clone();
    *flipped.last_mut().expect("is not empty") ^= 1;
    for bad in [&good[..good.len() / 2], &flipped, b"", b"vklab pipelines 1\n"] {
        std::fs::write(file, bad).expect("is writable");
        use_it();
        assert_eq!(std::fs::read(file).expect("is readable"), good, "the file is made again");
    }
    let before = std::fs::metadata(file).expect("is there").modified().expect("has a time");
    use_it();
    let after = std::fs::metadata(file).expect("is there").modified().expect("has a time");
    assert_eq!(before, after, "an unchanged cache is not written");
}

/// Starts a test again in a process of its own, which can be killed when a kernel can't, and
/// returns what it printed.
fn in_child(test: &str, env: &[(&str, &str)], until: &str) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Process::new(program)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the child starts");
    let out = child.stdout.take().expect("is piped");
    let (send, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        use std::io::BufRead;
        for line in std::io::BufReader::new(out).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    let end = Instant::now() + LONG;
    let mut text = String::new();
    while let Ok(line) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
        text.push_str(&line);
        text.push('\n');
        if line.contains(until) {
            break;
        }
    }
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().expect("the child ends");
    text
}

#[test]
fn a_kernel_that_never_ends_times_out() {
    if std::env::var_os(CHILD).is_none() {
        let text = in_child("a_kernel_that_never_ends_times_out", &[], "dropped");
        assert!(text.contains("dropped"), "{text}");
        return;
    }
    let mut device = device();
    let source = "#version 450
        layout(local_size_x = 1) in;
        layout(binding = 0) buffer X { uint x; };
        void main() { while (atomicOr(x, 0) == 0) {} }";
    let endless = device.load(&kernel("endless", source, 1, 0)).expect("loads");
    let x = device.allocate("x", 4).expect("allocates");
    let commands =
        vec![upload(x, &[0]), Command::Barrier, dispatch(endless, vec![bind(0, x, 0, 4)], &[], 1)];
    let ticket = device.submit(&Recording { commands }).expect("submits");
    let error = device.wait(ticket, Duration::from_millis(300)).expect_err("never ends");
    assert!(matches!(error, DeviceError::Timeout { .. }), "{error}");
    assert!(error.to_string().contains("llvmpipe"), "{error}");
    assert!(matches!(device.wait(ticket, LONG), Err(DeviceError::Lost { .. })));
    assert!(matches!(device.allocate("y", 4), Err(DeviceError::Lost { .. })));
    assert!(matches!(device.submit(&Recording::default()), Err(DeviceError::Lost { .. })));
    let before = Instant::now();
    drop(device);
    assert!(before.elapsed() < Duration::from_secs(1));
    println!("dropped");
}

#[test]
fn memory_runs_out_with_an_error() {
    let mut device = device();
    let mut held = Vec::new();
    let error = loop {
        match device.allocate("hoard", 1 << 30) {
            Ok(buffer) => held.push(buffer),
            Err(error) => break error,
        }
        assert!(held.len() < 1 << 14, "16 TiB were handed out");
    };
    let DeviceError::OutOfMemory { device: name, what, bytes } = error else { panic!("{error}") };
    assert!(name.contains("llvmpipe") && what.contains("hoard"), "{name} {what}");
    assert_eq!(bytes, 1 << 30);
    for buffer in held {
        device.free(buffer).expect("frees");
    }
    let x = device.allocate("x", 4).expect("allocates");
    let commands = vec![upload(x, &[8]), Command::Barrier, download(x, 0, 4)];
    assert_eq!(words(&run(&mut device, commands).downloads[0]), [8]);
}

#[test]
fn no_driver_says_how_to_get_one() {
    if std::env::var_os(CHILD).is_none() {
        // Loaders know one or the other.
        let nowhere = [("VK_DRIVER_FILES", "/nowhere"), ("VK_ICD_FILENAMES", "/nowhere")];
        let text = in_child("no_driver_says_how_to_get_one", &nowhere, "said so");
        assert!(text.contains("said so"), "{text}");
        return;
    }
    let error = enumerate().expect_err("no driver can be found");
    assert!(matches!(error, DeviceError::NoDriver), "{error}");
    println!("said so");
}

#[test]
fn a_missing_validation_layer_says_how_to_get_it() {
    if std::env::var_os(CHILD).is_none() {
        let nowhere = [("VK_LAYER_PATH", "/nowhere")];
        let text = in_child("a_missing_validation_layer_says_how_to_get_it", &nowhere, "said so");
        assert!(text.contains("said so"), "{text}");
        return;
    }
    let options = OpenOptions { validate: Validation::On, ..OpenOptions::default() };
    let error = open(&lavapipe(), &options).expect_err("no layer can be found");
    assert!(error.to_string().contains("vulkan-validationlayers"), "{error}");
    println!("said so");
}

#[test]
fn a_device_can_move_to_another_thread() {
    let mut device = device();
    let x = device.allocate("x", 4).expect("allocates");
    let commands = vec![upload(x, &[3]), Command::Barrier, download(x, 0, 4)];
    let got = std::thread::spawn(move || run(&mut device, commands)).join().expect("runs");
    assert_eq!(words(&got.downloads[0]), [3]);
}
