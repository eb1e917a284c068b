//! Kernel files under the checks on lavapipe: right kernels pass, wrong ones are found by the check
//! that should find them.

mod alone;
mod mapping;
mod of_op;
mod twin;

use std::fs;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// What came of checking a kernel file.
struct Checked {
    code: Option<i32>,
    /// (check, kind) of every finding, in the order of the run.
    found: Vec<(String, String)>,
    findings: Vec<Value>,
    errors: String,
    /// Verdicts by word.
    run: String,
}

impl Checked {
    fn kinds(&self) -> Vec<&str> {
        self.found.iter().map(|(_, kind)| kind.as_str()).collect()
    }

    fn verdicts(&self, word: &str) -> usize {
        self.run.matches(&format!("\"verdict\":\"{word}\"")).count()
    }

    /// Every verdict is a pass, and there are some.
    fn assert_clean(&self) {
        assert_eq!(self.code, Some(0), "{}\n{:#?}", self.errors, self.findings);
        assert!(self.verdicts("pass") > 0 && self.verdicts("unsupported") == 0, "{}", self.run);
    }
}

/// Checks the file `k.toml` among these files.
fn check(files: &[(&str, &str)]) -> Checked {
    check_with(files, &[])
}

fn check_with(files: &[(&str, &str)], arguments: &[&str]) -> Checked {
    let folder = written(files);
    let run = folder.path().join("run.jsonl");
    let output = Command::new(env!("CARGO_BIN_EXE_vklab"))
        .arg("check")
        .arg(folder.path().join("k.toml"))
        .args(["--device", "vk:llvmpipe", "--json", "--seed", "3", "--out"])
        .arg(&run)
        .args(arguments)
        .output()
        .expect("the lab");
    let text = String::from_utf8_lossy(&output.stdout);
    let findings: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let word = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    Checked {
        code: output.status.code(),
        found: findings.iter().map(|f| (word(f, "check"), word(f, "kind"))).collect(),
        findings,
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        run: fs::read_to_string(run).unwrap_or_default(),
    }
}

fn written(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// A kernel of 64 invocations a workgroup: its buffers and what each invocation below `n` does.
fn kernel(buffers: &str, push: &str, body: &str) -> String {
    format!(
        "#version 450\n\
         layout(local_size_x = 64) in;\n\
         {buffers}\n\
         layout(push_constant) uniform P {{ uint n; {push} }};\n\
         void main() {{\n    \
             uint i = gl_GlobalInvocationID.x;\n    \
             if (i < n) {{ {body} }}\n\
         }}\n"
    )
}
