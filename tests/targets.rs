//! Targets as they are typed: one kernel file under many names, words that could be both an op and
//! a folder, and the commands that repeat a finding.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use vklab::vulkan::Validation;
use vklab::worker::choose;

const KERNEL: &str = "#version 450\n\
    layout(local_size_x = 64) in;\n\
    layout(binding = 0) writeonly buffer Y { float y[]; };\n\
    void main() { y[gl_GlobalInvocationID.x] = 2.0; }\n";

/// A kernel file whose kernel is wrong, with some more keys of its kernel.
fn file(more: &str) -> String {
    format!(
        "version = 1\n[kernel.main]\nfile = \"k.comp\"\n{more}\
         [buffer.y]\ntype = \"f32\"\nlen = 64\nrole = \"out\"\nexpect = {{ values = [1.0] }}\n\
         [[step]]\nkernel = \"main\"\nbind = {{ 0 = \"y\" }}\ngroups = [1]\n"
    )
}

/// A folder with the kernel file `FOLDER/k.toml`.
fn project(folder: &str, more: &str) -> TempDir {
    let project = tempfile::tempdir().expect("a folder");
    let folder = project.path().join(folder);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("k.comp"), KERNEL).expect("written");
    fs::write(folder.join("k.toml"), file(more)).expect("written");
    project
}

fn check(folder: &Path, arguments: &[&str]) -> Output {
    let device = choose(&[], Validation::Off).expect("a device")[0].info().name.clone();
    let device = format!("--device=vk:{device}");
    Command::new(env!("CARGO_BIN_EXE_vklab"))
        .args(["check", "--json", "--only", "forward", "--seed", "1", &device])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the binary starts")
}

/// The findings of a run that ended with this exit code.
fn findings(output: &Output, code: i32) -> Vec<Value> {
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}{error}");
    said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_kernel_file_has_one_name_however_it_is_typed() {
    let project = project("a/b", "");
    let here = project.path().canonicalize().expect("a folder");
    let whole = here.join("a/b/k.toml").to_string_lossy().into_owned();
    for typed in ["a/b/k.toml", "./a/b/k.toml", "a//b/./k.toml", "a/b/../b/k.toml", "a", &whole] {
        let found = findings(&check(project.path(), &[typed]), 1);
        let [finding] = &found[..] else { panic!("{typed}: {found:?}") };
        assert_eq!(finding["target"], "a/b/k.toml", "{typed}");
    }
    let found = findings(&check(&project.path().join("a"), &["../a/b/k.toml"]), 1);
    assert_eq!(found[0]["target"], "b/k.toml");
    let both = findings(&check(project.path(), &["./a/b/k.toml", "a/b/k.toml", "a"]), 1);
    assert_eq!(both.len(), 1, "{both:?}");
}

#[test]
fn an_expectation_meets_a_kernel_file_however_it_is_typed() {
    let project = project("a/b", "");
    let line = "fail  *  a/b/k.toml/forward  \"wrong-result\"  # known\n";
    fs::write(project.path().join("known.txt"), line).expect("written");
    let here = project.path().canonicalize().expect("a folder");
    let whole = here.join("a/b/k.toml").to_string_lossy().into_owned();
    for typed in ["./a/b/k.toml", "a//b/k.toml", &whole] {
        findings(&check(project.path(), &[typed, "--expectations", "known.txt"]), 0);
    }
}

#[test]
fn one_case_of_a_large_matrix_is_repeated_as_printed() {
    let values: Vec<String> = (0..10_001).map(|n| n.to_string()).collect();
    let project = project("a", &format!("defines = {{ T = {values:?} }}\n"));
    let refused = check(project.path(), &["a/k.toml"]);
    findings(&refused, 2);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains("10001 builds"), "{error}");
    let found = findings(&check(project.path(), &["a/k.toml", "--case", "T=7"]), 1);
    assert_eq!(found[0]["case"], "T=7");
}

#[test]
fn the_command_that_repeats_a_finding_quotes_its_program() {
    let project = project("a", "");
    let lab = project.path().join("my lab");
    fs::copy(env!("CARGO_BIN_EXE_vklab"), &lab).expect("copied");
    let mut command = Command::new(lab);
    command.args(["check", "a", "--json", "--only", "forward"]).current_dir(project.path());
    let found = findings(&command.output().expect("the binary starts"), 1);
    let repeat = found[0]["finding"]["repeat"].as_str().expect("a command");
    assert!(repeat.starts_with("'my lab' check a/k.toml "), "{repeat}");
}

#[test]
fn an_op_goes_before_a_folder_of_its_name() {
    let project = project("add", "");
    let asked = ["add", "--case", "rows=1,cols=1/normal"];
    findings(&check(project.path(), &asked), 0);
    for folder in ["add/", "./add"] {
        let found = findings(&check(project.path(), &[folder]), 1);
        assert_eq!(found[0]["target"], "add/k.toml", "{folder}");
    }
}
