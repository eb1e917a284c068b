//! Batched matrix product: `y = op(a) op(b)`, where `op` transposes the stored matrix on request.
//!
//! Writing A (m x k) and B (k x n) for the factors as they stand in the product, the VJP is
//! `gA = gy B^T` and `gB = A^T gy`, each laid out as its operand is stored. So both gradients are
//! products too: a kernel that takes a row and a column stride for every matrix computes the
//! forward and the two gradients for all four ways to store a and b.
//!
//! Ladder, with the bytes that f32 elements move per FLOP (a multiply-add is two):
//! - `naive`: one invocation per element. Each multiply-add loads an element of a and one of b:
//!   8 bytes for 2 FLOP, 4 bytes per FLOP, whatever the caches save.
//! - `tiled`: a workgroup computes a T x T block from T x T tiles in shared memory, T the root of
//!   its size. Each element loaded serves T multiply-adds: 4/T bytes per FLOP, which is 0.5 at 8
//!   and 0.25 at 16. Shared memory still gives up 4 bytes per FLOP.
//! - `register_tiled`: each invocation computes 4 x 4 elements of a block of side 4T. Memory moves
//!   1/T bytes per FLOP, 0.125 and 0.0625; shared memory gives 8 elements for 16 multiply-adds,
//!   1 byte per FLOP.
//! - `split_k`: one invocation per element and slice of k, then a second kernel that adds the
//!   slices. Moves what `naive` moves and `4 slices / k` bytes per FLOP more, but has `slices`
//!   times the invocations, where m n alone would leave most of the device idle.
//! - `vjp_naive`, `vjp_tiled`: the kernels of the same names, once for each gradient.

use super::{
    Attribute, Dim, Dispatch, Example, Formula, Op, Operand, Plan, Problem, Property, Target,
    Unsupported, Variant,
};
use crate::glsl::Source;
use crate::kernel;
use crate::numeric::Scalar;
use crate::tensor::Dtype;

/// The record.
pub const OP: Op = Op {
    name: "matmul",
    formula: "y = op(a) op(b) for every batch, op the identity or the transpose",
    // 32 is a multiple of the sides of all blocks but the largest, 64, which full cases pass.
    dims: &[Dim::new("batch", 1), Dim::new("m", 32), Dim::new("n", 32), Dim::new("k", SLICE)],
    attributes: &[
        Attribute { name: "transpose_a", values: &[0.0, 1.0] },
        Attribute { name: "transpose_b", values: &[0.0, 1.0] },
    ],
    dtypes: &[Dtype::F32, Dtype::F16],
    operands: &[
        Operand::input("a", a_shape),
        Operand::input("b", b_shape),
        Operand::output("y", |p| vec![p.dim("batch"), p.dim("m"), p.dim("n")]),
    ],
    reference: &Matmul,
    // 1*7 + 2*9 + 3*11 = 58, 1*8 + 2*10 + 3*12 = 64;
    // 4*7 + 5*9 + 6*11 = 139, 4*8 + 5*10 + 6*12 = 154.
    example: Example {
        dims: &[1, 2, 2, 3],
        attributes: &[0.0, 0.0],
        inputs: &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[7.0, 8.0, 9.0, 10.0, 11.0, 12.0]],
        outputs: &[&[58.0, 64.0, 139.0, 154.0]],
    },
    variants: &[
        Variant::forward("naive", naive),
        Variant::forward("tiled", tiled).with_workgroups(SQUARES),
        Variant::forward("register_tiled", register_tiled).with_workgroups(SQUARES),
        Variant::forward("split_k", split_k),
        Variant::vjp("vjp_naive", vjp_naive),
        Variant::vjp("vjp_tiled", vjp_tiled).with_workgroups(SQUARES),
    ],
    properties: &[
        Property::Linear(&["a"]),
        Property::Linear(&["b"]),
        Property::RowsIndependent(&["a", "b"]),
    ],
};

/// Workgroup sizes whose invocations form a square.
const SQUARES: &[u32] = &[64, 256];

/// Elements along each axis that an invocation of `register_tiled` computes.
const REGISTERS: usize = 4;

/// The inner extent that `split_k` leaves in one piece.
const SLICE: usize = 32;

/// The most pieces that it makes: beyond, adding them up costs more than it gains.
const MAX_SLICES: usize = 16;

fn a_shape(p: &Problem<'_>) -> Vec<usize> {
    stored(p, "transpose_a", p.dim("m"), p.dim("k"))
}

fn b_shape(p: &Problem<'_>) -> Vec<usize> {
    stored(p, "transpose_b", p.dim("k"), p.dim("n"))
}

fn stored(p: &Problem<'_>, transposed: &str, rows: usize, cols: usize) -> Vec<usize> {
    let (rows, cols) = if p.is_set(transposed) { (cols, rows) } else { (rows, cols) };
    vec![p.dim("batch"), rows, cols]
}

struct Matmul;

impl Matmul {
    /// Where row i and column l of A is stored, by batch, i and l. The dimensions are looked up
    /// once: by name and per element they would take most of the reference's time.
    fn a(p: &Problem<'_>) -> impl Fn(usize, usize, usize) -> usize + use<> {
        let (m, k, is_transposed) = (p.dim("m"), p.dim("k"), p.is_set("transpose_a"));
        move |batch, i, l| batch * m * k + if is_transposed { l * m + i } else { i * k + l }
    }

    /// Where row l and column j of B is stored, by batch, l and j.
    fn b(p: &Problem<'_>) -> impl Fn(usize, usize, usize) -> usize + use<> {
        let (k, n, is_transposed) = (p.dim("k"), p.dim("n"), p.is_set("transpose_b"));
        move |batch, l, j| batch * k * n + if is_transposed { j * k + l } else { l * n + j }
    }
}

impl Formula for Matmul {
    fn forward<S: Scalar>(&self, p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let (a, b) = (&inputs[0], &inputs[1]);
        let (m, n, k) = (p.dim("m"), p.dim("n"), p.dim("k"));
        let (at_a, at_b) = (Self::a(p), Self::b(p));
        let mut y = Vec::with_capacity(p.dim("batch") * m * n);
        for batch in 0..p.dim("batch") {
            for i in 0..m {
                for j in 0..n {
                    let term = |l| a[at_a(batch, i, l)] * b[at_b(batch, l, j)];
                    y.push(S::sum((0..k).map(term)));
                }
            }
        }
        vec![y]
    }

    fn vjp<S: Scalar>(
        &self,
        p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let (a, b, gy) = (&inputs[0], &inputs[1], &cotangents[0]);
        let (m, n, k) = (p.dim("m"), p.dim("n"), p.dim("k"));
        let (at_a, at_b) = (Self::a(p), Self::b(p));
        let mut ga = vec![S::zero(); a.len()];
        let mut gb = vec![S::zero(); b.len()];
        for batch in 0..p.dim("batch") {
            let gy = &gy[batch * m * n..(batch + 1) * m * n];
            for l in 0..k {
                for i in 0..m {
                    let term = |j| gy[i * n + j] * b[at_b(batch, l, j)];
                    ga[at_a(batch, i, l)] = S::sum((0..n).map(term));
                }
                for j in 0..n {
                    let term = |i| a[at_a(batch, i, l)] * gy[i * n + j];
                    gb[at_b(batch, l, j)] = S::sum((0..m).map(term));
                }
            }
        }
        vec![ga, gb]
    }
}

/// A matrix of every batch as it stands in a product: the buffer, and the distance in elements from
/// one row to the next and from one column to the next.
#[derive(Clone, Copy)]
struct Matrix {
    buffer: &'static str,
    row_stride: usize,
    col_stride: usize,
}

impl Matrix {
    /// A matrix of `cols` columns, stored row by row.
    fn row_major(buffer: &'static str, cols: usize) -> Self {
        Self { buffer, row_stride: cols, col_stride: 1 }
    }

    /// A matrix of `rows` x `cols`, stored as it is or, where the attribute is set, as its
    /// transpose.
    fn factor(
        p: &Problem<'_>,
        buffer: &'static str,
        transpose: &str,
        rows: usize,
        cols: usize,
    ) -> Self {
        if p.is_set(transpose) {
            Self::row_major(buffer, rows).transposed()
        } else {
            Self::row_major(buffer, cols)
        }
    }

    fn transposed(self) -> Self {
        Self { row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    /// The same layout in another buffer.
    fn of(self, buffer: &'static str) -> Self {
        Self { buffer, ..self }
    }
}

/// `y = a b` (m x k by k x n) in the words of the kernels, whichever operands these are.
struct Product {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
    a: Matrix,
    b: Matrix,
    y: Matrix,
}

impl Product {
    fn forward(p: &Problem<'_>) -> Self {
        let (m, n, k) = (p.dim("m"), p.dim("n"), p.dim("k"));
        Self {
            batch: p.dim("batch"),
            m,
            n,
            k,
            a: Matrix::factor(p, "a", "transpose_a", m, k),
            b: Matrix::factor(p, "b", "transpose_b", k, n),
            y: Matrix::row_major("y", n),
        }
    }

    /// `gA = gy B^T`, with the inner axis n.
    fn gradient_of_a(p: &Problem<'_>) -> Self {
        let Self { batch, m, n, k, a, b, y } = Self::forward(p);
        Self { batch, m, n: k, k: n, a: y.of("gy"), b: b.transposed(), y: a.of("ga") }
    }

    /// `gB = A^T gy`, with the inner axis m.
    fn gradient_of_b(p: &Problem<'_>) -> Self {
        let Self { batch, m, n, k, a, b, y } = Self::forward(p);
        Self { batch, m: k, n, k: m, a: a.transposed(), b: y.of("gy"), y: b.of("gb") }
    }

    /// Elements of y.
    fn len(&self) -> usize {
        self.batch * self.m * self.n
    }

    /// Workgroups for square blocks of y. They are numbered along x, which spills into y, and
    /// never along z, so that no extent meets a limit before the buffers do.
    fn blocks(&self, side: usize) -> usize {
        self.batch * self.m.div_ceil(side) * self.n.div_ceil(side)
    }

    /// A dispatch that reads a and b.
    fn reads(&self, source: Source, dtype: Dtype) -> Dispatch {
        let dispatch = Dispatch::new(source).element(dtype);
        let dispatch = bind(bind(dispatch, "a", self.a.buffer), "b", self.b.buffer)
            .push("batch", self.batch)
            .push("m", self.m)
            .push("n", self.n)
            .push("k", self.k);
        dispatch
            .push("a_row_stride", self.a.row_stride)
            .push("a_col_stride", self.a.col_stride)
            .push("b_row_stride", self.b.row_stride)
            .push("b_col_stride", self.b.col_stride)
    }

    /// A dispatch that reads a and b and writes y.
    fn whole(&self, source: Source, dtype: Dtype) -> Dispatch {
        bind(self.reads(source, dtype), "y", self.y.buffer)
            .push("y_row_stride", self.y.row_stride)
            .push("y_col_stride", self.y.col_stride)
    }

    /// Adds the product to a plan. An empty y needs nothing; an empty sum is zero, and there is
    /// nothing to read for it.
    fn add_to(&self, plan: Plan, dispatch: impl FnOnce(&Self) -> Dispatch) -> Plan {
        match (self.len(), self.k) {
            (0, _) => plan,
            (_, 0) => plan.zero(self.y.buffer),
            _ => plan.then(dispatch(self)),
        }
    }

    fn naive(&self, dtype: Dtype, target: &Target<'_>) -> Dispatch {
        self.whole(kernel!("matmul/naive.comp"), dtype).invocations(self.len(), target)
    }

    fn tiled(&self, dtype: Dtype, target: &Target<'_>) -> Dispatch {
        let tile = target.workgroup.isqrt();
        self.whole(kernel!("matmul/tiled.comp"), dtype)
            .workgroups(self.blocks(tile as usize), target)
            .spec("TILE", tile)
    }
}

/// Binds a buffer where its name differs from that in the kernel.
fn bind(dispatch: Dispatch, glsl: &'static str, buffer: &'static str) -> Dispatch {
    if glsl == buffer { dispatch } else { dispatch.bind(glsl, buffer) }
}

fn naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    Ok(Product::forward(p).add_to(Plan::empty(), |y| y.naive(p.dtype, target)))
}

fn tiled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    Ok(Product::forward(p).add_to(Plan::empty(), |y| y.tiled(p.dtype, target)))
}

fn register_tiled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let side = target.workgroup.isqrt();
    Ok(Product::forward(p).add_to(Plan::empty(), |y| {
        y.whole(kernel!("matmul/register_tiled.comp"), p.dtype)
            .workgroups(y.blocks(REGISTERS * side as usize), target)
            .spec("SIDE", side)
    }))
}

fn split_k(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let product = Product::forward(p);
    let len = product.len();
    if len == 0 || product.k == 0 {
        return naive(p, target);
    }
    let slices = product.k.div_ceil(SLICE).min(MAX_SLICES);
    let bytes = (slices * len * Dtype::F32.block_bytes()) as u64;
    if bytes > target.limits.storage_range_bytes {
        let range = target.limits.storage_range_bytes;
        return Err(Unsupported(format!("{bytes} bytes of partial sums, {range} in a binding")));
    }
    let part = product
        .reads(kernel!("matmul/split_k_part.comp"), p.dtype)
        .invocations(slices * len, target)
        .push("slices", slices)
        .push("slice_len", product.k.div_ceil(slices));
    let reduce = Dispatch::new(kernel!("matmul/split_k_reduce.comp"))
        .element(p.dtype)
        .invocations(len, target)
        .push("len", len)
        .push("slices", slices);
    let plan = Plan::empty().scratch("partials", Dtype::F32, slices * len);
    Ok(plan.then(part).barrier().then(reduce))
}

fn vjp_naive(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let plan = Product::gradient_of_a(p).add_to(Plan::empty(), |ga| ga.naive(p.dtype, target));
    Ok(Product::gradient_of_b(p).add_to(plan, |gb| gb.naive(p.dtype, target)))
}

fn vjp_tiled(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
    let plan = Product::gradient_of_a(p).add_to(Plan::empty(), |ga| ga.tiled(p.dtype, target));
    Ok(Product::gradient_of_b(p).add_to(plan, |gb| gb.tiled(p.dtype, target)))
}

#[cfg(test)]
mod tests {
    use super::OP;
    use crate::ops::Problem;
    use crate::tensor::Dtype;

    /// A stored matrix of whole numbers and its transpose.
    fn matrix(rows: usize, cols: usize) -> [Vec<f64>; 2] {
        let element = |i: usize, j: usize| (7 * i + 3 * j) as f64;
        let plain = (0..rows * cols).map(|at| element(at / cols, at % cols));
        let transposed = (0..rows * cols).map(|at| element(at % rows, at / rows));
        [plain.collect(), transposed.collect()]
    }

    #[test]
    fn factors_stored_transposed_give_the_same_product() {
        let dims = [1, 2, 3, 4];
        let (a, b) = (matrix(2, 4), matrix(4, 3));
        let product = |transpose_a: usize, transpose_b: usize| {
            let attributes = [transpose_a as f64, transpose_b as f64];
            let problem = Problem {
                op: &OP,
                dims: &dims,
                attributes: &attributes,
                dtype: Dtype::F32,
                storage: &[],
            };
            let inputs = [a[transpose_a].clone(), b[transpose_b].clone()];
            OP.reference.forward(&problem, &inputs)
        };
        let plain = product(0, 0);
        assert_eq!(plain, product(1, 0));
        assert_eq!(plain, product(0, 1));
        assert_eq!(plain, product(1, 1));
    }
}
