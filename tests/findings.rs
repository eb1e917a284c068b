//! A planted fault, from the kernel to the finding: kind, file, elements, smallest case, arrays.

use std::fs;
use std::path::Path;

use serde_json::Value;
use vklab::check::{Check, Finding, Kind, Outcome, Session, Subject, Verdict, run};
use vklab::faulty;
use vklab::glsl::Source;
use vklab::memory::LedgerOptions;
use vklab::ops::{self, Case};
use vklab::report::{finding_json, finding_text};
use vklab::vulkan::Validation;
use vklab::worker::{choose, open_session};

/// Right up to column 2; from column 3 on it adds b twice.
const WRONG: &str = r#"#version 450
// y = a + b, wrong from the fourth column on.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer A { ELEMENT a[]; };
layout(binding = 1) readonly buffer B { ELEMENT b[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len, cols, b_row_stride, b_col_stride; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    float b_value = float(b[i / cols * b_row_stride + i % cols * b_col_stride]);
    y[i] = ELEMENT(float(a[i]) + (i % cols < 3 ? 1.0 : 2.0) * b_value);
}
"#;

fn session() -> Session {
    let chosen = choose(&[], Validation::Off).expect("a device");
    open_session(&chosen[0], LedgerOptions::default()).expect("an open device")
}

fn planted(session: &mut Session, check: Check, case: &str) -> Option<Finding> {
    let (op, variant) = ops::find("add", "naive").expect("the plainest op");
    let mut subject = Subject::new(op, variant);
    subject.replaced = Some(("add/naive.comp", Source::new("planted/add.comp", WRONG)));
    let case = Case::parse(op, case, 11).expect("a case");
    match run(session, &subject, check, &case).expect("it runs") {
        Outcome::Fail { finding } => Some(*finding),
        Outcome::Pass { .. } => None,
        other => panic!("{other}"),
    }
}

#[test]
fn a_planted_fault_is_found_shrunk_and_blamed_on_its_kernel() {
    let mut session = session();
    assert!(planted(&mut session, Check::Forward, "rows=5,cols=3/normal").is_none());
    let finding = planted(&mut session, Check::Forward, "rows=5,cols=70/normal").expect("wrong");
    assert_eq!(finding.kind, Kind::WrongResult);
    assert_eq!(finding.file.as_deref(), Some("glsl/planted/add.comp"));
    assert_eq!(finding.line, Some(14), "the store into y");
    assert_eq!(finding.smallest.as_deref(), Some("rows=1,cols=4/normal"));
    let mismatch = finding.mismatch.as_ref().expect("compared values");
    assert_eq!((mismatch.bad, mismatch.total), (1, 4));
    assert_eq!(mismatch.index, [0, 3]);
    let repeat = "vklab check add.naive --only forward --case rows=1,cols=4/normal --seed 11";
    assert!(finding.repeat.starts_with(repeat), "{}", finding.repeat);
    assert!(finding.to_string().lines().count() < 24, "one screen: {finding}");
    // It is no function of addition, but a function of its inputs alone.
    assert!(planted(&mut session, Check::Determinism, "rows=5,cols=70/normal").is_none());
    assert!(planted(&mut session, Check::Memory, "rows=5,cols=70/normal").is_none());
}

#[test]
fn the_same_finding_comes_back_whatever_ran_before() {
    let mut fresh = session();
    let alone = planted(&mut fresh, Check::Forward, "rows=5,cols=70/ties").expect("wrong");
    let mut used = session();
    for cols in [1, 9, 64] {
        let _ = planted(&mut used, Check::Memory, &format!("rows=2,cols={cols}/normal"));
    }
    let later = planted(&mut used, Check::Forward, "rows=5,cols=70/ties").expect("wrong");
    assert_eq!(alone, later);
}

#[test]
fn an_unreplaced_kernel_is_blamed_by_the_buffer_that_it_writes() {
    let mut session = session();
    let (op, variant) = ops::find("add", "vjp_naive").expect("the plainest VJP");
    let mut subject = Subject::new(op, variant);
    // The dispatch that writes gb loses its last workgroup... here its only one.
    subject.edit = Some(|mut plan| {
        plan.steps.truncate(1);
        plan
    });
    let case = Case::parse(op, "rows=2,cols=3/normal", 1).expect("a case");
    let outcome = run(&mut session, &subject, Check::Gradient, &case).expect("it runs");
    let Outcome::Fail { finding } = outcome else { panic!("{outcome}") };
    assert_eq!(finding.kind, Kind::WrongGradient);
    assert_eq!(finding.file.as_deref(), Some("glsl/add/vjp_a.comp"), "the plan's last kernel");
    assert_eq!(finding.line, None, "no line of it stores into gb");
    assert_eq!(finding.mismatch.expect("compared values").buffer, "gb");
}

/// The place that a fault is blamed on, `file:line` or `file:line,line`, and the text of the line.
fn blamed(session: &mut Session, name: &str, check: Check, case: &str) -> (String, String) {
    let fault = faulty::find(name).expect("a fault");
    let (op, variant) = fault.place();
    let mut subject = Subject::new(op, variant);
    fault.plant(&mut subject);
    let case = Case::parse(op, case, 1).expect("a case");
    let outcome = run(session, &subject, check, &case).expect("it runs");
    let Outcome::Fail { finding } = outcome else { panic!("{name}: {outcome}") };
    let (file, line) = (finding.file.expect("a file"), finding.line.expect("a line"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    let source = fs::read_to_string(source).expect("the kernel");
    let index = usize::try_from(line).expect("a small number") - 1;
    let text = source.lines().nth(index).expect("the line").trim().to_owned();
    let other = finding.other_line.map_or_else(String::new, |line| format!(",{line}"));
    (format!("{file}:{line}{other}"), text)
}

#[test]
fn faults_are_blamed_on_the_line_that_stores() {
    let mut session = session();
    let mut blamed = |name, check, case| blamed(&mut session, name, check, case);
    let wrong = blamed("transpose_wrong_stride", Check::Forward, "batch=1,rows=3,cols=5/normal");
    assert_eq!(wrong.1, "y[i] = x[(batch * rows + row) * rows + col];");
    let past = blamed("relu_no_guard", Check::Memory, "len=3/normal");
    assert_eq!(past.1, "y[i] = ELEMENT(value < 0.0 ? 0.0 : value);");
    let input = blamed("softmax_writes_input", Check::Memory, "rows=2,cols=3/normal");
    assert_eq!(input.1, "x[i] = ELEMENT(exp(float(x[i]) - top));");
    let barrier = blamed("matmul_slices_unordered", Check::Memory, "batch=1,m=2,n=2,k=300/normal");
    // Here it is the line that reads too early.
    assert_eq!(barrier.0, "glsl/matmul/split_k_reduce.comp:13");
}

/// Shape, element type and little-endian data of an .npy file.
fn npy(path: &Path) -> (String, Vec<u8>) {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    (String::from_utf8_lossy(&bytes[10..end]).into_owned(), bytes[end..].to_vec())
}

#[test]
fn the_arrays_of_a_finding_show_what_it_says() {
    let mut session = session();
    let finding = planted(&mut session, Check::Forward, "rows=5,cols=70/integers").expect("wrong");
    let folder = tempfile::tempdir().expect("a folder");
    finding.evidence.write(&folder.path().join("deep/below")).expect("written");
    let file = |name: &str| npy(&folder.path().join("deep/below").join(name));
    let f32s = |name: &str| -> Vec<f64> {
        let (header, data) = file(name);
        assert!(header.contains("'<f4'") && header.contains("(1,4,)"), "{header}");
        data.chunks(4).map(|w| f64::from(f32::from_le_bytes([w[0], w[1], w[2], w[3]]))).collect()
    };
    let f64s = |name: &str| -> Vec<f64> {
        let (header, data) = file(name);
        assert!(header.contains("'<f8'") && header.contains("(1,4,)"), "{header}");
        data.as_chunks::<8>().0.iter().map(|w| f64::from_le_bytes(*w)).collect()
    };
    let (a, b, got) = (f32s("input.a.npy"), f32s("input.b.npy"), f32s("got.y.npy"));
    let (want, bound) = (f64s("expected.y.npy"), f64s("bound.y.npy"));
    for at in 0..4 {
        assert_eq!(want[at], a[at] + b[at]);
        let wrong = (got[at] - want[at]).abs() > bound[at];
        assert_eq!(wrong, at == 3 && b[at] != 0.0);
    }
    let count = fs::read_dir(folder.path().join("deep/below")).expect("a folder").count();
    assert_eq!(count, 5);
}

#[test]
fn a_finding_as_json_has_what_other_tools_need() {
    let mut session = session();
    let finding = planted(&mut session, Check::Forward, "rows=1,cols=4/normal").expect("wrong");
    let verdict = Verdict {
        device: "d".to_owned(),
        op: "add".to_owned(),
        variant: Some("naive".to_owned()),
        check: Check::Forward,
        case: "rows=1,cols=4/normal".to_owned(),
        seed: 11,
        outcome: Outcome::fail(finding.clone()),
        expected: None,
        output: None,
    };
    let json = finding_json(&verdict);
    assert_eq!(json["kind"], "wrong-result");
    assert_eq!(json["file"], "glsl/planted/add.comp");
    assert_eq!((&json["line"], &json["other_line"]), (&Value::from(14), &Value::Null));
    assert_eq!(json["message"], "y differs from the reference");
    assert_eq!(json["target"], "add.naive");
    let back: Verdict = serde_json::from_str(&serde_json::to_string(&verdict).expect("JSON"))
        .expect("the same verdict");
    let Outcome::Fail { finding: read } = back.outcome else { panic!("{back:?}") };
    assert_eq!(Finding { evidence: finding.evidence.clone(), ..*read }, finding);
    assert!(finding_text(&verdict).starts_with("add.naive forward on d: rows=1,cols=4/normal\n"));
}
