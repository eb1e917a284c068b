//! The examples of the documentation: kernel files that load, a kernel that gets its verdicts.

use std::fs;
use std::path::Path;
use std::process::Command;

use vklab::check::{Check, Foreign};
use vklab::kernel_file::KernelFile;
use vklab::ops::{Cases, Registry};

const STAND_IN: &str = "#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P { uint n; float factor; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) y[i] = factor * x[i];
}
";

fn page(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a page")
}

/// The blocks of a page in a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let ends = |rest: &str| rest.split("```").next().unwrap_or_default().to_owned();
    page.split(&fence).skip(1).map(ends).collect()
}

#[test]
fn every_kernel_file_of_the_documentation_loads() {
    let mut count = 0;
    for name in ["docs/kernel-file.md", "README.md"] {
        for block in blocks(&page(name), "toml") {
            let folder = tempfile::tempdir().expect("a folder");
            for file in block.lines().filter_map(|line| line.split("file = \"").nth(1)) {
                let file = file.split('"').next().expect("a name");
                fs::write(folder.path().join(file), STAND_IN).expect("written");
            }
            let path = folder.path().join("example.toml");
            fs::write(&path, &block).expect("written");
            let file = KernelFile::load(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
            let foreign = Foreign::new(file, &Registry::lab()).expect(name);
            assert!(!foreign.cases(Check::Memory, Cases::Full).is_empty(), "{name}");
            count += 1;
        }
    }
    assert!(count >= 2, "{count} kernel files");
}

/// Arguments of the first command of that page that checks `scale.comp`, as a shell splits them.
fn first_look(page: &str) -> Vec<String> {
    let command = page.split("vklab check scale.comp ").nth(1).expect("a command");
    let command = command.split("```").next().expect("its end").replace("\\\n", " ");
    let quoted = command.split('\'').enumerate();
    let mut words = vec!["check".to_owned(), "scale.comp".to_owned()];
    for (at, part) in quoted {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

fn check(folder: &Path, arguments: &[String]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    command.current_dir(folder).args(arguments).args(["--seed", "1"]);
    let output = command.output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}{error}");
    said
}

#[test]
fn from_a_kernel_to_a_verdict_it_takes_one_file_of_fifteen_lines() {
    let readme = page("README.md");
    let kernel = blocks(&readme, "glsl").swap_remove(0);
    let file = blocks(&readme, "toml").swap_remove(0);
    assert!(file.lines().count() <= 15, "{} lines", file.lines().count());
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("scale.comp"), kernel).expect("written");
    fs::write(folder.path().join("scale.toml"), file).expect("written");
    let said = check(folder.path(), &["check".to_owned(), "scale.toml".to_owned()]);
    assert!(said.contains(" 0 fail, 0 unsupported"), "{said}");
    for page in [&readme, &page("docs/kernel-file.md")] {
        let said = check(folder.path(), &first_look(page));
        assert!(said.contains("12 verdicts: 12 pass"), "{said}");
    }
}
