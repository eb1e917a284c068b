//! What the interpreter says of kernels with one fault each, and of their right twins, through the
//! command line.
//!
//! A kernel marks the line that must be named with `// HERE`, and the other party's with `// THERE`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A kernel on its own and how it is run.
struct Look<'a> {
    text: &'a str,
    options: &'a [&'a str],
}

/// 64 invocations in a workgroup, f32 buffers `x` and `y`.
const HEAD: &str = "#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
";

const ONE_GROUP: [&str; 5] =
    ["--groups=1", "--buffer=0=f32:64", "--buffer=1=f32:64:undefined:out", "--target", "vulkan1.2"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder(look: &Look<'_>) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.comp"), look.text).expect("written");
    folder
}

fn check(folder: &Path, options: &[&str], more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vklab"))
        .current_dir(folder)
        .args(["check", "k.comp", "--device", "soft", "--seed", "1"])
        .args(options)
        .args(more)
        .output()
        .expect("the binary starts")
}

/// The findings of the check sanitize.
fn findings(look: &Look<'_>) -> Vec<Value> {
    let folder = folder(look);
    let output = check(folder.path(), look.options, &["--only", "sanitize", "--json"]);
    let said = text(&output.stdout);
    let found: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let code = i32::from(!found.is_empty());
    assert_eq!(output.status.code(), Some(code), "{said}{}", text(&output.stderr));
    found
}

/// The number of the line that ends with a mark.
fn marked(text: &str, mark: &str) -> Option<u64> {
    let at = text.lines().position(|line| line.trim_end().ends_with(mark))?;
    u64::try_from(at + 1).ok()
}

/// The kernel has one finding, of this kind and at the marked lines.
fn is_found(kind: &str, look: &Look<'_>) -> Value {
    let found = findings(look);
    let [finding] = found.as_slice() else { panic!("{} findings: {found:?}", found.len()) };
    assert_eq!(finding["kind"], kind, "{finding}");
    assert_eq!(finding["file"], "k.comp", "{finding}");
    assert_eq!(finding["line"].as_u64(), marked(look.text, "// HERE"), "{finding}");
    finding.clone()
}

/// The same for a race, of which the order says who came first.
fn is_race(look: &Look<'_>) -> Value {
    let found = findings(look);
    let [finding] = found.as_slice() else { panic!("{} findings: {found:?}", found.len()) };
    assert_eq!((&finding["kind"], &finding["file"]), (&"race".into(), &"k.comp".into()));
    let mut lines = [finding["line"].as_u64(), finding["other_line"].as_u64()];
    lines.sort_unstable();
    let mut want = [marked(look.text, "// THERE"), marked(look.text, "// HERE")];
    want.sort_unstable();
    assert_eq!(lines, want, "{finding}");
    finding.clone()
}

fn is_clean(look: &Look<'_>) {
    let found = findings(look);
    assert!(found.is_empty(), "{found:?}");
}

fn body(text: &str) -> String {
    format!("{HEAD}{text}")
}

#[test]
fn a_read_behind_the_data_is_found() {
    let wrong = body(
        "void main() {
    uint i = gl_GlobalInvocationID.x;
    y[i] = x[i + 1]; // HERE
}
",
    );
    let finding = is_found("oob-read", &Look { text: &wrong, options: &ONE_GROUP });
    let message = finding["message"].as_str().expect("a message");
    assert!(message.contains("byte 256 of `X`, which has 256"), "{message}");
    is_clean(&Look { text: &wrong.replace("i + 1", "(i + 1) % 64"), options: &ONE_GROUP });
}

#[test]
fn a_write_behind_the_data_is_found() {
    let wrong = body(
        "void main() {
    uint i = gl_GlobalInvocationID.x;
    float value = i < 100 ? x[i] : 0.0;
    y[i] = value; // HERE
}
",
    );
    let options = [
        "--groups=2",
        "--buffer=0=f32:100",
        "--buffer=1=f32:100:undefined:out",
        "--target=vulkan1.2",
    ];
    is_found("oob-write", &Look { text: &wrong, options: &options });
    let right = wrong.replace("    y[i]", "    if (i < 100) y[i]");
    is_clean(&Look { text: &right, options: &options });
}

#[test]
fn shared_memory_that_nobody_wrote_is_found() {
    let wrong = body(
        "shared float tile[64];
void main() {
    uint i = gl_LocalInvocationID.x;
    if (i < 60) tile[i] = x[i];
    barrier();
    float value = tile[63 - i]; // HERE
    y[i] = 2.0 * value;
}
",
    );
    let found = findings(&Look { text: &wrong, options: &ONE_GROUP });
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(finding["kind"], "uninit-read", "{finding}");
    is_clean(&Look { text: &wrong.replace("if (i < 60) ", ""), options: &ONE_GROUP });
}

#[test]
fn a_missing_barrier_is_a_race_with_both_its_lines() {
    let wrong = body(
        "shared float tile[64];
void main() {
    uint i = gl_LocalInvocationID.x;
    tile[i] = x[i]; // THERE

    y[i] = tile[i ^ 33]; // HERE
}
",
    );
    let look = Look { text: &wrong, options: &ONE_GROUP };
    let finding = is_race(&look);
    assert_eq!(finding["finding"]["observations"][0]["memory"], "tile", "{finding}");
    let right = wrong.replace("// THERE\n", "// THERE\n    barrier();");
    is_clean(&Look { text: &right, options: &ONE_GROUP });

    let folder = folder(&look);
    let output = check(folder.path(), &ONE_GROUP, &["--only", "sanitize"]);
    let said = text(&output.stdout);
    for part in ["│ tile[i] = x[i];", "│ y[i] = tile[i ^ 33];", "invocation "] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    assert!(!said.contains('\u{1b}'), "{said}");
}

#[test]
fn a_race_that_is_meant_is_allowed_at_its_line_with_a_reason() {
    let wrong = body(
        "void main() {
    uint i = gl_GlobalInvocationID.x;
    y[0] = x[i]; // HERE
}
",
    );
    is_race(&Look { text: &wrong, options: &ONE_GROUP });
    let meant = wrong.replace("// HERE", "// vklab: race-ok any element will do");
    // What the sizes leave there differs, of course.
    let partial = [&ONE_GROUP[..], &["--subgroup-size", "32"]].concat();
    is_clean(&Look { text: &meant, options: &partial });
}

#[test]
fn a_race_between_workgroups_is_found() {
    let wrong = body(
        "void main() {
    uint i = gl_LocalInvocationID.x;
    y[i] += x[i]; // HERE
}
",
    );
    let options =
        ["--groups=2", "--buffer=0=f32:64", "--buffer=1=f32:64:zeros:inout", "--target=vulkan1.2"];
    is_race(&Look { text: &wrong, options: &options });
}

#[test]
fn a_barrier_that_some_do_not_reach_is_found() {
    let wrong = body(
        "shared float tile[64];
void main() {
    uint i = gl_LocalInvocationID.x;
    tile[i] = x[i];
    if (i < 40) {
        barrier(); // HERE
    }
    y[i] = tile[i];
}
",
    );
    is_found("divergent-barrier", &Look { text: &wrong, options: &ONE_GROUP });
}

#[test]
fn a_shuffle_from_an_invocation_that_is_not_there_is_found() {
    let wrong = body(
        "void main() {
    uint i = gl_LocalInvocationID.x;
    float value = x[i];
    y[i] = value;
    if ((i & 1) == 0) {
        y[i] = subgroupShuffleXor(value, 1); // HERE
    }
}
",
    );
    is_found("divergence", &Look { text: &wrong, options: &ONE_GROUP });
    let right = wrong
        .replace("float value = x[i];", "float value = x[i], other = subgroupShuffleXor(value, 1);")
        .replace("= subgroupShuffleXor(value, 1); // HERE", "= other;");
    is_clean(&Look { text: &right, options: &ONE_GROUP });
}

#[test]
fn a_division_by_zero_is_found() {
    let wrong = body(
        "void main() {
    uint i = gl_LocalInvocationID.x;
    int divisor = int(i) - 20;
    y[i] = float(1000 / divisor); // HERE
}
",
    );
    is_found("undefined-arithmetic", &Look { text: &wrong, options: &ONE_GROUP });
    let right = wrong.replace("- 20", "+ 20");
    is_clean(&Look { text: &right, options: &ONE_GROUP });
}

#[test]
fn the_first_nan_is_found_where_nothing_is_expected() {
    let wrong = body(
        "void main() {
    uint i = gl_LocalInvocationID.x;
    float large = exp(x[i] + 100.0);
    float none = large - large; // HERE
    y[i] = none + 1.0;
}
",
    );
    is_found("nan", &Look { text: &wrong, options: &ONE_GROUP });
    is_clean(&Look { text: &wrong.replace("+ 100.0", ""), options: &ONE_GROUP });
}

#[test]
fn a_result_that_hangs_on_the_subgroup_size_is_not_portable() {
    let wrong = body(
        "void main() {
    uint i = gl_LocalInvocationID.x;
    float sum = subgroupAdd(x[i]);
    y[i] = sum;
}
",
    );
    let found = findings(&Look { text: &wrong, options: &ONE_GROUP });
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["kind"], "not-portable", "{}", found[0]);
    let one_size = [&ONE_GROUP[..], &["--subgroup-size", "8"]].concat();
    is_clean(&Look { text: &wrong, options: &one_size });
}

#[test]
fn a_kernel_that_never_ends_is_a_hang_with_its_line_and_the_run_goes_on() {
    let wrong = body(
        "void main() {
    uint i = gl_LocalInvocationID.x;
    y[i] = 0.0;
    while (x[i] < 2.0) {
        y[i] += 1.0;
    }
}
",
    );
    let look = Look { text: &wrong, options: &ONE_GROUP };
    let folder = folder(&look);
    let output = check(folder.path(), &ONE_GROUP, &["--only", "sanitize,determinism", "--json"]);
    let said = text(&output.stdout);
    let found: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(found.len(), 2, "{said}{}", text(&output.stderr));
    for finding in found {
        assert_eq!(finding["kind"], "hang", "{finding}");
        let message = finding["message"].as_str().expect("a message");
        assert!(message.contains("k.comp:"), "{message}");
    }
}

#[test]
fn the_command_of_a_finding_repeats_it() {
    let wrong = body(
        "void main() {
    uint i = gl_LocalInvocationID.x;
    y[i] = x[i];
    if (gl_SubgroupSize == 8) y[i] = x[i + 1]; // HERE
}
",
    );
    let look = Look { text: &wrong, options: &ONE_GROUP };
    let finding = is_found("oob-read", &look);
    let repeat = finding["finding"]["repeat"].as_str().expect("a command");
    assert!(repeat.ends_with("--device soft --subgroup-size 8"), "{repeat}");
    let words = shlex::split(repeat).expect("words");
    let folder = folder(&look);
    let output = Command::new(env!("CARGO_BIN_EXE_vklab"))
        .current_dir(folder.path())
        .args(&words[1..])
        .arg("--json")
        .output()
        .expect("the binary starts");
    let again: Value = serde_json::from_slice(&output.stdout).expect("one finding");
    assert_eq!(again["finding"], finding["finding"]);
}

#[test]
fn ordinary_checks_tell_what_was_seen_before_what_came_of_it() {
    let wrong = body(
        "void main() {
    uint i = gl_GlobalInvocationID.x;
    y[i] = x[i + 1]; // HERE
}
",
    );
    let look = Look { text: &wrong, options: &ONE_GROUP };
    let folder = folder(&look);
    for only in ["memory", "determinism"] {
        let output = check(folder.path(), &ONE_GROUP, &["--only", only, "--json"]);
        let finding: Value = serde_json::from_slice(&output.stdout).expect("one finding");
        assert_eq!(finding["kind"], "oob-read", "{finding}");
        assert_eq!(finding["line"].as_u64(), marked(&wrong, "// HERE"), "{finding}");
    }
}

#[test]
fn a_subgroup_may_wait_for_another_one_of_its_workgroup() {
    let waits = body(
        "shared uint flag;
void main() {
    uint t = gl_LocalInvocationIndex;
    if (t == 0) atomicExchange(flag, 0u);
    barrier();
    if (gl_SubgroupID > 0) {
        while (atomicAdd(flag, 0u) == 0u) { }
    } else {
        atomicExchange(flag, 1u);
    }
    y[t] = x[t];
}
",
    );
    is_clean(&Look { text: &waits, options: &ONE_GROUP });
}

/// Each takes more than one slice, so that many are under way at once, each in a seat of its own.
#[test]
fn many_long_workgroups_are_kept_apart() {
    let long = body(
        "shared float part[64];
void main() {
    uint t = gl_LocalInvocationIndex;
    uint i = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0; k < 6000u; k++) sum += x[(i + k) % 4096u];
    part[t] = sum;
    barrier();
    y[i] = part[63 - t];
}
",
    );
    let options = [
        "--groups=70",
        "--buffer=0=f32:4480",
        "--buffer=1=f32:4480:undefined:out",
        "--subgroup-size=32",
        "--target",
        "vulkan1.2",
    ];
    is_clean(&Look { text: &long, options: &options });
}

#[test]
fn a_word_put_together_from_fields_is_defined_when_all_of_it_is() {
    let fields = |count: u32| {
        let put: String = (0..count)
            .map(|at| format!("    w = bitfieldInsert(w, uint(x[i]), {}, 8);\n", 8 * at))
            .collect();
        let mark = if count < 4 { " // THERE" } else { "" };
        body(&format!(
            "void main() {{
    uint i = gl_GlobalInvocationID.x;
    uint w;
{put}    y[i] = float(w);{mark}
}}
"
        ))
    };
    is_clean(&Look { text: &fields(4), options: &ONE_GROUP });
    let found = findings(&Look { text: &fields(3), options: &ONE_GROUP });
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["kind"], "uninit-read", "{found:?}");
}

#[test]
fn a_value_carried_out_of_a_loop_stays_what_it_was() {
    // Each invocation leaves at a turn of its own, some from the last block of the loop.
    let leaves = body(
        "void main() {
    uint t = gl_LocalInvocationIndex;
    uint turns = 0u;
    float last;
    do {
        last = float(turns * 3u + t);
        turns++;
        if (turns > 40u) break;
    } while (turns < t);
    y[t] = last - float((turns - 1u) * 3u + t) + x[t];
    if (y[t] != x[t]) y[1000000] = 0.0;
}
",
    );
    is_clean(&Look { text: &leaves, options: &ONE_GROUP });
}
