//! Kernel files: the zoo's load, the documented example is one, wrong ones say what is wrong.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use vklab::kernel_file::{KernelFile, Truth};
use vklab::ops::{Constant, Push, PushValue, Socket, Step};
use vklab::tensor::Dtype;

/// The folder of kernel files with real bugs, which isn't part of this repository.
fn zoo() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/zoo");
    let folder = std::env::var_os("VKLAB_ZOO").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

#[test]
fn every_file_of_the_zoo_loads_and_plans() {
    let Some(zoo) = zoo() else {
        eprintln!("skipped: neither VKLAB_ZOO nor ../shared/zoo is a folder");
        return;
    };
    let mut failed = Vec::new();
    let mut count = 0;
    for folder in fs::read_dir(zoo).expect("the zoo") {
        let folder = folder.expect("an entry").path();
        for twin in ["buggy.toml", "fixed.toml"] {
            let path = folder.join(twin);
            if path.is_file() {
                count += 1;
                failed.extend(loads_and_plans(&path).err());
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(count, 78);
}

fn loads_and_plans(path: &Path) -> Result<(), String> {
    let file = KernelFile::load(path).map_err(|e| e.to_string())?;
    let points = file.points();
    let [point] = points.as_slice() else {
        return Err(format!("{}: {} cases", path.display(), points.len()));
    };
    let id = file.id(point);
    if file.point(&id).as_ref() != Ok(point) {
        return Err(format!("{}: {id} doesn't read back", path.display()));
    }
    let instance = file.instance(point).map_err(|e| e.to_string())?;
    if instance.plan.steps.is_empty() || instance.buffers.is_empty() {
        return Err(format!("{}: nothing to run", path.display()));
    }
    Ok(())
}

/// A folder with the files of this list; a text stands for itself, a number for that many zeros.
fn folder(files: &[(&str, Content<'_>)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        let bytes = match content {
            Content::Text(text) => text.as_bytes().to_vec(),
            Content::Zeros(count) => vec![0; *count],
        };
        fs::write(folder.path().join(name), bytes).expect("written");
    }
    folder
}

enum Content<'t> {
    Text(&'t str),
    Zeros(usize),
}

const KERNEL: Content<'_> = Content::Text("#version 450\nvoid main() {}\n");

fn load(folder: &TempDir, name: &str) -> Result<KernelFile, String> {
    let shown = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
    KernelFile::load(&folder.path().join(name)).map_err(|e| e.to_string().replace(&shown, ""))
}

/// The example of the design, one key a line.
const SPLIT_K: &str = r#"version = 1
[kernel.part]
file = "mul_mm.comp"
include = ["."]
preamble = "common.glsl"
defines = { A_TYPE = ["float", "float16_t"] }
spec = { BM = [32, 64] }
[kernel.sum]
file = "split_k_reduce.comp"
[shapes]
m = [1, 17, 64]
n = [1, 33]
k = [32, 257]
splits = 4
[buffer.a]
type = "A_TYPE"
len = "m*k"
role = "in"
init = "uniform"
[buffer.b]
type = "f32"
len = "k*n"
role = "in"
[buffer.tmp]
type = "f32"
len = "m*n*splits"
role = "scratch"
[buffer.y]
type = "f32"
len = "m*n"
role = "out"
init = "undefined"
[[step]]
kernel = "part"
bind = { 0 = "a", 1 = "b", 2 = "tmp" }
push = { M = "m", N = "n", K = "k" }
groups = ["ceil(m/BM)", "ceil(n/64)", "splits"]
[[step]]
kernel = "sum"
bind = { 0 = "tmp", 1 = "y" }
push = { ne = "m*n" }
groups = ["ceil(m*n/256)", 1, 1]
barrier_before = true
[truth]
op = "matmul"
map = { a = "a", b = "b", out = "y" }
[gradient]
vjp = ["mm_da.toml", "mm_db.toml"]
[subgroup]
sizes = [8, 32]
"#;

fn split_k() -> TempDir {
    folder(&[
        ("mul_mm.comp", KERNEL),
        ("split_k_reduce.comp", KERNEL),
        ("common.glsl", Content::Text("// common\n")),
        ("mm_da.toml", Content::Text("")),
        ("mm_db.toml", Content::Text("")),
        ("mm.toml", Content::Text(SPLIT_K)),
    ])
}

#[test]
fn the_design_s_example_spans_its_cases() {
    let folder = split_k();
    let file = load(&folder, "mm.toml").expect("it loads");
    let points = file.points();
    assert_eq!((points.len(), file.build_count()), (3 * 2 * 2 * 2 * 2, 4));
    let ids: Vec<String> = points.iter().map(|point| file.id(point)).collect();
    assert_eq!(ids[0], "m=1,n=1,k=32,splits=4,A_TYPE=float,BM=32");
    assert_eq!(ids[1], "m=1,n=1,k=32,splits=4,A_TYPE=float,BM=64");
    assert_eq!(ids[47], "m=64,n=33,k=257,splits=4,A_TYPE=float16_t,BM=64");
    for (point, id) in points.iter().zip(&ids) {
        assert_eq!(file.point(id).as_ref(), Ok(point));
    }
    let smaller: Vec<String> = file.shrunk(&points[47]).iter().map(|p| file.id(p)).collect();
    assert_eq!(
        smaller,
        [
            "m=17,n=33,k=257,splits=4,A_TYPE=float16_t,BM=64",
            "m=64,n=1,k=257,splits=4,A_TYPE=float16_t,BM=64",
            "m=64,n=33,k=32,splits=4,A_TYPE=float16_t,BM=64",
        ]
    );
    assert_eq!(file.subgroup_sizes(), [8, 32]);
    assert_eq!(file.vjp().len(), 2);
}

#[test]
fn the_design_s_example_becomes_a_plan() {
    let folder = split_k();
    let file = load(&folder, "mm.toml").expect("it loads");
    let id = "m=17,n=33,k=257,splits=4,A_TYPE=float16_t,BM=64";
    let instance = file.instance(&file.point(id).expect("a case")).expect("it evaluates");
    let buffers: Vec<(&str, Dtype, usize, u32)> =
        instance.buffers.iter().map(|b| (b.name.as_str(), b.dtype, b.len, b.line)).collect();
    assert_eq!(
        buffers,
        [
            ("a", Dtype::F16, 17 * 257, 15),
            ("b", Dtype::F32, 257 * 33, 20),
            ("tmp", Dtype::F32, 17 * 33 * 4, 24),
            ("y", Dtype::F32, 17 * 33, 28),
        ]
    );
    let [Step::Dispatch(part), Step::Barrier, Step::Dispatch(sum)] = &instance.plan.steps[..]
    else {
        panic!("{:?}", instance.plan.steps);
    };
    assert_eq!((part.groups, sum.groups), ([1, 1, 4], [3, 1, 1]));
    assert_eq!(part.defines, [("A_TYPE".into(), "float16_t".into())]);
    assert_eq!(part.spec, [(Constant::Named("BM".into()), PushValue::Numbers(vec![64.0]))]);
    assert_eq!(part.renamed[2], (Socket::At { set: 0, binding: 2 }, "tmp".into()));
    let ne = ("ne".into(), PushValue::Numbers(vec![561.0]));
    assert_eq!(sum.push, Push::Members(vec![ne]));
    let Truth::Op(truth) = instance.truth else { panic!("{:?}", instance.truth) };
    let dims = [("m", 17), ("n", 33), ("k", 257)].map(|(dim, n)| (dim.to_owned(), n));
    assert!(dims.iter().all(|dim| truth.dims.contains(dim)), "{:?}", truth.dims);
    assert_eq!(instance.names["BM"], 64.0);
}

/// A file that each of the mistakes below is made in.
const SCALE: &str = r#"version = 1
[kernel.main]
file = "scale.comp"
spec = { BM = [32, 64] }
[kernel.fixup]
file = "scale.comp"
defines = { T = "float" }
spec = { BM = 16 }
[shapes]
n = [255, 1000]
half = "floor(n / 2)"
[buffer.x]
type = "f32"
len = "n"
role = "in"
[buffer.y]
type = "T"
len = "n"
role = "out"
expect = { values = [0], rtol = 1e-5 }
[[step]]
kernel = "main"
bind = { 0 = "x", 1 = "y" }
push = [{ type = "u32", offset = 0, value = "n" }, { type = "f32", offset = 4, value = 2.5 }]
groups = ["ceil(n / main.BM)", 1, 1]
[[step]]
kernel = "fixup"
bind = { 0 = "y" }
groups = [1]
"#;

/// Four lists of thirty: 810,000 cases, times the builds.
const MANY: &str = concat!(
    "n = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]\n",
    "a = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]\n",
    "b = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]\n",
    "c = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]",
);

/// The input of [`SCALE`].
const X: &str = "type = \"f32\"\nlen = \"n\"\nrole = \"in\"";

/// What is replaced by what.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("no TOML", "len = \"n\"\nrole = \"in\"", "len = \"n\nrole = \"in\""),
    ("another version", "version = 1", "version = 2"),
    ("no version", "version = 1", "about = \"x\""),
    ("unknown key", "role = \"in\"", "rolle = \"in\""),
    ("missing key", "role = \"in\"\n", ""),
    ("wrong type", "len = \"n\"\nrole = \"in\"", "len = [1]\nrole = \"in\""),
    ("unknown word", "role = \"in\"", "role = \"input\""),
    ("unknown type", "type = \"f32\"", "type = \"f31\""),
    ("define that is no type", "T = \"float\"", "T = \"thing_t\""),
    ("unknown name", "\"floor(n / 2)\"", "\"floor(nn / 2)\""),
    ("name that differs", "ceil(n / main.BM)", "ceil(n / BM)"),
    ("not whole", "ceil(n / main.BM)", "n / main.BM"),
    ("negative", "len = \"n\"\nrole = \"in\"", "len = \"n - 256\"\nrole = \"in\""),
    ("too large", "ceil(n / main.BM)", "n * n * n * n * n"),
    ("no power of two", "ceil(n / main.BM)", "log2(n)"),
    ("parentheses", "ceil(n / main.BM)", "ceil((n / main.BM)"),
    ("defined by itself", "floor(n / 2)", "half + 1"),
    ("unknown kernel", "kernel = \"fixup\"", "kernel = \"fixpu\""),
    ("unknown buffer", "bind = { 0 = \"y\" }", "bind = { 0 = \"z\" }"),
    ("bound twice", "bind = { 0 = \"y\" }", "bind = { 0 = \"y\", \"0.0\" = \"y\" }"),
    ("bound by no step", "bind = { 0 = \"x\", 1 = \"y\" }", "bind = { 1 = \"y\" }"),
    ("kernel without a step", "kernel = \"fixup\"", "kernel = \"main\""),
    ("both", "kernel = \"fixup\"", "kernel = \"fixup\"\nfill = \"y\""),
    ("four groups", "groups = [1]", "groups = [1, 1, 1, 1]"),
    ("overlap", "offset = 4", "offset = 2"),
    ("none of the type", "value = \"n\" }", "value = -1 }"),
    ("alias of itself", "role = \"in\"", "role = \"in\"\nalias = \"x\""),
    ("alias of nothing", "role = \"in\"", "role = \"in\"\nalias = \"w\""),
    (
        "alias that doesn't fit",
        "len = \"n\"\nrole = \"in\"",
        "len = \"n + 1\"\nrole = \"in\"\nalias = \"y\"",
    ),
    ("file of another size", "role = \"in\"", "role = \"in\"\ninit = { file = \"b0.bin\" }"),
    ("no file", "role = \"in\"", "role = \"in\"\ninit = { file = \"b9.bin\" }"),
    ("nothing expected", "values = [0], ", ""),
    (
        "expected beside an op",
        "groups = [1]\n",
        "groups = [1]\n[truth]\nop = \"scale\"\nmap = { x = \"x\", out = \"y\" }\n",
    ),
    (
        "expected beside a gradient",
        "groups = [1]\n",
        "groups = [1]\n[truth]\nop = \"scale\"\npass = \"vjp\"\nmap = { gx = \"x\" }\n",
    ),
    ("offset in an element", "role = \"in\"", "role = \"in\"\noffset_bytes = 6"),
    ("offset in a block", X, "type = \"q4_0\"\nlen = 64\nrole = \"in\"\noffset_bytes = 16"),
    (
        "negative in an unsigned type",
        X,
        "type = \"u32\"\nlen = 1\nrole = \"in\"\ninit = { values = [1, -1] }",
    ),
    (
        "fraction in an integer type",
        X,
        "type = \"i64\"\nlen = 1\nrole = \"in\"\ninit = { values = [2.5] }",
    ),
    (
        "range past an integer type",
        X,
        "type = \"i8\"\nlen = 1\nrole = \"in\"\ninit = { uniform = [-128, 128] }",
    ),
    (
        "expected past an integer type",
        "type = \"T\"\nlen = \"n\"\nrole = \"out\"\nexpect = { values = [0]",
        "type = \"u32\"\nlen = \"n\"\nrole = \"out\"\nexpect = { values = [4294967296]",
    ),
    (
        "more than a double counts",
        X,
        "type = \"u64\"\nlen = 1\nrole = \"in\"\ninit = { values = [1e19] }",
    ),
    ("unset variable", "file = \"scale.comp\"\nspec", "file = \"$VKLAB_UNSET/scale.comp\"\nspec"),
    ("twin of two dispatches", "version = 1", "version = 1\ntruth = { kernel = \"main\" }"),
    ("unknown target", "spec = { BM = 16 }", "spec = { BM = 16 }\ntarget = \"vulkan1.4\""),
    ("too many cases", "n = [255, 1000]", MANY),
    ("listed twice", "n = [255, 1000]", "n = [255, 255]"),
];

#[test]
fn mistakes_are_named_with_their_place() {
    let mut report = String::new();
    for (name, from, to) in MISTAKES {
        assert!(SCALE.contains(from), "{name}: the file has no {from}");
        let text = SCALE.replacen(from, to, 1);
        let files = [
            ("scale.comp", KERNEL),
            ("b0.bin", Content::Zeros(1000)),
            ("scale.toml", Content::Text(&text)),
        ];
        let error = load(&folder(&files), "scale.toml").expect_err(name);
        report.push_str(&format!("== {name}\n{error}\n"));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("kernel_file__mistakes", report));
}

#[test]
fn an_unchanged_file_has_no_mistake_and_ids_of_its_own_are_refused() {
    let files = [("scale.comp", KERNEL), ("scale.toml", Content::Text(SCALE))];
    let folder = folder(&files);
    let file = load(&folder, "scale.toml").expect("it loads");
    assert_eq!(file.id(&file.points()[3]), "n=1000,main.BM=64");
    for (id, part) in [
        ("n=255", "doesn't say `main.BM`"),
        ("n=256,main.BM=32", "one of 255, 1000"),
        ("m=1,main.BM=32", "no name `m`"),
        ("only", "no `name=value`"),
        ("n=255,n=255,main.BM=32", "twice"),
    ] {
        let error = file.point(id).expect_err(id).to_string();
        assert!(error.contains(part), "{error}");
    }
}

const STEPS: &str = r#"version = 1
[kernel.main]
file = "a.comp"
[shapes]
n = [0, 3]
[buffer.y]
type = "f32"
len = "n"
role = "out"
[[step]]
fill = "y"
word = 4294967295
[[step]]
kernel = "main"
bind = { 0 = "y" }
groups = ["n"]
[[step]]
kernel = "main"
bind = { y = "y" }
groups = [2, 1]
barrier_before = false
"#;

#[test]
fn a_step_without_workgroups_leaves_its_barrier() {
    let folder = folder(&[("a.comp", KERNEL), ("a.toml", Content::Text(STEPS))]);
    let file = load(&folder, "a.toml").expect("it loads");
    let steps = |id: &str| {
        let point = file.point(id).expect("a case");
        let plan = file.instance(&point).expect("it evaluates").plan;
        plan.steps.iter().map(kind).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(steps("n=3"), "fill barrier [3, 1, 1] [2, 1, 1]");
    assert_eq!(steps("n=0"), "fill barrier [2, 1, 1]");
}

fn kind(step: &Step) -> String {
    match step {
        Step::Dispatch(dispatch) => format!("{:?}", dispatch.groups),
        Step::Barrier => "barrier".to_owned(),
        Step::Fill { .. } => "fill".to_owned(),
    }
}

/// The twin of [`STEPS`]: one length of its own, which gives way, and a scratch buffer.
const NAIVE: &str = r#"version = 1
[kernel.naive]
file = "a.comp"
[shapes]
n = 9
[buffer.t]
type = "u32"
len = "2 * n"
role = "scratch"
[buffer.y]
type = "f32"
len = "n"
role = "out"
[[step]]
kernel = "naive"
bind = { 0 = "t", 1 = "y" }
groups = ["n"]
[truth]
kernel = "a.toml"
"#;

#[test]
fn a_twin_of_its_own_file_takes_this_file_s_shapes() {
    let text = format!("{STEPS}[truth]\nkernel = \"naive.toml\"\n");
    let files = [
        ("a.comp", KERNEL),
        ("naive.toml", Content::Text(NAIVE)),
        ("a.toml", Content::Text(&text)),
    ];
    let folder = folder(&files);
    let file = load(&folder, "a.toml").expect("it loads");
    let point = file.point("n=3").expect("a case");
    let Truth::Kernel(plan) = file.instance(&point).expect("it evaluates").truth else {
        panic!("no twin");
    };
    let scratch: Vec<(&str, usize)> = plan.scratch.iter().map(|s| (&*s.name, s.len)).collect();
    assert_eq!(scratch, [("twin.t", 6)]);
    let [Step::Dispatch(dispatch)] = &plan.steps[..] else { panic!("{:?}", plan.steps) };
    let bound: Vec<&str> = dispatch.renamed.iter().map(|(_, buffer)| &**buffer).collect();
    assert_eq!((bound, dispatch.groups), (vec!["twin.t", "y"], [3, 1, 1]));
}

#[test]
fn a_twin_s_buffers_are_this_file_s() {
    let text = format!("{STEPS}[truth]\nkernel = \"naive.toml\"\n");
    let other = NAIVE.replace("type = \"f32\"", "type = \"u32\"");
    let unknown = NAIVE.replace("[buffer.y]", "[buffer.z]").replace("1 = \"y\"", "1 = \"z\"");
    for (naive, part) in [(other, "0 of f32 here and 0 of u32"), (unknown, "no buffer `z`")] {
        let files = [
            ("a.comp", KERNEL),
            ("naive.toml", Content::Text(&naive)),
            ("a.toml", Content::Text(&text)),
        ];
        let error = load(&folder(&files), "a.toml").expect_err("a mistake");
        assert!(error.starts_with("a.toml:23:10") && error.contains(part), "{error}");
    }
}

#[test]
fn a_kernel_may_stand_in_for_the_only_dispatch() {
    let text = SCALE.split("[kernel.fixup]").next().expect("text").to_owned()
        + r#"[buffer.y]
type = "f32"
len = 64
role = "out"
expect = { rtol = 1e-4 }
[[step]]
kernel = "main"
bind = { 0 = "y" }
groups = ["64 / BM"]
[truth]
kernel = "naive.comp"
groups = [64]
"#;
    let files =
        [("scale.comp", KERNEL), ("naive.comp", KERNEL), ("scale.toml", Content::Text(&text))];
    let folder = folder(&files);
    let file = load(&folder, "scale.toml").expect("it loads");
    let instance = file.instance(&file.points()[1]).expect("it evaluates");
    let Truth::Kernel(twin) = instance.truth else { panic!("no twin") };
    assert_eq!(instance.plan.steps.iter().map(kind).collect::<Vec<_>>(), ["[1, 1, 1]"]);
    assert_eq!(twin.steps.iter().map(kind).collect::<Vec<_>>(), ["[64, 1, 1]"]);
    let [Step::Dispatch(dispatch)] = &twin.steps[..] else { panic!("{:?}", twin.steps) };
    assert!(dispatch.code.path().ends_with("naive.comp") && dispatch.spec.is_empty());
}
