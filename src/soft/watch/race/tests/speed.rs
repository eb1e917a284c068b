//! What an access costs. Ignored, because it measures: run it alone.

use std::time::Instant;

use rspirv::spirv::Op;

use crate::soft::findings::Findings;
use crate::soft::memory::{Buffer, Memory};
use crate::soft::observer::{Here, Moment, Observer as _, Reach, Target};
use crate::soft::program::{Access, Atomic, Manner, Place, Program, Region, Scope};
use crate::soft::registers::{Active, Registers};
use crate::soft::scalar::Scalar;
use crate::soft::watch::race::Races;

const WIDTH: usize = 256;
const N: u32 = 128;

struct Bench {
    races: Races,
    program: Program,
    registers: Registers,
    memory: Memory,
    active: Active,
    findings: Findings,
    scalar: Scalar,
    here: Here,
}

impl Bench {
    fn new() -> Self {
        let buffer = || Some(Buffer { name: String::new(), bytes: vec![0; (N * N * 4) as usize] });
        let bits = [u64::MAX; WIDTH / 64];
        Self {
            races: Races::new(),
            program: Program {
                places: vec![Place::default(); 8],
                shared_bytes: 4096,
                ..Program::default()
            },
            registers: Registers::new(1, WIDTH),
            memory: Memory { buffers: vec![buffer(), buffer(), buffer()] },
            active: Active::new(0..WIDTH, &bits, WIDTH),
            findings: Findings::default(),
            scalar: Scalar::F32,
            here: Here { subgroup_size: 32, width: WIDTH, ..Here::default() },
        }
    }

    fn access(&mut self, at: u32, target: Target, work: Work, bytes_at: &[u32]) {
        let access = Access {
            region: Region::Buffer(0),
            offset: None,
            base: 0,
            scalar: self.scalar,
            value: 0,
            alignment: 4,
            manner: Manner::default(),
        };
        let reach = Reach { target, variable: None, bytes_at, origin: 0 };
        let mut moment = Moment {
            program: &self.program,
            at,
            registers: &mut self.registers,
            memory: &self.memory,
            active: &self.active,
            here: self.here,
            findings: &mut self.findings,
        };
        match work {
            Work::Load => self.races.load(&mut moment, &access, reach),
            Work::Store => self.races.store(&mut moment, &access, reach),
            Work::Atomic => {
                let (scope, semantics) = (Scope::Device, 0);
                let op = Op::AtomicIAdd;
                let atomic = Atomic { op, access, dst: None, compare: None, scope, semantics };
                self.races.atomic(&mut moment, &atomic, reach, &[0]);
            }
            Work::Fence => self.races.fence(&mut moment, Scope::Device, 0x48),
            Work::Barrier => {
                self.races.barrier(&mut moment, Scope::Workgroup, Scope::Workgroup, 0x108);
            }
        }
    }

    fn workgroup(&mut self, linear: u32) {
        self.here.linear = linear;
        self.races.workgroup(&self.program, &self.here);
    }
}

#[derive(Clone, Copy)]
enum Work {
    Load,
    Store,
    Atomic,
    Barrier,
    Fence,
}

/// The addresses of 16x16 invocations.
fn tile(element: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    (0..256).map(|lane| 4 * element(lane / 16, lane % 16)).collect()
}

fn report(what: &str, accesses: u32, start: Instant) {
    let time = start.elapsed();
    eprintln!("{what}: {time:?}, {:.2} ns each", time.as_secs_f64() * 1e9 / f64::from(accesses));
}

#[test]
#[ignore = "measures"]
fn naive_matmul() {
    let mut bench = Bench::new();
    bench.races.dispatch(&bench.program, &bench.here);
    let start = Instant::now();
    for linear in 0..64 {
        bench.workgroup(linear);
        let (rows, cols) = (linear / 8 * 16, linear % 8 * 16);
        for k in 0..N {
            let a = tile(|y, _| (rows + y) * N + k);
            let b = tile(|_, x| k * N + cols + x);
            bench.access(1, Target::Buffer(0), Work::Load, &a);
            bench.access(2, Target::Buffer(1), Work::Load, &b);
        }
        let c = tile(|y, x| (rows + y) * N + cols + x);
        bench.access(3, Target::Buffer(2), Work::Store, &c);
    }
    report("naive matmul", 64 * N * 2 * 256, start);
    assert!(bench.findings.take().is_empty());
}

#[test]
#[ignore = "measures"]
fn tiled_matmul() {
    let mut bench = Bench::new();
    bench.races.dispatch(&bench.program, &bench.here);
    let start = Instant::now();
    for linear in 0..64 {
        bench.workgroup(linear);
        let (rows, cols) = (linear / 8 * 16, linear % 8 * 16);
        for step in 0..8 {
            let k = step * 16;
            bench.access(1, Target::Buffer(0), Work::Load, &tile(|y, x| (rows + y) * N + k + x));
            bench.access(1, Target::Shared, Work::Store, &tile(|y, x| y * 16 + x));
            bench.access(2, Target::Buffer(1), Work::Load, &tile(|y, x| (k + y) * N + cols + x));
            bench.access(2, Target::Shared, Work::Store, &tile(|y, x| 256 + y * 16 + x));
            bench.access(3, Target::Shared, Work::Barrier, &[]);
            for k in 0..16 {
                bench.access(4, Target::Shared, Work::Load, &tile(|y, _| y * 16 + k));
                bench.access(5, Target::Shared, Work::Load, &tile(|_, x| 256 + k * 16 + x));
            }
            bench.access(6, Target::Shared, Work::Barrier, &[]);
        }
    }
    report("tiled matmul", 64 * 8 * 36 * 256, start);
    assert!(bench.findings.take().is_empty());
}

#[test]
#[ignore = "measures"]
fn elementwise() {
    let mut bench = Bench::new();
    let start = Instant::now();
    for dispatch in 0..64 {
        bench.here.dispatch = dispatch;
        bench.here.era = dispatch;
        bench.races.dispatch(&bench.program, &bench.here);
        for linear in 0..64 {
            bench.workgroup(linear);
            let own = tile(|y, x| linear * 256 + y * 16 + x);
            bench.access(1, Target::Buffer(0), Work::Load, &own);
            bench.access(2, Target::Buffer(1), Work::Load, &own);
            bench.access(3, Target::Buffer(1), Work::Store, &own);
        }
    }
    report("x += y", 64 * 64 * 3 * 256, start);
    assert!(bench.findings.take().is_empty());
}

#[test]
#[ignore = "measures"]
fn strided() {
    let mut bench = Bench::new();
    bench.races.dispatch(&bench.program, &bench.here);
    let columns: Vec<Vec<u32>> =
        (0..64).map(|k| (0..256).map(|lane| lane * 256 + k * 4).collect()).collect();
    let start = Instant::now();
    for linear in 0..64 {
        bench.workgroup(linear);
        for column in &columns {
            bench.access(1, Target::Buffer(0), Work::Load, column);
        }
    }
    report("strided loads", 64 * 64 * 256, start);
    assert!(bench.findings.take().is_empty());
}

#[test]
#[ignore = "measures"]
fn naive_matmul_of_halves() {
    let mut bench = Bench::new();
    bench.scalar = Scalar::F16;
    bench.races.dispatch(&bench.program, &bench.here);
    let start = Instant::now();
    for linear in 0..64 {
        bench.workgroup(linear);
        let (rows, cols) = (linear / 8 * 16, linear % 8 * 16);
        for k in 0..N {
            let half = |at: Vec<u32>| at.iter().map(|at| at / 2).collect::<Vec<_>>();
            let a = half(tile(|y, _| (rows + y) * N + k));
            let b = half(tile(|_, x| k * N + cols + x));
            bench.access(1, Target::Buffer(0), Work::Load, &a);
            bench.access(2, Target::Buffer(1), Work::Load, &b);
        }
    }
    report("naive matmul of halves", 64 * N * 2 * 256, start);
    assert!(bench.findings.take().is_empty());
}

#[test]
#[ignore = "measures"]
fn last_block_of_many() {
    let mut bench = Bench::new();
    bench.races.dispatch(&bench.program, &bench.here);
    let start = Instant::now();
    let count = 65_536;
    for linear in 0..count {
        bench.workgroup(linear);
        let partial = vec![linear % 4096 * 16; WIDTH];
        bench.active.set(&[1, 0, 0, 0]);
        bench.access(1, Target::Buffer(0), Work::Atomic, &partial);
        bench.access(2, Target::Shared, Work::Fence, &[]);
        bench.access(3, Target::Buffer(1), Work::Atomic, &[0; WIDTH]);
        bench.active.set(&[u64::MAX; 4]);
        bench.access(4, Target::Shared, Work::Barrier, &[]);
        bench.access(5, Target::Shared, Work::Fence, &[]);
    }
    report("workgroups of a last-block sum", count, start);
    assert!(bench.findings.take().is_empty());
}
