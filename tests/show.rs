//! `vklab show`: what a kernel is, and what its lines cost.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const SUM: &str = "#version 450
layout(local_size_x = 4) in;
layout(constant_id = 1) const uint TURNS = 10;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
void main() {
    uint i = gl_LocalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0; k < TURNS; k++)
        sum += x[i];
    y[i] = sum;
}
";

const FILE: &str = "version = 1
[kernel.sum]
file = \"sum.comp\"
spec = { TURNS = [10, 20] }
[buffer.x]
type = \"f32\"
len = \"4\"
role = \"in\"
init = \"ones\"
[buffer.y]
type = \"f32\"
len = \"4\"
role = \"out\"
init = \"undefined\"
[[step]]
kernel = \"sum\"
bind = { 0 = \"x\", 1 = \"y\" }
groups = [1, 1, 1]
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("sum.comp"), SUM).expect("written");
    fs::write(folder.path().join("sum.toml"), FILE).expect("written");
    folder
}

fn show(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    command.current_dir(folder).arg("show").args(arguments).output().expect("the binary starts")
}

fn text(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Lane-instructions by line.
fn costs(folder: &Path, case: &str) -> BTreeMap<u64, u64> {
    let output = text(&show(folder, &["sum.toml", "--cost", "--json", "--case", case]));
    let lines = output.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let key = |line: &Value, key: &str| line[key].as_u64().expect("a number");
    let cost = |line: Value| (key(&line, "line"), key(&line, "lane_instructions"));
    lines.map(cost).collect()
}

#[test]
fn lines_cost_what_they_execute_times_invocations() {
    let folder = folder();
    let [once, twice] = ["TURNS=10", "TURNS=20"].map(|case| costs(folder.path(), case));
    // Four invocations: a copy into each variable; then an address, a load, a sum, a copy and the
    // way on in each turn; then an address and a store; then the end.
    assert_eq!(once[&7], 4);
    assert_eq!(once[&8], 4);
    assert_eq!(once[&10], 4 * 5 * 10);
    assert_eq!(once[&11], 4 * 2);
    assert_eq!(once[&12], 4);
    assert_eq!(once[&0], 4 * (3 + 1), "three variables hold nothing, and the way in");
    let doubled: Vec<u64> = once.keys().copied().filter(|line| twice[line] > once[line]).collect();
    assert_eq!(doubled, [9, 10], "the loop");
    assert_eq!(twice[&10], 2 * once[&10]);
    let turn = (twice[&9] - once[&9]) / 10;
    assert_eq!(turn, 4 * 6, "a comparison, a branch, a sum, a copy and two ways on");
}

#[test]
fn the_table_has_the_lines_in_order_and_adds_up() {
    let folder = folder();
    let table = text(&show(folder.path(), &["sum.toml", "--cost", "--case", "TURNS=10"]));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "sum.toml in case TURNS=10");
    assert!(lines[2].ends_with("sum.comp"), "{table}");
    let texts = ["uint i = ", "float sum = 0.0;", "for (uint k", "sum += x[i];", "y[i] = sum;"];
    for (line, text) in lines[3..].iter().zip(texts) {
        assert!(line.contains(text), "no `{text}` in `{line}`");
    }
    let total: u64 = costs(folder.path(), "TURNS=10").values().sum();
    let last = lines.last().expect("a total");
    assert!(last.contains(&total.to_string()) && last.contains("100.0%"), "{last}");
}

#[test]
fn a_variant_and_a_file_alone_show_their_interface_and_module() {
    let folder = folder();
    let interface = text(&show(folder.path(), &["matmul.naive"]));
    let parts = ["matmul/naive.comp", "binding 2"];
    assert!(parts.iter().all(|part| interface.contains(part)), "{interface}");
    let interface = text(&show(folder.path(), &["sum.comp"]));
    assert!(interface.contains("TURNS") && interface.contains("binding 1"), "{interface}");
    let module = text(&show(folder.path(), &["sum.comp", "--spirv"]));
    assert!(module.contains("OpEntryPoint") && module.contains("OpFunctionEnd"), "{module}");
}

#[test]
fn what_is_no_one_kernel_or_cannot_be_run_is_refused() {
    let folder = folder();
    for (arguments, part) in [
        (&["softmax"][..], "softmax.naive, softmax.shared"),
        (&["sum.comp", "--cost"], "--as-file"),
        (&["nosuch.variant"], "nosuch.variant"),
        (&["sum.toml", "--cost", "--case", "TURNS=11"], "11"),
    ] {
        let output = show(folder.path(), arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(part), "no `{part}` in: {error}");
    }
}
