//! An elementwise op from its formula: everything else of the record follows.

use std::marker::PhantomData;

use super::elementwise::{LEN, kernel, single, vector};
use super::{Example, Formula, Op, Operand, Plan, Problem, Property, Target, Unsupported, Variant};
use crate::glsl::Source;
use crate::numeric::{Domain, Scalar, Trace};
use crate::tensor::Dtype;

/// A function of `N` numbers, applied to each element of `N` vectors.
///
/// Its kernels get the push constant `len`, the buffers of the names in `INPUTS`, and `y`; that of
/// the VJP also `gy`, and `g` + input for each gradient. One invocation computes one element, whose
/// number is `flat_invocation()` of the lab's `flat.glsl`; `each.glsl` has that and `len`.
pub trait Elementwise<const N: usize = 1>: Sized + 'static {
    /// Lower-case name of the op.
    const NAME: &'static str;
    /// The formula, one line of plain text.
    const FORMULA: &'static str;
    /// The kernel of the variant `naive`.
    const FORWARD: Source;
    /// The kernel of the variant `vjp_naive`, if there is one.
    const VJP: Option<Source> = None;
    /// Names of the inputs: `x`, or `a`, `b` and so on where there are several.
    const INPUTS: [&'static str; N] = names();
    /// Storage types. With f16 among them the kernels use `ELEMENT` of the lab's `element.glsl`.
    const DTYPES: &'static [Dtype] = &[Dtype::F32];
    /// Which numbers the inputs may be.
    const DOMAIN: Domain = Domain::Real;
    /// Points where the formula has a kink.
    const KINKS: &'static [f64] = &[];
    /// Algebra that the op obeys: that an element hangs on no other one, unless more is said.
    const PROPERTIES: &'static [Property] = &[Property::RowsIndependent(&Self::INPUTS)];
    /// One result worked out by hand; of an empty vector unless there is one.
    const EXAMPLE: Example =
        Example { dims: &[0], attributes: &[], inputs: &[&[] as &[f64]; N], outputs: &[&[]] };

    /// The formula.
    fn y<S: Scalar>(x: [S; N]) -> S;

    /// The cotangent of each input from that of `y`. Derived from the formula unless it is written.
    fn vjp<S: Scalar>(x: [S; N], y: S, gy: S) -> [S; N] {
        let trace = Trace::new();
        let inputs = x.map(|x| trace.input(x));
        let result = Self::y(inputs);
        trace.saved(result, y);
        let gradients = trace.gradients([(result, gy)], &inputs);
        std::array::from_fn(|at| gradients[at])
    }

    /// The record. Further variants go into a copy:
    /// `Op { variants: &[..], ..Swish::OP }`.
    const OP: Op = Op {
        name: Self::NAME,
        formula: Self::FORMULA,
        dims: &[LEN],
        attributes: &[],
        dtypes: Self::DTYPES,
        operands: Each::<Self, N>::OPERANDS,
        reference: &Each::<Self, N>(PhantomData),
        example: Self::EXAMPLE,
        variants: Each::<Self, N>::VARIANTS,
        properties: Self::PROPERTIES,
    };
}

/// More inputs than anybody gives an elementwise op.
const MOST: usize = 8;

const fn names<const N: usize>() -> [&'static str; N] {
    assert!(N <= MOST, "an elementwise op has at most eight inputs");
    let letters: [&str; MOST] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut names = ["x"; N];
    let mut at = 0;
    while N > 1 && at < N {
        names[at] = letters[at];
        at += 1;
    }
    names
}

/// The reference and the plans of an elementwise op.
struct Each<E, const N: usize>(PhantomData<fn() -> E>);

impl<E: Elementwise<N>, const N: usize> Each<E, N> {
    const TABLE: [Operand; MOST + 1] = {
        let input = Operand::input("x", vector).drawn_from(|_| E::DOMAIN);
        let input = Operand { kinks: E::KINKS, ..input };
        let mut table = [input; MOST + 1];
        let mut at = 0;
        while at < N {
            table[at] = Operand { name: E::INPUTS[at], ..input };
            at += 1;
        }
        table[N] = Operand::output("y", vector);
        table
    };
    const OPERANDS: &'static [Operand] = Self::TABLE.split_at(N + 1).0;

    const VJP: &'static Option<Source> = &E::VJP;
    const BOTH: [Variant; 2] =
        [Variant::forward("naive", Self::forward), Variant::vjp("vjp_naive", Self::backward)];
    const VARIANTS: &'static [Variant] =
        Self::BOTH.split_at(if Self::VJP.is_some() { 2 } else { 1 }).0;

    fn forward(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
        single(kernel(E::FORWARD, p), p, target)
    }

    fn backward(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
        let source = E::VJP.ok_or_else(|| Unsupported("the op has no VJP kernel".to_owned()))?;
        single(kernel(source, p), p, target)
    }
}

impl<E: Elementwise<N>, const N: usize> Formula for Each<E, N> {
    fn forward<S: Scalar>(&self, _p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        let len = inputs[0].len();
        vec![(0..len).map(|i| E::y(std::array::from_fn(|at| inputs[at][i]))).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        _p: &Problem<'_>,
        inputs: &[Vec<S>],
        outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let results = outputs[0].iter().zip(&cotangents[0]).enumerate();
        let all: Vec<[S; N]> = results
            .map(|(i, (y, gy))| E::vjp(std::array::from_fn(|at| inputs[at][i]), *y, *gy))
            .collect();
        (0..N).map(|at| all.iter().map(|gradients| gradients[at]).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Elementwise, Scalar, Source};
    use crate::kernel;
    use crate::ops::{Case, Pass, Registry};

    struct Product;
    impl Elementwise<2> for Product {
        const NAME: &'static str = "product";
        const FORMULA: &'static str = "y = a b";
        const FORWARD: Source = kernel!("mul/naive.comp");
        const VJP: Option<Source> = Some(kernel!("relu/vjp_naive.comp"));
        fn y<S: Scalar>([a, b]: [S; 2]) -> S {
            a * b
        }
    }

    struct Square;
    impl Elementwise for Square {
        const NAME: &'static str = "square";
        const FORMULA: &'static str = "y = x^2";
        const FORWARD: Source = kernel!("mul/naive.comp");
        fn y<S: Scalar>([x]: [S; 1]) -> S {
            x * x
        }
    }

    #[test]
    fn a_record_follows_from_a_formula() {
        let registry = Registry::new().op(Product::OP).op(Square::OP);
        assert_eq!(registry.validate(), Ok(()));
        let (product, square) = (Product::OP, Square::OP);
        let names: Vec<&str> = product.operands.iter().map(|operand| operand.name).collect();
        assert_eq!(names, ["a", "b", "y"]);
        assert_eq!(product.variants.len(), 2);
        let names: Vec<&str> = square.operands.iter().map(|operand| operand.name).collect();
        assert_eq!(names, ["x", "y"]);
        assert!(square.variants.iter().all(|variant| variant.pass == Pass::Forward));
    }

    #[test]
    fn gradients_of_several_inputs_come_in_their_order() {
        let op = Product::OP;
        let case = Case::parse(&op, "len=2/normal", 1).expect("a case");
        let inputs = [vec![2.0, 3.0], vec![5.0, 7.0]];
        let outputs = op.reference.forward(&case.problem(&op), &inputs);
        assert_eq!(outputs, [[10.0, 21.0]]);
        let got = op.reference.vjp(&case.problem(&op), &inputs, &outputs, &[vec![1.0, 10.0]]);
        assert_eq!(got, [[5.0, 70.0], [2.0, 30.0]]);
    }
}
