//! Files without a truth, and those with expectations of their own.

use std::ffi::OsStr;
use std::process::Command;

use super::{check, check_with, kernel, written};

const XY: &str = "layout(binding = 0) readonly buffer X { float x[]; };\n\
                  layout(binding = 1) writeonly buffer Y { float y[]; };";

fn file(buffer_y: &str, step: &str) -> String {
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
{buffer_y}
[[step]]
kernel = "main"
bind = {{ 0 = "x", 1 = "y" }}
push = {{ n = "n" }}
groups = ["ceil(n / 64)"]
{step}
"#
    )
}

const OUT: &str = "type = \"f32\"\nlen = \"n\"\nrole = \"out\"";

#[test]
fn without_a_truth_memory_determinism_portability_and_limits_are_asked() {
    let right = kernel(XY, "", "y[i] = 2.0 * x[i];");
    let checked = check(&[("k.toml", &file(OUT, "")), ("k.comp", &right)]);
    checked.assert_clean();
    assert_eq!(checked.verdicts("pass"), 4 * 2);
    for name in ["memory", "determinism", "portability", "limits"] {
        assert!(checked.run.contains(&format!("\"check\":\"{name}\"")), "{name}");
    }
}

#[test]
fn an_output_with_a_hole_and_a_write_behind_the_end_are_found() {
    let hole = kernel(XY, "", "if (i != 70) y[i] = 2.0 * x[i];");
    let checked = check(&[("k.toml", &file(OUT, "")), ("k.comp", &hole)]);
    assert!(checked.kinds().contains(&"unwritten-output"), "{:?}", checked.found);
    let beyond = kernel(XY, "", "y[i] = x[i]; if (i == n - 1) y[n] = 0.0;");
    let checked = check(&[("k.toml", &file(OUT, "")), ("k.comp", &beyond)]);
    assert!(checked.kinds().contains(&"guard-hit"), "{:?}", checked.found);
    assert_eq!(checked.findings[0]["line"], 8, "{:#?}", checked.findings[0]);
    // The element that it missed is the lesser fault.
    let shifted = kernel(XY, "", "y[i + 1] = x[i];");
    let checked = check(&[("k.toml", &file(OUT, "")), ("k.comp", &shifted)]);
    assert_eq!(checked.kinds()[0], "guard-hit", "{:?}", checked.found);
}

/// Zero and one are the poisons of integers, and legal results.
#[test]
fn integers_may_equal_the_poison() {
    let buffers = "layout(binding = 0) readonly buffer X { float x[]; };\n\
                   layout(binding = 1) writeonly buffer Y { uint y[]; };";
    let out = "type = \"u32\"\nlen = \"n\"\nrole = \"out\"";
    for value in ["0", "1", "i & 1"] {
        let right = kernel(buffers, "", &format!("y[i] = {value};"));
        check(&[("k.toml", &file(out, "")), ("k.comp", &right)]).assert_clean();
    }
    let hole = kernel(buffers, "", "if (i != 70) y[i] = i & 1;");
    let checked = check(&[("k.toml", &file(out, "")), ("k.comp", &hole)]);
    assert!(checked.kinds().contains(&"unwritten-output"), "{:?}", checked.found);
    let message = checked.findings[0]["message"].as_str().expect("a message");
    assert!(message.contains("1 elements of 100 never written, the first at 70"), "{message}");
}

#[test]
fn expectations_of_the_file_are_held_within_their_tolerance() {
    let with = |expect: &str| file(&format!("{OUT}\nexpect = {expect}"), "");
    let halved = kernel(XY, "", "y[i] = 0.5;");
    let comp = ("k.comp", halved.as_str());
    check(&[("k.toml", &with("{ values = [0.5] }")), comp]).assert_clean();
    check(&[("k.toml", &with("{ values = [0.5000001], rtol = 1e-6 }")), comp]).assert_clean();
    for wrong in ["{ values = [0.5000001] }", "{ values = [nan] }", "{ values = [inf], rtol = 1 }"]
    {
        let checked = check(&[("k.toml", &with(wrong)), comp]);
        assert_eq!(checked.found[0], ("forward".to_owned(), "wrong-result".to_owned()), "{wrong}");
    }
    let nan = kernel(XY, "", "y[i] = uintBitsToFloat(0x7FC00000u);");
    let expect = with("{ values = [nan] }");
    check(&[("k.toml", &expect), ("k.comp", &nan)]).assert_clean();
}

#[test]
fn a_missing_barrier_is_found_in_the_file() {
    let twice = |flag: &str| {
        let second = format!(
            "[[step]]\nkernel = \"main\"\nbind = {{ 0 = \"y\", 1 = \"z\" }}\n\
             push = {{ n = \"n\" }}\ngroups = [2]\nbarrier_before = {flag}\n\
             [buffer.z]\ntype = \"f32\"\nlen = \"n\"\nrole = \"out\"\n"
        );
        file("type = \"f32\"\nlen = \"n\"\nrole = \"scratch\"", &second)
    };
    let right = kernel(XY, "", "y[i] = 2.0 * x[i];");
    check(&[("k.toml", &twice("true")), ("k.comp", &right)]).assert_clean();
    let checked = check(&[("k.toml", &twice("false")), ("k.comp", &right)]);
    assert_eq!(checked.kinds()[0], "missing-barrier");
}

#[test]
fn what_the_device_lacks_is_unsupported_with_the_number() {
    let right = kernel(XY, "", "y[i] = 2.0 * x[i];");
    let offset = file(&format!("{OUT}\noffset_bytes = 4"), "").replace("[1, 100]", "[2, 100]");
    // Limits of devices that aren't here are another question.
    let check = |files: &[(&str, &str)]| check_with(files, &["--profile", "none"]);
    let checked = check(&[("k.toml", &offset), ("k.comp", &right)]);
    assert_eq!(checked.code, Some(0), "{}", checked.errors);
    assert!(checked.verdicts("unsupported") > 0 && checked.run.contains("bound at offset 4"));
    let huge = file(OUT, "").replace("n = [1, 100]", "n = 100_000_000_000");
    let checked = check(&[("k.toml", &huge), ("k.comp", &right)]);
    assert_eq!(checked.code, Some(0), "{}", checked.errors);
    assert!(checked.run.contains("400000000000"), "{}", checked.run);
    let wide = file(OUT, "").replace("\"ceil(n / 64)\"", "70000");
    let checked = check(&[("k.toml", &wide), ("k.comp", &right)]);
    assert!(checked.run.contains("70000 workgroups along x"), "{}", checked.run);
}

#[test]
fn a_buffer_that_shares_memory_is_the_same_memory() {
    let aliased =
        file(&format!("{OUT}\nalias = \"x\""), "").replace("role = \"in\"", "role = \"inout\"");
    let expect = aliased.replace(
        "len = \"n\"\nrole = \"inout\"",
        "len = \"n\"\nrole = \"inout\"\ninit = \"ones\"\nexpect = { values = [2.0] }",
    );
    let buffers = XY.replace("readonly ", "").replace("writeonly ", "");
    let right = kernel(&buffers, "", "y[i] = 2.0 * x[i];");
    check(&[("k.toml", &expect), ("k.comp", &right)]).assert_clean();
}

#[test]
fn a_kernel_that_cannot_be_checked_ends_its_own_file_only() {
    let broken = kernel(XY, "", "y[i] = 2.0 * z[i];");
    let checked = check(&[("k.toml", &file(OUT, "")), ("k.comp", &broken)]);
    assert_eq!(checked.code, Some(2));
    assert!(
        checked.errors.contains("k.comp:8") && checked.errors.contains("'z'"),
        "{}",
        checked.errors
    );
    let other = kernel(XY, "float factor;", "y[i] = factor * x[i];");
    let checked = check(&[("k.toml", &file(OUT, "")), ("k.comp", &other)]);
    assert_eq!(checked.code, Some(2));
    for part in ["push constant `factor` is not given", "4  f32 factor", "n = 1"] {
        assert!(checked.errors.contains(part), "no `{part}` in {}", checked.errors);
    }
    let block =
        file(OUT, "").replace("{ n = \"n\" }", "[{ type = \"f32\", offset = 0, value = 1 }]");
    let checked = check(&[("k.toml", &block), ("k.comp", &kernel(XY, "", "y[i] = x[i];"))]);
    assert_eq!(checked.code, Some(2));
    assert!(
        checked.errors.contains("u32 n") && checked.errors.contains("f32 (unnamed)"),
        "{}",
        checked.errors
    );
}

/// A file in which `y` shares the memory of a longer `x`, in either order.
fn sharing(order: [&str; 2], y: &str) -> String {
    let buffers = order.map(|name| match name {
        "x" => {
            "[buffer.x]\ntype = \"f32\"\nlen = 128\nrole = \"inout\"\ninit = \"ones\"\n".to_owned()
        }
        _ => format!("[buffer.y]\ntype = \"f32\"\nlen = 64\nrole = \"out\"\nalias = \"x\"\n{y}\n"),
    });
    format!(
        "version = 1\n[kernel.main]\nfile = \"k.comp\"\n{}\n[[step]]\nkernel = \"main\"\n\
         bind = {{ 0 = \"x\", 1 = \"y\" }}\npush = {{ n = 64 }}\ngroups = [1]\n",
        buffers.concat()
    )
}

#[test]
fn an_output_that_shares_memory_is_compared_wherever_it_is_declared() {
    let shared = XY.replace("readonly ", "").replace("writeonly ", "");
    let doubles = kernel(&shared, "", "y[i] = 2.0 * x[i];");
    for order in [["x", "y"], ["y", "x"]] {
        let right = sharing(order, "expect = { values = [2.0] }");
        check(&[("k.toml", &right), ("k.comp", &doubles)]).assert_clean();
        let wrong = sharing(order, "expect = { values = [3.0] }");
        let checked = check(&[("k.toml", &wrong), ("k.comp", &doubles)]);
        assert_eq!(checked.kinds(), ["wrong-result"], "{:#?}", checked.findings);
    }
    let asks = kernel(&shared, "", "y[i] = float(y.length()) + 0.0 * x[i];");
    let checked = check(&[("k.toml", &sharing(["x", "y"], "")), ("k.comp", &asks)]);
    assert_eq!(checked.code, Some(2));
    assert!(checked.errors.contains("asks for the length of `y`"), "{}", checked.errors);
}

#[test]
fn what_may_stay_unwritten_is_no_difference_between_runs() {
    for dtype in ["f32", "u32", "f16"] {
        let glsl = match dtype {
            "u32" => "uint",
            "f16" => "float16_t",
            _ => "float",
        };
        let y = format!(
            "#extension GL_EXT_shader_16bit_storage : require\n\
             layout(binding = 0) readonly buffer X {{ float x[]; }};\n\
             layout(binding = 1) writeonly buffer Y {{ {glsl} y[]; }};"
        );
        let half = kernel(&y, "", &format!("if (i % 2 == 0) y[i] = {glsl}(x[i] + 3.0);"));
        let out = format!("type = \"{dtype}\"\nlen = \"n\"\nrole = \"out\"\nunwritten = true");
        let checked = check(&[("k.toml", &file(&out, "")), ("k.comp", &half)]);
        checked.assert_clean();
    }
}

/// Fingerprints of results don't hang on what a worker did before.
#[test]
fn outputs_are_the_same_whatever_ran_before() {
    let hole = kernel(XY, "", "if (i != 70) y[i] = 2.0 * x[i];");
    let bits = |only: &[&str]| -> Vec<String> {
        let files = [("k.toml", file(OUT, "")), ("k.comp", hole.clone())];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        let run = check_with(&files, &[&["--workers", "1"], only].concat()).run;
        let lines = run.lines().filter(|line| line.contains("\"check\":\"determinism\""));
        lines.filter_map(|line| Some(line.split("\"bits\":").nth(1)?.to_owned())).collect()
    };
    let alone = bits(&["--only", "determinism"]);
    assert_eq!(alone.len(), 2);
    assert_eq!(alone, bits(&[]));
}

#[test]
fn a_list_tells_the_checks_and_cases_of_a_file() {
    let folder =
        written(&[("k.toml", &file(OUT, "")), ("k.comp", &kernel(XY, "", "y[i] = x[i];"))]);
    let list = |target: &OsStr| {
        let output = Command::new(env!("CARGO_BIN_EXE_vklab")).arg("list").arg(target).output();
        String::from_utf8(output.expect("the lab").stdout).expect("text")
    };
    let text = list(folder.path().join("k.toml").as_os_str());
    assert!(text.contains("memory 2/2, determinism 2/2, portability 2/2"), "{text}");
    let text = list(OsStr::new("matmul"));
    assert!(text.contains("reads a b; writes y; dims batch m n k; transpose_a = 0;"), "{text}");
}
