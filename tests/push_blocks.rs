//! A Rust structure as push constants: right where its bytes are what the kernel declares, and else
//! an error with the members side by side.

use vklab::check::{CheckError, Session, Setting, Slot, run_plan};
use vklab::glsl::Source;
use vklab::memory::{LedgerOptions, Poison};
use vklab::ops::{Dispatch, Plan, PushBlock};
use vklab::push_block;
use vklab::tensor::{Dtype, Tensor};
use vklab::vulkan::Validation;
use vklab::worker::{choose, open_session};

const KERNEL: &str = "#version 450
// y = the numbers that were pushed. One invocation.
struct Inner { float low; int high; };
layout(local_size_x = 1) in;
layout(binding = 0) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
    uint len; float factor; uint strides[4]; Inner inner; vec3 origin; float last;
};
void main() {
    y[0] = float(len); y[1] = factor; y[2] = float(strides[3]);
    y[3] = inner.low; y[4] = float(inner.high); y[5] = origin.z; y[6] = last;
}
";

push_block! {
    struct Inner {
        low: f32,
        high: i32,
    }
}

push_block! {
    struct Right {
        len: u32,
        factor: f32,
        strides: [u32; 4],
        inner: Inner,
        origin: [f32; 3],
        last: f32,
    }
}

push_block! {
    struct Swapped {
        factor: f32,
        len: u32,
        strides: [u32; 4],
        inner: Inner,
        origin: [f32; 3],
        last: f32,
    }
}

push_block! {
    struct Shorter {
        len: u32,
        factor: f32,
        strides: [u32; 4],
        inner: Inner,
        origin: [f32; 3],
    }
}

push_block! {
    struct WrongType {
        len: f32,
        factor: f32,
        strides: [u32; 4],
        inner: Inner,
        origin: [f32; 3],
        last: f32,
    }
}

push_block! {
    struct OneMore {
        len: u32,
        factor: f32,
        strides: [u32; 4],
        inner: Inner,
        origin: [f32; 3],
        last: f32,
        more: u32,
    }
}

const INNER: Inner = Inner { low: 4.0, high: -5 };

fn session() -> Session {
    let chosen = choose(&[], Validation::Off).expect("a device");
    open_session(&chosen[0], LedgerOptions::default()).expect("an open device")
}

fn pushed(
    session: &mut Session,
    kernel: &str,
    block: &impl PushBlock,
) -> Result<Tensor, CheckError> {
    let source = Source::new("pushed/numbers.comp", kernel.to_owned());
    let plan = Plan::one(Dispatch::new(source).push_block(block));
    let setting = Setting { workgroup: 1, poison: Poison::Nan, offset_steps: 0, alias: None };
    let mut ran = run_plan(session, &plan, &[Slot::output("y", Dtype::F32, vec![7])], &setting)?;
    Ok(ran.written.remove("y").expect("it is written"))
}

#[test]
fn the_bytes_of_a_structure_reach_the_kernel() {
    let (strides, origin) = ([0, 1, 2, 3], [6.0, 7.0, 8.0]);
    let block = Right { len: 1, factor: 2.5, strides, inner: INNER, origin, last: 9.0 };
    let y = pushed(&mut session(), KERNEL, &block).expect("it fits");
    assert_eq!(y.values(), [1.0, 2.5, 3.0, 4.0, -5.0, 8.0, 9.0]);
}

/// The error names what differs and shows both sides at an offset.
fn refused(session: &mut Session, kernel: &str, block: &impl PushBlock, parts: &[&str]) {
    let error = pushed(session, kernel, block).expect_err("the block differs").to_string();
    let spaces = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(spaces(&error).contains(part), "no `{part}` in: {error}");
    }
}

#[test]
fn a_structure_that_differs_is_shown_beside_the_kernels() {
    let mut session = session();
    let (strides, origin) = ([0; 4], [0.0; 3]);
    let swapped = Swapped { factor: 0.0, len: 0, strides, inner: INNER, origin, last: 0.0 };
    let parts = ["offset kernel host", "0 u32 len f32 factor", "4 f32 factor u32 len"];
    refused(&mut session, KERNEL, &swapped, &parts);
    let shorter = Shorter { len: 0, factor: 0.0, strides, inner: INNER, origin };
    let parts = ["`last` at offset 44 is not given", "44 f32 last -"];
    refused(&mut session, KERNEL, &shorter, &parts);
    let wrong = WrongType { len: 0.0, factor: 0.0, strides, inner: INNER, origin, last: 0.0 };
    let parts = ["offset 0 differ", "0 u32 len f32 len"];
    refused(&mut session, KERNEL, &wrong, &parts);
    let (factor, last) = (0.0, 0.0);
    let more = OneMore { len: 0, factor, strides, inner: INNER, origin, last, more: 0 };
    let parts = ["no push constant at offset 48", "48 - u32 more"];
    refused(&mut session, KERNEL, &more, &parts);
}

/// GLSL puts a `vec3` at the next 16 bytes; `#[repr(C)]` puts three floats right behind.
#[test]
fn padding_that_only_one_side_has_is_shown() {
    let kernel = KERNEL.replace("strides[4]; Inner inner;", "strides[4]; float pad; Inner inner;");
    let block =
        Right { len: 0, factor: 0.0, strides: [0; 4], inner: INNER, origin: [0.0; 3], last: 0.0 };
    let parts = ["24 f32 pad f32 inner.low", "48 f32 origin[0] -", "36 - f32 origin[1]"];
    refused(&mut session(), &kernel, &block, &parts);
}
