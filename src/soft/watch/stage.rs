//! A hand-made program with its registers, on which tests drive an observer.

use rspirv::spirv::Op;

use crate::device::Observation;
use crate::soft::findings::Findings;
use crate::soft::memory::{Buffer, Memory};
use crate::soft::observer::{Here, Moment, Reach, Target};
use crate::soft::program::{
    Access, BufferVariable, Kernel, Manner, Place, PlaceId, Program, Pure, Region, SharedVariable,
    Slot, SourceFile, What,
};
use crate::soft::registers::{Active, Registers};
use crate::soft::scalar::Scalar;

/// Invocations of the workgroup.
pub(super) const WIDTH: usize = 16;

/// A machine that stands still. Instruction `n` is on line `n`.
pub(super) struct Stage {
    pub(super) program: Program,
    pub(super) registers: Registers,
    pub(super) memory: Memory,
    pub(super) active: Active,
    pub(super) here: Here,
    pub(super) findings: Findings,
}

impl Stage {
    pub(super) fn new() -> Self {
        let places = (0..64).map(|line| Place { file: 0, line }).collect();
        let text = (1..64).map(|line| format!("line {line}\n")).collect();
        let program = Program {
            name: "kernel".to_owned(),
            local_size: [16, 1, 1],
            slot_count: 32,
            variables: vec![20, 21, 22, 23],
            buffers: vec![BufferVariable { set: 0, binding: 0, name: "y".to_owned() }],
            shared: vec![
                SharedVariable { name: "tile".to_owned(), offset: 0, bytes: 256, is_zeroed: false },
                SharedVariable {
                    name: "sums".to_owned(),
                    offset: 256,
                    bytes: 64,
                    is_zeroed: false,
                },
            ],
            shared_bytes: 320,
            places,
            files: vec![SourceFile { name: "kernel.comp".to_owned(), text }],
            ..Program::default()
        };
        let buffer = Buffer { name: "y".to_owned(), bytes: vec![0; 1024] };
        let mut stage = Self {
            program,
            registers: Registers::new(32, WIDTH),
            memory: Memory { buffers: vec![Some(buffer)] },
            active: Active::default(),
            here: Here { subgroup_size: 8, width: WIDTH, ..Here::default() },
            findings: Findings::default(),
        };
        stage.activate(0..WIDTH);
        stage
    }

    /// Only these invocations are active.
    pub(super) fn activate(&mut self, lanes: impl IntoIterator<Item = usize>) {
        let bits = lanes.into_iter().fold(0, |bits, lane| bits | 1_u64 << lane);
        self.active = Active::new(0..WIDTH, &[bits], WIDTH);
    }

    pub(super) fn at(&mut self, at: PlaceId) -> Moment<'_> {
        Moment {
            program: &self.program,
            at,
            registers: &mut self.registers,
            memory: &self.memory,
            active: &self.active,
            here: self.here,
            findings: &mut self.findings,
        }
    }

    /// Gives invocation `i` the word `f(i)`.
    pub(super) fn fill(&mut self, slot: Slot, f: impl Fn(u32) -> u32) {
        for (word, lane) in self.registers.get_mut(slot).iter_mut().zip(0..) {
            *word = f(lane);
        }
    }

    pub(super) fn told(&mut self) -> Vec<Observation> {
        self.findings.take()
    }
}

/// Registers 0, 1 and 2 to register 10.
pub(super) fn pure(what: What, from: Scalar, to: Scalar) -> Pure {
    Pure {
        what,
        from,
        to,
        kernel: Kernel::One(|_, _| {}),
        guard: None,
        dst: 10,
        src: [0, 1, 2, 0],
        arity: 2,
    }
}

pub(super) fn core(op: Op, scalar: Scalar, dst: Slot, src: [Slot; 2]) -> Pure {
    Pure { dst, src: [src[0], src[1], 0, 0], ..pure(What::Core(op), scalar, scalar) }
}

/// A load into, or store of, a register.
pub(super) fn access(region: Region, scalar: Scalar, value: Slot) -> Access {
    Access { region, offset: None, base: 0, scalar, value, alignment: 1, manner: Manner::default() }
}

pub(super) fn reach(region: Region, bytes_at: &[u32]) -> Reach<'_> {
    let (target, variable) = match region {
        Region::Buffer(at) => (Target::Buffer(at as usize), Some(at)),
        Region::Shared => (Target::Shared, None),
        Region::Push => (Target::Push, None),
        Region::Physical => (Target::Buffer(0), None),
    };
    Reach { target, variable, bytes_at, origin: 0 }
}

/// Words one after another.
pub(super) fn row(start: u32) -> Vec<u32> {
    (0..).map(|lane| start + 4 * lane).take(WIDTH).collect()
}
