//! What each kind of finding means, what usually causes it and what to do next.

use std::fmt;

use crate::check::Kind;
use crate::run::UnexpectedPass;

use super::hazards::HAZARDS;
use super::wrap::wrapped;

/// A kind of finding, or of a verdict that says the driver failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The kind's name.
    pub name: &'static str,
    /// What it says.
    pub means: &'static str,
    /// What usually causes it, the commonest first.
    pub causes: &'static [&'static str],
    /// What to do next.
    pub next: &'static str,
}

/// Those that any device may give: of [`Kind`] in its order, then the verdicts without a finding and
/// the line without a failure.
const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        name: Kind::WrongResult.name(),
        means: "An element of a forward result lies farther from the f64 reference than rounding \
                alone can bring it: the bound comes from running the reference with error bounds \
                on the same inputs, rounded to storage.",
        causes: &[
            "wrong elements at the end only: a tail that is skipped, or a guard that cuts too much",
            "a constant ratio got/expected: a factor dropped or doubled, a wrong extent",
            "one wrong tile or period: a missing barrier, an assumption about the subgroup size",
            "f16 values in an f32 output: an accumulator of low precision",
        ],
        next: "Read `where` and `cause`, repeat the smallest case, and look at the arrays with \
               --dump DIR: numpy.load reads them.",
    },
    Explanation {
        name: Kind::WrongGradient.name(),
        means: "A gradient of a VJP kernel differs from the reference VJP, which was itself held \
                against dual numbers and finite differences; or, in gradient-exact, from the \
                derivative of the forward kernel itself. The message names the cotangent.",
        causes: &[
            "the same for other cotangents: the cotangent is not read",
            "right for all ones alone: a row sum is left out that cancels there",
            "wrong only where an operand was broadcast: the sum over that axis is missing",
            "the other operand's gradient: two buffers are exchanged",
        ],
        next: "Check the forward first: `--only forward`. Then compare the formula in the head of \
               the op's file with the kernel, term by term.",
    },
    Explanation {
        name: Kind::Accumulation.name(),
        means: "The VJP is right on zeroed gradient buffers and wrong on buffers that held data: \
                it adds where the record says overwrite, or overwrites where it says add.",
        causes: &[
            "`+=` for `=` or the reverse",
            "an atomic sum into a buffer that the plan doesn't zero",
            "elements that the kernel skips, which keep what was there",
        ],
        next: "Compare `gradient` of the operand in the record with the kernel's last store.",
    },
    Explanation {
        name: Kind::NotLinear.name(),
        means: "A VJP is linear in its cotangent, whatever the op. This one isn't: a scaled \
                cotangent, a sum of two or a zero cotangent gave something else.",
        causes: &[
            "a term that doesn't contain the cotangent",
            "an epsilon or a clamp applied to the cotangent",
            "a buffer of an earlier run that is read again",
        ],
        next: "Look for the term without `gy`. A zero cotangent that gives a non-zero gradient \
               shows it directly.",
    },
    Explanation {
        name: Kind::Reference.name(),
        means: "The op's reference disagrees with itself: its VJP, dual numbers through its \
                forward and finite differences should give one number. No kernel is to blame.",
        causes: &[
            "a wrong formula in the reference's VJP",
            "a kink or a cast in the reference that derivatives don't see",
        ],
        next: "Mend the reference in the op's file before looking at any kernel of the op.",
    },
    Explanation {
        name: Kind::Property.name(),
        means: "The kernel breaks algebra that its op obeys: linearity, shift invariance, \
                permuted rows, exact powers of two and the like. The kernel was compared with \
                itself, so the reference can't be the cause.",
        causes: &[
            "rows that read one another: a wrong stride, shared memory without a barrier",
            "an absolute constant where only relative ones belong",
            "an exact case that rounds: a lower precision on the way",
        ],
        next: "The message names the property. Run `--only forward` too: if that passes, the \
               reference may share the kernel's mistake.",
    },
    Explanation {
        name: Kind::Validation.name(),
        means: "The Khronos validation layer had something to say while the check ran.",
        causes: &[
            "a feature or capability that isn't switched on",
            "a descriptor, offset or range outside the device's limits",
        ],
        next: "Look up the VUID of the message in the Vulkan specification.",
    },
    Explanation {
        name: Kind::PoisonDependent.name(),
        means: "The result changes with what unwritten memory holds: one run saw NaN there, the \
                other 2^100. On another day the kernel would see something else.",
        causes: &[
            "a read past the end of an operand, hidden by a multiplication with 0 or by max()",
            "an output element that is added to without having been set",
            "scratch memory that is read before it is written",
        ],
        next: "Look at the elements that differ: they name the invocations that read too far.",
    },
    Explanation {
        name: Kind::Alias.name(),
        means: "The record allows two operands to share memory, and the result changes when they \
                do.",
        causes: &[
            "an element is read again after it was overwritten",
            "an invocation reads its neighbours' inputs",
            "`restrict` on buffers that may be the same",
        ],
        next: "Read everything an invocation needs before it writes, or take the pair out of the \
               variant's `in_place` list.",
    },
    Explanation {
        name: Kind::Nondeterministic.name(),
        means: "Two runs on the same inputs gave different bits, and the variant doesn't declare \
                that it adds in any order.",
        causes: &[
            "a missing barrier: a race in shared memory or between dispatches",
            "float atomics: declare the variant `unordered`, in a kernel file `order = \"atomic\"`",
            "a read of memory that nobody wrote",
        ],
        next: "Differences beyond rounding are a race. Look for a barrier between the last write \
               and the first read of what the wrong elements depend on.",
    },
    Explanation {
        name: Kind::NotPortable.name(),
        means: "The result changes with the workgroup size or with where a binding starts, \
                neither of which may matter.",
        causes: &[
            "a constant in the kernel that should be the workgroup size",
            "a barrier that is left out because one subgroup was the whole workgroup",
            "a shared array that is sized for one workgroup size",
            "an index that ignores the offset of its binding",
        ],
        next: "The message names the setting. Search the kernel for the default size as a number.",
    },
    Explanation {
        name: Kind::GuardHit.name(),
        means: "The kernel wrote beside a buffer's data. The words there belong to nobody in the \
                lab; in a program they belong to the next tensor.",
        causes: &[
            "a bounds check that is missing or off by one",
            "a padded size where the real one belongs",
            "a wrong stride in the last row",
        ],
        next: "The ranges count from the first element of the data: at or above the length is \
               behind it, negative is before it.",
    },
    Explanation {
        name: Kind::UnwrittenOutput.name(),
        means: "Elements of an output still hold the poison that they were allocated with: no \
                invocation wrote them.",
        causes: &[
            "too few workgroups: a division that rounds down",
            "a tail that is skipped",
            "a dispatch that is missing from the plan",
        ],
        next: "The ranges say which elements; divide by the workgroup size to see which \
               workgroups are missing.",
    },
    Explanation {
        name: Kind::InputChanged.name(),
        means: "A buffer that is bound for reading only has changed.",
        causes: &[
            "the wrong buffer is written",
            "an in-place update that the record doesn't declare",
        ],
        next: "Declare the operand `InOut`, or mend the store; `readonly` in GLSL lets the \
               compiler find it.",
    },
    Explanation {
        name: Kind::PoisonRead.name(),
        means: "An output carries the poison of another buffer: the kernel read outside that \
                buffer's data, or before anybody wrote it, and copied what it found.",
        causes: &[
            "an index past the end of an operand",
            "scratch memory that an earlier dispatch should have filled",
            "a missing barrier between the dispatch that writes and the one that reads",
        ],
        next: "The finding names the buffer whose poison it is and its last events.",
    },
    Explanation {
        name: Kind::MissingBarrier.name(),
        means: "Two steps of a plan use the same memory, at least one of them writes it, and \
                nothing orders them. It is found in the plan, since a driver that runs dispatches \
                one after another gives the right result all the same.",
        causes: &[
            "a barrier dropped between the kernel that makes a buffer and the one that reads it",
            "a fill with no barrier behind it",
            "a buffer that a kernel could declare readonly and doesn't",
        ],
        next: "The finding names both kernels and the buffer: put a barrier between them.",
    },
    Explanation {
        name: Kind::LimitExceeded.name(),
        means: "A kernel, its dispatch or a binding takes more than the profile's devices offer: \
                shared memory, invocations, workgroups, push constants, the range or the offset of \
                a binding, a subgroup size, a feature. Nothing was run: a driver that takes more \
                than it promises hides it, and the finding names the devices that don't.",
        causes: &[
            "a grid in x alone, as large as the problem: spill into y and z",
            "shapes and strides in push constants: 128 bytes are all that everybody has",
            "a view bound at its own offset: bind it at an aligned one and add the rest in the kernel",
            "a tile or a workgroup that was chosen on one device",
            "arithmetic in f16 or 64 bits where storage alone is wanted",
        ],
        next: "Take less, or declare it: `[needs]` in a kernel file, `needing` on a variant. \
               --profile NAME asks about one device, `--profile none` leaves the check out.",
    },
    Explanation {
        name: Kind::Leak.name(),
        means: "A buffer was allocated and never freed. This is the host's fault, not a kernel's.",
        causes: &["an early return between allocation and free", "a handle that was overwritten"],
        next: "The finding names the line that asked for the buffer.",
    },
    Explanation {
        name: "crash",
        means: "The worker process died while the case ran. The other cases went on in a new \
                worker.",
        causes: &[
            "a driver that doesn't survive a kernel's out-of-bounds access",
            "a bug in the driver's compiler",
            "the system ended the process for lack of memory",
        ],
        next: "The reason holds the signal and the end of its error output. Repeat it with \
               --validate, then on another driver.",
    },
    Explanation {
        name: "hang",
        means: "The device gave no answer within the time-out, and the worker had to be ended; or \
                the interpreter found a kernel that doesn't end, and names the line.",
        causes: &[
            "a loop in the kernel that doesn't end",
            "a barrier that not every invocation of the workgroup reaches",
            "a spin lock between workgroups",
            "a slow driver: try a larger --timeout",
        ],
        next: "Repeat the case with a longer --timeout; if it still hangs, look at every loop's \
               bound.",
    },
    Explanation {
        name: UnexpectedPass::KIND,
        means: "A line of the expectations file says that a check fails with a message, all of \
                its cases ran, and none failed so. The line is out of date.",
        causes: &[
            "the kernel was mended",
            "it fails in another way, which is a finding of its own",
            "a failure that depends on the seed or on `--cases`: mark the line `flaky`",
            "a glob or `*` that covers more than what fails",
        ],
        next: "Remove the line, or run `vklab check` with --write-expectations, which does it.",
    },
];

/// Every kind.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    EXPLANATIONS.iter().chain(&HAZARDS)
}

/// The explanation of a kind.
#[must_use]
pub fn explanation(name: &str) -> Option<&'static Explanation> {
    explanations().find(|explanation| explanation.name == name)
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n{}\n\nusual causes", self.name, paragraph(self.means, 0))?;
        for cause in self.causes {
            writeln!(f, "- {}", paragraph(cause, 2))?;
        }
        write!(f, "\nnext\n{}", paragraph(self.next, 0))
    }
}

fn paragraph(text: &str, indent: usize) -> String {
    wrapped(text.split_whitespace(), indent, indent)
}

#[cfg(test)]
mod tests {
    use super::{explanation, explanations};
    use crate::check::{Kind, Outcome};
    use crate::report::WIDTH;

    #[test]
    fn every_kind_of_finding_is_explained_once() {
        for kind in Kind::ALL {
            let found = explanations().filter(|e| e.name == kind.name()).count();
            assert_eq!(found, 1, "{kind}");
        }
        let reason = String::new();
        for outcome in
            [Outcome::Crash { reason: reason.clone() }, Outcome::Hang { reason, place: None }]
        {
            assert!(outcome.is_bad() && explanation(outcome.word()).is_some(), "{outcome}");
        }
        assert_eq!(explanations().count(), Kind::ALL.len() + 3);
    }

    #[test]
    fn explanations_fit_a_terminal() {
        for explanation in explanations() {
            let text = explanation.to_string();
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        }
    }
}
