//! Snapshots: interfaces of kernels, references, help texts. `cargo insta review` shows changes.
//!
//! No device decides any of them: interfaces come from the compiler, references from plain loops in
//! f64 over libm.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use insta::Settings;
use sha2::{Digest, Sha256};
use vklab::check::{Cotangent, Expected, Prefill, Slot, Trial, draw_inputs};
use vklab::device::Limits;
use vklab::glsl::{Build, Compiler, CompilerOptions, Library};
use vklab::numeric::{ErrorModel, Regime};
use vklab::ops::{self, Case, Code, Op, Pass, Step, Target, Variant};
use vklab::spirv;

const FOLDER: &str = "snapshots";

fn settings() -> Settings {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// Compares every text before it fails, so that one review sees all changes.
fn assert_all(texts: impl Iterator<Item = (String, String)>) {
    let mut changed = Vec::new();
    settings().bind(|| {
        for (name, text) in texts {
            let compared = std::panic::catch_unwind(|| insta::assert_snapshot!(name.clone(), text));
            if compared.is_err() {
                changed.push(name);
            }
        }
    });
    assert!(changed.is_empty(), "changed: {}", changed.join(", "));
}

/// Small, no two extents alike, past no limit.
fn small_case(op: &Op) -> Case {
    let extents = [2, 3, 4, 5, 6, 7];
    Case {
        dims: op.dims.iter().zip(extents).map(|(dim, n)| n.max(dim.least)).collect(),
        attributes: op.default_attributes(),
        dtype: op.dtypes[0],
        regime: Regime::Normal,
        seed: 1,
        storage: Vec::new(),
    }
}

fn interfaces(compiler: &Compiler, op: &Op) -> String {
    let mut text = String::new();
    for variant in op.variants {
        for dtype in op.dtypes {
            let case = Case { dtype: *dtype, ..small_case(op) };
            let _ = writeln!(text, "== {} {}", variant.name, case.id(op));
            variant_interfaces(compiler, op, variant, &case, &mut text);
        }
    }
    text
}

fn variant_interfaces(
    compiler: &Compiler,
    op: &Op,
    variant: &Variant,
    case: &Case,
    text: &mut String,
) {
    let target = Target { limits: &Limits::REQUIRED, workgroup: variant.workgroups[0] };
    let plan = match (variant.plan)(&case.problem(op), &target) {
        Ok(plan) => plan,
        Err(reason) => {
            let _ = writeln!(text, "unsupported: {reason}");
            return;
        }
    };
    for step in &plan.steps {
        let Step::Dispatch(dispatch) = step else {
            let _ = writeln!(text, "{step:?}");
            continue;
        };
        let Code::Glsl { source, .. } = dispatch.code.clone() else { continue };
        let mut build = Build::new(source);
        let defines = dispatch.defines.iter().map(|(n, v)| (n.to_string(), v.to_string()));
        build.defines = defines.collect();
        let modules = compiler.compile(&build, &Library).expect("a kernel that compiles");
        let interface = spirv::reflect(&modules.debug).expect("a module that can be read");
        let [x, y, z] = dispatch.groups;
        let _ = writeln!(text, "{} in {x} x {y} x {z} workgroups", dispatch.code.path());
        for line in interface.to_string().lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
}

/// The small case, and the same with each other value of each attribute.
fn reference_cases(op: &Op) -> Vec<Case> {
    let plain = small_case(op);
    let mut cases = vec![plain.clone()];
    for (at, attribute) in op.attributes.iter().enumerate() {
        for value in &attribute.values[1..] {
            let mut case = plain.clone();
            case.attributes[at] = *value;
            cases.push(case);
        }
    }
    cases
}

fn reference(op: &'static Op) -> String {
    let model = ErrorModel::SPEC;
    let mut text = String::new();
    for case in reference_cases(op) {
        let _ = writeln!(text, "== case {} seed {}", case.id(op), case.seed);
        let forward = Trial::forward(op, &case, &draw_inputs(op, &case), &model);
        show(&mut text, "forward", &forward.slots, &forward.expected);
        if op.variants.iter().any(|v| v.pass == Pass::Vjp) {
            let vjp = Trial::vjp(op, &case, Cotangent::Draw(0), Prefill::Zeros, &model);
            show(&mut text, "vjp", &vjp.slots, &vjp.expected);
        }
    }
    text
}

/// 9 significant digits: more than f32 holds, fewer than an f64 sum in another order moves.
fn show(text: &mut String, pass: &str, slots: &[Slot], expected: &[Expected]) {
    let mut hash = Sha256::new();
    let mut names = Vec::new();
    for slot in slots {
        if let Some(contents) = &slot.contents {
            hash.update(contents.bytes());
            names.push(format!("{} {:?}", slot.name, slot.shape));
        }
    }
    let hash: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let _ = writeln!(text, "{pass} of {}, inputs {hash}", names.join(", "));
    for output in expected {
        let _ = writeln!(text, "  {} {:?}", output.name, output.shape);
        let width = output.shape.last().copied().unwrap_or(1).max(1);
        for row in output.values.chunks(width) {
            let row: Vec<String> =
                row.iter().map(|v| format!("{:>17}", format!("{v:.8e}"))).collect();
            let _ = writeln!(text, "{}", row.join(" "));
        }
    }
}

fn help(command: &str) -> String {
    let mut arguments: Vec<&str> = command.split_whitespace().collect();
    arguments.push("--help");
    let output = Command::new(env!("CARGO_BIN_EXE_vklab")).args(arguments).output();
    String::from_utf8(output.expect("the binary starts").stdout).expect("text")
}

/// The commands that the help lists, and none at first for the whole.
fn commands() -> Vec<String> {
    let whole = help("");
    let listed = whole.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let names = listed.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    std::iter::once(String::new()).chain(names.filter(|name| name != "help")).collect()
}

fn help_name(command: &str) -> String {
    format!("help__{}", if command.is_empty() { "vklab" } else { command })
}

#[test]
fn interfaces_are_as_reviewed() {
    let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
    assert_all(
        ops::ALL.iter().map(|op| (format!("interface__{}", op.name), interfaces(&compiler, op))),
    );
}

#[test]
fn references_are_as_reviewed() {
    assert_all(ops::ALL.iter().map(|op| (format!("reference__{}", op.name), reference(op))));
}

#[test]
fn help_texts_are_as_reviewed() {
    let commands = commands();
    assert!(commands.len() > 4, "{commands:?}");
    assert_all(commands.iter().map(|command| (help_name(command), help(command))));
}

#[test]
fn every_snapshot_file_is_compared_by_a_test() {
    let of_ops = ops::ALL
        .iter()
        .flat_map(|op| ["interface", "reference"].map(|kind| format!("{kind}__{}.snap", op.name)));
    let of_help = commands().into_iter().map(|command| format!("{}.snap", help_name(&command)));
    let of_files = ["kernel_file__mistakes", "stub__matrix", "stub__mixed"];
    let of_files = of_files.map(|name| format!("{name}.snap"));
    let want: BTreeSet<String> = of_ops.chain(of_help).chain(of_files).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let found: BTreeSet<String> = fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| !name.ends_with(".snap.new"))
        .collect();
    let unreferenced: Vec<&String> = found.difference(&want).collect();
    let missing: Vec<&String> = want.difference(&found).collect();
    assert!(unreferenced.is_empty(), "compared by no test: {unreferenced:?}");
    assert!(missing.is_empty(), "never accepted: {missing:?}");
}
