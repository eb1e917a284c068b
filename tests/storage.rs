//! Kernel files whose buffers have several element types, which no op of the lab has.
#![cfg(feature = "glsl")]

use std::fs;
use std::process::Command;

const HEAD: &str = "version = 1\n[kernel.main]\nfile = \"k.comp\"\n";

/// Checks one kernel file on lavapipe and demands that everything passes.
fn passes(kernel: &str, file: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("k.toml");
    fs::write(folder.path().join("k.comp"), kernel).expect("written");
    fs::write(&path, format!("{HEAD}{file}")).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_vklab"))
        .arg("check")
        .arg(&path)
        .args(["--device", "vk:llvmpipe", "--seed", "1"])
        .output()
        .expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}{error}");
}

/// An op of two operands, the first stored as f16, the others as f32.
fn of_mixed_storage(expression: &str, op: &str) {
    let kernel = format!(
        "#version 450
        #extension GL_EXT_shader_16bit_storage : require
        layout(local_size_x = 64) in;
        layout(binding = 0) readonly buffer A {{ float16_t a[]; }};
        layout(binding = 1) readonly buffer B {{ float b[]; }};
        layout(binding = 2) writeonly buffer Y {{ float y[]; }};
        layout(push_constant) uniform Push {{ uint len; }};
        void main() {{
            uint i = gl_GlobalInvocationID.x;
            if (i < len) {{ y[i] = {expression}; }}
        }}"
    );
    let file = r#"[shapes]
rows = [1, 5]
cols = [33, 300]
[buffer.a]
type = "f16"
len = "rows*cols"
role = "in"
[buffer.b]
type = "f32"
len = "rows*cols"
role = "in"
[buffer.y]
type = "f32"
len = "rows*cols"
role = "out"
[[step]]
kernel = "main"
bind = { 0 = "a", 1 = "b", 2 = "y" }
push = { len = "rows*cols" }
groups = ["ceil(rows*cols / 64)"]
"#;
    let truth = "map = { a = \"a\", b = \"b\", y = \"y\" }\nattributes = { broadcast = 0 }\n";
    passes(&kernel, &format!("{file}[truth]\nop = \"{op}\"\n{truth}"));
}

#[test]
fn a_linear_op_stays_linear_where_f16_would_become_subnormal() {
    of_mixed_storage("float(a[i]) + b[i]", "add");
}

#[test]
fn operands_of_different_storage_are_not_exchanged() {
    of_mixed_storage("float(a[i]) * b[i]", "mul");
}
