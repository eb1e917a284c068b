//! Expectations files as their user meets them, with a kernel file whose kernel is wrong.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use quick_junit::{Report, TestCaseStatus};
use serde_json::Value;
use tempfile::TempDir;
use vklab::run::Expectations;
use vklab::vulkan::Validation;
use vklab::worker::choose;

/// `y = max(x, 0)`, or not.
fn kernel(value: &str) -> String {
    format!(
        "#version 450\n\
         layout(local_size_x = 32) in;\n\
         layout(binding = 0) readonly buffer X {{ float x[]; }};\n\
         layout(binding = 1) writeonly buffer Y {{ float y[]; }};\n\
         layout(push_constant) uniform Push {{ uint n; }};\n\
         void main() {{\n\
         \x20   uint i = gl_GlobalInvocationID.x;\n\
         \x20   if (i < n) y[i] = {value};\n\
         }}\n"
    )
}

const WRONG: &str = "x[i]";
const RIGHT: &str = "max(x[i], 0.0)";

const FILE: &str = r#"version = 1
[kernel.main]
file = "relu.comp"
[shapes]
n = [40, 100]
[buffer.x]
type = "f32"
len = "n"
role = "in"
[buffer.y]
type = "f32"
len = "n"
role = "out"
[[step]]
kernel = "main"
bind = { 0 = "x", 1 = "y" }
push = { n = "n" }
groups = ["ceil(n / 32)", 1, 1]
[truth]
op = "relu"
map = { x = "x", y = "y" }
dims = { len = "n" }
"#;

/// A project with a kernel that is wrong.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().expect("a folder"));
        for folder in ["kernels", "tests"] {
            fs::create_dir(project.0.path().join(folder)).expect("a folder");
        }
        project.write("kernels/relu.toml", FILE).write("kernels/relu.comp", &kernel(WRONG))
    }

    fn write(self, name: &str, text: &str) -> Self {
        fs::write(self.0.path().join(name), text).expect("written");
        self
    }

    fn expecting(self, text: &str) -> Self {
        self.write("tests/expectations.txt", text)
    }

    fn expectations(&self) -> String {
        fs::read_to_string(self.0.path().join("tests/expectations.txt")).expect("a file")
    }

    fn check(&self, more: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_vklab"))
            .args(["check", "kernels/relu.toml", "--seed", "7", "--device", &device()])
            .args(more)
            .current_dir(self.0.path())
            .output()
            .expect("the binary starts")
    }

    fn forward(&self) -> Output {
        self.check(&["--only", "forward"])
    }
}

fn device() -> String {
    format!("vk:{}", choose(&[], Validation::Off).expect("a device")[0].info().name)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What was printed by a run that ended with this exit code.
fn ended(output: &Output, code: i32) -> String {
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{said}{error}");
    said
}

fn refused(project: &Project, parts: &[&str]) {
    let output = project.forward();
    assert_eq!(ended(&output, 2), "");
    let error = text(&output.stderr);
    for part in parts {
        assert!(error.contains(part), "no `{part}` in: {error}");
    }
}

const FAIL: &str = "fail * kernels/relu.toml/forward \"y differs from the reference\" # no max\n";

#[test]
fn without_a_file_what_is_wrong_is_a_finding() {
    let said = ended(&Project::new().forward(), 1);
    assert!(said.contains("wrong-result: y differs from the reference"), "{said}");
    assert!(!said.contains("expected,") && !said.contains(" expected\n"), "{said}");
}

#[test]
fn an_expected_failure_is_counted_and_told_nowhere_else() {
    let project = Project::new().expecting(FAIL);
    let said = ended(&project.check(&["--only", "forward", "--out", "run.jsonl"]), 0);
    assert!(!said.contains("wrong-result"), "{said}");
    assert!(said.contains(" 0 fail,") && said.contains(" expected\n"), "{said}");

    let run = fs::read_to_string(project.0.path().join("run.jsonl")).expect("a run file");
    let bad: Vec<Value> = run
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter(|line| line["verdict"] == "fail")
        .collect();
    assert!(!bad.is_empty());
    for line in bad {
        let want = serde_json::json!({"mark": "fail", "line": 1, "reason": "no max"});
        assert_eq!((&line["expected"], &line["finding"]["kind"]), (&want, &"wrong-result".into()));
    }
    assert_eq!(ended(&project.check(&["--only", "forward", "--json"]), 0), "");
    let said = ended(&project.check(&["--only", "forward", "--format", "github"]), 0);
    assert!(!said.contains("::error"), "{said}");
    let said = ended(&project.check(&["--only", "forward", "--format", "junit"]), 0);
    let report = Report::deserialize_from_str(&said).expect("JUnit XML");
    assert_eq!((report.failures, report.errors), (0, 0), "{said}");
    let TestCaseStatus::Skipped { description, .. } = &report.test_suites[0].test_cases[0].status
    else {
        panic!("{said}");
    };
    let told = description.as_ref().map_or("", |text| text.as_str());
    assert!(told.contains("expected wrong-result: no max"), "{said}");
}

#[test]
fn another_message_is_a_finding_and_the_line_is_one_too() {
    let project = Project::new().expecting(&FAIL.replace("y differs", "z differs"));
    let said = ended(&project.forward(), 1);
    assert!(said.contains("wrong-result: y differs from the reference"), "{said}");
    assert!(said.contains("unexpected-pass: the line expects \"z differs"), "{said}");
}

#[test]
fn a_line_that_no_longer_fails_is_named() {
    let project = Project::new().expecting(FAIL).write("kernels/relu.comp", &kernel(RIGHT));
    let said = ended(&project.check(&["--only", "forward", "--out", "run.jsonl"]), 1);
    assert!(said.contains("1. tests/expectations.txt:1 on "), "{said}");
    assert!(said.contains("passed    kernels/relu.toml forward: "), "{said}");

    let run = project.0.path().join("run.jsonl");
    let explained = Command::new(env!("CARGO_BIN_EXE_vklab"))
        .args(["explain", &format!("{}:1", run.display())])
        .output()
        .expect("the binary starts");
    let said = ended(&explained, 0);
    assert!(said.contains("tests/expectations.txt:1") && said.contains("usual causes"), "{said}");

    let said = ended(&project.check(&["--only", "forward", "--json"]), 1);
    let json: Value = serde_json::from_str(&said).expect("one JSON object");
    assert_eq!((&json["kind"], &json["line"]), (&"unexpected-pass".into(), &1.into()));
    assert_eq!(json["file"], "tests/expectations.txt");
    let said = ended(&project.check(&["--only", "forward", "--format", "github"]), 1);
    assert!(said.starts_with("::error file=tests/expectations.txt,line=1,"), "{said}");
    let said = ended(&project.check(&["--only", "forward", "--format", "junit"]), 1);
    let report = Report::deserialize_from_str(&said).expect("JUnit XML");
    assert_eq!((report.failures, report.errors), (1, 0), "{said}");
    // One case says nothing about the others, another check nothing about this one.
    let one = ["--only", "forward", "--case", "n=40/normal"];
    let said = ended(&project.check(&one), 0);
    assert!(said.contains("1 verdicts: 1 pass"), "{said}");
    ended(&project.check(&["--only", "determinism"]), 0);
}

#[test]
fn flaky_may_fail_and_need_not() {
    let flaky = "flaky * kernels/*.toml/forward \"\" # nobody knows\n";
    let project = Project::new().expecting(flaky);
    let said = ended(&project.forward(), 0);
    assert!(said.contains(" 0 fail,") && said.contains(" flaky\n"), "{said}");
    let project = project.write("kernels/relu.comp", &kernel(RIGHT));
    let said = ended(&project.forward(), 0);
    assert!(!said.contains("flaky"), "{said}");
}

#[test]
fn skip_runs_no_case() {
    // The kernel would not even compile.
    let project = Project::new()
        .write("kernels/relu.comp", &kernel("x[i"))
        .expecting("skip * kernels/relu.toml/* \"\" # the driver hangs\n");
    let said = ended(&project.check(&["--only", "forward,memory", "--out", "run.jsonl"]), 0);
    assert!(said.contains(" 0 pass,") && !said.contains(" 0 skipped"), "{said}");
    let run = fs::read_to_string(project.0.path().join("run.jsonl")).expect("a run file");
    assert!(run.contains(r#""verdict":"skipped","reason":"the driver hangs""#), "{run}");
}

#[test]
fn a_file_that_is_none_is_refused_before_the_work() {
    let unsorted = format!("skip * memory \"\" # b\n{FAIL}");
    for (lines, parts) in [
        (unsorted.as_str(), ["tests/expectations.txt:2:1: not sorted", "above line 1"]),
        (FAIL.split(" #").next().expect("text"), [":1:64: the reason is missing", "#"]),
        (
            "fail * kernels/rleu.toml/forward \"x\" # y",
            [":1:8: ", "nearest: kernels/relu.toml/for"],
        ),
        ("fail * add.niave/forward \"x\" # y", [":1:8: `add.niave/", "nearest: add.naive/forward"]),
    ] {
        refused(&Project::new().expecting(lines), &parts);
    }
    let absent = Project::new().check(&["--expectations", "none.txt"]);
    ended(&absent, 2);
    let error = text(&absent.stderr);
    assert!(error.contains("failed to read the expectations file none.txt"), "{error}");
    // A device that isn't there, and a file of another run, are not judged.
    let elsewhere =
        "fail * kernels/other.toml/forward \"x\" # y\nfail vk:xyzzy forward \"x\" # z\n";
    let project = Project::new().write("kernels/other.toml", "").expecting(elsewhere);
    ended(&project.forward(), 1);
}

#[test]
fn a_written_file_makes_the_next_run_clean_until_the_kernel_is_mended() {
    let project = Project::new();
    fs::remove_dir(project.0.path().join("tests")).expect("an empty folder");
    let output = project.check(&["--write-expectations"]);
    ended(&output, 0);
    let error = text(&output.stderr);
    let first = project.expectations();
    let lines: Vec<&str> = first.lines().filter(|line| !line.starts_with('#')).collect();
    let said = format!("wrote {0} lines to tests/expectations.txt, {0} of them new", lines.len());
    assert!(error.contains(&said), "{error}{first}");
    assert!(lines.iter().any(|line| {
        line.contains("  kernels/relu.toml/forward  \"wrong-result\"  # found 2")
            && line.ends_with(" by seed 7")
    }));
    ended(&project.check(&[]), 0);

    let kept = "flaky  *  memory  \"\"  # races\n";
    let project = project.expecting(&format!("{first}{kept}"));
    ended(&project.check(&["--write-expectations"]), 0);
    assert_eq!(project.expectations(), format!("{first}{kept}"));

    let project = project.write("kernels/relu.comp", &kernel(RIGHT));
    let said = ended(&project.check(&[]), 1);
    let at = first.lines().position(|line| line.contains("toml/forward")).expect("a line");
    assert!(said.contains(&format!("tests/expectations.txt:{} on ", at + 1)), "{said}");
    let output = project.check(&["--write-expectations"]);
    ended(&output, 0);
    assert!(text(&output.stderr).contains("wrote 1 lines"), "{}", text(&output.stderr));
    let head = first.lines().next().expect("a line");
    assert_eq!(project.expectations(), format!("{head}\n{kept}"));
    ended(&project.check(&[]), 0);
}

#[test]
fn the_file_may_stand_elsewhere() {
    let project = Project::new().write("known.txt", FAIL);
    ended(&project.check(&["--only", "forward", "--expectations", "known.txt"]), 0);
    ended(&project.forward(), 1);
}

#[test]
fn the_documented_lines_are_some() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/expectations.md");
    let page = fs::read_to_string(page).expect("the page");
    let example = page.split("```").nth(1).and_then(|block| block.strip_prefix("text\n"));
    let file = Expectations::parse(Path::new("example"), example.expect("an example"));
    assert_eq!(file.expect("it reads").lines().len(), 4);
}
