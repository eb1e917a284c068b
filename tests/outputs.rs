//! `vklab report`: merged runs, truncated files, snapshots of outputs and what a driver's update
//! does to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output as Ran};

use insta::Snapshot;
use serde_json::Value;
use tempfile::TempDir;
use vklab::check::{Check, Finding, Kind, Outcome, Output, Verdict};
use vklab::device::{DeviceInfo, Features, Limits};
use vklab::numeric::ErrorModel;
use vklab::ops::Cases;
use vklab::run::{Line, RunFile, VERSION};
use vklab::vulkan::Validation;
use vklab::worker::choose;

const NAME: &str = "Card 7 (LLVM 1.2.3)";
const STEM: &str = "card-7-llvm";

fn report(folder: &TempDir, runs: &[&Path], more: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    let snapshots = format!("--snapshots={}", folder.path().join("snapshots").display());
    command.arg("report").args(runs).arg(snapshots).args(more).output().expect("the binary starts")
}

fn said(ran: &Ran, code: i32) -> String {
    let text = String::from_utf8_lossy(if code == 2 { &ran.stderr } else { &ran.stdout });
    let error = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(code), "{}{error}", String::from_utf8_lossy(&ran.stdout));
    text.into_owned()
}

fn accepted(folder: &TempDir, stem: &str) -> PathBuf {
    folder.path().join("snapshots").join(format!("{stem}.snap"))
}

fn pending(folder: &TempDir, stem: &str) -> PathBuf {
    accepted(folder, stem).with_extension("snap.new")
}

/// What `cargo insta accept` does.
fn accept(folder: &TempDir, stem: &str) {
    let (new, path) = (pending(folder, stem), accepted(folder, stem));
    let snapshot = Snapshot::from_file(&new).expect("a file that insta reads");
    snapshot.save(&path).expect("saved");
    let bytes = |path: &Path| fs::read(path).expect("a file");
    assert_eq!(bytes(&path), bytes(&new), "insta writes the same bytes");
    fs::remove_file(new).expect("removed");
}

/// The variants and cases that a pending file lists under a class.
fn listed(path: &Path, class: &str) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(path).expect("a pending file");
    let (header, _) = text[4..].split_once("\n---\n").expect("a header");
    let start = format!("  {class}: ");
    let Some(value) = header.lines().find_map(|line| line.strip_prefix(&start)) else {
        return BTreeMap::new();
    };
    let (_, list) = value.trim_matches('"').split_once(": ").expect("a list");
    let parts = list.split(", ").map(|part| part.rsplit_once(' ').expect("a count"));
    parts.map(|(name, n)| (name.to_owned(), n.parse().expect("a count"))).collect()
}

fn device(version: &str) -> DeviceInfo {
    DeviceInfo {
        name: NAME.to_owned(),
        driver: "carddrv".to_owned(),
        driver_version: version.to_owned(),
        api_version: "1.3.0".to_owned(),
        kind: "discrete".to_owned(),
        vendor_id: 1,
        device_id: 2,
        limits: Limits::REQUIRED,
        features: Features::default(),
    }
}

/// A case of `add.naive` with the bits that it wrote.
fn wrote(case: &str, bits: &str, worst: f64) -> Verdict {
    Verdict {
        device: NAME.to_owned(),
        op: "add".to_owned(),
        variant: Some("naive".to_owned()),
        check: Check::Forward,
        case: case.to_owned(),
        seed: 5,
        outcome: Outcome::Pass { worst },
        output: Some(Output {
            inputs: "0123456789abcdef".to_owned(),
            bits: bits.to_owned(),
            worst: Some(worst),
            at: Some("y[0, 3]".to_owned()),
            samples: vec!["1.000000e0".to_owned(), "-2.500000e-1".to_owned()],
            any_order: false,
        }),
        expected: None,
    }
}

fn failed(case: &str, bits: &str) -> Verdict {
    let outcome = Outcome::fail(Finding::new(Kind::WrongResult, "off".to_owned()));
    Verdict { outcome, ..wrote(case, bits, 3.0) }
}

/// The lines of a run before its end.
fn begin(seed: u64, version: &str, verdicts: &[Verdict]) -> Vec<Line> {
    let (lab, cases) = ("0.1.0".to_owned(), Cases::Quick);
    let calibration = Box::new(ErrorModel::SPEC);
    let mut lines = vec![
        Line::Run { version: VERSION, lab, seed, cases },
        Line::Device { info: Box::new(device(version)), calibration },
    ];
    lines.extend(verdicts.iter().map(|verdict| Line::Verdict(Box::new(verdict.clone()))));
    lines
}

fn write(folder: &TempDir, name: &str, lines: &[Line]) -> PathBuf {
    let path = folder.path().join(name);
    let mut file = RunFile::create(&path).expect("a run file");
    lines.iter().for_each(|line| file.write(line).expect("written"));
    path
}

fn whole(folder: &TempDir, name: &str, version: &str, verdicts: &[Verdict]) -> PathBuf {
    let mut lines = begin(5, version, verdicts);
    lines.push(Line::End { verdicts: verdicts.len() });
    write(folder, name, &lines)
}

fn four() -> [Verdict; 4] {
    [wrote("n=1", "a1", 0.1), wrote("n=2", "a2", 0.1), wrote("n=3", "a3", 0.1), failed("n=4", "a4")]
}

/// A folder in which the four are accepted, and their run.
fn four_accepted() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let run = whole(&folder, "first.jsonl", "1.0", &four());
    let text = said(&report(&folder, &[&run], &[]), 1);
    assert!(text.contains("pending: the first of this device, 4 cases"), "{text}");
    accept(&folder, STEM);
    (folder, run)
}

#[test]
fn equal_bits_are_not_pending_whatever_the_driver() {
    let (folder, first) = four_accepted();
    fs::write(pending(&folder, STEM), "stale").expect("written");
    assert!(said(&report(&folder, &[&first], &[]), 0).contains("no output changed"));
    assert!(!pending(&folder, STEM).exists());
    // Another calibration moves bounds, not outputs.
    let mut same = four();
    same[0] = wrote("n=1", "a1", 0.9);
    let update = whole(&folder, "update.jsonl", "1.1", &same);
    let text = said(&report(&folder, &[&update], &[]), 0);
    assert!(text.contains("no output changed from driver version 1.0 to 1.1"), "{text}");
    assert!(!pending(&folder, STEM).exists());
}

#[test]
fn each_change_is_in_its_class() {
    let (folder, _) = four_accepted();
    let mut other_data = wrote("n=3", "b3", 0.1);
    if let Some(output) = &mut other_data.output {
        output.inputs = "fedcba9876543210".to_owned();
    }
    let verdicts = [
        wrote("n=1", "b1", 0.15),
        wrote("n=2", "b2", 0.5),
        other_data,
        wrote("n=4", "b4", 0.5),
        wrote("n=5", "b5", 0.1),
        failed("n=6", "b6"),
    ];
    let run = whole(&folder, "next.jsonl", "1.1", &verdicts);
    let text = said(&report(&folder, &[&run], &[]), 1);
    let path = pending(&folder, STEM);
    for class in
        ["bits moved", "worse but within bound", "inputs changed", "mended", "new", "failing"]
    {
        assert_eq!(listed(&path, class), BTreeMap::from([("add.naive".to_owned(), 1)]), "{class}");
        assert!(text.contains(&format!("| {class}")), "{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{text}");
    let snapshot = Snapshot::from_file(&path).expect("a file that insta reads");
    let said = snapshot.metadata().description().unwrap_or_default();
    assert_eq!(said, "What kernels wrote under 1.1; accepted was 1.0");
    accept(&folder, STEM);
    assert_eq!(report(&folder, &[&run], &[]).status.code(), Some(0));
}

#[test]
fn only_the_bits_column_differs_where_only_bits_moved() {
    let (folder, _) = four_accepted();
    let mut verdicts = four();
    verdicts[1] = wrote("n=2", "b2", 0.1);
    let run = whole(&folder, "next.jsonl", "1.0", &verdicts);
    said(&report(&folder, &[&run], &[]), 1);
    let lines = |path: &Path| -> Vec<String> {
        let text = fs::read_to_string(path).expect("a file");
        let (_, contents) = text[4..].split_once("\n---\n").expect("a header");
        contents.lines().map(str::to_owned).collect()
    };
    let (old, new) = (lines(&accepted(&folder, STEM)), lines(&pending(&folder, STEM)));
    let differing: Vec<_> = old.iter().zip(&new).filter(|(a, b)| a != b).collect();
    let [(before, after)] = differing[..] else { panic!("{differing:?}") };
    assert_eq!(before.replace("a2", "b2"), *after);
}

#[test]
fn what_was_not_asked_stays_and_what_is_gone_goes() {
    let (folder, _) = four_accepted();
    let two = four()[..2].to_vec();
    let run = whole(&folder, "two.jsonl", "1.0", &two);
    said(&report(&folder, &[&run], &[]), 1);
    assert_eq!(listed(&pending(&folder, STEM), "gone").values().sum::<usize>(), 2);
    // One case alone, a run that was killed, another variant: none of them knows what is gone.
    let one = whole(&folder, "one.jsonl", "1.0", &two[..1]);
    let killed = write(&folder, "killed.jsonl", &begin(5, "1.0", &two));
    for run in [&one, &killed] {
        assert!(said(&report(&folder, &[run], &[]), 0).contains("no output changed"));
    }
    let variant = |verdict: &Verdict| Verdict { variant: Some("other".into()), ..verdict.clone() };
    let other = whole(&folder, "other.jsonl", "1.0", &two.iter().map(variant).collect::<Vec<_>>());
    let text = said(&report(&folder, &[&other], &[]), 1);
    assert!(text.contains("1 of 2 targets ran; the lines of the others stay"), "{text}");
    assert_eq!(listed(&pending(&folder, STEM), "new").len(), 1);
    assert!(listed(&pending(&folder, STEM), "gone").is_empty());
}

#[test]
fn a_crash_is_failing_where_there_was_a_result() {
    let (folder, _) = four_accepted();
    let mut verdicts = four();
    let outcome = Outcome::Crash { reason: "signal 11".to_owned() };
    verdicts[0] = Verdict { outcome, output: None, ..wrote("n=1", "", 0.0) };
    let run = whole(&folder, "crash.jsonl", "1.0", &verdicts);
    said(&report(&folder, &[&run], &[]), 1);
    assert_eq!(listed(&pending(&folder, STEM), "failing").values().sum::<usize>(), 1);
    let text = fs::read_to_string(pending(&folder, STEM)).expect("a file");
    assert!(text.contains("  CRASH  -"), "{text}");
}

#[test]
fn what_atomics_add_in_any_order_is_not_held_to_its_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let atomic = |bits: &str, worst| {
        let mut verdicts = four();
        let output = wrote("n=1", bits, worst).output.expect("an output");
        verdicts[0].output = Some(Output { any_order: true, ..output });
        verdicts
    };
    let first = whole(&folder, "first.jsonl", "1.0", &atomic("a1", 0.1));
    let second = whole(&folder, "second.jsonl", "1.0", &atomic("b1", 0.9));
    said(&report(&folder, &[&first, &second], &[]), 1);
    accept(&folder, STEM);
    said(&report(&folder, &[&second], &[]), 0);
}

#[test]
fn runs_that_do_not_fit_are_refused() {
    let (folder, first) = four_accepted();
    let seed = write(&folder, "seed.jsonl", &begin(6, "1.0", &four()));
    let text = said(&report(&folder, &[&seed], &[]), 2);
    assert!(text.contains("seed 5") && text.contains("seed 6"), "{text}");
    assert!(text.contains("--seed 5 --cases quick"), "{text}");
    let update = whole(&folder, "update.jsonl", "1.1", &four());
    let text = said(&report(&folder, &[&first, &update], &[]), 2);
    assert!(text.contains("two devices would share") && text.contains("driver 1.1"), "{text}");
    let moved = whole(&folder, "moved.jsonl", "1.0", &[wrote("n=1", "b1", 0.1)]);
    let text = said(&report(&folder, &[&first, &moved], &[]), 2);
    assert!(text.contains("add.naive forward n=1") && text.contains("moved.jsonl"), "{text}");
    fs::write(accepted(&folder, STEM), "---\nsource: x\n---\nothers' snapshot\n").expect("written");
    let text = said(&report(&folder, &[&first], &[]), 2);
    assert!(text.contains("is no snapshot of outputs"), "{text}");
    assert!(!pending(&folder, STEM).exists());
}

#[test]
fn a_torn_file_is_used_as_far_as_it_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(&folder, "torn.jsonl", &begin(5, "1.0", &four()));
    let mut bytes = fs::read(&path).expect("a run");
    bytes.extend(b"{\"line\":\"verdict\",\"device\":\"\xc3");
    fs::write(&path, bytes).expect("written");
    let ran = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
        command.arg("report").arg(&path).args(arguments).output().expect("the binary starts")
    };
    let text = said(&ran(&[]), 1);
    assert!(text.contains("truncated, 4 verdicts before its end usable"), "{text}");
    assert!(text.contains("4 verdicts: 3 pass, 1 fail"), "{text}");
    let objects: Vec<Value> = said(&ran(&["--json"]), 1)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!((&objects[0]["kind"], &objects[0]["complete"]), (&"run".into(), &false.into()));
    assert_eq!((objects.len(), &objects[1]["kind"]), (2, &"wrong-result".into()));
    fs::write(&path, "no run").expect("written");
    assert!(said(&ran(&[]), 2).contains(":1: no line of a run file"));
    fs::write(&path, "").expect("written");
    assert!(said(&ran(&[]), 2).contains("doesn't hold one run"));
}

/// Runs forward and gradient checks on lavapipe with a vector width, every cache kept apart.
fn check(folder: &TempDir, name: &str, targets: &[&str], width: Option<&str>) -> PathBuf {
    let path = folder.path().join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    command.arg("check").args(targets).args(["--device", "vk:llvmpipe", "--seed", "5"]);
    command.args(["--only", "forward,gradient"]).arg("--out").arg(&path);
    // Mesa's cache of shaders takes no notice of the width.
    let cache = folder.path().join(format!("cache-{name}"));
    command.env("MESA_SHADER_CACHE_DIR", cache.join("mesa")).env("VKLAB_CACHE", &cache);
    if let Some(width) = width {
        command.env("LP_NATIVE_VECTOR_WIDTH", width);
    }
    let ran = command.output().expect("the binary starts");
    said(&ran, 0);
    path
}

/// Bits by variant, check and case, read without the lab.
fn bits(path: &Path) -> (String, BTreeMap<(String, String, String), String>) {
    let mut name = String::new();
    let mut found = BTreeMap::new();
    for line in fs::read_to_string(path).expect("a run").lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let text = |key: &str| line[key].as_str().expect("text").to_owned();
        if line["line"] == "device" {
            name = line["info"]["name"].as_str().expect("a name").to_owned();
        } else if let Some(bits) = line["output"]["bits"].as_str() {
            let target = format!("{}.{}", text("op"), text("variant"));
            found.insert((target, text("check"), text("case")), bits.to_owned());
        }
    }
    (name, found)
}

#[test]
fn a_driver_update_lists_exactly_the_variants_whose_bits_moved() {
    let devices = choose(&[], Validation::Off).unwrap_or_default();
    let lavapipe = devices.iter().find(|choice| choice.info().driver == "llvmpipe");
    let Some(lavapipe) = lavapipe else {
        println!("skipped: there is no lavapipe here to update");
        return;
    };
    let other = if lavapipe.info().limits.subgroup_size == 4 { "256" } else { "128" };
    let folder = tempfile::tempdir().expect("a folder");
    let targets = ["sum", "softmax", "relu"];
    let first = check(&folder, "first.jsonl", &targets, None);
    let second = check(&folder, "second.jsonl", &targets, Some(other));

    let ((name, before), (other_name, after)) = (bits(&first), bits(&second));
    let update = fs::read_to_string(&second).expect("a run").replace(&other_name, &name);
    fs::write(&second, update).expect("written");
    let mut want: BTreeMap<String, usize> = BTreeMap::new();
    assert!(before.keys().eq(after.keys()));
    for ((target, ..), _) in before.iter().filter(|(key, bits)| after[*key] != **bits) {
        *want.entry(target.clone()).or_default() += 1;
    }
    let all: BTreeSet<&String> = before.keys().map(|(target, ..)| target).collect();
    println!("{} of {} variants moved: {want:?}", want.len(), all.len());
    assert!(!want.is_empty() && want.len() < all.len(), "{want:?} of {all:?}");

    said(&report(&folder, &[&first], &[]), 1);
    let snapshots = fs::read_dir(folder.path().join("snapshots")).expect("a folder");
    let files: Vec<PathBuf> = snapshots.map(|entry| entry.expect("an entry").path()).collect();
    let [new] = &files[..] else { panic!("{files:?}") };
    let file = new.file_name().expect("a name").to_string_lossy().into_owned();
    let stem = file.strip_suffix(".snap.new").expect("a pending file");
    accept(&folder, stem);
    said(&report(&folder, &[&first], &[]), 0);
    said(&report(&folder, &[&second], &[]), 1);

    let path = pending(&folder, stem);
    let mut found = listed(&path, "bits moved");
    for (target, count) in listed(&path, "worse but within bound") {
        *found.entry(target).or_default() += count;
    }
    assert_eq!(found, want);
    for class in ["failing", "mended", "inputs changed", "new", "gone"] {
        assert_eq!(listed(&path, class), BTreeMap::new(), "{class}");
    }
}
