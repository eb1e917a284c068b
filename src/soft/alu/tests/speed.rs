//! How long a column takes.

use std::hint::black_box;
use std::time::Instant;

use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::super::resolve;
use crate::soft::program::{Kernel, What};
use crate::soft::scalar::Scalar;

const LANES: usize = 256;

/// Nanoseconds for one column, the best of some rounds.
fn measure(kernel: Kernel) -> f64 {
    let column = |seed: u32| -> Vec<u32> {
        (0..LANES).map(|i| (1.0 + (seed as f32 + i as f32) / 300.0).to_bits()).collect()
    };
    let (a, b, c) = (column(1), column(2), column(3));
    let mut out = vec![0; LANES];
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..1000 {
            match kernel {
                Kernel::One(f) => f(black_box(&mut out), black_box(&a)),
                Kernel::Two(f) => f(black_box(&mut out), black_box(&a), black_box(&b)),
                Kernel::Three(f) => {
                    f(black_box(&mut out), black_box(&a), black_box(&b), black_box(&c));
                }
                Kernel::Four(f) => f(black_box(&mut out), black_box([&a, &b, &c, &a])),
                Kernel::Wide(_) => unreachable!("one word each"),
            }
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    best
}

#[test]
#[ignore = "a measurement"]
fn columns() {
    let f32s = (Scalar::F32, Scalar::F32);
    let ints = (Scalar::I32, Scalar::I32);
    let rows = [
        (What::Core(Op::IAdd), ints),
        (What::Core(Op::IMul), ints),
        (What::Core(Op::UDiv), ints),
        (What::Core(Op::SMod), ints),
        (What::Core(Op::ShiftLeftLogical), ints),
        (What::Core(Op::BitFieldInsert), ints),
        (What::Core(Op::SLessThan), (Scalar::I32, Scalar::Bool)),
        (What::Core(Op::Select), ints),
        (What::Core(Op::SDot), ints),
        (What::Core(Op::FMul), f32s),
        (What::Core(Op::FDiv), f32s),
        (What::Core(Op::FOrdLessThan), (Scalar::F32, Scalar::Bool)),
        (What::Core(Op::ConvertFToS), (Scalar::F32, Scalar::I32)),
        (What::Core(Op::ConvertFToU), (Scalar::F32, Scalar::I32)),
        (What::Core(Op::ConvertUToF), (Scalar::I32, Scalar::F32)),
        (What::Core(Op::FConvert), (Scalar::F32, Scalar::F16)),
        (What::Core(Op::FConvert), (Scalar::F16, Scalar::F32)),
        (What::Core(Op::FAdd), (Scalar::F16, Scalar::F16)),
        (What::Extended(Extended::Fma), f32s),
        (What::Extended(Extended::Fma), (Scalar::F16, Scalar::F16)),
        (What::Extended(Extended::FMax), f32s),
        (What::Extended(Extended::Floor), f32s),
        (What::Extended(Extended::Sqrt), f32s),
        (What::Extended(Extended::InverseSqrt), f32s),
        (What::Extended(Extended::Exp), f32s),
        (What::Extended(Extended::Log), f32s),
        (What::Extended(Extended::Tanh), f32s),
        (What::Extended(Extended::Sin), f32s),
        (What::Extended(Extended::Pow), f32s),
        (What::Extended(Extended::Exp), (Scalar::F16, Scalar::F16)),
    ];
    for (what, (from, to)) in rows {
        let ns = measure(resolve(what, from, to).expect("known"));
        eprintln!("{what:?} {from:?} -> {to:?}: {ns:.0} ns");
    }
}
