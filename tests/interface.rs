//! Kernels whose interface differs from the record or the plan: the error names the binding, push
//! constant or specialization constant, and what was expected.

use vklab::check::{CheckError, Session, Setting, Slot, run_plan};
use vklab::glsl::Source;
use vklab::memory::{LedgerOptions, Poison};
use vklab::ops::{Dispatch, Plan};
use vklab::tensor::{Dtype, Tensor};
use vklab::vulkan::Validation;
use vklab::worker::{choose, open_session};

const KERNEL: &str = "#version 450
// y = scale x. One invocation per element.
layout(constant_id = 0) const uint WORKGROUP = 64;
layout(local_size_x_id = 0) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint len; float scale; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < len) y[i] = scale * x[i];
}
";

fn session() -> Session {
    let chosen = choose(&[], Validation::Off).expect("a device");
    open_session(&chosen[0], LedgerOptions::default()).expect("an open device")
}

fn right() -> Dispatch {
    Dispatch::new(Source::new("wrong/scale.comp", KERNEL))
        .push("len", 3_u32)
        .push("scale", 2.0_f32)
        .spec("WORKGROUP", 32_u32)
}

fn slots(output: Dtype) -> Vec<Slot> {
    let x = Tensor::new(Dtype::F32, &[3], &[1.0, -2.0, 0.5]);
    vec![Slot::input("x", &x), Slot::output("y", output, vec![3])]
}

fn setting() -> Setting {
    Setting { workgroup: 32, poison: Poison::Nan, offset_steps: 0, alias: None }
}

#[test]
fn a_kernel_that_fits_its_record_runs() {
    let mut session = session();
    let plan = Plan::one(right());
    let ran = run_plan(&mut session, &plan, &slots(Dtype::F32), &setting()).expect("it fits");
    assert_eq!(ran.written["y"].values(), [2.0, -4.0, 1.0]);
}

#[test]
fn every_difference_is_named_with_what_was_expected() {
    let mut session = session();
    let kernel = || Dispatch::new(Source::new("wrong/scale.comp", KERNEL));
    let block = "push constant `scale` is a f32, and the plan gives one u32";
    let cases: [(Dispatch, Dtype, &[&str]); 9] = [
        (
            right().push("cols", 1_u32),
            Dtype::F32,
            &["no push constant `cols`", "0  u32 len", "4  f32 scale"],
        ),
        (kernel().push("len", 3_u32), Dtype::F32, &["push constant `scale` is not given"]),
        (kernel().push("len", 3_u32).push("scale", 2_u32), Dtype::F32, &[block]),
        (right().spec("TILE", 8_u32), Dtype::F32, &["constant `TILE`", "WORKGROUP"]),
        (right().bind("z", "y"), Dtype::F32, &["no buffer `z`", "0.0 `x`, 0.3 `y`"]),
        (right().bind("y", "out"), Dtype::F32, &["binding 3 (`y`)", "`out`", "x, y"]),
        (right(), Dtype::F16, &["binding 3 (`y`) holds f32", "`y` as f16"]),
        (right(), Dtype::I32, &["binding 3 (`y`) holds f32", "`y` as i32"]),
        (
            Dispatch::new(Source::new(
                "wrong/scale.comp",
                KERNEL
                    .replace("buffer X", "uniform X")
                    .replace("readonly ", "")
                    .replace("float x[]", "vec4 x[4]")
                    .replace("x[i]", "x[i].x"),
            )),
            Dtype::F32,
            &["binding 0", "no storage buffer"],
        ),
    ];
    for (dispatch, output, parts) in cases {
        let plan = Plan::one(dispatch);
        let error = run_plan(&mut session, &plan, &slots(output), &setting());
        let error = error.expect_err("the interface differs");
        assert!(matches!(error, CheckError::Interface { .. }), "{error:?}");
        let error = error.to_string();
        assert!(error.starts_with("wrong/scale.comp: "), "{error}");
        for part in parts {
            assert!(error.contains(part), "no `{part}` in: {error}");
        }
    }
    let filled = Plan::empty().zero("z");
    let error = run_plan(&mut session, &filled, &slots(Dtype::F32), &setting());
    assert!(error.expect_err("no such buffer").to_string().contains("fills `z`"));
    assert_eq!(session.ledger().counters().leaks, 0);
    let (counters, leaks) = session.into_ledger().close();
    assert!(leaks.is_empty(), "{leaks:?}");
    assert_eq!(counters.allocations, counters.frees);
}
