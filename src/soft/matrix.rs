//! Cooperative matrices: a subgroup holds one together. Component `i` of the invocation `lane` in a
//! subgroup of `size` is the element `i * size + lane` of the matrix, row by row; elements beyond
//! the last one are padding, which is never looked at.
//!
//! `OpCooperativeMatrixMulAddKHR` leaves the order and precision of floating-point operations to
//! the device. Here the products of an element are rounded and added in ascending `k`, then C's
//! element is added, all in f32 (in f64 where one of the types is); products of 16-bit types are
//! exact in f32. The result is rounded to its type once, after the full dot product, so that a
//! 16-bit accumulator loses nothing before. Integers are as exact as the specification asks: the
//! low bits of the true result, or with `SaturatingAccumulation` the nearest to it.

use std::ops::Range;

use half::{bf16, f16};
use rspirv::spirv::CooperativeMatrixOperands as Operands;

use super::program::Slot;
use super::registers::{Active, Registers};
use super::scalar::Scalar;
use super::words::{Float, join, low_bits, signed, split};

/// `OpCooperativeMatrixMulAddKHR`: `dst = a * b + c` with `a` of `m` x `k`.
///
/// A matrix has a register for each of its components, the low word of one that takes two.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) m: u32,
    pub(crate) n: u32,
    pub(crate) k: u32,
    pub(crate) dst: Vec<Slot>,
    pub(crate) a: (Scalar, Vec<Slot>),
    pub(crate) b: (Scalar, Vec<Slot>),
    pub(crate) c: (Scalar, Vec<Slot>),
    pub(crate) to: Scalar,
    /// The operand mask of the instruction: which matrices are signed, and saturation.
    pub(crate) operands: u32,
}

/// Components that every invocation of a subgroup of `size` holds.
pub(crate) fn components(rows: u32, cols: u32, size: u32) -> u32 {
    let elements = u64::from(rows) * u64::from(cols);
    u32::try_from(elements.div_ceil(u64::from(size.max(1)))).unwrap_or(u32::MAX)
}

/// Whether [`run`] knows the types of A, B, C and the result. Lowering refuses all others.
pub(crate) fn supports(types: [Scalar; 4]) -> bool {
    types.iter().all(|scalar| scalar.is_float())
        || types.iter().all(|scalar| !scalar.is_float() && *scalar != Scalar::Bool)
}

/// Executes it for every subgroup of `size` that has active invocations. `incomplete` is told the
/// first active invocation of a subgroup that isn't all there: parts of its matrices are missing,
/// and count as 0.
pub(crate) fn run(
    matrix: &Matrix,
    registers: &mut Registers,
    active: &Active,
    size: usize,
    incomplete: &mut dyn FnMut(usize),
) {
    let lanes = active.lanes();
    let is_wide = [matrix.a.0, matrix.b.0, matrix.c.0, matrix.to].contains(&Scalar::F64);
    for start in lanes.clone().step_by(size) {
        let part = start..(start + size).min(lanes.end);
        let Some(first) = part.clone().find(|lane| active.has(*lane)) else { continue };
        if part.len() < size || !part.clone().all(|lane| active.has(lane)) {
            incomplete(first);
        }
        let hold = Hold { part, size, active };
        let elements = match (matrix.to.is_float(), is_wide) {
            (true, true) => in_f64(matrix, registers, &hold),
            (true, false) => in_f32(matrix, registers, &hold),
            (false, _) => in_integers(matrix, registers, &hold),
        };
        hold.scatter(registers, matrix, &elements);
    }
}

fn in_f64(matrix: &Matrix, registers: &Registers, hold: &Hold<'_>) -> Vec<u64> {
    let load = |scalar| match scalar {
        Scalar::F16 => |bits| f16::from_word(bits).to_f64(),
        Scalar::Bf16 => |bits| bf16::from_word(bits).to_f64(),
        Scalar::F32 => |bits| f64::from(f32::from_word(bits)),
        _ => f64::from_word,
    };
    let store = match matrix.to {
        Scalar::F16 => |value| f16::from_f64(value).to_word(),
        Scalar::Bf16 => |value| bf16::from_f64(value).to_word(),
        Scalar::F32 => |value| to_f32(value).to_word(),
        _ => f64::to_word,
    };
    let loads = [load(matrix.a.0), load(matrix.b.0), load(matrix.c.0)];
    multiply(matrix, registers, hold, loads, |sum, a, b| sum + a * b, |dot, c| store(dot + c))
}

#[expect(clippy::cast_possible_truncation, reason = "the rounding of a result in f64")]
const fn to_f32(value: f64) -> f32 {
    value as f32
}

fn in_f32(matrix: &Matrix, registers: &Registers, hold: &Hold<'_>) -> Vec<u64> {
    let load = |scalar| match scalar {
        Scalar::F16 => |bits| f16::from_word(bits).to_f32(),
        Scalar::Bf16 => |bits| bf16::from_word(bits).to_f32(),
        _ => f32::from_word,
    };
    let store = match matrix.to {
        Scalar::F16 => |value| f16::from_f32(value).to_word(),
        Scalar::Bf16 => |value| bf16::from_f32(value).to_word(),
        _ => f32::to_word,
    };
    let loads = [load(matrix.a.0), load(matrix.b.0), load(matrix.c.0)];
    multiply(matrix, registers, hold, loads, |sum, a, b| sum + a * b, |dot, c| store(dot + c))
}

/// Computes modulo 2^64, which keeps the low bits of the true result. With saturation the sum of
/// products is undefined where it doesn't fit the type of the result, so that 64 bits hold it.
fn in_integers(matrix: &Matrix, registers: &Registers, hold: &Hold<'_>) -> Vec<u64> {
    let operands = Operands::from_bits_truncate(matrix.operands);
    let load = |scalar: Scalar, sign| {
        let bits = scalar.bytes() * 8;
        let is_signed = operands.contains(sign);
        move |word: u64| if is_signed { signed(word, bits) } else { word.cast_signed() }
    };
    let loads = [
        load(matrix.a.0, Operands::MATRIX_A_SIGNED_COMPONENTS_KHR),
        load(matrix.b.0, Operands::MATRIX_B_SIGNED_COMPONENTS_KHR),
        load(matrix.c.0, Operands::MATRIX_C_SIGNED_COMPONENTS_KHR),
    ];
    let step = |sum: i64, a: i64, b: i64| sum.wrapping_add(a.wrapping_mul(b));
    let mask = low_bits(matrix.to.bytes() * 8);
    if !operands.contains(Operands::SATURATING_ACCUMULATION_KHR) {
        let add = |dot: i64, c| dot.wrapping_add(c).cast_unsigned() & mask;
        return multiply(matrix, registers, hold, loads, step, add);
    }
    let value = |word: i64, sign| {
        if operands.contains(sign) { word.into() } else { i128::from(word.cast_unsigned()) }
    };
    let result_sign = Operands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR;
    let (least, most) = if operands.contains(result_sign) {
        (-i128::from(mask >> 1) - 1, i128::from(mask >> 1))
    } else {
        (0, i128::from(mask))
    };
    multiply(matrix, registers, hold, loads, step, |dot, c| {
        let c = value(c, Operands::MATRIX_C_SIGNED_COMPONENTS_KHR);
        low_half((value(dot, result_sign) + c).clamp(least, most)) & mask
    })
}

const fn low_half(value: i128) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = value.to_le_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// The elements of the result, row by row. `loads` make numbers of the words of A, B and C, and
/// `finish` makes words of a sum of products and C's element.
fn multiply<T: Copy + Default>(
    matrix: &Matrix,
    registers: &Registers,
    hold: &Hold<'_>,
    loads: [impl Fn(u64) -> T; 3],
    step: impl Fn(T, T, T) -> T,
    finish: impl Fn(T, T) -> u64,
) -> Vec<u64> {
    let [m, n, k] = [matrix.m, matrix.n, matrix.k].map(|len| len as usize);
    let a = hold.gather(registers, &matrix.a, m * k, &loads[0]);
    let b = hold.gather(registers, &matrix.b, k * n, &loads[1]);
    let c = hold.gather(registers, &matrix.c, m * n, &loads[2]);
    let mut dots = vec![T::default(); m * n];
    // A row of the result at a time: a compiler can take many columns at once, and each still
    // gets its products in order.
    for (dots, a) in dots.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        for (a, b) in a.iter().zip(b.chunks_exact(n)) {
            for (dot, b) in dots.iter_mut().zip(b) {
                *dot = step(*dot, *a, *b);
            }
        }
    }
    dots.into_iter().zip(c).map(|(dot, c)| finish(dot, c)).collect()
}

/// The subgroup that holds the matrices.
struct Hold<'a> {
    part: Range<usize>,
    size: usize,
    active: &'a Active,
}

impl Hold<'_> {
    /// The first `len` elements of a matrix.
    fn gather<T: Copy + Default>(
        &self,
        registers: &Registers,
        (scalar, slots): &(Scalar, Vec<Slot>),
        len: usize,
        load: impl Fn(u64) -> T,
    ) -> Vec<T> {
        let mut elements = vec![T::default(); len];
        for (row, slot) in elements.chunks_mut(self.size).zip(slots) {
            let low = &registers.get(*slot)[self.part.clone()];
            let on = &self.active.words()[self.offset()..];
            if scalar.words() == 2 {
                let high = &registers.get(slot + 1)[self.part.clone()];
                for (((element, low), high), on) in row.iter_mut().zip(low).zip(high).zip(on) {
                    *element = if *on != 0 { load(join([*low, *high])) } else { T::default() };
                }
            } else {
                for ((element, low), on) in row.iter_mut().zip(low).zip(on) {
                    *element = if *on != 0 { load(u64::from(*low)) } else { T::default() };
                }
            }
        }
        elements
    }

    /// Where the subgroup is among those that run together.
    fn offset(&self) -> usize {
        self.part.start - self.active.lanes().start
    }

    fn scatter(&self, registers: &mut Registers, matrix: &Matrix, elements: &[u64]) {
        for (row, slot) in elements.chunks(self.size).zip(&matrix.dst) {
            let low = &mut registers.get_mut(*slot)[self.part.clone()];
            low.iter_mut().zip(row).for_each(|(word, element)| *word = split(*element)[0]);
            if matrix.to.words() == 2 {
                let high = &mut registers.get_mut(slot + 1)[self.part.clone()];
                high.iter_mut().zip(row).for_each(|(word, element)| *word = split(*element)[1]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
