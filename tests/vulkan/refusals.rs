//! What is refused, and what outlives the device that refused it.

use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use vklab::device::{Command, Device, DeviceError, Kernel, KernelId, Recording, SpecValue};
use vklab::vulkan::{OpenOptions, Validation, VulkanDevice, enumerate, open};

use super::{
    LONG, bind, device, dispatch, download, kernel, lavapipe, refusal, run, scale, upload,
    validated, words,
};

/// Set in the processes that some tests start from themselves.
const CHILD: &str = "VKLAB_TEST_CHILD";

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
    let most = device.info().limits.subgroup_size_max;
    for size in [0, 3, 2 * most] {
        let want = format!("a subgroup size of {size}; this device lets one require");
        refused(&mut device, &|k| k.subgroup_size = Some(size), &want);
    }
}

#[test]
fn a_kernel_runs_at_the_subgroup_size_that_it_requires() {
    let mut device = validated().unwrap_or_else(device);
    let sizes: Vec<u32> = device.info().subgroup_sizes().collect();
    assert!(sizes.contains(&device.info().limits.subgroup_size), "{sizes:?}");
    let source = "#version 450
        #extension GL_KHR_shader_subgroup_basic : require
        layout(local_size_x = 64) in;
        layout(binding = 0) buffer X { uint x[]; };
        void main() { x[gl_GlobalInvocationID.x] = gl_SubgroupSize; }";
    for size in sizes {
        let kernel = Kernel { subgroup_size: Some(size), ..kernel("size", source, 1, 0) };
        let kernel = device.load(&kernel).expect("loads");
        let x = device.allocate("x", 256).expect("allocates");
        let commands = vec![
            dispatch(kernel, vec![bind(0, x, 0, 256)], &[], 1),
            Command::Barrier,
            download(x, 0, 256),
        ];
        let outcome = run(&mut device, commands);
        assert_eq!(words(&outcome.downloads[0]), [size; 64]);
        assert_eq!(outcome.messages, Vec::<String>::new());
    }
}

#[test]
fn a_correct_run_has_no_validation_messages() {
    let Some(mut device) = validated() else { return };
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
    let Some(mut device) = validated() else { return };
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
    let test = format!("refusals::{test}");
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Process::new(program)
        .args(["--exact", &test, "--nocapture", "--test-threads=1"])
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
    let ticket = device.submit(&Recording { commands, ..Recording::default() }).expect("submits");
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
