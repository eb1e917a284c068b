//! What a run could not ask: told in every format, and no reason to drop what it could.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use serde_json::Value;
use tempfile::TempDir;
use vklab::run::PastRun;
use vklab::vulkan::Validation;
use vklab::worker::choose;

/// Writes a macro, which has a value in each build.
const KERNEL: &str = "#version 450\n\
    layout(local_size_x = 64) in;\n\
    layout(binding = 0) writeonly buffer Y { float y[]; };\n\
    void main() { y[gl_GlobalInvocationID.x] = T; }\n";

/// A kernel file with these values of the macro.
fn file(values: &[&str]) -> String {
    format!(
        "version = 1\n[kernel.main]\nfile = \"k.comp\"\ndefines = {{ T = {values:?} }}\n\
         [buffer.y]\ntype = \"f32\"\nlen = 64\nrole = \"out\"\nexpect = {{ values = [1.0] }}\n\
         [[step]]\nkernel = \"main\"\nbind = {{ 0 = \"y\" }}\ngroups = [1]\n"
    )
}

/// A folder with the kernel file `k.toml`.
fn project(values: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.comp"), KERNEL).expect("written");
    fs::write(folder.path().join("k.toml"), file(values)).expect("written");
    folder
}

fn vklab(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    command.args(arguments).current_dir(folder).output().expect("the binary starts")
}

fn check(folder: &Path, more: &[&str]) -> Output {
    let device = choose(&[], Validation::Off).expect("a device")[0].info().name.clone();
    let device = format!("vk:{device}");
    let asked = ["check", "k.toml", "--only", "forward", "--seed", "1", "--device", &device];
    vklab(folder, &[&asked, more].concat())
}

/// The standard and the error output of a command that ended with this exit code.
fn ended(output: &Output, code: i32) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{said}{error}");
    (said, error)
}

/// Arrays that a dump left anywhere below a folder.
fn arrays(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry"));
    let counts = entries.map(|entry| match entry.path() {
        path if path.is_dir() => arrays(&path),
        path => usize::from(path.extension().is_some_and(|e| e == "npy")),
    });
    counts.sum()
}

#[test]
fn a_case_that_is_refused_takes_no_other_with_it() {
    let folder = project(&["nonsense", "3.0", "1.0"]);
    let (said, error) = ended(&check(folder.path(), &["--out", "run.jsonl"]), 2);
    assert!(said.contains("2 verdicts: 1 pass, 1 fail"), "{said}");
    assert!(error.contains("failed to check k.toml: ") && error.contains("nonsense"), "{error}");
    let run = PastRun::read(&folder.path().join("run.jsonl")).expect("a run");
    let [refusal] = &run.refused[..] else { panic!("{:?}", run.refused) };
    assert_eq!((refusal.target.as_str(), refusal.check.name()), ("k.toml", "forward"));
    assert_eq!(refusal.case.as_deref(), Some("T=nonsense"));
    assert!(refusal.message.contains("nonsense"), "{refusal:?}");
    assert!(run.is_whole() && run.verdicts.len() == 2);
}

#[test]
fn a_report_counts_what_was_refused() {
    let folder = project(&["nonsense", "1.0"]);
    ended(&check(folder.path(), &["--out", "run.jsonl"]), 2);
    let (said, error) = ended(&vklab(folder.path(), &["report", "run.jsonl"]), 2);
    assert!(said.contains("run.jsonl: 1 verdicts, 1 refused"), "{said}");
    assert!(error.contains("failed to check k.toml: "), "{error}");
    let (said, _) = ended(&vklab(folder.path(), &["report", "run.jsonl", "--json"]), 2);
    let object = said.lines().nth(1).expect("an object behind the run's");
    let object: Value = serde_json::from_str(object).expect("JSON");
    assert_eq!((&object["kind"], &object["case"]), (&"refused".into(), &"T=nonsense".into()));
}

#[test]
fn a_refusal_is_an_error_in_junit_xml_and_an_annotation() {
    let folder = project(&["nonsense", "1.0"]);
    let (said, _) = ended(&check(folder.path(), &["--format", "junit"]), 2);
    let report = Report::deserialize_from_str(&said).expect("a report");
    let case = &report.test_suites[0].test_cases[0];
    let TestCaseStatus::NonSuccess { kind, message, .. } = &case.status else { panic!("{case:?}") };
    assert_eq!(*kind, NonSuccessKind::Error);
    let message = message.as_ref().expect("a message").as_str();
    assert!(message.starts_with("1 of 2 cases, first T=nonsense: "), "{message}");

    let (said, _) = ended(&check(folder.path(), &["--format", "github"]), 2);
    let is_told = |line: &str| line.starts_with("::error title=refused%3A k.toml forward on ");
    assert!(said.lines().any(is_told), "{said}");
}

#[test]
fn what_was_refused_is_not_gone_from_the_snapshots() {
    let folder = project(&["1", "2", "3"]);
    let kernel = KERNEL.replace("= T", "= float(T)");
    let write = |text: &str| fs::write(folder.path().join("k.comp"), text).expect("written");
    let report = |code| {
        ended(&vklab(folder.path(), &["report", "run.jsonl", "--snapshots=snapshots"]), code).0
    };
    write(&kernel);
    ended(&check(folder.path(), &["--out", "run.jsonl"]), 1);
    report(1);
    for entry in fs::read_dir(folder.path().join("snapshots")).expect("a folder") {
        let pending = entry.expect("an entry").path();
        fs::rename(&pending, pending.with_extension("")).expect("accepted");
    }
    report(0);
    // One build can't be made any more; the others write what they always did.
    write(&kernel.replace("void", "#if T == 2\n#error no\n#endif\nvoid"));
    ended(&check(folder.path(), &["--out", "run.jsonl"]), 2);
    let said = report(2);
    assert!(!said.contains("gone"), "{said}");
}

#[test]
fn a_long_case_has_a_folder_for_its_arrays() {
    let long = format!("2.0{}", "+1.0".repeat(80));
    let folder = project(&[&long, "3.0"]);
    let (said, _) = ended(&check(folder.path(), &["--dump", "dump"]), 1);
    assert!(said.contains("2 verdicts: 0 pass, 2 fail"), "{said}");
    assert!(arrays(&folder.path().join("dump")) >= 2);
}

#[test]
fn a_dump_that_cant_be_written_loses_no_finding() {
    let folder = project(&["2.0", "3.0", "1.0"]);
    fs::create_dir(folder.path().join("dump")).expect("a folder");
    ended(&check(folder.path(), &["--dump", "dump"]), 1);
    let made = fs::read_dir(folder.path().join("dump")).expect("a folder").next();
    let made = made.expect("a folder").expect("an entry").path();
    // Now a file stands where the device's folder would be made.
    fs::remove_dir_all(&made).expect("removed");
    fs::write(&made, "").expect("written");
    let (said, error) = ended(&check(folder.path(), &["--dump", "dump"]), 2);
    assert!(said.contains("3 verdicts: 1 pass, 2 fail"), "{said}");
    assert!(error.contains("failed to write dump"), "{error}");
}
