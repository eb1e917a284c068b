//! What a recording does.

use std::time::Instant;

use vklab::device::{Binding, Command, Device, DeviceError, Recording, SpecValue};

use super::{
    LONG, bind, bytes, device, dispatch, download, kernel, lavapipe, run, scale, upload, words,
};

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
        ..Recording::default()
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
