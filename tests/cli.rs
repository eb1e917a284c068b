//! The command line as its user meets it: bad input, replays, dumps, run files, explanations.
//!
//! Every test runs the binary on few and small cases.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use quick_junit::Report;
use serde_json::Value;
use vklab::vulkan::{self, Validation};
use vklab::worker::choose;

fn vklab(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    vklab(arguments).output().expect("the binary starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Exit code 2, nothing on the standard output, and an explanation that has all these parts.
fn refused(output: &Output, parts: &[&str]) {
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(text(&output.stdout), "", "{error}");
    for part in parts {
        assert!(error.contains(part), "no `{part}` in: {error}");
    }
}

#[test]
fn unknown_targets_name_their_neighbours() {
    refused(&run(&["check", "matmull"]), &["`matmull`", "matmul"]);
    refused(&run(&["check", "add.niave"]), &["`add.niave`", "add.naive"]);
    refused(&run(&["list", "ad"]), &["`ad`", "add"]);
    refused(&run(&["check", "add.[naive"]), &["target `add.[naive`"]);
}

#[test]
fn unknown_devices_name_those_that_exist() {
    let known = &vulkan::enumerate().expect("a driver")[0].info.name;
    let known = format!("vk:{known}");
    refused(&run(&["check", "add", "--device", "vk:geforce 9"]), &["`vk:geforce 9`", &known]);
    refused(&run(&["check", "add", "--device", "geforce"]), &["`geforce`", &known]);
    refused(&run(&["check", "add", "--require", "vk:radeon 9"]), &["`vk:radeon 9`", &known]);
}

#[test]
fn a_device_listed_by_an_error_can_be_asked_for_by_that_name() {
    let device = choose(&[], Validation::Off).expect("a device")[0].info().selector();
    let case = ["--only", "forward", "--case", "rows=1,cols=1/normal", "--seed", "1"];
    let output = vklab(&["check", "add.naive", "--device", &device]).args(case).output();
    let output = output.expect("the binary starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn unknown_checks_and_options_are_refused_with_what_there_is() {
    refused(&run(&["check", "add", "--only", "froward"]), &["froward", "forward"]);
    refused(&run(&["check", "add", "--without", "memry"]), &["memry", "memory"]);
    refused(&run(&["check", "add", "--cases", "all"]), &["quick", "full"]);
    refused(&run(&["chekc"]), &["chekc", "check"]);
    refused(&run(&["check", "--timeout", "0"]), &["positive number of seconds"]);
}

#[test]
fn shards_outside_the_count_are_refused() {
    for shard in ["3/2", "0/2", "1", "a/b", "1/0"] {
        refused(&run(&["check", "add", "--shard", shard]), &[shard, "I/N with I from 1 to N"]);
    }
}

#[test]
fn cases_that_the_op_does_not_have_are_refused() {
    let case = |case: &str| run(&["check", "add", "--case", case]);
    refused(&case("rows=1"), &["dimension cols is missing"]);
    refused(&case("rows=1,cols=x"), &["`x` is no number"]);
    refused(&case("rows=1,cols=1/loud"), &["`loud`"]);
    refused(&case("rows=1,cols=1,depth=1"), &["no dimension or attribute depth"]);
    refused(&run(&["check", "--case", "rows=1,cols=1"]), &["targets of one op"]);
}

#[test]
fn a_run_file_that_cannot_be_written_is_said_before_the_work() {
    let start = Instant::now();
    let full = Path::new("/dev/full");
    let mut places = vec![("/nonexistent/folder/run.jsonl", "/nonexistent/folder/run.jsonl")];
    if full.exists() {
        places.push(("/dev/full", "/dev/full"));
    }
    for (place, named) in places {
        // All ops: the work itself would take far longer than the refusal may.
        refused(&run(&["check", "--out", place]), &["failed to write the run file", named]);
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    let below = file.path().join("dump");
    let below = below.to_string_lossy();
    refused(&run(&["check", "--dump", &below]), &["failed to make the folder", &below]);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// The command on one case of one variant, and that without a device named.
const ONE_CASE: [&str; 8] =
    ["check", "add.naive", "--only", "forward", "--case", "rows=1,cols=1/normal", "--seed", "1"];

/// Runs on the interpreter, clean, and says these things of it on the standard error.
fn falls_back(mut command: Command, parts: &[&str]) {
    let output = command.output().expect("the binary starts");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}{}", text(&output.stdout));
    for part in parts {
        assert!(error.contains(part), "no `{part}` in: {error}");
    }
    assert!(text(&output.stdout).contains("soft"), "{}", text(&output.stdout));
}

#[test]
fn without_a_driver_it_runs_on_the_interpreter_and_says_how_to_get_one() {
    let without = |arguments: &[&str]| {
        let mut command = vklab(arguments);
        for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
            command.env(variable, "/nonexistent/icd.json");
        }
        command
    };
    let parts = ["no Vulkan driver", "mesa-vulkan-drivers", "./vklab"];
    falls_back(without(&["devices"]), &parts);
    falls_back(without(&ONE_CASE), &[&parts[..], &["using `soft`"]].concat());
    let mut named = without(&ONE_CASE);
    refused(&named.args(["--device", "vk:llvmpipe"]).output().expect("the binary starts"), &parts);
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_loader_it_runs_on_the_interpreter_and_says_how_to_get_one() {
    // A file of the loader's name that is no library stands in front of the real one.
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["libvulkan.so.1", "libvulkan.so"] {
        fs::write(folder.path().join(name), "no library").expect("written");
    }
    for arguments in [&ONE_CASE[..], &["devices"]] {
        let mut command = vklab(arguments);
        command.env("LD_LIBRARY_PATH", folder.path());
        falls_back(command, &["no Vulkan loader", "libvulkan1", "./vklab"]);
    }
}

/// Lines of a run file about verdicts.
fn verdicts(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a run file");
    text.lines()
        .filter(|line| line.starts_with(r#"{"line":"verdict""#))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_verdicts_alone_and_in_a_larger_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let check = |targets: &[&str], name: &str, more: &[&str]| {
        let output = vklab(&["check"])
            .args(targets)
            .args(["--seed", "7", "--only", "forward,property"])
            .args(more)
            .arg("--out")
            .arg(file(name))
            .output()
            .expect("the binary starts");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
        verdicts(&file(name))
    };
    let both = ["add.*", "scale.naive"];
    let first = check(&both, "first.jsonl", &["--workers", "1"]);
    let again = check(&both, "again.jsonl", &["--workers", "1"]);
    assert!(first.len() > 400, "{}", first.len());
    assert_eq!(first, again);
    let bytes = |name: &str| fs::read(file(name)).expect("a run file");
    assert!(bytes("first.jsonl") == bytes("again.jsonl"), "the run files differ");
    assert_eq!(first, check(&both, "two.jsonl", &["--workers", "2"]));
    let alone = check(&["scale.naive"], "alone.jsonl", &[]);
    assert_eq!(alone, first[first.len() - alone.len()..]);

    let one: Value = serde_json::from_str(&alone[alone.len() / 2]).expect("JSON");
    let case = one["case"].as_str().expect("a case");
    let check_name = one["check"].as_str().expect("a check");
    let replayed = folder.path().join("one.jsonl");
    let output = vklab(&["check", "scale.naive", "--seed", "7", "--case", case])
        .args(["--only", check_name, "--out"])
        .arg(&replayed)
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(verdicts(&replayed), [alone[alone.len() / 2].clone()]);
}

#[test]
fn shards_cover_the_whole_run_without_overlap() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |shard: &[&str]| {
        let path = folder.path().join("run.jsonl");
        let output = vklab(&["check", "exp", "--seed", "3", "--only", "memory,determinism"])
            .args(shard)
            .arg("--out")
            .arg(&path)
            .output()
            .expect("the binary starts");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
        verdicts(&path)
    };
    let whole = check(&[]);
    let mut parts = check(&["--shard", "1/2"]);
    let second = check(&["--shard", "2/2"]);
    assert!(!parts.is_empty() && !second.is_empty());
    parts.extend(second);
    parts.sort();
    let mut whole = whole;
    whole.sort();
    assert_eq!(parts, whole);
}

#[test]
fn the_validation_layer_has_nothing_to_say() {
    let output =
        run(&["check", "add", "scale.naive", "--validate", "--seed", "1", "--only", "memory"]);
    let error = text(&output.stderr);
    if error.contains("vulkan-validationlayers") {
        assert_eq!(output.status.code(), Some(2), "{error}");
        println!("skipped: the Khronos validation layer is not installed: {error}");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}{error}", text(&output.stdout));
}

#[test]
fn lists_and_summaries_fit_eighty_columns() {
    let summary = run(&["check", "add.naive", "--seed", "1", "--only", "memory"]);
    for output in [run(&["list"]), run(&["devices"]), summary] {
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        for line in text(&output.stdout).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn kinds_are_explained_and_unknown_ones_name_their_neighbours() {
    let output = run(&["explain", "wrong-result"]);
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stdout);
    assert!(said.starts_with("wrong-result\n") && said.contains("usual causes"), "{said}");
    refused(&run(&["explain", "wrong-results"]), &["`wrong-results`", "wrong-result"]);
    refused(&run(&["explain", "xyzzy"]), &["`xyzzy`", "guard-hit", "leak"]);
}

#[test]
fn a_finding_of_a_run_file_is_explained_in_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let lines = [
        r#"{"line":"run","version":1,"lab":"0.1.0","seed":5,"cases":"quick"}"#,
        r#"{"line":"verdict","device":"d","op":"add","variant":"naive","check":"forward","case":"rows=1,cols=1/normal","seed":5,"verdict":"pass","worst":0.25}"#,
        r#"{"line":"verdict","device":"d","op":"add","variant":"naive","check":"forward","case":"rows=1,cols=2/normal","seed":5,"verdict":"hang","reason":"no answer within 30s"}"#,
    ];
    fs::write(&path, lines.join("\n")).expect("written");
    let path = path.to_string_lossy().into_owned();
    let output = run(&["explain", &format!("{path}:1")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("add.naive forward on d: rows=1,cols=2/normal"), "{said}");
    assert!(said.contains("hang: no answer within 30s") && said.contains("usual causes"), "{said}");
    refused(&run(&["explain", &format!("{path}:2")]), &["1 findings, no number 2"]);
    refused(&run(&["explain", &format!("{path}:0")]), &["no number 0"]);
    refused(&run(&["explain", &path]), &["which finding?"]);
    refused(&run(&["explain", "/nonexistent.jsonl:1"]), &["failed to read the run file"]);

    fs::write(&path, lines[0].replace(r#""version":1"#, r#""version":99"#)).expect("written");
    refused(&run(&["explain", &format!("{path}:1")]), &["version 99"]);
    fs::write(&path, format!("{}\n{{\"line\":\"verd\n", lines[0])).expect("written");
    refused(&run(&["explain", &format!("{path}:1")]), &[":2: no line of a run file"]);
    fs::write(&path, format!("{}\n{{\"line\":\"verd", lines.join("\n"))).expect("written");
    assert_eq!(run(&["explain", &format!("{path}:1")]).status.code(), Some(0), "a torn end");
}

/// A run with one hang: no worker answers within a nanosecond, nor does its device. Which of the
/// two clocks is looked at first is not settled at this scale, only that one of them runs out.
fn hang(format: &str) -> String {
    let output = vklab(&["check", "add.naive", "--only", "forward", "--seed", "1"])
        .args(["--case", "rows=1,cols=2/normal", "--timeout", "1e-9", "--format", format])
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn github_annotates_a_finding_in_one_line() {
    let said = hang("github");
    let commands: Vec<&str> = said.lines().filter(|line| line.starts_with("::")).collect();
    let devices = choose(&[], Validation::Off).expect("a device").len();
    assert_eq!(commands.len(), devices, "{said}");
    assert!(commands[0].starts_with("::error title=hang%3A add.naive forward on "), "{said}");
    assert!(commands[0].contains("rows=1,cols=2/normal%0Ahang: "), "{said}");
    assert!(said.contains("1 hang") && said.ends_with("seed 1\n"), "{said}");
}

#[test]
fn junit_is_one_document_that_reads_back() {
    let said = hang("junit");
    let report = Report::deserialize_from_str(&said).expect("JUnit XML");
    let devices = choose(&[], Validation::Off).expect("a device");
    assert_eq!(report.test_suites.len(), devices.len());
    assert_eq!(report.errors, devices.len());
    let suite = &report.test_suites[0];
    assert_eq!(suite.name.as_str(), devices[0].info().name);
    assert_eq!((suite.tests, suite.failures, suite.errors), (2, 0, 1));
    let case = &suite.test_cases[0];
    assert_eq!(case.classname.as_deref(), Some("add.naive"));
    assert_eq!(case.name.as_str(), "forward");
}

#[test]
fn a_reader_that_is_gone_ends_the_program_quietly() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = vklab(&["list"]).stdout(writer).output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), "");
}
