//! What each kind of observation means.

use crate::check::Kind;

use super::explain::Explanation;

/// One for each kind that an interpreter sees.
pub(super) const HAZARDS: [Explanation; 9] = [
    Explanation {
        name: Kind::OobRead.name(),
        means: "An instruction read outside of what its index may reach: behind the data of a \
                buffer, behind an array inside of it, or behind shared memory. The read gave 0; a \
                driver gives anything.",
        causes: &[
            "a bounds check that is missing in the last workgroup",
            "an index that is computed from a padded size",
            "a neighbour that isn't there at the border",
        ],
        next: "The line is the one that reads. The message names the buffer and the element; the \
               invocation tells which part of the grid went too far.",
    },
    Explanation {
        name: Kind::OobWrite.name(),
        means: "An instruction wrote outside of what its index may reach. The write was dropped; \
                a driver may write the next tensor.",
        causes: &[
            "too many invocations and no bounds check",
            "a wrong stride in the last row",
            "an index outside its own array inside a larger block",
        ],
        next: "Compare the element with the length that the message names, then the condition \
               around the line.",
    },
    Explanation {
        name: Kind::UninitRead.name(),
        means: "Something that nobody wrote decides a branch, an address or an output. Copying \
                it is no fault, using it is.",
        causes: &[
            "shared memory that only some invocations fill",
            "an accumulator without its first value",
            "scratch memory or an output that is read before it is written",
            "a missing barrier: the value comes later",
        ],
        next: "The first line reads it, the other one uses it. Follow the value back to where it \
               should have been written.",
    },
    Explanation {
        name: Kind::Race.name(),
        means: "Two invocations use the same bytes, one of them writes, and nothing orders them: \
                no barrier of the workgroup, no atomic that both take part in, no barrier between \
                two dispatches. The result may be right all the same, on this device and today.",
        causes: &[
            "a barrier that is missing between a store to shared memory and a load",
            "a barrier that is missing at the end of a loop, before the next round stores again",
            "`barrier()` where buffers are meant, without memoryBarrierBuffer()",
            "workgroups that meet in one element without atomics",
            "a subgroup that is taken to be in lockstep",
        ],
        next: "The finding shows both lines and both invocations. A race that is meant, such as a \
               benign flag, is allowed with a comment at its line: `// vklab: race-ok WHY`.",
    },
    Explanation {
        name: Kind::DivergentBarrier.name(),
        means: "Some invocations of a workgroup wait at a barrier that others don't reach, or \
                reach at another line. That is undefined, and hangs on some devices.",
        causes: &[
            "`barrier()` inside an `if` on the invocation's index",
            "a `return` of surplus invocations before the barrier",
            "a loop whose count differs between invocations",
        ],
        next: "Move the barrier out, and put the condition around the work instead.",
    },
    Explanation {
        name: Kind::Divergence.name(),
        means: "A subgroup operation was executed by a part of the subgroup and its result depends \
                on which part, or it reads from an invocation that isn't there.",
        causes: &[
            "a shuffle from an invocation that left the branch",
            "subgroupAdd() inside a branch that is meant for all",
            "a lane number above the subgroup's size",
            "the last subgroup, which isn't full",
        ],
        next: "Compute the operation before the branch, or ask for the active invocations with \
               subgroupBallot(true).",
    },
    Explanation {
        name: Kind::Misaligned.name(),
        means: "An address isn't a multiple of what the access declares or its type needs.",
        causes: &[
            "a block reinterpreted with a wider type at an odd offset",
            "a buffer reference that is computed from bytes",
        ],
        next: "Compare the offset in the message with the alignment, then the terms of the address.",
    },
    Explanation {
        name: Kind::UndefinedArithmetic.name(),
        means: "An operation has no defined result for these operands, and its result is used: \
                an integer division by zero, a shift by 32 or more, a conversion of a float that \
                doesn't fit.",
        causes: &[
            "a length or a stride of 0 as a divisor",
            "`1 << n` where n may be the width",
            "a negative or large float that becomes an integer",
        ],
        next: "The message has the operands. Guard the operation, not its result: both arms of a \
               `?:` are computed.",
    },
    Explanation {
        name: Kind::Nan.name(),
        means: "An instruction made a NaN out of numbers, and a result is a NaN for it or nothing \
                says what would be right.",
        causes: &[
            "0/0, infinity minus infinity, 0 times infinity",
            "the root or logarithm of a negative number",
            "exp() that overflows in a softmax without its maximum subtracted",
        ],
        next: "The line is where the NaN was made, not where it was seen. Look at the range of its \
               operands; the inputs are in the arrays that --dump DIR writes.",
    },
];
