//! The compute shaders of ggml's Vulkan backend under the kernel files of `tests/ggml`.
//!
//! The shaders aren't part of this repository: `VKLAB_GGML_DIR` names their folder, and without it
//! nothing is checked. `tests/ggml/README.md` tells which commit, and how to get it.
#![cfg(feature = "glsl")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The folder with the shaders; said so where nobody names one.
fn shaders() -> Option<PathBuf> {
    let folder = std::env::var_os("VKLAB_GGML_DIR").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: VKLAB_GGML_DIR names no folder with ggml's shaders");
    }
    folder
}

/// Checks kernel files on a device with the shaders of a folder. lavapipe's compiler is slow the
/// first time that it sees a large kernel, which is no hang.
fn check_on(device: &str, target: &Path, shaders: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vklab"))
        .arg("check")
        .arg(target)
        .args(["--device", device, "--seed", "1", "--timeout", "120"])
        .args(arguments)
        .env("VKLAB_GGML_DIR", shaders)
        .output()
        .expect("the binary starts")
}

fn check(target: &Path, shaders: &Path, arguments: &[&str]) -> Output {
    check_on("vk:llvmpipe", target, shaders, arguments)
}

fn printed(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ggml")
}

#[test]
fn every_kernel_passes_with_results_that_are_not_all_zero() {
    let Some(shaders) = shaders() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run.jsonl");
    let output = check(&files(), &shaders, &["--out", run.to_str().expect("a path in UTF-8")]);
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));

    let mut has_numbers = BTreeMap::new();
    for line in fs::read_to_string(&run).expect("the run file").lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        if line["line"] != "verdict" {
            continue;
        }
        assert_eq!(line["verdict"], "pass", "{line}");
        let name = line["op"].as_str().expect("a name").to_owned();
        let samples = line["output"]["samples"].as_array().into_iter().flatten();
        let mut numbers = samples.filter_map(|sample| sample.as_str()?.parse::<f64>().ok());
        *has_numbers.entry(name).or_insert(false) |= numbers.any(|number| number != 0.0);
    }
    let zeros: Vec<&String> =
        has_numbers.iter().filter(|(_, any)| !**any).map(|(f, _)| f).collect();
    assert!(zeros.is_empty(), "zeros alone: {zeros:?}");
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    let entries = fs::read_dir(files()).expect("the kernel files");
    let count = entries.map(|entry| entry.expect("an entry").path()).filter(is_toml).count();
    assert_eq!(has_numbers.len(), count, "{:?}", has_numbers.keys());
}

/// What the interpreter finds in ggml's own shaders: the file, the kind, the shader's line, why it
/// does no harm there.
///
/// - `argsort` loads a whole power of two of columns and sorts those beyond the row to its end: the
///   last row's load goes past the buffer, where robust access gives anything. Where a row fills
///   the power of two, what shows is a race: both invocations of a pair read both places, and one
///   of them swaps them meanwhile; the other one then has no use for what it read.
/// - `flash_attn` works on whole blocks of rows: those beyond the last query are never written to
///   shared memory, go through the softmax all the same and are not stored.
const THEIRS: [(&str, &str, &str); 3] = [
    ("argsort.toml", "oob-read", "argsort.comp"),
    ("argsort.toml", "race", "argsort.comp"),
    ("flash_attn.toml", "uninit-read", "flash_attn"),
];

#[test]
fn the_interpreter_finds_what_is_known_of_ggml_and_nothing_else() {
    let Some(shaders) = shaders() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run.jsonl");
    let out = ["--out", run.to_str().expect("a path in UTF-8")];
    let output = check_on("soft", &files(), &shaders, &out);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    let (mut verdicts, mut known) = (0, BTreeMap::new());
    for line in fs::read_to_string(&run).expect("the run file").lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        if line["line"] != "verdict" {
            continue;
        }
        verdicts += 1;
        if line["verdict"] == "pass" {
            continue;
        }
        let (op, finding) = (line["op"].as_str().expect("a name"), &line["finding"]);
        let of = |name: &&(&str, &str, &str)| op.ends_with(name.0) && finding["kind"] == name.1;
        let theirs = THEIRS.iter().find(of).unwrap_or_else(|| panic!("{line}"));
        let file = finding["file"].as_str().expect("a file");
        assert!(file.contains(theirs.2) && finding["line"].as_u64() > Some(0), "{line}");
        *known.entry(theirs).or_insert(0) += 1;
    }
    assert!(verdicts > 9_000, "{verdicts}");
    assert_eq!(known.len(), THEIRS.len(), "{known:?}");
}

/// A synchronisation or a bound taken out of a shader or one of its includes.
struct Dropped {
    kernel_file: &'static str,
    shader: &'static str,
    from: &'static str,
    to: &'static str,
}

const DROPPED: &[Dropped] = &[
    // The barrier before the tree that finds a row's maximum.
    Dropped {
        kernel_file: "soft_max.toml",
        shader: "soft_max.comp",
        from: "vals[tid] = max_val;\n    barrier();",
        to: "vals[tid] = max_val;",
    },
    // The barrier between loading a tile and multiplying it.
    Dropped {
        kernel_file: "mul_mm_f32.toml",
        shader: "mul_mm.comp",
        from: "barrier();\n\n        pos_a +=",
        to: "pos_a +=",
    },
    // The barrier before the tree that adds partial products, in an include.
    Dropped {
        kernel_file: "mul_mat_vec_q4_0.toml",
        shader: "mul_mat_vec_base.glsl",
        from: "tmpsh[j][n][tid] = temp[j][n];\n        }\n    }\n    barrier();",
        to: "tmpsh[j][n][tid] = temp[j][n];\n        }\n    }",
    },
    // The bound on elements.
    Dropped {
        kernel_file: "scale.toml",
        shader: "scale.comp",
        from: "if (idx >= p.ne) {",
        to: "if (false) {",
    },
    // The bound on columns.
    Dropped {
        kernel_file: "get_rows.toml",
        shader: "get_rows.comp",
        from: "if (i00 >= p.ne00) {",
        to: "if (false) {",
    },
    // The bound on keys, in an include.
    Dropped {
        kernel_file: "flash_attn.toml",
        shader: "flash_attn_base.glsl",
        from: "KV_bounds_check = Clamp != 0;",
        to: "KV_bounds_check = false;",
    },
];

#[test]
fn a_barrier_or_bound_dropped_in_a_copy_is_found() {
    let Some(shaders) = shaders() else { return };
    for dropped in DROPPED {
        let copy = tempfile::tempdir().expect("a folder");
        copy_files(&shaders, copy.path());
        let path = copy.path().join(dropped.shader);
        let text = fs::read_to_string(&path).expect("the shader");
        let places = text.matches(dropped.from).count();
        assert_eq!(places, 1, "{} has {:?} in {places} places", dropped.shader, dropped.from);
        fs::write(&path, text.replace(dropped.from, dropped.to)).expect("the copy is ours");

        let target = files().join(dropped.kernel_file);
        let output = check(&target, copy.path(), &["--only", "forward", "--only", "memory"]);
        let said = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{}:\n{said}", dropped.kernel_file);
        let is_seen = said.contains("wrong-result:") || said.contains("guard-hit:");
        assert!(is_seen, "{}:\n{said}", dropped.kernel_file);
    }
}

/// Copies the files of a folder, not those of folders in it.
fn copy_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the shaders") {
        let path = entry.expect("an entry").path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, to.join(name)).expect("a copy");
        }
    }
}
