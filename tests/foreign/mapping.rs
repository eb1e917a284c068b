//! What `truth.map`, `expect` and `gradient.vjp` promise beside an op.

use super::{Checked, check, kernel};

/// Twice as much, and the same in a buffer that the op doesn't know.
fn scale(map: &str, y: &str, count: &str) -> String {
    format!(
        r#"
version = 1
[kernel.main]
file = "k.comp"
[shapes]
n = [1, 100]
[buffer.x]
type = "f32"
len = "n"
role = "in"
[buffer.y]
type = "f32"
len = "n"
role = "out"
{y}
[buffer.count]
type = "u32"
len = "n"
role = "out"
{count}
[[step]]
kernel = "main"
bind = {{ 0 = "x", 1 = "y", 2 = "count" }}
push = {{ n = "n" }}
groups = ["ceil(n / 64)"]
[truth]
op = "scale"
attributes = {{ alpha = 2.0 }}
dims = {{ len = "n" }}
{map}
"#
    )
}

fn scaled(body: &str) -> String {
    let buffers = "layout(binding = 0) readonly buffer X { float x[]; };\n\
                   layout(binding = 1) writeonly buffer Y { float y[]; };\n\
                   layout(binding = 2) writeonly buffer C { uint count[]; };";
    kernel(buffers, "", body)
}

const MAP: &str = "map = { x = \"x\", out = \"y\" }";

fn checked(map: &str, y: &str, count: &str, body: &str) -> Checked {
    check(&[("k.toml", &scale(map, y, count)), ("k.comp", &scaled(body))])
}

fn assert_refused(checked: &Checked, parts: &[&str]) {
    assert_eq!(checked.code, Some(2), "{parts:?}: {:?}", checked.found);
    for part in parts {
        assert!(checked.errors.contains(part), "no `{part}` in {}", checked.errors);
    }
}

#[test]
fn a_truth_that_says_nothing_of_what_is_written_is_refused() {
    let body = "y[i] = 7.0; count[i] = 3u;";
    let forward = checked("map = { x = \"x\" }", "", "", body);
    assert_refused(&forward, &["k.toml", "no output of scale", "`y`"]);
    let vjp = |map: &str| checked(&format!("pass = \"vjp\"\n{map}"), "", "", body);
    assert_refused(&vjp("map = { x = \"x\" }"), &["`gy`", "cotangent"]);
    assert_refused(&vjp("map = { gy = \"x\" }"), &["no gradient of scale", "`gx`"]);
}

#[test]
fn an_operand_has_one_buffer() {
    let body = "y[i] = 2.0 * x[i]; count[i] = 3u;";
    let twice = checked("map = { x = \"x\", out = \"y\", y = \"count\" }", "", "", body);
    assert_refused(&twice, &["`y` of scale", "`y` and `count`"]);
}

#[test]
fn a_tolerance_beside_an_op_widens_its_bound() {
    let body = "y[i] = 2.002 * x[i]; count[i] = 3u;";
    let narrow = checked(MAP, "", "", body);
    assert_eq!(narrow.found[0], ("forward".to_owned(), "wrong-result".to_owned()));
    let wide = checked(MAP, "expect = { rtol = 1e-2 }", "", body);
    wide.assert_clean();
}

#[test]
fn what_the_op_does_not_know_is_held_against_what_the_file_expects() {
    let count = "expect = { values = [3] }";
    checked(MAP, "", count, "y[i] = 2.0 * x[i]; count[i] = 3u;").assert_clean();
    let wrong = checked(MAP, "", count, "y[i] = 2.0 * x[i]; count[i] = 4u;");
    assert_eq!(wrong.found[0], ("forward".to_owned(), "wrong-result".to_owned()));
    let message = wrong.findings[0]["message"].as_str().expect("a message");
    assert!(message.contains("count"), "{message}");
}

/// `y = a b`, or one of its gradients; nothing of it runs.
fn matmul(truth: &str) -> String {
    format!(
        r#"
version = 1
[kernel.main]
file = "k.comp"
[shapes]
n = 4
[buffer.p]
type = "f32"
len = 16
role = "in"
[buffer.q]
type = "f32"
len = 16
role = "in"
[buffer.r]
type = "f32"
len = 16
role = "out"
[[step]]
kernel = "main"
bind = {{ 0 = "p", 1 = "q", 2 = "r" }}
push = {{ n = "n" }}
groups = [1]
{truth}
"#
    )
}

const DIMS: &str = "dims = { m = 4, k = 4, n = 4 }";

fn with_gradients(listed: &str, a: &str) -> Checked {
    let forward = format!(
        "[truth]\nop = \"matmul\"\nmap = {{ a = \"p\", b = \"q\", y = \"r\" }}\n{DIMS}\n\
         [gradient]\nvjp = [{listed}]\n"
    );
    let b = format!(
        "[truth]\nop = \"matmul\"\npass = \"vjp\"\n\
         map = {{ a = \"p\", gy = \"q\", gb = \"r\" }}\n{DIMS}\n"
    );
    let files = [("k.toml", matmul(&forward)), ("a.toml", matmul(a)), ("b.toml", matmul(&b))];
    let mut files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (*n, t.as_str())).collect();
    let kernel = scaled("y[i] = x[i]; count[i] = 3u;");
    files.push(("k.comp", &kernel));
    check(&files)
}

#[test]
fn the_listed_gradients_are_those_of_every_operand_that_is_mapped() {
    let a = format!(
        "[truth]\nop = \"matmul\"\npass = \"vjp\"\n\
         map = {{ b = \"p\", gy = \"q\", ga = \"r\" }}\n{DIMS}\n"
    );
    let both = with_gradients("\"a.toml\", \"b.toml\"", &a);
    assert!(!both.errors.contains("gradient.vjp"), "{}", both.errors);
    assert!(both.run.contains("b.toml"), "{}", both.errors);
    assert_refused(&with_gradients("\"b.toml\"", &a), &["k.toml", "gradient.vjp", "`ga`"]);
    assert_refused(&with_gradients("\"a.toml\"", &a), &["k.toml", "gradient.vjp", "`gb`"]);
}

#[test]
fn a_listed_gradient_is_of_the_same_op() {
    let other = "[truth]\nop = \"scale\"\npass = \"vjp\"\n\
                 map = { gy = \"p\", gx = \"r\" }\ndims = { len = 16 }\n";
    let listed = "\"a.toml\", \"b.toml\"";
    assert_refused(&with_gradients(listed, other), &["a.toml", "matmul", "pass = \"vjp\""]);
    let forward = other.replace("pass = \"vjp\"\n", "").replace("gy", "x").replace("gx", "y");
    assert_refused(&with_gradients(listed, &forward), &["a.toml", "matmul", "pass = \"vjp\""]);
}
