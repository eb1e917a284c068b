//! What looks on while the machine executes. Instructions know nothing of it: an observer keeps
//! its own shadow of the registers and of memory, and tells what it saw to [`Findings`].
//!
//! A value domain is an observer too: dual numbers keep a column of tangents beside each register.

use super::findings::Findings;
use super::memory::Memory;
use super::program::{Access, Atomic, Group, Inactive, Index, PlaceId, Program, Pure, Scope, Slot};
use super::registers::{Active, Registers};

/// What the machine is about to do, or has just done, and all that an observer may look at.
pub(crate) struct Moment<'a> {
    pub(crate) program: &'a Program,
    pub(crate) at: PlaceId,
    pub(crate) registers: &'a mut Registers,
    pub(crate) memory: &'a Memory,
    pub(crate) active: &'a Active,
    pub(crate) here: Here,
    pub(crate) findings: &'a mut Findings,
}

/// Which workgroup of which dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Here {
    /// Dispatches are counted from the start of the recording.
    pub(crate) dispatch: u32,
    /// Goes up at every recorded barrier: what lies in different eras is ordered.
    pub(crate) era: u32,
    /// `gl_WorkGroupID` and its linear index.
    pub(crate) workgroup: [u32; 3],
    pub(crate) linear: u32,
    /// Several workgroups may be under way; each has a seat with registers and shared memory of
    /// its own, so an observer keeps as many shadows.
    pub(crate) seat: usize,
    pub(crate) subgroup_size: usize,
    /// Invocations of the workgroup.
    pub(crate) width: usize,
}

/// What an access reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Target {
    /// An index into [`Memory`].
    Buffer(usize),
    Shared,
    Push,
}

/// Where the active invocations of a memory access go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach<'a> {
    pub(crate) target: Target,
    /// The name of the buffer or shared variable, for messages, is found by this: an index into
    /// [`Program::buffers`], none for shared memory and physical addresses.
    pub(crate) variable: Option<u32>,
    /// For every invocation of the workgroup the first byte, counted from the start of the buffer
    /// or of shared memory. `OUTSIDE` where the machine has refused the access; it has told so.
    pub(crate) bytes_at: &'a [u32],
    /// First byte of the binding in the buffer, so that messages count from there.
    pub(crate) origin: u32,
}

/// An observer. Every method has an empty default. Methods without other words are called after
/// the machine has done it; only those invocations count that are active.
#[expect(unused_variables, reason = "the defaults are empty")]
pub(crate) trait Observer {
    /// Whether it wants to be told of [`Self::pure`], [`Self::copy`] and [`Self::index`], which
    /// are most of what happens.
    fn follows_values(&self) -> bool {
        true
    }

    /// Bytes of a buffer were written by the host, or declared unwritten.
    fn transfer(&mut self, buffer: usize, bytes: std::ops::Range<u64>, written: Transfer) {}

    /// The host wrote data: after [`Self::transfer`] of the same bytes.
    fn upload(&mut self, name: &str, buffer: usize, bytes: std::ops::Range<u64>) {}

    /// The host reads data.
    fn download(&mut self, name: &str, buffer: usize, bytes: std::ops::Range<u64>) {}

    /// A buffer was freed; its index won't come back.
    fn free(&mut self, buffer: usize) {}

    /// Before the first workgroup.
    fn dispatch(&mut self, program: &Program, here: &Here) {}

    /// Before the first instruction of a workgroup: variables and shared memory are unwritten.
    fn workgroup(&mut self, program: &Program, here: &Here) {}

    fn pure(&mut self, moment: &mut Moment<'_>, pure: &Pure) {}

    fn copy(&mut self, moment: &mut Moment<'_>, dst: Slot, src: Slot, inactive: Inactive) {}

    fn undefine(&mut self, moment: &mut Moment<'_>, dst: Slot) {}

    fn index(&mut self, moment: &mut Moment<'_>, index: &Index) {}

    fn load_indexed(&mut self, moment: &mut Moment<'_>, dst: Slot, base: Slot, offset: Slot) {}

    fn store_indexed(&mut self, moment: &mut Moment<'_>, base: Slot, offset: Slot, src: Slot) {}

    fn load(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {}

    /// Before the bytes are written.
    fn store(&mut self, moment: &mut Moment<'_>, access: &Access, reach: Reach<'_>) {}

    /// Before memory changes; `order` is the order in which the invocations will have their turn.
    fn atomic(
        &mut self,
        moment: &mut Moment<'_>,
        atomic: &Atomic,
        reach: Reach<'_>,
        order: &[usize],
    ) {
    }

    /// After one invocation's turn: what it read is in the destination register.
    fn atomic_done(
        &mut self,
        moment: &mut Moment<'_>,
        atomic: &Atomic,
        reach: Reach<'_>,
        lane: usize,
    ) {
    }

    fn group(&mut self, moment: &mut Moment<'_>, group: &Group) {}

    fn matrix(&mut self, moment: &mut Moment<'_>, matrix: &super::matrix::Matrix) {}

    /// A register without a source of its own was filled: the length of an array.
    fn constant(&mut self, moment: &mut Moment<'_>, dst: Slot) {}

    /// The register decides where to go.
    fn branch(&mut self, moment: &mut Moment<'_>, condition: Slot) {}

    /// All invocations that take part in a barrier have come.
    fn barrier(
        &mut self,
        moment: &mut Moment<'_>,
        execution: Scope,
        memory: Scope,
        semantics: u32,
    ) {
    }

    fn fence(&mut self, moment: &mut Moment<'_>, scope: Scope, semantics: u32) {}
}

/// What the host did to a part of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    Write,
    Undefine,
}
