//! Amber scripts on lavapipe: those of `tests/amber`, and any others.
//!
//! `VKLAB_AMBER_DIR` names a folder with scripts that aren't part of this repository, for example those
//! of Amber (`tests/cases`) and of the Vulkan CTS (`external/vulkancts/data/vulkan/amber`); without
//! it they are skipped. docs/amber.md tells what is done of the language.
#![cfg(feature = "glsl")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What came of checking scripts.
struct Checked {
    code: Option<i32>,
    /// Verdicts, and what was refused, by the script's path.
    lines: BTreeMap<String, Value>,
    said: String,
}

impl Checked {
    /// What was said of the script with this file name.
    fn of(&self, script: &str) -> &Value {
        let found = self.lines.iter().find(|(path, _)| name(path) == script);
        found.map(|(_, line)| line).unwrap_or_else(|| panic!("no {script}: {}", self.said))
    }

    fn count(&self, wanted: &str) -> usize {
        self.lines.values().filter(|line| word(line) == wanted).count()
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The verdict, or `refused`.
fn word(line: &Value) -> &str {
    line["verdict"].as_str().or(line["line"].as_str()).unwrap_or_default()
}

fn check(target: &Path) -> Checked {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run.jsonl");
    let output = Command::new(env!("CARGO_BIN_EXE_vklab"))
        .arg("check")
        .arg(target)
        .args(["--device", "vk:llvmpipe", "--seed", "1", "--timeout", "120", "--out"])
        .arg(&run)
        .output()
        .expect("the binary starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut lines = BTreeMap::new();
    for line in fs::read_to_string(&run).unwrap_or_default().lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let target = line["op"].as_str().or(line["target"].as_str()).map(str::to_owned);
        if let Some(target) = target {
            lines.insert(target, line);
        }
    }
    let said = text(&output.stdout) + &text(&output.stderr);
    Checked { code: output.status.code(), lines, said }
}

fn own(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/amber").join(folder)
}

fn scripts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "amber")).collect()
}

#[test]
fn what_scripts_expect_is_so() {
    for script in scripts(&own("")) {
        let checked = check(&script);
        assert_eq!(checked.code, Some(0), "{}: {}", script.display(), checked.said);
        assert_eq!(checked.count("pass"), 1, "{}", checked.said);
    }
}

/// A finding: the script, its line, the message, another place, and what it says of the worst element.
type Wrong = (&'static str, u64, &'static str, &'static str, [&'static str; 2]);

const WRONG: [Wrong; 3] = [
    ("value.amber", 20, "`a`[2] is 4, expected 5", "line 21 too", ["4", "5"]),
    ("buffers.amber", 8, "`a` is 5e-1 from `b`", "line 9 too", ["4.0", "5.0"]),
    ("nan.amber", 6, "`a`[0] is NaN, expected < 1.0", "", ["NaN", "< 1.0"]),
];

#[test]
fn what_is_not_so_is_found_at_the_line_that_expects_it() {
    let checked = check(&own("wrong"));
    assert_eq!(checked.code, Some(1), "{}", checked.said);
    assert_eq!(checked.count("fail"), WRONG.len(), "{}", checked.said);
    for (script, line, message, place, [got, expected]) in WRONG {
        let finding = &checked.of(script)["finding"];
        assert_eq!(finding["kind"], "wrong-result", "{finding}");
        assert_eq!(finding["line"], line, "{finding}");
        assert!(finding["file"].as_str().is_some_and(|file| file.ends_with(script)), "{finding}");
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        assert!(text("message").starts_with(message), "{finding}");
        assert!(finding["places"].to_string().contains(place), "{finding}");
        assert_eq!(finding["mismatch"]["got"], got, "{finding}");
        assert_eq!(finding["mismatch"]["expected"], expected, "{finding}");
        let repeat = text("repeat");
        assert!(repeat.contains("--only forward --case only"), "{repeat}");
    }
}

#[test]
fn what_the_lab_does_not_do_is_a_verdict_with_its_line() {
    let reasons = [
        ("graphics.amber", "line 4: no support for vertex shaders"),
        ("image.amber", "line 8: no support for IMAGE"),
        ("feature.amber", "line 3: tessellationShader isn't there"),
        ("large.amber", "buffer `a` of 4294967295 elements of 128 bytes"),
        ("long.amber", "line 4: more than 100000 commands"),
        ("workgroup.amber", "pipeline `p` has workgroups of [1000000, 1, 1] invocations"),
    ];
    let checked = check(&own("unsupported"));
    assert_eq!(checked.code, Some(0), "{}", checked.said);
    assert_eq!(checked.count("unsupported"), reasons.len(), "{}", checked.said);
    for (script, reason) in reasons {
        let said = checked.of(script)["reason"].as_str().unwrap_or_default();
        assert!(said.starts_with(reason), "{script}: {said}");
    }
}

/// Scripts that are none: line and column, and what is wrong there.
const MALFORMED: [(&str, &str, &str); 18] = [
    ("behind_the_end.amber", "3:14", "it goes beyond the 4 elements"),
    ("buffer.amber", "3:8", "unknown buffer `b`"),
    ("comparator.amber", "3:16", "unknown comparator `EQUALS`; nearest: EQ"),
    ("extra.amber", "2:37", "`extra` after the end of BUFFER"),
    ("first_line.amber", "1:1", "a script begins with the line `#!amber`"),
    ("inside_an_element.amber", "3:14", "3 is no multiple of an element's 4 bytes"),
    ("member_twice.amber", "4:3", "`s` has a member `a` already"),
    ("nested_repeat.amber", "3:3", "unknown statement of a REPEAT `REPEAT`"),
    ("number.amber", "4:3", "`300` is no number of type u8"),
    ("part_of_an_element.amber", "2:1", "4 numbers, which is no multiple of the 3"),
    ("pipeline_statement.amber", "3:3", "`ATACH`; nearest: ATTACH"),
    ("shader_without_end.amber", "2:1", "SHADER has no END"),
    ("sizes.amber", "4:8", "`a` and `b` differ in type or size"),
    ("statement.amber", "3:1", "unknown statement `BUFER`; nearest: BUFFER"),
    ("stride.amber", "6:20", "its members take 8 bytes, its stride is 4"),
    ("subgroup_size.amber", "9:19", "`many` is no subgroup size, MIN or MAX"),
    ("tolerance.amber", "3:28", "only EQ has a TOLERANCE"),
    ("type.amber", "2:20", "unknown type `flaot`; nearest: float"),
];

#[test]
fn what_is_no_script_is_an_error_at_its_place() {
    assert_eq!(scripts(&own("malformed")).len(), MALFORMED.len());
    for (script, place, message) in MALFORMED {
        let checked = check(&own("malformed").join(script));
        assert_eq!(checked.code, Some(2), "{script}: {}", checked.said);
        assert!(checked.said.contains(&format!("{script}:{place}: ")), "{}", checked.said);
        assert!(checked.said.contains(message), "{script}: {}", checked.said);
    }
}

#[test]
fn a_shader_that_does_not_compile_is_an_error_at_its_line_of_the_script() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("s.amber");
    let text = "#!amber\nSHADER compute a GLSL\n\n#version 450\nvoid main() {\n  x = 1;\n}\nEND\n\
                PIPELINE compute p\n  ATTACH a\nEND\nRUN p 1 1 1\n";
    fs::write(&script, text).expect("written");
    let checked = check(&script);
    assert_eq!(checked.code, Some(2), "{}", checked.said);
    assert!(checked.said.contains("s.amber:6: error: 'x' : undeclared"), "{}", checked.said);
    let unbound = text
        .replace("  x = 1;", "")
        .replace("void main", "layout(binding = 3) buffer A { uint a[]; };\nvoid main");
    fs::write(&script, unbound).expect("written");
    let checked = check(&script);
    let what = "s.amber:10: the shader has a binding 0.3, where nothing is bound";
    assert!(checked.said.contains(what), "{}", checked.said);
}

/// Public scripts that lavapipe fails: what it computes is further from the truth than they allow.
const INEXACT: [&str; 1] = ["determinant_compute_fp16_mat_3x3.amber"];
/// Files that other programs make scripts of.
const TEMPLATES: [&str; 1] = ["template.amber"];

#[test]
fn public_scripts_pass() {
    let Some(folder) = std::env::var_os("VKLAB_AMBER_DIR") else {
        eprintln!("skipped: VKLAB_AMBER_DIR names no folder with Amber scripts");
        return;
    };
    let checked = check(Path::new(&folder));
    let mut wrong = Vec::new();
    for (script, line) in &checked.lines {
        let script = name(script);
        // Amber's own way to say that a script must fail.
        let must_fail = script.ends_with(".expect_fail.amber");
        let expected = match word(line) {
            "pass" => !must_fail,
            "fail" => must_fail || INEXACT.contains(&script),
            "unsupported" => true,
            "refused" => TEMPLATES.contains(&script),
            _ => false,
        };
        if !expected {
            wrong.push(format!("{script}: {line}"));
        }
    }
    let [passed, failed, unsupported, refused] =
        ["pass", "fail", "unsupported", "refused"].map(|word| checked.count(word));
    let all = checked.lines.len();
    eprintln!(
        "{all} scripts: {passed} passed, {failed} failed, {unsupported} unsupported, {refused} refused"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(passed > 0, "{}", checked.said);
}
