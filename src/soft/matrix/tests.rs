use super::*;
use crate::numeric::Stream;

/// A multiplication of random matrices and a workgroup that holds them.
struct Trial {
    matrix: Matrix,
    registers: Registers,
    size: usize,
    width: usize,
}

impl Trial {
    /// `word` draws the bits of an element.
    fn new(
        [m, n, k]: [u32; 3],
        types: [Scalar; 4],
        operands: Operands,
        [size, width]: [u32; 2],
        mut word: impl FnMut(Scalar) -> u64,
    ) -> Self {
        let mut slots = 0;
        let mut place = |rows, cols, scalar: Scalar| {
            let taken: Vec<Slot> =
                (0..components(rows, cols, size)).map(|at| slots + at * scalar.words()).collect();
            slots += components(rows, cols, size) * scalar.words();
            taken
        };
        let [a, b, c, to] = types;
        let matrix = Matrix {
            m,
            n,
            k,
            a: (a, place(m, k, a)),
            b: (b, place(k, n, b)),
            c: (c, place(m, n, c)),
            dst: place(m, n, to),
            to,
            operands: operands.bits(),
        };
        let mut registers = Registers::new(slots as usize, width as usize);
        for (scalar, slots) in [&matrix.a, &matrix.b, &matrix.c] {
            for slot in slots {
                for lane in 0..width as usize {
                    let [low, high] = split(word(*scalar));
                    registers.get_mut(*slot)[lane] = low;
                    if scalar.words() == 2 {
                        registers.get_mut(slot + 1)[lane] = high;
                    }
                }
            }
        }
        Self { matrix, registers, size: size as usize, width: width as usize }
    }

    fn run(&mut self, is_on: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut bits = vec![0; self.width.div_ceil(64)];
        for lane in (0..self.width).filter(|lane| is_on(*lane)) {
            bits[lane / 64] |= 1 << (lane % 64);
        }
        let active = Active::new(0..self.width, &bits, self.width);
        let mut told = Vec::new();
        let size = self.size;
        run(&self.matrix, &mut self.registers, &active, size, &mut |lane| told.push(lane));
        told
    }

    /// The bits of the element (row, col) in the subgroup that starts at `start`, found by
    /// looking through all components.
    fn at(
        &self,
        slots: &[Slot],
        scalar: Scalar,
        cols: u32,
        place: (u32, u32),
        start: usize,
    ) -> u64 {
        let size = u32::try_from(self.size).expect("small");
        for (component, slot) in (0..).zip(slots) {
            for lane in 0..size {
                if element(component, lane, size, cols) == place {
                    let lane = start + lane as usize;
                    let high =
                        if scalar.words() == 2 { self.registers.get(slot + 1)[lane] } else { 0 };
                    return join([self.registers.get(*slot)[lane], high]);
                }
            }
        }
        panic!("no component holds {place:?}");
    }

    /// The result's bits, A's row, B's column and C's element of every place in every subgroup.
    fn each(&self, mut check: impl FnMut(u64, &[u64], &[u64], u64)) {
        let Matrix { m, n, k, .. } = self.matrix;
        let of = |which: &(Scalar, Vec<Slot>), cols, place, start| {
            self.at(&which.1, which.0, cols, place, start)
        };
        for start in (0..self.width).step_by(self.size) {
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let a: Vec<u64> =
                    (0..k).map(|at| of(&self.matrix.a, k, (row, at), start)).collect();
                let b: Vec<u64> =
                    (0..k).map(|at| of(&self.matrix.b, n, (at, col), start)).collect();
                let c = of(&self.matrix.c, n, (row, col), start);
                let got = self.at(&self.matrix.dst, self.matrix.to, n, (row, col), start);
                check(got, &a, &b, c);
            }
        }
    }
}

const SHAPES: [[u32; 3]; 5] = [[16, 16, 16], [8, 8, 4], [16, 8, 32], [1, 3, 2], [5, 7, 3]];

fn number(scalar: Scalar, bits: u64) -> f64 {
    let low = || u16::try_from(bits).expect("16 bits");
    match scalar {
        Scalar::F16 => f16::from_bits(low()).to_f64(),
        Scalar::Bf16 => bf16::from_bits(low()).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(u32::try_from(bits).expect("32 bits"))),
        _ => f64::from_bits(bits),
    }
}

/// Multiples of a quarter are exact in every type, and so are their sums: the order can't matter.
#[test]
fn small_floats_are_exact_in_all_types() {
    use Scalar::{Bf16, F16, F32, F64};
    let quarter = |scalar, stream: &mut Stream| {
        let value = [-0.5, -0.25, 0.0, 0.25, 0.5, 1.0][stream.index(6)];
        match scalar {
            F16 => u64::from(f16::from_f64(value).to_bits()),
            Bf16 => u64::from(bf16::from_f64(value).to_bits()),
            F32 => u64::from(to_f32(value).to_bits()),
            _ => value.to_bits(),
        }
    };
    for types in [
        [F16, F16, F16, F16],
        [F16, F16, F32, F32],
        [F16, F16, F32, F16],
        [Bf16, Bf16, F32, F32],
        [F32, F32, F32, F32],
        [F64, F64, F64, F64],
        [F32, F32, F64, F64],
        [F16, F64, F32, F32],
    ] {
        assert!(supports(types));
        for shape in SHAPES {
            for size in [4, 8, 32, 128] {
                let mut stream = Stream::new(1, &["matrix"]);
                let mut trial =
                    Trial::new(shape, types, Operands::empty(), [size, 2 * size], |t| {
                        quarter(t, &mut stream)
                    });
                assert!(trial.run(|_| true).is_empty());
                trial.each(|got, a, b, c| {
                    let dot: f64 = a
                        .iter()
                        .zip(b)
                        .map(|(a, b)| number(types[0], *a) * number(types[1], *b))
                        .sum();
                    let want = dot + number(types[2], c);
                    assert_eq!(number(types[3], got), want, "{types:?} {shape:?} {size}");
                });
            }
        }
    }
}

#[test]
fn integers_have_the_signs_of_the_operand_mask_and_wrap_or_saturate() {
    use Scalar::{I8, I16, I32, I64};
    let value = |bits: u64, scalar: Scalar, is_signed: bool| {
        let modulus = 1_i128 << (scalar.bytes() * 8);
        let value = i128::from(bits);
        if is_signed && value >= modulus / 2 { value - modulus } else { value }
    };
    for types in [[I8, I8, I32, I32], [I8, I8, I8, I8], [I16, I16, I64, I64], [I32; 4], [I64; 4]] {
        assert!(supports(types));
        for (mask, shape) in (0..32).zip(SHAPES.into_iter().cycle()) {
            let operands = Operands::from_bits_truncate(mask);
            let sign = |at: u32| mask >> at & 1 == 1;
            let saturates = operands.contains(Operands::SATURATING_ACCUMULATION_KHR);
            let mut stream = Stream::new(u64::from(mask), &["matrix"]);
            let mut trial = Trial::new(shape, types, operands, [16, 32], |scalar| {
                (0..scalar.bytes()).fold(0, |bits, _| bits << 8 | stream.index(256) as u64)
            });
            assert!(trial.run(|_| true).is_empty());
            let modulus = 1_i128 << (types[3].bytes() * 8);
            let (least, most) =
                if sign(3) { (-modulus / 2, modulus / 2 - 1) } else { (0, modulus - 1) };
            trial.each(|got, a, b, c| {
                // Where a sum of 64-bit products leaves 128 bits, only its low bits are wanted.
                let dot = a.iter().zip(b).fold(0_i128, |sum, (a, b)| {
                    let product =
                        value(*a, types[0], sign(0)).wrapping_mul(value(*b, types[1], sign(1)));
                    sum.wrapping_add(product)
                });
                let c = value(c, types[2], sign(2));
                let want = if !saturates {
                    dot.wrapping_add(c)
                } else if (least..=most).contains(&dot) {
                    (dot + c).clamp(least, most)
                } else {
                    return; // The specification leaves it undefined.
                };
                let want = u64::try_from(want.rem_euclid(modulus)).expect("below the modulus");
                assert_eq!(got, want, "{types:?} {operands:?} {shape:?}");
            });
        }
    }
}

/// Worked by hand: [1 2; 3 4] * [5 6; 7 8] + [100 ...], and its saturation in 8 bits.
#[test]
fn two_by_two() {
    let every = Operands::MATRIX_A_SIGNED_COMPONENTS_KHR
        | Operands::MATRIX_B_SIGNED_COMPONENTS_KHR
        | Operands::MATRIX_C_SIGNED_COMPONENTS_KHR
        | Operands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR;
    let saturating = every | Operands::SATURATING_ACCUMULATION_KHR;
    for (operands, want) in [(every, [119, 122, 143, 150]), (saturating, [119, 122, 127, 127])] {
        let elements = [1, 2, 3, 4, 5, 6, 7, 8, 100, 100, 100, 100];
        let mut next = elements.into_iter();
        let mut trial =
            Trial::new([2, 2, 2], [Scalar::I8; 4], operands, [4, 4], |_| next.next().unwrap_or(0));
        assert!(trial.run(|_| true).is_empty());
        assert_eq!(trial.registers.get(trial.matrix.dst[0]), want);
    }
}

/// 2048 + 1 + 1 is 2050 in f16 if the sum is rounded once, 2048 if at every step.
#[test]
fn a_16_bit_accumulator_rounds_once() {
    let f = |value| u64::from(f16::from_f32(value).to_bits());
    let elements = [f(1.0), f(1.0), f(1.0), f(2048.0), f(1.0), f(1.0), f(0.0)];
    let mut next =
        [&elements[..3], &[0], &elements[3..6], &[0], &elements[6..]].concat().into_iter();
    let mut trial = Trial::new([1, 1, 3], [Scalar::F16; 4], Operands::empty(), [4, 4], |_| {
        next.next().unwrap_or(0)
    });
    assert!(trial.run(|_| true).is_empty());
    assert_eq!(u64::from(trial.registers.get(trial.matrix.dst[0])[0]), f(2050.0));
}

#[test]
fn a_subgroup_that_is_not_all_there_is_told_and_lacks_its_elements() {
    let one = u64::from(1.0_f32.to_bits());
    let trial =
        |width| Trial::new([4, 4, 4], [Scalar::F32; 4], Operands::empty(), [8, width], |_| one);
    // Invocation 9 of the second subgroup holds (0, 1) and (2, 1) of every matrix.
    let mut missing = trial(24);
    assert_eq!(missing.run(|lane| lane != 9), [8]);
    let row = |trial: &Trial, start| {
        let slots = &trial.matrix.dst;
        [0, 2, 3].map(|col| number(Scalar::F32, trial.at(slots, Scalar::F32, 4, (0, col), start)))
    };
    assert_eq!(row(&missing, 0), [5.0; 3]);
    // A lacks the product at k = 1, and B the column 1 at k = 0 and 2, which isn't looked at.
    assert_eq!(row(&missing, 8), [4.0; 3]);
    assert_eq!(row(&missing, 16), [5.0; 3]);

    let mut nobody = trial(24);
    assert!(nobody.run(|lane| lane / 8 != 1).is_empty());
    let mut partial = trial(20);
    assert_eq!(partial.run(|_| true), [16]);
}

#[test]
fn every_element_has_one_place() {
    for (rows, cols, size) in [(16, 16, 32), (16, 8, 64), (3, 5, 4), (1, 1, 128), (8, 32, 128)] {
        let mut seen = vec![0; (rows * cols) as usize];
        for component in 0..components(rows, cols, size) {
            for lane in 0..size {
                let (row, col) = element(component, lane, size, cols);
                assert!(col < cols);
                if row < rows {
                    seen[(row * cols + col) as usize] += 1;
                }
            }
        }
        assert!(seen.iter().all(|count| *count == 1), "{rows} x {cols} in {size}");
    }
    assert!(!supports([Scalar::F16, Scalar::F16, Scalar::I32, Scalar::I32]));
    assert!(!supports([Scalar::Bool; 4]));
}

/// The row and the column of a component; the row is beyond the last one where it is padding.
const fn element(component: u32, lane: u32, size: u32, cols: u32) -> (u32, u32) {
    let at = component * size + lane;
    (at / cols, at % cols)
}
