//! `vklab import`: what it reads, what it writes, what it asks, and how it ends.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use insta::Settings;
use tempfile::TempDir;
use toml::{Table, Value};

/// Two element types, a vector block over the same binding, and all that reflection knows.
const SCALE: &str = "#version 450
#extension GL_EXT_shader_16bit_storage : require
#include \"common.glsl\"
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const float FACTOR = 0.5;
layout(binding = 0, std430) readonly buffer X { T x[]; };
layout(binding = 1, std430) writeonly buffer Y { T y[]; };
layout(binding = 2, std430) buffer Log { uint count; uint log[]; };
layout(push_constant) uniform Push { uint n; float bias; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < min(n, LIMIT)) {
        y[i] = T(FACTOR * float(x[i]) + bias);
        log[i] = count;
    }
}
";

/// One binding under two types, and a push constant of several scalars.
const MIXED: &str = "#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(binding = 0, std430) readonly buffer A { float a[]; };
layout(binding = 0, std430) readonly buffer A4 { uvec4 a_words[]; };
layout(binding = 1, std430) buffer B { float b[16]; };
layout(push_constant) uniform Push { uvec2 extent; int shift[2]; };
void main() {
    b[0] = a[extent.y] + float(a_words[extent.x].x << shift[1]);
}
";

/// A folder with kernels, an include folder and a list of command lines.
fn project(list: &str) -> TempDir {
    let root = tempfile::tempdir().expect("a folder");
    let path = |name: &str| root.path().join(name);
    fs::create_dir_all(path("kernels in glsl/deep")).expect("a folder");
    fs::create_dir(path("include")).expect("a folder");
    fs::write(path("kernels in glsl/scale.comp"), SCALE).expect("a file");
    fs::write(path("kernels in glsl/deep/mixed.comp"), MIXED).expect("a file");
    fs::write(path("include/common.glsl"), "#define LIMIT 4096\n").expect("a file");
    fs::write(path("list.txt"), list).expect("a file");
    root
}

fn import(root: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    command.arg("import").args(arguments).current_dir(root.path());
    // A cache of one's own: other tests would see neither hits nor entries of this one.
    command.env("VKLAB_CACHE", root.path().join("cache"));
    command.output().expect("the binary starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn ended(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}{}", stdout(output), stderr(output));
}

fn stub(root: &TempDir, path: &str) -> String {
    fs::read_to_string(root.path().join(path)).expect(path)
}

fn assert_snapshot(name: &str, text: &str) {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Answers every question as the stub asks for it: the value for `?`, and no `#` before it.
fn answered(stub: &str) -> Table {
    let answer = |line: &str| {
        let question =
            line.strip_prefix("# ").and_then(|asked| Some((asked, asked.split_once(" = ?")?)));
        let value = match question {
            Some((_, (key, _))) if key.trim_start().starts_with('{') => "17",
            Some((_, ("groups", _))) => "[\"ceil(n / 64)\", 1]",
            Some((_, ("role", _))) => "\"inout\"",
            Some((_, ("type", _))) => "\"f32\"",
            Some((_, ("len" | "op", _))) => "\"n\"",
            Some((_, (key, _))) if !key.contains(' ') => "17",
            _ if line == "# [truth]" => return "[truth]".to_owned(),
            _ => return line.to_owned(),
        };
        question.map(|(asked, _)| asked.replacen('?', value, 1)).unwrap_or_default()
    };
    let lines: Vec<String> = stub.lines().map(answer).collect();
    let text = lines.join("\n");
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn at<'a>(table: &'a Table, path: &[&str]) -> &'a Value {
    let (first, rest) = path.split_first().expect("a path");
    let value = table.get(*first).unwrap_or_else(|| panic!("no {first} in {table}"));
    rest.iter()
        .fold(value, |value, key| value.get(key).unwrap_or_else(|| panic!("no {key} in {value}")))
}

const MATRIX: &str = "# A build log.
[1/3] cc -c main.c -o main.o
glslc -fshader-stage=compute -I include -DT=float -DUNROLL 'kernels in glsl/scale.comp' -o f32.spv
glslc -fshader-stage=compute -Iinclude -D T=float16_t -DUNROLL= kernels\\ in\\ glsl/scale.comp -O
glslc shader.vert -o shader.spv
glslangValidator -V --target-env vulkan1.2 \"kernels in glsl/deep/mixed.comp\" \\
  -o mixed.spv
";

#[test]
fn a_list_of_command_lines_becomes_stubs() {
    let root = project(MATRIX);
    let output = import(&root, &["list.txt", "--out", "out/stubs"]);
    ended(&output, 0);
    assert_eq!(stdout(&output), "out/stubs/mixed.toml\nout/stubs/scale.toml: 2 builds\n");
    let passed_over = stderr(&output);
    assert!(passed_over.contains("1 shaders of other stages"), "{passed_over}");
    assert!(passed_over.contains("1 lines without glslc"), "{passed_over}");
    assert_snapshot("stub__matrix", &stub(&root, "out/stubs/scale.toml"));
    assert_snapshot("stub__mixed", &stub(&root, "out/stubs/mixed.toml"));
}

#[test]
fn answered_questions_make_toml() {
    let root = project(MATRIX);
    ended(&import(&root, &["list.txt"]), 0);
    let scale = answered(&stub(&root, "kernels/scale.toml"));
    let file = at(&scale, &["kernel", "scale", "file"]).as_str().expect("text");
    assert_eq!(file, "../kernels in glsl/scale.comp");
    assert!(root.path().join("kernels").join(file).is_file());
    assert_eq!(at(&scale, &["kernel", "scale", "defines", "T"]).as_array().map(Vec::len), Some(2));
    assert_eq!(at(&scale, &["kernel", "scale", "spec", "FACTOR"]).as_float(), Some(0.5));
    assert_eq!(at(&scale, &["buffer", "x", "role"]).as_str(), Some("in"));
    assert_eq!(at(&scale, &["buffer", "y", "role"]).as_str(), Some("out"));
    assert_eq!(at(&scale, &["buffer", "log", "role"]).as_str(), Some("inout"), "was asked");
    let step = at(&scale, &["step"]).as_array().expect("steps")[0].as_table().expect("a step");
    assert_eq!(at(step, &["push", "bias"]).as_integer(), Some(17));
    assert_eq!(at(step, &["groups"]).as_array().map(Vec::len), Some(2));
    let mixed = answered(&stub(&root, "kernels/mixed.toml"));
    assert_eq!(at(&mixed, &["buffer", "b", "len"]).as_integer(), Some(16), "the GLSL fixes it");
    let push = at(&mixed, &["step"])[0].get("push").and_then(Value::as_array).expect("a list");
    let offsets: Vec<_> = push.iter().map(|entry| entry["offset"].as_integer()).collect();
    assert_eq!(offsets, [Some(0), Some(4), Some(8), Some(12)]);
}

#[test]
fn an_unanswered_stub_is_toml_too() {
    let root = project(MATRIX);
    ended(&import(&root, &["list.txt"]), 0);
    for name in ["kernels/scale.toml", "kernels/mixed.toml"] {
        let table: Table = stub(&root, name).parse().expect(name);
        assert_eq!(at(&table, &["version"]).as_integer(), Some(1));
    }
}

#[test]
fn builds_that_are_no_matrix_become_stubs_named_by_what_differs() {
    let line = |defines: &str| format!("glslc -Iinclude {defines} 'kernels in glsl/scale.comp'\n");
    let list = [line("-DT=float -DA"), line("-DT=float -DB=x/y"), line("-DT=float -DA -O")];
    let root = project(&list.concat());
    let output = import(&root, &["list.txt"]);
    ended(&output, 0);
    assert_eq!(stdout(&output), "kernels/scale-A.toml\nkernels/scale-B=x_y.toml\n");
}

#[test]
fn an_interface_that_differs_is_no_matrix() {
    let line = |define: &str, name: &str| format!("glslc -D{define} two.comp -o {name}.spv\n");
    let root = project(&[line("N=1", "one"), line("N=2", "two")].concat());
    let text =
        "#version 450\nlayout(binding = N) buffer X { uint x[]; };\nvoid main() { x[0] = 1; }";
    fs::write(root.path().join("two.comp"), text).expect("a file");
    let output = import(&root, &["list.txt"]);
    ended(&output, 0);
    assert_eq!(stdout(&output), "kernels/one.toml\nkernels/two.toml\n");
    assert!(stub(&root, "kernels/two.toml").contains("bind = { 2 = \"x\" }"));
}

#[test]
fn a_single_kernel_is_printed() {
    let root = project("");
    let output = import(&root, &["kernels in glsl/deep/mixed.comp"]);
    ended(&output, 0);
    let table = answered(&stdout(&output));
    let file = at(&table, &["kernel", "mixed", "file"]).as_str().expect("text").to_owned();
    assert_eq!(file, "kernels in glsl/deep/mixed.comp");
}

/// A folder is read to its depths; what doesn't compile is reported, and the rest goes on.
#[test]
fn a_folder_is_imported_as_far_as_it_compiles() {
    let root = project("");
    let output = import(&root, &["kernels in glsl", "--out", "."]);
    ended(&output, 1);
    assert_eq!(stdout(&output), "./mixed.toml\n");
    let error = stderr(&output);
    assert!(error.contains("scale.comp:3: error: include \"common.glsl\" not found"), "{error}");
    assert!(root.path().join("mixed.toml").is_file());
}

#[test]
fn modules_are_imported_even_without_names() {
    let root = project("");
    let minimal = "#version 450
        layout(set = 1, binding = 2) buffer A { float a[]; };
        void main() { a[0] = 1; }";
    let compiler = vklab::glsl::Compiler::new(Default::default()).expect("a compiler");
    let build = vklab::glsl::Build::new(vklab::glsl::Source::new("m.comp", minimal));
    let modules = compiler.compile(&build, &vklab::glsl::Library).expect("GLSL");
    let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    fs::write(root.path().join("1st.spv"), bytes(&modules.optimized)).expect("a file");
    let output = import(&root, &["1st.spv"]);
    ended(&output, 0);
    let table = answered(&stdout(&output));
    assert_eq!(at(&table, &["kernel", "k1st", "file"]).as_str(), Some("1st.spv"));
    let step = at(&table, &["step"])[0].as_table().expect("a step");
    let buffer = at(step, &["bind", "1.2"]).as_str().expect("a name");
    assert_eq!(at(&table, &["buffer", buffer, "type"]).as_str(), Some("f32"));
}

#[test]
fn compile_commands_are_imported() {
    let root = project("");
    let entries = serde_json::json!([
        { "directory": "kernels in glsl", "file": "scale.comp",
          "arguments": ["glslc", "-DT=float", "-I", "../include", "scale.comp"] },
        { "directory": root.path(), "file": "mixed.comp",
          "command": "glslc 'kernels in glsl/deep/mixed.comp'" },
        { "directory": ".", "file": "nothing.comp" },
        { "directory": ".", "file": "a.c", "command": "cc -c a.c" },
    ]);
    let path = root.path().join("compile_commands.json");
    fs::write(&path, entries.to_string()).expect("a file");
    let output = import(&root, &["compile_commands.json"]);
    ended(&output, 1);
    assert_eq!(stdout(&output), "kernels/mixed.toml\nkernels/scale.toml\n");
    assert!(stderr(&output).contains("compile_commands.json: entry 3: neither `arguments` nor"));
}

#[test]
fn files_that_exist_stay() {
    let root = project("");
    let arguments = ["kernels in glsl/deep", "--out", "out"];
    ended(&import(&root, &arguments), 0);
    let path = root.path().join("out/mixed.toml");
    let first = fs::read_to_string(&path).expect("the stub");
    fs::write(&path, "mine").expect("a file");
    let output = import(&root, &arguments);
    ended(&output, 2);
    assert!(stderr(&output).contains("exists and stays as it is"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&path).expect("the file"), "mine");
    ended(&import(&root, &[&arguments[..], &["--overwrite"]].concat()), 0);
    assert_eq!(fs::read_to_string(&path).expect("the stub"), first);
}

#[test]
fn what_holds_no_kernel_is_an_error() {
    let root = project("glslc 'unclosed.comp\nglslc missing.comp\ncc a.c\n");
    let output = import(&root, &["list.txt"]);
    ended(&output, 2);
    for part in ["list.txt:1: unclosed quote", "missing.comp: ", "1 lines without", "nothing was"] {
        assert!(stderr(&output).contains(part), "no `{part}` in: {}", stderr(&output));
    }
    assert!(!root.path().join("kernels").exists());
    ended(&import(&root, &["absent.txt"]), 2);
    fs::write(root.path().join("odd.spv"), [3, 2, 35, 7, 0]).expect("a file");
    let output = import(&root, &["odd.spv"]);
    ended(&output, 2);
    assert!(stderr(&output).contains("odd.spv: 5 bytes are no SPIR-V"), "{}", stderr(&output));
}

/// Two sources of one name get two stubs, wherever the list is read from.
#[test]
fn lines_are_run_where_the_user_says() {
    let root = project("glslc scale.comp -DT=float -I../include\nglslc deep/scale.comp\n");
    let deep = root.path().join("kernels in glsl/deep");
    fs::rename(deep.join("mixed.comp"), deep.join("scale.comp")).expect("a new name");
    let output = import(&root, &["list.txt", "--directory", "kernels in glsl"]);
    ended(&output, 0);
    assert_eq!(stdout(&output), "kernels/scale.toml\nkernels/kernels_in_glsl-scale.toml\n");
    let text = stub(&root, "kernels/kernels_in_glsl-scale.toml");
    assert!(text.contains("include = [\"../include\"]"), "{text}");
    assert!(Path::new(&root.path().join("kernels/scale.toml")).is_file());
}
