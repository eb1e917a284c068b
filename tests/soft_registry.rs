//! The lab's own kernels on the interpreter: every small shape of those that move data, and the
//! subgroup size at which lavapipe runs too.
#![cfg(feature = "glsl")]

use std::process::Command;

use vklab::check::{Check, Outcome, Session, Subject, run};
use vklab::glsl::{Compiler, CompilerOptions};
use vklab::memory::LedgerOptions;
use vklab::numeric::Regime;
use vklab::ops::{Case, Op, Registry};
use vklab::soft::{Soft, SoftOptions};
use vklab::tensor::Dtype;

/// Ops whose kernels do nothing but find the right place, so that a shape is all there is to them.
const MOVERS: [&str; 2] = ["transpose", "embedding"];

/// Every combination of extents from 1 to 9.
fn shapes(dims: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..9_usize.pow(u32::try_from(dims).expect("few"))).map(move |mut number| {
        let mut shape = Vec::new();
        for _ in 0..dims {
            shape.push(number % 9 + 1);
            number /= 9;
        }
        shape
    })
}

fn case(op: &'static Op, dims: Vec<usize>, seed: u64) -> Case {
    Case {
        dims,
        attributes: op.default_attributes(),
        dtype: Dtype::F32,
        regime: Regime::Normal,
        seed,
        storage: Vec::new(),
    }
}

#[test]
fn kernels_that_move_data_are_right_in_every_small_shape() {
    let seed = rand::random();
    let device = Soft::open(&SoftOptions::default()).expect("opens");
    let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
    let mut session = Session::new(Box::new(device), compiler, LedgerOptions::default());
    session.set_subgroup_sizes(&[8]);
    let registry = Registry::lab();
    let (mut count, mut wrong) = (0, Vec::new());
    for name in MOVERS {
        let op = registry.ops().iter().find(|op| op.name == name).expect("an op");
        for variant in op.variants {
            let subject = Subject::new(op, variant);
            for dims in shapes(op.dims.len()) {
                let case = case(op, dims, seed);
                count += 1;
                match run(&mut session, &subject, Check::Sanitize, &case).expect("runs") {
                    Outcome::Pass { .. } => {}
                    other => wrong.push(format!("{}.{}: {other}", op.name, variant.name)),
                }
            }
        }
    }
    assert!(count >= 4 * 729, "only {count} cases");
    assert!(wrong.is_empty(), "seed {seed}: {} of {count}\n{}", wrong.len(), wrong[0]);
}

/// Both lie within the op's bound of the reference, so they lie within twice that of each other.
#[test]
fn the_interpreter_and_lavapipe_agree_at_the_same_subgroup_size() {
    let output = Command::new(env!("CARGO_BIN_EXE_vklab"))
        .args(["check", "--device", "soft", "--device", "vk:llvmpipe", "--subgroup-size", "8"])
        .args(["--only", "forward", "--only", "gradient", "--only", "sanitize"])
        .output()
        .expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("0 fail, 0 unsupported, 0 crash, 0 hang"), "{said}");
}
