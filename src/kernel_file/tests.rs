//! Expressions, keys, environment variables, and files with random mistakes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;

use super::expr::Expr;
use super::keys::{
    BUFFER, EXPECT, FILE, GRADIENT, INIT, KERNEL, Keys, NEEDS, PUSH, STEP, SUBGROUP, TRUTH,
};
use super::load::parse;
use super::number::Number;
use super::read::Read;
use super::{KernelFile, KernelFileError};

fn value(text: &str) -> Result<f64, (usize, String)> {
    let names = BTreeMap::from([("n", 255), ("BM", 32), ("zero", 0), ("part.BM", 64)]);
    let lookup = |name: &str| {
        let number = names.get(name).map(|value| Number::whole(*value));
        number.ok_or_else(|| format!("nothing is called `{name}`"))
    };
    let parsed = Expr::parse(text).map_err(|e| (e.at, e.message))?;
    parsed.value(&lookup).map(Number::to_f64).map_err(|e| (e.at, e.message))
}

#[test]
fn expressions_come_to_what_arithmetic_says() {
    let table = [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 4 - 3", 3.0),
        ("-n + 1", -254.0),
        ("--2", 2.0),
        ("ceil(n / 64)", 4.0),
        ("floor(n / 64)", 3.0),
        ("ceil(-n / 64)", -3.0),
        ("n / 49 * 49", 255.0),
        ("7 / 2", 3.5),
        ("n % 64", 63.0),
        ("-1 % 4", 3.0),
        ("round_up(n, BM)", 256.0),
        ("round_up(256, BM)", 256.0),
        ("log2(BM)", 5.0),
        ("log2_ceil(n)", 8.0),
        ("log2_ceil(257)", 9.0),
        ("pow2_ceil(n)", 256.0),
        ("pow2_ceil(256)", 256.0),
        ("pow2_ceil(1 / 3)", 1.0),
        ("pow2_ceil(2.5)", 4.0),
        ("min(n, BM) + max(1, part.BM)", 96.0),
        ("select(n > BM, 1, 2)", 1.0),
        ("select(zero != 0, 1 / zero, 5)", 5.0),
        ("(n >= 255) + (n <= 254) + (n == 255) + (n < 256)", 3.0),
        ("2.5e-1 * 4", 1.0),
        ("1e3", 1000.0),
        ("floor(2.75)", 2.0),
    ];
    for (text, want) in table {
        assert_eq!(value(text), Ok(want), "{text}");
    }
}

#[test]
fn wrong_expressions_say_where() {
    let long = format!("1{}", " + 1".repeat(600));
    let deep = format!("{}1{}", "(".repeat(100), ")".repeat(100));
    let table = [
        ("", 0, "empty"),
        ("1 +", 3, "ends"),
        ("(1 + 2", 0, "without its `)`"),
        ("1 + 2)", 5, "without its `(`"),
        ("1 $ 2", 2, "operator"),
        ("n * größe", 6, "operator"),
        ("2 * ö", 4, "`ö`"),
        ("1 < n < 3", 6, "operator"),
        ("n + m", 4, "nothing is called `m`"),
        ("n / (BM - 32)", 2, "by zero"),
        ("n % zero", 2, "by zero"),
        ("log2(n)", 0, "power of two"),
        ("log2(-8)", 0, "power of two"),
        ("log2_ceil(zero)", 0, "positive"),
        ("1 + pow2_ceil(-1)", 4, "positive"),
        ("pow2_ceil(99999999999999999999999999999999999999)", 0, "too large"),
        ("round_up(n, zero)", 0, "positive"),
        ("ciel(n)", 0, "ceil"),
        ("min(n)", 0, "2 arguments"),
        ("max(1, 2", 3, "without its `)`"),
        ("99999999999999999999999999999999999999999999", 0, "fits"),
        ("99999999999999999999 * 99999999999999999999", 21, "too large"),
        ("1e308 * 10", 6, "too large"),
        ("1.2.3", 3, "operator"),
        (long.as_str(), 1998, "more than 1000"),
        (deep.as_str(), 64, "64 deep"),
    ];
    for (text, at, part) in table {
        let (found, message) = value(text).expect_err(text);
        assert!(message.contains(part), "{text}: {message}");
        assert_eq!(found, at, "{text}: {message}");
    }
}

/// Keys, the section of the documentation, the schema's definition.
const TABLES: [(Keys, &str, &str); 11] = [
    (FILE, "### The file", ""),
    (KERNEL, "### `[kernel.NAME]`", "kernel"),
    (BUFFER, "### `[buffer.NAME]`", "buffer"),
    (INIT, "### `init`", "init"),
    (EXPECT, "### `expect`", "expect"),
    (STEP, "### `[[step]]`", "step"),
    (PUSH, "### An entry of `push`", "push_entry"),
    (TRUTH, "### `[truth]`", "truth"),
    (GRADIENT, "### `[gradient]`", "gradient"),
    (SUBGROUP, "### `[subgroup]`", "subgroup"),
    (NEEDS, "### `[needs]`", "needs"),
];

fn documentation(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(file)).expect("text")
}

#[test]
fn every_key_is_documented_and_no_other() {
    let text = documentation("kernel-file.md");
    for (keys, heading, _) in TABLES {
        let section = text.split_once(&format!("{heading}\n")).expect(heading).1;
        let section = section.split("\n### ").next().unwrap_or_default();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        assert_eq!(rows.collect::<Vec<_>>(), keys.keys, "{heading}");
    }
    assert_eq!(text.matches("\n### ").count(), TABLES.len());
}

#[test]
fn every_key_is_in_the_schema_and_no_other() {
    let schema: Value =
        serde_json::from_str(&documentation("kernel-file.schema.json")).expect("JSON");
    let mut closed = 0;
    for (keys, _, name) in TABLES {
        let definition = if name.is_empty() { &schema } else { &schema["$defs"][name] };
        let table = if name == "init" { &definition["oneOf"][1] } else { definition };
        let listed: BTreeSet<&str> =
            table["properties"].as_object().expect(name).keys().map(String::as_str).collect();
        assert_eq!(listed, keys.keys.iter().copied().collect(), "{name}");
        assert_eq!(table["additionalProperties"], Value::Bool(false), "{name}");
        closed += 1;
    }
    let text = schema.to_string();
    assert_eq!(text.matches("\"additionalProperties\":false").count(), closed);
}

/// A folder with what the files below name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("part.comp", "#version 450\n"), ("common.glsl", "// common\n")] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    fs::write(folder.path().join("b0.bin"), [0; 8]).expect("written");
    folder
}

fn load(
    folder: &Path,
    body: &str,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Read<KernelFile> {
    parse(&folder.join("t.toml"), body, environment)
}

#[test]
fn an_environment_variable_names_a_folder() {
    let folder = folder();
    let body = r#"
version = 1
[kernel.main]
file = "$KERNELS/part.comp"
[buffer.x]
type = "f32"
len = 4
role = "out"
[[step]]
kernel = "main"
bind = { 0 = "x" }
groups = [1]
"#;
    let set = |name: &str| (name == "KERNELS").then(|| folder.path().as_os_str().to_owned());
    let elsewhere = Path::new("elsewhere");
    assert_eq!(load(elsewhere, body, &set).map(|file| file.points().len()), Ok(1));
    match load(elsewhere, body, &|_| None) {
        Err(KernelFileError::Unset { place, name }) => {
            assert_eq!((place.line, place.column, name.as_str()), (4, 8, "KERNELS"));
        }
        other => panic!("{other:?}"),
    }
}

const VALID: &str = r#"
version = 1
about = "one"
order = "atomic"
[kernel.part]
file = "part.comp"
include = ["."]
preamble = "common.glsl"
defines = { A_TYPE = ["float", "float16_t"], FAST = true, TILE = 8 }
spec = { BM = [32, 64], 3 = "n + 1" }
[shapes]
n = [1, 33]
k = 2
nk = "n * k"
[buffer.a]
type = "A_TYPE"
len = "nk"
role = "in"
init = { uniform = [-1, 1.5] }
[buffer.b]
type = "u32"
len = 2
role = "in"
init = { file = "b0.bin" }
[buffer.y]
type = "f32"
len = "round_up(nk, BM)"
role = "out"
expect = { rtol = 1e-4 }
[buffer.t]
type = "f32"
len = "nk"
role = "scratch"
alias = "y"
offset_bytes = 4
[[step]]
fill = "t"
word = 7
[[step]]
kernel = "part"
bind = { 0 = "a", 1 = "b", 2.1 = "y", "t" = "t" }
push = { p.M = "n", N = [1, 2], s = 2.5 }
groups = ["ceil(n / BM)", "part.BM - 31", 1]
barrier_before = false
[[step]]
kernel = "part"
bind = { 0 = "a" }
push = [{ type = "u32", offset = 0, value = "n" }, { type = "f32", offset = 4, value = 1e-5 }]
groups = [1]
[truth]
op = "matmul"
map = { a = "a", out = "y" }
dims = { m = "n" }
[subgroup]
sizes = [8]
"#;

/// What mistakes are made of.
const PIECES: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "=",
    ",",
    ".",
    "\n",
    "(",
    ")",
    "-",
    "/",
    "0",
    "9",
    "1e400",
    "nan",
    "99999999999999999999",
    "true",
    "\"n\"",
    "[]",
    "{}",
    "ä",
    "\u{0}",
    "n",
    "BM",
    "y",
    "kernel",
    "alias",
    "[[step]]",
    "[shapes]",
    "= [1, 2]\n",
    "$",
    "select(",
    "\"\"\"",
    "\\u00e4",
];

#[test]
fn a_file_with_random_mistakes_never_panics() {
    let folder = folder();
    load(folder.path(), VALID, &|_| None).expect("it is valid before");
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut below = |n: usize| usize::try_from(random.next_u32()).unwrap_or(0) % n.max(1);
    let (mut loaded, mut refused) = (0, 0);
    for _ in 0..4000 {
        let mut text: Vec<char> = VALID.chars().collect();
        for _ in 0..=below(3) {
            let at = below(text.len());
            let end = (at + below(8)).min(text.len());
            match below(4) {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..end, PIECES[below(PIECES.len())].chars())),
                2 => drop(text.splice(at..at, PIECES[below(PIECES.len())].chars())),
                _ => {
                    let copied: Vec<char> = text[at..end].to_vec();
                    let to = below(text.len());
                    text.splice(to..to, copied);
                }
            }
        }
        let body: String = text.into_iter().collect();
        match load(folder.path(), &body, &|_| None) {
            Ok(file) => {
                loaded += 1;
                visit(&file, &body);
            }
            Err(error) => {
                refused += 1;
                assert!(
                    matches!(error, KernelFileError::Wrong { .. } | KernelFileError::Unset { .. }),
                    "{error}"
                );
            }
        }
    }
    assert!(loaded > 100 && refused > 100, "{loaded} loaded, {refused} refused");
}

/// Every case by its id, evaluated.
fn visit(file: &KernelFile, body: &str) {
    let points = file.points();
    for point in points.iter().take(20) {
        let id = file.id(point);
        assert_eq!(file.point(&id).as_ref(), Ok(point), "{id}\n{body}");
        assert!(file.shrunk(point).iter().all(|smaller| points.contains(smaller)), "{body}");
        // Whether it comes to something is the mistake's business.
        let _ = file.instance(point);
    }
}
