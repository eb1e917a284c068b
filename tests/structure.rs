//! The architecture's invariants: layers, where unsafe is, orphans, sizes, the README's table.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use vklab::ops;

/// From the bottom up; modules on one line don't know one another.
const LAYERS: [&[&str]; 11] = [
    &["tensor"],
    &["numeric"],
    &["glsl", "spirv"],
    &["device"],
    &["vulkan", "memory", "soft"],
    &["ops"],
    &["kernel_file"],
    &["check"],
    &["amber", "bench", "faulty", "import", "model"],
    &["worker"],
    &["run"],
];
/// What stands above all layers.
const TOP: [&str; 2] = ["report", "cli"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn rank(module: &str) -> usize {
    let layered = LAYERS.iter().position(|layer| layer.contains(&module));
    let top = TOP.iter().position(|top| *top == module).map(|at| LAYERS.len() + at);
    layered.or(top).unwrap_or_else(|| panic!("module {module} has no layer"))
}

/// Modules of this crate that a source text names.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .filter(|module: &String| root().join("src").join(module).is_dir())
        .collect()
}

#[test]
fn each_layer_uses_only_what_stands_below_it() {
    let src = root().join("src");
    let mut wrong = Vec::new();
    for file in files(&src, "rs") {
        let inside = file.strip_prefix(&src).expect("below src");
        let module = inside.components().next().expect("a name").as_os_str().to_string_lossy();
        if inside.components().count() < 2 {
            continue;
        }
        for other in used(&fs::read_to_string(&file).expect("text")) {
            if other != module && rank(&other) >= rank(&module) {
                wrong.push(format!("{} uses {other}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsafe_lives_in_vulkan_alone() {
    for folder in ["src", "tests", "benches", "examples/own-ops/src"] {
        for file in files(&root().join(folder), "rs") {
            let allowed = file.starts_with(root().join("src/vulkan"))
                || file.starts_with(root().join("benches/bare"))
                || file.ends_with("tests/structure.rs");
            let text = fs::read_to_string(&file).expect("text");
            let opens = |line: &str| {
                let line = line.trim_start();
                !line.starts_with("//") && (line.contains("unsafe {") || line.contains("unsafe fn"))
            };
            let found = text.lines().any(opens);
            assert!(allowed || !found, "{} has unsafe code", file.display());
        }
    }
}

#[test]
fn source_files_stay_readable() {
    let long: Vec<String> = ["src", "tests", "benches"]
        .iter()
        .flat_map(|folder| files(&root().join(folder), "rs"))
        .map(|file| (fs::read_to_string(&file).expect("text").lines().count(), file))
        .filter(|(lines, _)| *lines > 500)
        .map(|(lines, file)| format!("{} has {lines} lines", file.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn every_kernel_is_used_and_says_what_it_does() {
    let glsl = root().join("glsl");
    let sources: String = files(&root().join("src"), "rs")
        .iter()
        .map(|file| fs::read_to_string(file).expect("text"))
        .collect();
    for kernel in files(&glsl, "comp") {
        let path = kernel.strip_prefix(&glsl).expect("below glsl").to_string_lossy().into_owned();
        let stem = kernel.file_stem().expect("a name").to_string_lossy();
        let named =
            sources.contains(&format!("\"{path}\"")) || sources.contains(&format!("\"{stem}\""));
        assert!(named, "{path} is used by nobody");
        let text = fs::read_to_string(&kernel).expect("text");
        let second = text.lines().nth(1).unwrap_or_default();
        assert!(second.starts_with("// "), "{path} begins without its one sentence");
    }
}

#[test]
fn the_table_of_ops_in_the_readme_is_the_registry() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let want: Vec<String> = ops::ALL
        .iter()
        .map(|op| {
            let names: Vec<&str> = op.variants.iter().map(|v| v.name).collect();
            format!("| `{}` | {} | {} |", op.name, op.formula, names.join(", "))
        })
        .collect();
    assert_eq!(rows, want, "the table should be:\n{}", want.join("\n"));
}
