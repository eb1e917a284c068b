//! A kernel file's bad input, and a kernel without a file, as the command line's user meets them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use vklab::glsl::{Build, Compiler, CompilerOptions, Library, Source};

const SCALE: &str = "#version 450
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WORKGROUP = 64;
#include \"factor.glsl\"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P { uint n; float factor; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) y[i] = FACTOR * x[i];
}
";

/// A kernel, one with a bound too far, and what they include.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    put("scale.comp", SCALE);
    put("it's wrong.comp", &SCALE.replace("i < n", "i <= n"));
    fs::create_dir(folder.path().join("include")).expect("a folder");
    put("include/factor.glsl", "#define FACTOR (SIGN * factor)\n");
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    command.current_dir(folder).env_remove("VKLAB_UNSET").args(arguments);
    command.output().expect("the binary starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn refused(output: &Output, parts: &[&str]) {
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    for part in parts {
        assert!(error.contains(part), "no `{part}` in: {error}");
    }
}

const SWEEP: [&str; 16] = [
    "--shape=n=1,255",
    "--groups=ceil(n / WORKGROUP)",
    "--buffer",
    "0=f32:n",
    "--buffer",
    "0.1=f32:n:undefined",
    "--push=n=n",
    "--push=factor=2.5",
    "--define=SIGN=-1",
    "--spec",
    "WORKGROUP=64,32",
    "--include=include",
    "--target",
    "vulkan1.2",
    "--seed=3",
    "--workers=1",
];

fn look<'a>(kernel: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["check", kernel], &SWEEP[..], more].concat()
}

#[test]
fn a_kernel_alone_gets_a_verdict() {
    let folder = folder();
    let output = run(folder.path(), &look("scale.comp", &[]));
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    // Two lengths, two workgroup sizes, four checks.
    assert!(said.contains("16 verdicts: 16 pass"), "{said}");
}

#[test]
fn the_options_as_a_file_say_the_same() {
    let folder = folder();
    let output = run(folder.path(), &look("scale.comp", &["--as-file"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = text(&output.stdout);
    for part in [
        "include = [\"include\"]",
        "target = \"vulkan1.2\"",
        "WORKGROUP = [64, 32]",
        "[buffer.x]\ntype = \"f32\"\nlen = \"n\"\nrole = \"in\"\n",
        "[buffer.y]\ntype = \"f32\"\nlen = \"n\"\nrole = \"out\"\ninit = \"undefined\"\n",
        "factor = 2.5",
    ] {
        assert!(file.contains(part), "no `{part}` in:\n{file}");
    }
    fs::write(folder.path().join("saved.toml"), &file).expect("written");
    let output = run(folder.path(), &["check", "saved.toml", "--seed", "3"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    assert!(said.contains("16 verdicts: 16 pass"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_finding_ends_with_the_command_that_repeats_it() {
    let folder = folder();
    let output = run(folder.path(), &look("it's wrong.comp", &["--only=memory"]));
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}{}", text(&output.stderr));
    assert!(said.contains("guard-hit") && said.contains("it's wrong.comp:10"), "{said}");
    let repeat = said.lines().find_map(|line| line.trim().strip_prefix("repeat    vklab "));
    let repeat = repeat.expect("a command");
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path()).arg("-c");
    shell.arg(format!("'{}' {repeat}", env!("CARGO_BIN_EXE_vklab")));
    let again = shell.output().expect("a shell");
    let said = text(&again.stdout);
    assert_eq!(again.status.code(), Some(1), "{repeat}\n{said}{}", text(&again.stderr));
    assert!(said.contains("guard-hit") && said.contains(&format!("repeat    vklab {repeat}")));
}

#[test]
fn a_module_is_looked_at_too() {
    let folder = folder();
    let source = SCALE.replace("#include \"factor.glsl\"", "#define FACTOR factor");
    let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
    let build = Build::new(Source::new("scale.comp", source));
    let words = compiler.compile(&build, &Library).expect("it compiles").debug;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(folder.path().join("scale.spv"), bytes).expect("written");
    let module = [
        "check",
        "scale.spv",
        "--groups=1",
        "--buffer=0=f32:64",
        "--buffer=1=f32:64",
        "--push=n=64",
        "--spec=WORKGROUP=64",
        "--push=factor=2",
        "--seed=1",
    ];
    let output = run(folder.path(), &module);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = run(folder.path(), &[&module[..], &["--define=A=1"]].concat());
    refused(&output, &["--define A=1", "SPIR-V"]);
}

#[test]
fn options_that_do_not_fit_say_which_and_what_is_expected() {
    let folder = folder();
    let check = |from: &str, to: &str| {
        let mut arguments: Vec<&str> = look("scale.comp", &[]);
        let at = arguments.iter().position(|a| *a == from).expect("an argument");
        arguments[at] = to;
        run(folder.path(), &arguments)
    };
    let form = "[SET.]BINDING=TYPE:LEN[:INIT][:ROLE]";
    refused(&check("0=f32:n", "0=f31:n"), &["--buffer 0=f31:n: no type `f31`", "f32", form]);
    refused(&check("0=f32:n", "0=f32:m"), &["--buffer 0=f32:m: nothing is called `m`", form]);
    refused(&check("0=f32:n", "0=f32"), &["'0=f32' for '--buffer", form]);
    refused(&check("0=f32:n", "0=f32:n:unifrom"), &["`unifrom`", "uniform", "scratch", form]);
    refused(&check("0=f32:n", "1=f32:n"), &["--buffer 0.1=f32:n", "given twice", form]);
    refused(&check("0=f32:n", "2=f32:n"), &["--buffer 2=f32:n", "0=f32:LEN (`x`)", form]);
    refused(&check("--push=n=n", "--push=m=n"), &["--push m=n: no push constant `m`", "n, factor"]);
    refused(&check("--push=n=n", "--push=factor=1"), &["`factor` is given twice"]);
    refused(&check("--push=n=n", "--push=n"), &["--push", "NAME=VALUE"]);
    refused(&check("WORKGROUP=64,32", "WORKGRUP=64"), &["--spec WORKGRUP=64", "WORKGROUP"]);
    refused(&check("vulkan1.2", "vulkan2"), &["--target", "vulkan1.1, vulkan1.2 or vulkan1.3"]);
    refused(&check("--include=include", "--timeout=9"), &["factor.glsl"]);
    let groups = "--groups=ceil(n / WORKGROUP)";
    refused(&check(groups, "--groups=ceil(q)"), &["--groups 'ceil(q)'", "`q`", "X[,Y[,Z]]"]);
    refused(&check(groups, "--groups=1,,1"), &["--groups", "X[,Y[,Z]]"]);
    refused(&check(groups, "--timeout=9"), &["--groups"]);
    refused(&check("scale.comp", "scale.toml"), &["`scale.toml`", ".comp or .spv"]);
}

#[test]
fn what_the_kernel_needs_and_nobody_gives_is_listed() {
    let folder = folder();
    let alone = ["check", "scale.comp", "--groups=1", "--include=include", "--define=SIGN=1"];
    let output = run(folder.path(), &alone);
    refused(&output, &["0=f32:LEN (`x`), 1=f32:LEN (`y`)", "--buffer [SET.]BINDING=TYPE:LEN"]);
    let buffers = ["--buffer=0=f32:64", "--buffer=1=f32:64"];
    let output = run(folder.path(), &[&alone[..], &buffers].concat());
    refused(&output, &["push constants n, factor", "--push MEMBER=VALUE"]);
    for kernel in ["scale.comp", "absent.spv"] {
        let output = run(folder.path(), &["check", kernel]);
        let import = format!("vklab import {kernel}");
        refused(&output, &["--groups", "--buffer", "docs/kernel-file.md", &import]);
    }
}

/// A kernel file that is right, for each of the mistakes below.
const FILE: &str = r#"version = 1
[kernel.main]
file = "scale.comp"
include = ["include"]
defines = { SIGN = 1 }
spec = { WORKGROUP = 64 }
[shapes]
n = 64
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
push = { n = "n", factor = 2.5 }
groups = ["ceil(n / 64)"]
"#;

fn check_file(text: &str, more: &[&str]) -> (TempDir, Output) {
    let folder = folder();
    fs::write(folder.path().join("a.toml"), text).expect("written");
    let output = run(folder.path(), &[&["check", "a.toml", "--seed=1"], more].concat());
    (folder, output)
}

#[test]
fn keys_and_names_are_placed_and_have_neighbours() {
    let (_, output) = check_file(&FILE.replacen("role", "rolle", 1), &[]);
    refused(&output, &["a.toml:12:1: unknown key `rolle`", "nearest: role"]);
    let (_, output) = check_file(&FILE.replacen("\"n\"\nrole", "\"2 * (nn + 1)\"\nrole", 1), &[]);
    refused(&output, &["a.toml:11:13: nothing is called `nn`", "nearest: n"]);
}

#[test]
fn a_buffer_beyond_the_device_is_unsupported_with_the_number() {
    let path = "run.jsonl";
    let (folder, output) = check_file(
        &FILE.replace("n = 64\n", "n = [64, 100000000000]\n"),
        &["--out", path, "--profile", "none"],
    );
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    assert!(said.contains("3 pass") && said.contains("3 unsupported"), "{said}");
    let lines = fs::read_to_string(folder.path().join(path)).expect("a run file");
    assert!(lines.contains("buffer `x` is 400000000000 bytes, the device has at most"), "{lines}");
}

#[test]
fn a_push_block_that_does_not_match_is_shown_beside_the_given_one() {
    let (_, output) = check_file(&FILE.replace("{ n = \"n\"", "{ m = \"n\""), &[]);
    let kernel = "       0  u32 n                         -\n";
    let both = "       4  f32 factor                    factor = 2.5\n";
    let given = "       -  -                             m = 64\n";
    refused(&output, &["scale.comp: no push constant `m`", kernel, both, given]);
}

#[test]
fn more_than_ten_thousand_builds_are_asked_for_twice() {
    let values: Vec<String> = (1..=101).map(|n| n.to_string()).collect();
    let many = format!("SIGN = [{0}], OTHER = [{0}]", values.join(", "));
    let text = FILE.replace("SIGN = 1", &many);
    for more in [&[][..], &["--many-builds"]] {
        let (_, output) = check_file(&text, more);
        refused(&output, &["10201 builds", "--many-builds", "twice"]);
    }
    // Asked twice, the file is taken, and one of its cases runs.
    let case = "n=64,OTHER=7,SIGN=3";
    let more = ["--many-builds", "--many-builds", "--only=memory", "--case", case];
    let (_, output) = check_file(&text, &more);
    assert_eq!(output.status.code(), Some(0), "{}", self::text(&output.stderr));
}

#[test]
fn what_is_no_kernel_file_is_said_to_be_none() {
    let (folder, output) = check_file("[package]\nname = \"x\"\n", &[]);
    refused(&output, &["a.toml:1:1: this is no kernel file", "`version = 1`", "[kernel.NAME]"]);
    let output = run(folder.path(), &["check", "include"]);
    refused(&output, &["include holds no kernel file"]);
    let output = run(folder.path(), &["check", "absent.toml"]);
    refused(&output, &["there is no file or folder absent.toml"]);
}

#[test]
fn a_file_of_an_unset_variable_is_skipped_and_said() {
    let skipped = FILE.replace("\"scale.comp\"", "\"$VKLAB_UNSET/scale.comp\"");
    let (folder, output) = check_file(&skipped, &[]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("skipped a.toml: the environment variable VKLAB_UNSET"), "{error}");
    assert!(error.contains("nothing was checked: every kernel file was skipped"), "{error}");
    fs::write(folder.path().join("b.toml"), FILE).expect("written");
    let output = run(folder.path(), &["check", "a.toml", "b.toml"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("skipped a.toml") && !error.contains("nothing was"), "{error}");
    assert!(text(&output.stdout).contains("4 verdicts: 4 pass"));
}
