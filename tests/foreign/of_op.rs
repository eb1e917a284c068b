//! Files whose truth is an op of the lab.

use serde_json::Value;

use super::{check, kernel};

fn matvec(a_type: &str) -> String {
    format!(
        r#"
version = 1
[kernel.main]
file = "k.comp"
[shapes]
m = [1, 70]
k = [32, 96]
[buffer.w]
type = "{a_type}"
len = "m * k"
role = "in"
[buffer.v]
type = "f32"
len = "k"
role = "in"
[buffer.r]
type = "f32"
len = "m"
role = "out"
[[step]]
kernel = "main"
bind = {{ 0 = "w", 1 = "v", 2 = "r" }}
push = {{ n = "m", k = "k" }}
groups = ["ceil(m / 64)"]
[truth]
op = "matmul"
map = {{ a = "w", b = "v", out = "r" }}
"#
    )
}

fn buffers(w: &str) -> String {
    format!(
        "#extension GL_EXT_shader_16bit_storage : require\n\
         #extension GL_EXT_shader_8bit_storage : require\n\
         #extension GL_EXT_shader_explicit_arithmetic_types : require\n\
         {w}\n\
         layout(binding = 1) readonly buffer V {{ float v[]; }};\n\
         layout(binding = 2) writeonly buffer R {{ float r[]; }};"
    )
}

fn dot(w: &str, element: &str) -> String {
    let body =
        format!("float s = 0.0; for (uint l = 0; l < k; l++) s += {element} * v[l]; r[i] = s;");
    kernel(&buffers(w), "uint k;", &body)
}

const HALF: &str = "layout(binding = 0) readonly buffer W { float16_t w[]; };";
const Q8_0: &str = "struct Block { float16_t d; int8_t q[32]; };\n\
                    layout(binding = 0) readonly buffer W { Block w[]; };";
const Q8_0_ELEMENT: &str = "float(w[(i * k + l) / 32].d) * float(w[(i * k + l) / 32].q[l % 32])";

#[test]
fn operands_keep_the_files_own_types() {
    let half = dot(HALF, "float(w[i * k + l])");
    let checked = check(&[("k.toml", &matvec("f16")), ("k.comp", &half)]);
    checked.assert_clean();
    assert!(checked.run.contains("m=70,k=96/negative") || checked.run.contains("/large"));
    assert!(checked.run.contains("\"check\":\"property\""));
    let blocks = dot(Q8_0, Q8_0_ELEMENT);
    check(&[("k.toml", &matvec("q8_0")), ("k.comp", &blocks)]).assert_clean();
}

#[test]
fn a_term_that_is_lost_is_found_whatever_the_storage() {
    let lost = |kernel: String| kernel.replace("l < k", "l + 1 < k");
    for (a_type, kernel) in
        [("f16", dot(HALF, "float(w[i * k + l])")), ("q8_0", dot(Q8_0, Q8_0_ELEMENT))]
    {
        let checked = check(&[("k.toml", &matvec(a_type)), ("k.comp", &lost(kernel))]);
        assert_eq!(checked.found[0], ("forward".to_owned(), "wrong-result".to_owned()), "{a_type}");
    }
}

/// `gx = gy y (1 - y)` would need y; here the VJP of exp, which reads it back.
const FORWARD: &str = r#"
version = 1
[kernel.main]
file = "exp.comp"
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
[[step]]
kernel = "main"
bind = { 0 = "x", 1 = "y" }
push = { n = "n" }
groups = ["ceil(n / 64)"]
[truth]
op = "exp"
map = { x = "x", y = "y" }
dims = { len = "n" }
[gradient]
vjp = ["vjp.toml"]
"#;

const VJP: &str = r#"
version = 1
[kernel.main]
file = "vjp.comp"
[shapes]
n = [1, 100]
[buffer.saved]
type = "f32"
len = "n"
role = "in"
[buffer.dy]
type = "f32"
len = "n"
role = "in"
[buffer.dx]
type = "f32"
len = "n"
role = "out"
[[step]]
kernel = "main"
bind = { 0 = "saved", 1 = "dy", 2 = "dx" }
push = { n = "n" }
groups = ["ceil(n / 64)"]
[truth]
op = "exp"
pass = "vjp"
map = { y = "saved", gy = "dy", gx = "dx" }
dims = { len = "n" }
"#;

fn exp() -> String {
    let buffers = "layout(binding = 0) readonly buffer X { float x[]; };\n\
                   layout(binding = 1) writeonly buffer Y { float y[]; };";
    kernel(buffers, "", "y[i] = exp(x[i]);")
}

fn vjp(formula: &str) -> String {
    let buffers = "layout(binding = 0) readonly buffer Y { float y[]; };\n\
                   layout(binding = 1) readonly buffer D { float d[]; };\n\
                   layout(binding = 2) writeonly buffer G { float g[]; };";
    kernel(buffers, "", &format!("g[i] = {formula};"))
}

#[test]
fn gradients_are_targets_of_their_own() {
    let exp = exp();
    let with = |formula: &str| {
        let vjp = vjp(formula);
        let files = [("k.toml", FORWARD), ("exp.comp", exp.as_str())];
        let gradient = [("vjp.toml", VJP), ("vjp.comp", vjp.as_str())];
        check(&[files, gradient].concat())
    };
    let right = with("d[i] * y[i]");
    right.assert_clean();
    assert!(right.run.contains("vjp.toml") && right.run.contains("\"check\":\"gradient\""));
    let factor = with("1.01 * d[i] * y[i]");
    assert!(factor.found.contains(&("gradient".to_owned(), "wrong-gradient".to_owned())));
    let large = |f: &Value| f["case"].as_str().is_some_and(|case| case.starts_with("n=100/large"));
    assert!(factor.findings.iter().any(large), "every kind of data at every listed shape");
    let message = factor.findings[0]["message"].as_str().expect("a message");
    assert!(message.contains("`gx` is `dx` here"), "{message}");
    let named = |f: &Value| f["finding"]["causes"].to_string().contains("1.01");
    assert!(factor.findings.iter().any(named), "{:#?}", factor.findings);
}

#[test]
fn what_does_not_fit_the_op_is_named() {
    let exp = exp();
    let with = |from: &str, to: &str| {
        let text = FORWARD.replace(from, to).replace("[gradient]\nvjp = [\"vjp.toml\"]\n", "");
        check(&[("k.toml", &text), ("exp.comp", &exp)])
    };
    for (from, to, parts) in [
        ("op = \"exp\"", "op = \"expp\"", &["no op is called `expp`", "exp"][..]),
        ("x = \"x\", y", "z = \"x\", y", &["no operand `z`", "x, y"][..]),
        ("x = \"x\", y", "y", &["no buffer for `x`"][..]),
        ("len = \"n\" }", "len = \"2 * n\" }", &["holds 1 elements", "[2]", "len = 2"][..]),
        ("role = \"out\"", "role = \"in\"", &["exp writes `y`", "says otherwise"][..]),
        ("0 = \"x\", 1", "1", &["binds nothing to 0.0 (`x`)"][..]),
        ("len = \"n\" }", "size = \"n\" }", &["no dimension `size`", "len"][..]),
    ] {
        let checked = with(from, to);
        assert_eq!(checked.code, Some(2), "{to}");
        for part in parts {
            assert!(checked.errors.contains(part), "no `{part}` in {}", checked.errors);
        }
    }
}
