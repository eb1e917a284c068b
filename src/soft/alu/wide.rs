//! Loops over columns, compiled for the widest vectors that the processor has, and what makes a
//! kernel of an operation on components.

use std::sync::LazyLock;

use super::lane::{Lane, Words};

/// Found once: a look at the processor would cost as much as a short column.
static ARCH: LazyLock<pulp::Arch> = LazyLock::new(pulp::Arch::new);

/// Runs a loop over columns that is compiled for the widest vectors. The closure has to be inlined.
#[inline(always)]
pub(crate) fn widest<R>(run: impl FnOnce() -> R) -> R {
    ARCH.dispatch(run)
}

pub(super) type Out<'a> = [&'a mut [u32]; 2];

#[inline(always)]
fn fill<R: Lane>([low, high]: Out<'_>, value: impl Fn(usize) -> R) {
    let high = &mut high[..if R::WIDE { low.len() } else { 0 }];
    for (i, low) in low.iter_mut().enumerate() {
        let words = value(i).words();
        *low = words[0];
        if R::WIDE {
            high[i] = words[1];
        }
    }
}

pub(super) fn run_one<A: Lane, R: Lane>(out: Out<'_>, a: Words<'_>, f: impl Fn(A) -> R) {
    ARCH.dispatch(
        #[inline(always)]
        || {
            let a = A::cut(a, out[0].len());
            fill(
                out,
                #[inline(always)]
                |i| f(A::at(a, i)),
            );
        },
    );
}

pub(super) fn run_two<A: Lane, B: Lane, R: Lane>(
    out: Out<'_>,
    [a, b]: [Words<'_>; 2],
    f: impl Fn(A, B) -> R,
) {
    ARCH.dispatch(
        #[inline(always)]
        || {
            let len = out[0].len();
            let (a, b) = (A::cut(a, len), B::cut(b, len));
            fill(
                out,
                #[inline(always)]
                |i| f(A::at(a, i), B::at(b, i)),
            );
        },
    );
}

pub(super) fn run_three<A: Lane, B: Lane, C: Lane, R: Lane>(
    out: Out<'_>,
    [a, b, c]: [Words<'_>; 3],
    f: impl Fn(A, B, C) -> R,
) {
    ARCH.dispatch(
        #[inline(always)]
        || {
            let len = out[0].len();
            let (a, b, c) = (A::cut(a, len), B::cut(b, len), C::cut(c, len));
            fill(
                out,
                #[inline(always)]
                |i| f(A::at(a, i), B::at(b, i), C::at(c, i)),
            );
        },
    );
}

pub(super) fn run_four<A: Lane, B: Lane, C: Lane, D: Lane, R: Lane>(
    out: Out<'_>,
    [a, b, c, d]: [Words<'_>; 4],
    f: impl Fn(A, B, C, D) -> R,
) {
    ARCH.dispatch(
        #[inline(always)]
        || {
            let len = out[0].len();
            let (a, b, c, d) = (A::cut(a, len), B::cut(b, len), C::cut(c, len), D::cut(d, len));
            fill(
                out,
                #[inline(always)]
                |i| f(A::at(a, i), B::at(b, i), C::at(c, i), D::at(d, i)),
            );
        },
    );
}

/// Writes for each invocation whether a condition holds, and says whether it holds for any.
#[inline(always)]
fn mark(out: &mut [u32], holds: impl Fn(usize) -> bool) -> bool {
    let mut any = 0;
    for (i, out) in out.iter_mut().enumerate() {
        *out = u32::from(holds(i));
        any |= *out;
    }
    any != 0
}

pub(super) fn mark_one<A: Lane>(out: &mut [u32], a: Words<'_>, f: impl Fn(A) -> bool) -> bool {
    ARCH.dispatch(
        #[inline(always)]
        || {
            let a = A::cut(a, out.len());
            mark(
                out,
                #[inline(always)]
                |i| f(A::at(a, i)),
            )
        },
    )
}

pub(super) fn mark_two<A: Lane, B: Lane>(
    out: &mut [u32],
    [a, b]: [Words<'_>; 2],
    f: impl Fn(A, B) -> bool,
) -> bool {
    ARCH.dispatch(
        #[inline(always)]
        || {
            let (a, b) = (A::cut(a, out.len()), B::cut(b, out.len()));
            mark(
                out,
                #[inline(always)]
                |i| f(A::at(a, i), B::at(b, i)),
            )
        },
    )
}

/// A kernel that computes a component from one. A function pointer carries no values, so the
/// operation has to be written where the kernel is made; hence macros.
macro_rules! one {
    ($a:ty => $r:ty, |$x:ident| $value:expr) => {{
        use $crate::soft::alu::{lane::Lane, wide::run_one};
        use $crate::soft::program::Kernel;
        if <$a as Lane>::WIDE || <$r as Lane>::WIDE {
            Kernel::Wide(|w| {
                run_one::<$a, $r>(
                    w.out,
                    w.src[0],
                    #[inline(always)]
                    |$x| $value,
                );
            })
        } else {
            Kernel::One(|out, x| {
                run_one::<$a, $r>(
                    [out, &mut []],
                    [x, &[]],
                    #[inline(always)]
                    |$x| $value,
                );
            })
        }
    }};
}

macro_rules! two {
    ($a:ty, $b:ty => $r:ty, |$x:ident, $y:ident| $value:expr) => {{
        use $crate::soft::alu::{lane::Lane, wide::run_two};
        use $crate::soft::program::Kernel;
        if <$a as Lane>::WIDE || <$b as Lane>::WIDE || <$r as Lane>::WIDE {
            Kernel::Wide(|w| {
                run_two::<$a, $b, $r>(
                    w.out,
                    [w.src[0], w.src[1]],
                    #[inline(always)]
                    |$x, $y| $value,
                );
            })
        } else {
            Kernel::Two(|out, x, y| {
                run_two::<$a, $b, $r>(
                    [out, &mut []],
                    [[x, &[]], [y, &[]]],
                    #[inline(always)]
                    |$x, $y| $value,
                );
            })
        }
    }};
}

macro_rules! three {
    ($a:ty, $b:ty, $c:ty => $r:ty, |$x:ident, $y:ident, $z:ident| $value:expr) => {{
        use $crate::soft::alu::{lane::Lane, wide::run_three};
        use $crate::soft::program::Kernel;
        if <$a as Lane>::WIDE || <$b as Lane>::WIDE || <$c as Lane>::WIDE || <$r as Lane>::WIDE {
            Kernel::Wide(|w| {
                run_three::<$a, $b, $c, $r>(
                    w.out,
                    [w.src[0], w.src[1], w.src[2]],
                    #[inline(always)]
                    |$x, $y, $z| $value,
                );
            })
        } else {
            Kernel::Three(|out, x, y, z| {
                run_three::<$a, $b, $c, $r>(
                    [out, &mut []],
                    [[x, &[]], [y, &[]], [z, &[]]],
                    #[inline(always)]
                    |$x, $y, $z| $value,
                );
            })
        }
    }};
}

macro_rules! four {
    ($a:ty, $b:ty, $c:ty, $d:ty => $r:ty,
     |$x:ident, $y:ident, $z:ident, $u:ident| $value:expr) => {{
        use $crate::soft::alu::{lane::Lane, wide::run_four};
        use $crate::soft::program::Kernel;
        if <$a as Lane>::WIDE || <$b as Lane>::WIDE || <$r as Lane>::WIDE {
            Kernel::Wide(|w| {
                run_four::<$a, $b, $c, $d, $r>(
                    w.out,
                    w.src,
                    #[inline(always)]
                    |$x, $y, $z, $u| $value,
                );
            })
        } else {
            Kernel::Four(|out, src| {
                run_four::<$a, $b, $c, $d, $r>(
                    [out, &mut []],
                    src.map(|words| [words, &[][..]]),
                    #[inline(always)]
                    |$x, $y, $z, $u| $value,
                );
            })
        }
    }};
}

/// Picks the Rust type that stands for an integer of any sign; none for other types.
macro_rules! for_int {
    ($scalar:expr, $t:ident => $body:expr) => {
        match $scalar {
            Scalar::I8 => {
                type $t = u8;
                $body
            }
            Scalar::I16 => {
                type $t = u16;
                $body
            }
            Scalar::I32 => {
                type $t = u32;
                $body
            }
            Scalar::I64 => {
                type $t = u64;
                $body
            }
            _ => None,
        }
    };
}

macro_rules! for_float {
    ($scalar:expr, $t:ident => $body:expr) => {
        match $scalar {
            Scalar::F16 => {
                type $t = half::f16;
                $body
            }
            Scalar::Bf16 => {
                type $t = half::bf16;
                $body
            }
            Scalar::F32 => {
                type $t = f32;
                $body
            }
            Scalar::F64 => {
                type $t = f64;
                $body
            }
            _ => None,
        }
    };
}

pub(super) use {for_float, for_int, four, one, three, two};
