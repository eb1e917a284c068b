//! The bytecode: what a module is lowered to, once per specialization.
//!
//! A register holds 32 bits of every invocation of a workgroup (a column). Composites are
//! scalarised at lowering; a 64-bit component takes two consecutive registers, the low word first.

use rspirv::spirv::{BuiltIn, GlslStd450Op as Extended, Op};

use super::scalar::Scalar;

/// The number of a register.
pub(crate) type Slot = u32;

/// An index into [`Program::blocks`].
pub(crate) type BlockId = u32;

/// An index into [`Program::places`].
pub(crate) type PlaceId = u32;

/// A kernel, ready to run.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) local_size: [u32; 3],
    pub(crate) blocks: Vec<Block>,
    pub(crate) slot_count: u32,
    /// Registers that hold the same word in every invocation, filled before the first workgroup.
    pub(crate) constants: Vec<(Slot, u32)>,
    /// Registers of push constants, filled before the first workgroup.
    pub(crate) pushed: Vec<Pushed>,
    /// Registers filled before each workgroup.
    pub(crate) builtins: Vec<(BuiltIn, Vec<Slot>)>,
    /// Registers of function and private variables: nobody wrote them when a workgroup starts.
    pub(crate) variables: Vec<Slot>,
    pub(crate) buffers: Vec<BufferVariable>,
    pub(crate) shared: Vec<SharedVariable>,
    pub(crate) shared_bytes: u32,
    pub(crate) push_bytes: u32,
    /// Where instructions come from.
    pub(crate) places: Vec<Place>,
    /// Source files by name, with their text where the module holds it.
    pub(crate) files: Vec<SourceFile>,
    /// Index expressions of access chains, for messages.
    pub(crate) has: Has,
}

/// What a program asks of its observers and its schedule.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Has {
    /// An atomic operation inside a loop: an invocation may wait for another.
    pub(crate) waiting: bool,
    /// Fences or atomics of device scope.
    pub(crate) device_sync: bool,
    /// Asked for maximal reconvergence or for subgroup-uniform control flow.
    pub(crate) reconvergence: bool,
    /// Declares the Vulkan memory model.
    pub(crate) vulkan_memory: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A source line; line 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) file: u32,
    pub(crate) line: u32,
}

/// A storage buffer (or uniform buffer) of the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BufferVariable {
    pub(crate) set: u32,
    pub(crate) binding: u32,
    pub(crate) name: String,
}

/// A component of the push constant block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pushed {
    pub(crate) slot: Slot,
    /// Its first byte.
    pub(crate) at: u32,
    pub(crate) scalar: Scalar,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedVariable {
    pub(crate) name: String,
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
    /// Has an initialiser, which can only be zero.
    pub(crate) is_zeroed: bool,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) instrs: Vec<Instr>,
    pub(crate) end: End,
    pub(crate) end_place: PlaceId,
    /// The block at which a construct that starts here comes together again, and a loop's
    /// continue block: what orders the blocks.
    pub(crate) merge: Option<BlockId>,
    pub(crate) next: Option<BlockId>,
}

/// How a block ends. Values for phis are copied by blocks of their own on the edges.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Jump(BlockId),
    Branch { condition: Slot, yes: BlockId, no: BlockId },
    Switch { selector: Slot, wide: bool, cases: Vec<(u64, BlockId)>, default: BlockId },
    Return,
    Unreachable,
}

#[derive(Clone, Debug)]
pub(crate) struct Instr {
    pub(crate) at: PlaceId,
    pub(crate) code: Code,
}

/// One instruction. Registers of inactive invocations may be overwritten with anything, except by
/// `Copy` with `keeps` and by everything that says so.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    /// `dst = f(src)`, invocation by invocation.
    Pure(Pure),
    /// `dst = src`. With [`Inactive::Keep`], only where active: variables, phis, and values that
    /// are used outside the loop that makes them.
    Copy {
        dst: Slot,
        src: Slot,
        inactive: Inactive,
    },
    /// The word is undefined from here on.
    Undefine {
        dst: Slot,
    },
    /// One step of an address: `dst = before + index * stride` in bytes (or registers), or
    /// [`OUTSIDE`] where the index is not below the limit.
    Index(Index),
    /// `dst = registers[base + offset]`, invocation by invocation; 0 where it is `OUTSIDE`.
    LoadIndexed {
        dst: Slot,
        base: Slot,
        offset: Slot,
    },
    /// The reverse, where active.
    StoreIndexed {
        base: Slot,
        offset: Slot,
        src: Slot,
    },
    Load(Access),
    Store(Access),
    Atomic(Atomic),
    /// The number of elements of a runtime array: (bound bytes - `before`) / `stride`.
    Length {
        dst: Slot,
        buffer: u32,
        before: u32,
        stride: u32,
    },
    Group(Group),
    /// `OpControlBarrier`.
    Barrier {
        execution: Scope,
        memory: Scope,
        semantics: u32,
    },
    /// `OpMemoryBarrier`.
    Fence {
        scope: Scope,
        semantics: u32,
    },
    Matrix(Box<super::matrix::Matrix>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inactive {
    Keep,
    Clobber,
}

/// An address that no memory has. What reaches for it is told of.
pub(crate) const OUTSIDE: u32 = u32::MAX;

/// The address of the padding of a cooperative matrix: nobody means to reach it, so it reads 0 and
/// keeps nothing.
pub(crate) const NOWHERE: u32 = u32::MAX - 1;

/// The identity of a pure operation, for observers and other domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Core(Op),
    Extended(Extended),
    /// The second result of an operation that has two: the high word of a product, the carry of a
    /// sum, the exponent of `frexp`, the whole part of `modf`.
    Second(Op),
    SecondExtended(Extended),
}

/// An operation on components. `from` is the type of its operands (of the second one for a select,
/// of the first where they differ), `to` that of its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pure {
    pub(crate) what: What,
    pub(crate) from: Scalar,
    pub(crate) to: Scalar,
    pub(crate) kernel: Kernel,
    /// Finds operands for which the result is undefined.
    pub(crate) guard: Option<Guard>,
    pub(crate) dst: Slot,
    pub(crate) src: [Slot; 4],
    pub(crate) arity: u8,
}

impl Pure {
    /// Registers that an operand takes: a condition, an amount or an exponent may be narrower than
    /// the others.
    pub(crate) const fn operand_words(&self, operand: usize) -> u32 {
        match (self.what, operand) {
            (What::Core(Op::Select), 0)
            | (
                What::Core(Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic),
                1,
            )
            | (What::Core(Op::BitFieldSExtract | Op::BitFieldUExtract), 1 | 2)
            | (What::Core(Op::BitFieldInsert), 2 | 3)
            | (What::Extended(Extended::Ldexp), 1) => 1,
            _ => self.from.words(),
        }
    }
}

/// Says for a column where an operation has no defined result: 1 in `out` where it hasn't, and
/// whether there is any. Only the invocations of the column that are active count, which the
/// caller looks up.
pub(crate) type Guard = fn(out: &mut [u32], src: [[&[u32]; 2]; 4]) -> bool;

type Ternary = fn(&mut [u32], &[u32], &[u32], &[u32]);

/// How a pure operation is computed for a column. Slices have one length.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    One(fn(&mut [u32], &[u32])),
    Two(fn(&mut [u32], &[u32], &[u32])),
    Three(Ternary),
    Four(fn(&mut [u32], [&[u32]; 4])),
    /// Something in it takes two words.
    Wide(fn(Wide<'_>)),
}

/// Operands of which some take two words; a word that isn't there is an empty slice.
pub(crate) struct Wide<'a> {
    pub(crate) out: [&'a mut [u32]; 2],
    pub(crate) src: [[&'a [u32]; 2]; 4],
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Index {
    pub(crate) dst: Slot,
    pub(crate) before: Option<Slot>,
    pub(crate) index: Slot,
    /// The index takes two words.
    pub(crate) wide: bool,
    pub(crate) stride: u32,
    pub(crate) limit: u32,
    /// What an index beyond the limit becomes: [`OUTSIDE`], or [`NOWHERE`].
    pub(crate) beyond: u32,
}

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Region {
    /// An index into [`Program::buffers`].
    Buffer(u32),
    Shared,
    Push,
    /// An address of two words, of which `Access::offset` names the low one.
    Physical,
}

/// A load or store of one component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) region: Region,
    /// Where in the region, in bytes: the register (if any) plus this.
    pub(crate) offset: Option<Slot>,
    pub(crate) base: u32,
    pub(crate) scalar: Scalar,
    /// The destination of a load, the source of a store.
    pub(crate) value: Slot,
    /// `Aligned` of the instruction, 1 if absent.
    pub(crate) alignment: u32,
    pub(crate) manner: Manner,
}

/// What an access says about other invocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Manner {
    /// `Coherent` or `MakePointerAvailable`/`Visible`, `NonPrivatePointer`, `Volatile`.
    pub(crate) coherent: bool,
    pub(crate) volatile: bool,
}

/// A read-modify-write, a load or a store of one component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub(crate) op: Op,
    pub(crate) access: Access,
    /// What was there; none for a store.
    pub(crate) dst: Option<Slot>,
    /// The comparator of a compare and exchange.
    pub(crate) compare: Option<Slot>,
    pub(crate) scope: Scope,
    pub(crate) semantics: u32,
}

/// Which invocations a barrier, fence or atomic speaks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Scope {
    Invocation,
    Subgroup,
    Workgroup,
    Device,
}

/// A subgroup operation on one component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) op: Op,
    pub(crate) kind: GroupKind,
    pub(crate) scalar: Scalar,
    /// The result; four registers where it is a ballot, else the first.
    pub(crate) dst: [Slot; 4],
    /// The value (four registers where it is a ballot), then an index, mask or delta.
    pub(crate) src: [Slot; 5],
}

/// `Reduce` and its like, with the cluster's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupKind {
    None,
    Reduce,
    InclusiveScan,
    ExclusiveScan,
    Clustered(u32),
}
