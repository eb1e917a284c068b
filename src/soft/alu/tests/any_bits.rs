//! Inactive invocations hold anything, and a kernel runs over them.

use rand::{Rng, SeedableRng};
use rspirv::spirv::{GlslStd450Op as Extended, Op};

use super::super::{guard, resolve};
use crate::soft::program::{Kernel, What, Wide};
use crate::soft::scalar::Scalar;

const SCALARS: [Scalar; 9] = [
    Scalar::Bool,
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::F16,
    Scalar::Bf16,
    Scalar::F32,
    Scalar::F64,
];

fn every_operation() -> impl Iterator<Item = What> {
    let core = (0..5000).filter_map(Op::from_u32);
    let extended = (0..100).filter_map(Extended::from_u32);
    let core = core.flat_map(|op| [What::Core(op), What::Second(op)]);
    core.chain(extended.flat_map(|op| [What::Extended(op), What::SecondExtended(op)]))
}

#[test]
fn no_kernel_panics() {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(9);
    let len = 37;
    let mut column = || (0..len).map(|i| rng.next_u32() >> (i % 32)).collect::<Vec<u32>>();
    let columns: Vec<Vec<u32>> = (0..8).map(|_| column()).collect();
    let src: [[&[u32]; 2]; 4] = std::array::from_fn(|i| [&columns[2 * i][..], &columns[2 * i + 1]]);
    let mut count = 0;
    for what in every_operation() {
        for (from, to) in SCALARS.into_iter().flat_map(|a| SCALARS.map(|b| (a, b))) {
            let Some(kernel) = resolve(what, from, to) else { continue };
            count += 1;
            let (mut low, mut high) = (vec![0; len], vec![0; len]);
            match kernel {
                Kernel::One(f) => f(&mut low, src[0][0]),
                Kernel::Two(f) => f(&mut low, src[0][0], src[1][0]),
                Kernel::Three(f) => f(&mut low, src[0][0], src[1][0], src[2][0]),
                Kernel::Four(f) => f(&mut low, src.map(|words| words[0])),
                Kernel::Wide(f) => f(Wide { out: [&mut low, &mut high], src }),
            }
            if let Some(guard) = guard(what, from, to) {
                guard(&mut low, src);
                assert!(low.iter().all(|&flag| flag < 2), "{what:?}");
            }
        }
    }
    assert!(count > 700, "{count} kernels");
}
