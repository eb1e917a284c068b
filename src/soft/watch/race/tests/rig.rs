//! A workgroup of 8 invocations, two subgroups of 4, whose accesses a test names one by one.

use rspirv::spirv::Op;

use crate::device::{Hazard, Observation};
use crate::soft::findings::Findings;
use crate::soft::memory::{Buffer, Memory};
use crate::soft::observer::{Here, Moment, Observer, Reach, Target};
use crate::soft::program::{
    Access, Atomic, BufferVariable, Manner, OUTSIDE, Place, Program, Region, Scope, SharedVariable,
    SourceFile,
};
use crate::soft::registers::{Active, Registers};
use crate::soft::scalar::Scalar;
use crate::soft::watch::race::Races;

pub(super) const WIDTH: usize = 8;
/// What GLSL's functions lower to.
pub(super) const BARRIER: u32 = 0x108;
pub(super) const BUFFER_FENCE: u32 = 0x48;
pub(super) const ALL_FENCE: u32 = 0x148;

pub(super) struct Rig {
    pub(super) races: Races,
    pub(super) program: Program,
    registers: Registers,
    pub(super) memory: Memory,
    pub(super) findings: Findings,
    active: Active,
    pub(super) here: Here,
    pub(super) scalar: Scalar,
    pub(super) manner: Manner,
    line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Buffer,
    Shared,
}

impl Rig {
    /// In the first workgroup of a dispatch.
    pub(super) fn new() -> Self {
        let mut rig = Self {
            races: Races::new(),
            program: Program {
                name: "k".to_owned(),
                local_size: [8, 1, 1],
                buffers: vec![BufferVariable { set: 0, binding: 0, name: "o".to_owned() }],
                shared: vec![
                    SharedVariable { name: "s".to_owned(), offset: 0, bytes: 64, is_zeroed: false },
                    SharedVariable {
                        name: "t".to_owned(),
                        offset: 64,
                        bytes: 64,
                        is_zeroed: false,
                    },
                ],
                shared_bytes: 128,
                places: (0..100).map(|line| Place { file: 0, line }).collect(),
                files: vec![SourceFile { name: "k.comp".to_owned(), text: String::new() }],
                ..Program::default()
            },
            registers: Registers::new(4, WIDTH),
            memory: Memory {
                buffers: vec![Some(Buffer { name: "b".to_owned(), bytes: vec![0; 256] })],
            },
            findings: Findings::default(),
            active: Active::new(0..WIDTH, &[0xff], WIDTH),
            here: Here { subgroup_size: 4, width: WIDTH, ..Here::default() },
            scalar: Scalar::F32,
            manner: Manner::default(),
            line: 0,
        };
        rig.dispatch(0, 0);
        rig
    }

    pub(super) fn dispatch(&mut self, dispatch: u32, era: u32) {
        self.here.dispatch = dispatch;
        self.here.era = era;
        self.races.dispatch(&self.program, &self.here);
        self.workgroup(0, 0);
    }

    /// A workgroup takes its seat.
    pub(super) fn workgroup(&mut self, linear: u32, seat: usize) {
        self.sit(linear, seat);
        self.races.workgroup(&self.program, &self.here);
    }

    /// A workgroup under way goes on.
    pub(super) fn sit(&mut self, linear: u32, seat: usize) {
        self.here.linear = linear;
        self.here.workgroup = [linear, 0, 0];
        self.here.seat = seat;
    }

    /// The line of what comes.
    pub(super) fn line(&mut self, line: u32) -> &mut Self {
        self.line = line;
        self
    }

    fn step(&mut self, lanes: &[usize], work: impl FnOnce(&mut Races, &mut Moment<'_>)) {
        let bits = lanes.iter().fold(0, |bits, lane| bits | 1 << lane);
        self.active.set(&[bits]);
        let mut moment = Moment {
            program: &self.program,
            at: self.line,
            registers: &mut self.registers,
            memory: &self.memory,
            active: &self.active,
            here: self.here,
            findings: &mut self.findings,
        };
        work(&mut self.races, &mut moment);
    }

    fn access(&self, at: At) -> Access {
        Access {
            region: if at == At::Shared { Region::Shared } else { Region::Buffer(0) },
            offset: None,
            base: 0,
            scalar: self.scalar,
            value: 0,
            alignment: 1,
            manner: self.manner,
        }
    }

    /// The addresses of invocations; pairs of invocation and element.
    fn reach<'a>(&self, at: At, to: &[(usize, u32)], bytes_at: &'a mut [u32; WIDTH]) -> Reach<'a> {
        bytes_at.fill(OUTSIDE);
        for (lane, element) in to {
            bytes_at[*lane] = element * self.scalar.bytes();
        }
        let (target, variable) = match at {
            At::Buffer => (Target::Buffer(0), Some(0)),
            At::Shared => (Target::Shared, None),
        };
        Reach { target, variable, bytes_at, origin: 0 }
    }

    pub(super) fn load(&mut self, at: At, to: &[(usize, u32)]) {
        let (access, mut bytes_at) = (self.access(at), [0; WIDTH]);
        let reach = self.reach(at, to, &mut bytes_at);
        self.step(&lanes(to), |races, moment| races.load(moment, &access, reach));
    }

    /// Stores the invocation's number, or in memory of its own choice the values given.
    pub(super) fn store(&mut self, at: At, to: &[(usize, u32)]) {
        let values: Vec<u32> = (100..).take(WIDTH).collect();
        self.store_values(at, to, &values);
    }

    pub(super) fn store_values(&mut self, at: At, to: &[(usize, u32)], values: &[u32]) {
        let (access, mut bytes_at) = (self.access(at), [0; WIDTH]);
        let reach = self.reach(at, to, &mut bytes_at);
        self.registers.get_mut(0).copy_from_slice(values);
        self.step(&lanes(to), |races, moment| races.store(moment, &access, reach));
        if let (At::Buffer, Some(Some(buffer))) = (at, self.memory.buffers.get_mut(0)) {
            let len = self.scalar.bytes() as usize;
            for (lane, element) in to {
                let from = *element as usize * len;
                buffer.bytes[from..from + len]
                    .copy_from_slice(&u64::from(values[*lane]).to_le_bytes()[..len]);
            }
        }
    }

    pub(super) fn atomic(
        &mut self,
        op: Op,
        at: At,
        to: &[(usize, u32)],
        scope: Scope,
        semantics: u32,
    ) {
        let access = self.access(at);
        let atomic = Atomic { op, access, dst: Some(1), compare: None, scope, semantics };
        let mut bytes_at = [0; WIDTH];
        let reach = self.reach(at, to, &mut bytes_at);
        let order = lanes(to);
        self.step(&order, |races, moment| races.atomic(moment, &atomic, reach, &order));
    }

    /// A relaxed addition of device scope, as GLSL makes it.
    pub(super) fn add(&mut self, at: At, to: &[(usize, u32)]) {
        self.atomic(Op::AtomicIAdd, at, to, Scope::Device, 0);
    }

    pub(super) fn barrier(&mut self, semantics: u32) {
        let all: Vec<usize> = (0..WIDTH).collect();
        self.meet(&all, Scope::Workgroup, semantics);
    }

    pub(super) fn meet(&mut self, lanes: &[usize], scope: Scope, semantics: u32) {
        self.step(lanes, |races, moment| races.barrier(moment, scope, scope, semantics));
    }

    pub(super) fn fence(&mut self, lanes: &[usize], semantics: u32) {
        self.step(lanes, |races, moment| races.fence(moment, Scope::Device, semantics));
    }

    pub(super) fn seen(&mut self) -> Vec<Observation> {
        self.findings.take()
    }

    /// The message of the one race that there is.
    #[track_caller]
    pub(super) fn race(&mut self) -> String {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:#?}");
        assert_eq!(seen[0].hazard, Hazard::Race, "{seen:#?}");
        seen[0].message.clone()
    }

    #[track_caller]
    pub(super) fn clean(&mut self) {
        let seen = self.seen();
        assert!(seen.is_empty(), "{seen:#?}");
    }
}

fn lanes(to: &[(usize, u32)]) -> Vec<usize> {
    to.iter().map(|(lane, _)| *lane).collect()
}

/// Every invocation, and the element that the function names.
pub(super) fn every(element: impl Fn(u32) -> u32) -> Vec<(usize, u32)> {
    (0..8_u8).map(|lane| (usize::from(lane), element(lane.into()))).collect()
}
