//! Files with a naive twin.

use super::{check, kernel};

const BUFFERS: &str = "layout(binding = 0) readonly buffer X { float x[]; };\n\
                       layout(binding = 1) writeonly buffer Y { float y[]; };";

/// A sum of rows: its kernel takes eight columns at a time.
const FILE: &str = r#"
version = 1
[kernel.main]
file = "k.comp"
[shapes]
rows = [3, 70]
cols = [8, 40]
[buffer.x]
type = "f32"
len = "rows * cols"
role = "in"
init = "normal"
[buffer.y]
type = "f32"
len = "rows"
role = "out"
[[step]]
kernel = "main"
bind = { 0 = "x", 1 = "y" }
push = { n = "rows", cols = "cols" }
groups = ["ceil(rows / 64)"]
[truth]
kernel = "naive.comp"
"#;

fn fast(columns: &str) -> String {
    let body = format!(
        "float sums[8] = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0); \
         for (uint c = 0; c < {columns}; c += 8) \
         for (uint k = 0; k < 8; k++) sums[k] += x[i * cols + c + k]; \
         float all = 0.0; for (uint k = 0; k < 8; k++) all += sums[k]; y[i] = all;"
    );
    kernel(BUFFERS, "uint cols;", &body)
}

fn naive() -> String {
    let body =
        "float all = 0.0; for (uint c = 0; c < cols; c++) all += x[i * cols + c]; y[i] = all;";
    kernel(BUFFERS, "uint cols;", body)
}

#[test]
fn another_order_of_additions_is_no_difference_and_a_lost_term_is() {
    let naive = naive();
    let with = |fast: &str| check(&[("k.toml", FILE), ("k.comp", fast), ("naive.comp", &naive)]);
    with(&fast("cols")).assert_clean();
    let lost = with(&fast("cols - 8"));
    assert_eq!(lost.found[0], ("forward".to_owned(), "wrong-result".to_owned()));
    // The smallest listed shape in which it fails.
    let smallest = lost.findings[0]["finding"]["repeat"].as_str().expect("a command");
    assert!(smallest.contains("rows=3,cols=8"), "{smallest}");
}

#[test]
fn a_twin_that_is_wrong_itself_is_an_error() {
    let wrong = naive().replace("y[i] = all;", "if (i > 0) y[i] = all;");
    let checked = check(&[("k.toml", FILE), ("k.comp", &fast("cols")), ("naive.comp", &wrong)]);
    assert_eq!(checked.code, Some(2));
    assert!(checked.errors.contains("the naive twin is wrong itself"), "{}", checked.errors);
}

/// Zero is the poison of integers, and no truth.
#[test]
fn a_twin_that_leaves_integers_unwritten_is_wrong_itself() {
    let buffers = BUFFERS.replace("buffer Y { float", "buffer Y { uint");
    let file = FILE.replacen("type = \"f32\"\nlen = \"rows\"", "type = \"u32\"\nlen = \"rows\"", 1);
    let right = kernel(&buffers, "uint cols;", "y[i] = i & 1;");
    let with = |naive: &str| check(&[("k.toml", &file), ("k.comp", &right), ("naive.comp", naive)]);
    with(&right).assert_clean();
    let half = with(&right.replace("y[i]", "if (i > 1) y[i]"));
    assert_eq!(half.code, Some(2));
    assert!(half.errors.contains("the naive twin is wrong itself"), "{}", half.errors);
}

/// With nothing to hold against the twin, a pass would say nothing.
#[test]
fn a_truth_that_leaves_nothing_to_compare_is_an_error() {
    let file = FILE.replace("role = \"out\"", "role = \"scratch\"");
    let naive = naive();
    let checked = check(&[("k.toml", &file), ("k.comp", &fast("cols")), ("naive.comp", &naive)]);
    assert_eq!(checked.code, Some(2), "{}", checked.run);
    assert!(checked.errors.contains("nothing to compare"), "{}", checked.errors);
}
