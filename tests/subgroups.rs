//! Kernel files at other subgroup sizes, on a device of closures that offers several.

#[path = "fake_device/mod.rs"]
#[expect(dead_code, reason = "shared with tests/ledger, which also kills devices")]
mod fake_device;

use std::path::Path;

use fake_device::{FakeDevice, Sizes};
use tempfile::TempDir;
use vklab::check::{Check, Effort, Foreign, Kind, Outcome, Session};
use vklab::device::{Device, DeviceInfo};
use vklab::glsl::{Compiler, CompilerOptions};
use vklab::kernel_file::KernelFile;
use vklab::memory::LedgerOptions;
use vklab::ops::Registry;

const LEN: usize = 8;

const KERNEL: &str = "#version 450
layout(local_size_x = 8) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
void main() { y[gl_GlobalInvocationID.x] = 2 * x[gl_GlobalInvocationID.x]; }
";

const FILE: &str = r#"version = 1
[kernel.main]
file = "twice.comp"
[buffer.x]
type = "f32"
len = 8
role = "in"
[buffer.y]
type = "f32"
len = 8
role = "out"
[[step]]
kernel = "main"
bind = { 0 = "x", 1 = "y" }
groups = [1]
"#;

/// What [`KERNEL`] does, times a factor.
fn times(factor: f32) -> impl Fn(&mut [Vec<u8>]) {
    move |ranges| {
        for at in (0..4 * LEN).step_by(4) {
            let x = [0, 1, 2, 3].map(|byte| ranges[0][at + byte]);
            let y = factor * f32::from_le_bytes(x);
            ranges[1][at..at + 4].copy_from_slice(&y.to_le_bytes());
        }
    }
}

/// A kernel file with these subgroup sizes, if any, beside its kernel.
fn written(sizes: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = match sizes {
        "" => FILE.to_owned(),
        sizes => format!("{FILE}[subgroup]\nsizes = {sizes}\n"),
    };
    std::fs::write(folder.path().join("twice.comp"), KERNEL).expect("written");
    std::fs::write(folder.path().join("twice.toml"), text).expect("written");
    folder
}

fn name(folder: &Path) -> String {
    folder.join("twice.comp").display().to_string()
}

fn portability(device: FakeDevice, folder: &Path) -> Outcome {
    let file = KernelFile::load(&folder.join("twice.toml")).expect("it loads");
    let foreign = Foreign::new(file, &Registry::lab()).expect("it has no op");
    let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
    let mut session = Session::new(Box::new(device), compiler, LedgerOptions::default());
    foreign.run(&mut session, Check::Portability, "only", 1, Effort::Full).expect("an outcome")
}

/// The outcome on a device that offers 4, 8 and 16 and is right at each, and the sizes required.
fn on_three(sizes: &str) -> (Outcome, Vec<u32>) {
    let folder = written(sizes);
    let required = Sizes::default();
    let device = FakeDevice::new().with_subgroup_sizes(4, 16, &required);
    let device = device.with_kernel(name(folder.path()), times(2.0));
    let outcome = portability(device, folder.path());
    let required = required.borrow().iter().flatten().copied().collect();
    (outcome, required)
}

#[test]
fn every_other_size_is_run() {
    let (outcome, required) = on_three("");
    assert!(matches!(outcome, Outcome::Pass { .. }), "{outcome:?}");
    assert_eq!(required, [8, 16]);
}

#[test]
fn a_file_restricts_the_sizes() {
    let (outcome, required) = on_three("[4, 8, 32]");
    assert!(matches!(outcome, Outcome::Pass { .. }), "{outcome:?}");
    assert_eq!(required, [4, 8]);
}

#[test]
fn sizes_of_which_none_is_offered_are_unsupported_with_the_numbers() {
    let (outcome, required) = on_three("[32, 64]");
    let Outcome::Unsupported { reason } = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("32, 64") && reason.contains("4, 8, 16"), "{reason}");
    assert!(required.is_empty(), "{required:?}");
}

#[test]
fn a_kernel_that_is_wrong_at_one_size_is_found_there() {
    let folder = written("");
    let kernel = name(folder.path());
    let device = FakeDevice::new()
        .with_subgroup_sizes(4, 16, &Sizes::default())
        .with_kernel(kernel.clone(), times(2.0))
        .with_kernel(format!("{kernel}@16"), times(2.5));
    let outcome = portability(device, folder.path());
    let Outcome::Fail { finding } = outcome else { panic!("{outcome:?}") };
    assert_eq!(finding.kind, Kind::NotPortable);
    assert!(finding.to_string().contains("y changes at a subgroup size of 16"), "{finding}");
}

#[test]
fn another_order_of_addition_is_no_finding() {
    let folder = written("");
    let kernel = name(folder.path());
    let device = FakeDevice::new()
        .with_subgroup_sizes(4, 8, &Sizes::default())
        .with_kernel(kernel.clone(), times(2.0))
        .with_kernel(format!("{kernel}@8"), times(2.000_001));
    let outcome = portability(device, folder.path());
    assert!(matches!(outcome, Outcome::Pass { worst } if worst > 0.0), "{outcome:?}");
}

#[test]
fn a_device_that_lets_nobody_choose_runs_at_its_own_size() {
    for (sizes, is_run) in [("[4]", true), ("[8]", false), ("", true)] {
        let folder = written(sizes);
        let device = FakeDevice::new().with_kernel(name(folder.path()), times(2.0));
        match portability(device, folder.path()) {
            Outcome::Pass { .. } => assert!(is_run, "{sizes}"),
            Outcome::Unsupported { reason } => {
                assert!(!is_run && reason.contains("the device has 4"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_device_in_an_older_run_file_still_reads() {
    let device = FakeDevice::new().with_subgroup_sizes(4, 16, &Sizes::default());
    let mut json = serde_json::to_value(device.info()).expect("JSON");
    for (table, key) in [
        ("limits", "subgroup_size_min"),
        ("limits", "subgroup_size_max"),
        ("limits", "workgroup_subgroups"),
        ("features", "subgroup_size_control"),
    ] {
        let removed = json[table].as_object_mut().expect("a table").remove(key);
        assert!(removed.is_some(), "{key}");
    }
    let info: DeviceInfo = serde_json::from_value(json).expect("it reads");
    assert_eq!(info.limits.subgroup_size, 4);
    assert_eq!(info.subgroup_sizes().count(), 0);
}
