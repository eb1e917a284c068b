//! A trial: the buffers of one run of a variant, and what they should hold afterwards.

use crate::numeric::{Bounded, Domain, ErrorModel, F32_EPS, Stream, Structure, min_normal};
use crate::ops::{Case, Gradient, Op, Operand, Pass, Problem, Role};
use crate::tensor::{Dtype, Tensor};

use super::compare::Expected;
use super::execute::Slot;
use super::subject::Subject;

/// Which cotangent a VJP is run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cotangent {
    /// `+-U[0.5, 1.5]`, one of several draws.
    Draw(u32),
    /// 1 at the last element, 0 elsewhere.
    LastOnly,
    /// All ones.
    Ones,
    /// All zeros.
    Zero,
    /// The sum of draws 0 and 1.
    SumOfTwo,
    /// Draw 0 times a power of two.
    Scaled(i32),
}

/// What the gradient buffers hold before a VJP that adds to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefill {
    /// Zeros, so that the result is the gradient itself.
    Zeros,
    /// Random numbers, so that a kernel which overwrites shows.
    Random,
}

/// Buffers with expectations.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The buffers, in record order.
    pub slots: Vec<Slot>,
    /// What the written ones should hold.
    pub expected: Vec<Expected>,
}

/// The operands that the op reads, drawn from the case's streams and rounded to storage.
#[must_use]
pub fn draw_inputs(op: &'static Op, case: &Case) -> Vec<Tensor> {
    let problem = case.problem(op);
    let id = case.id(op);
    problem
        .inputs()
        .map(|operand| {
            let shape = (operand.shape)(&problem);
            let len = shape.iter().product();
            let mut stream = Stream::new(case.seed, &[op.name, &id, operand.name]);
            let values = match (operand.domain)(&problem) {
                _ if len == 0 => Vec::new(),
                Domain::Index { below: 0 } => vec![0.0; len],
                domain => case.regime.draw(domain, len, &mut stream),
            };
            Tensor::new(problem.dtype_of(operand), &shape, &values)
        })
        .collect()
}

/// The operand as both sides know it. A subnormal f16 or bf16 may be flushed when it is
/// read.
#[must_use]
pub(super) fn bounded<'m>(
    tensor: &Tensor,
    structure: Structure,
    model: &'m ErrorModel,
) -> Vec<Bounded<'m>> {
    let flushed = match tensor.dtype() {
        half @ (Dtype::F16 | Dtype::BF16) => min_normal(half),
        _ => 0.0,
    };
    tensor
        .values()
        .into_iter()
        .map(|v| {
            let error = if v.abs() < flushed { v.abs() } else { 0.0 };
            Bounded::exact(v, model, structure).with_error(error)
        })
        .collect()
}

impl Trial {
    /// A run of the variant with its data and the first cotangent draw.
    #[must_use]
    pub fn new(subject: &Subject<'_>, case: &Case, model: &ErrorModel) -> Self {
        let inputs = || draw_inputs(subject.op, case);
        let trial = match subject.variant.pass {
            Pass::Forward => Self::forward(subject.op, case, &inputs(), model),
            Pass::Vjp => Self::vjp(subject.op, case, Cotangent::Draw(0), Prefill::Random, model),
        };
        subject.fitted(trial)
    }

    /// The op itself on given inputs.
    #[must_use]
    pub fn forward(op: &'static Op, case: &Case, inputs: &[Tensor], model: &ErrorModel) -> Self {
        let problem = case.problem(op);
        let exact: Vec<_> =
            inputs.iter().map(|x| bounded(x, case.regime.structure(), model)).collect();
        let outputs = op.reference.forward_bounded(&problem, &exact);
        let expected = problem
            .outputs()
            .zip(&outputs)
            .map(|(operand, values)| Expected::new(&problem, operand, operand.name, values))
            .collect();
        Self { slots: forward_slots(&problem, inputs), expected }
    }

    /// The VJP with a cotangent and what its gradient buffers start with.
    #[must_use]
    pub fn vjp(
        op: &'static Op,
        case: &Case,
        cotangent: Cotangent,
        prefill: Prefill,
        model: &ErrorModel,
    ) -> Self {
        Primal::new(op, case, model).vjp(cotangent, prefill)
    }
}

/// What all VJP trials of a case share, whatever the cotangent: the inputs and what the forward
/// leaves, each as the kernel gets it and as the reference knows it.
pub(super) struct Primal<'a> {
    problem: Problem<'a>,
    case: &'a Case,
    model: &'a ErrorModel,
    inputs: Vec<Tensor>,
    exact: Vec<Vec<Bounded<'a>>>,
    saved: Vec<Tensor>,
    outputs: Vec<Vec<Bounded<'a>>>,
}

impl<'a> Primal<'a> {
    pub(super) fn new(op: &'static Op, case: &'a Case, model: &'a ErrorModel) -> Self {
        let problem = case.problem(op);
        let inputs = draw_inputs(op, case);
        let exact: Vec<_> =
            inputs.iter().map(|x| bounded(x, case.regime.structure(), model)).collect();
        let (saved, outputs) = saved_outputs(&problem, &exact);
        Self { problem, case, model, inputs, exact, saved, outputs }
    }

    /// The trial with a cotangent and what its gradient buffers start with.
    pub(super) fn vjp(&self, cotangent: Cotangent, prefill: Prefill) -> Trial {
        let problem = &self.problem;
        let cotangents: Vec<Tensor> = problem
            .outputs()
            .map(|operand| draw_cotangent(problem, self.case, operand, cotangent))
            .collect();
        let structure = match cotangent {
            Cotangent::Draw(_) | Cotangent::SumOfTwo | Cotangent::Scaled(_) => Structure::Random,
            Cotangent::LastOnly | Cotangent::Ones | Cotangent::Zero => Structure::Structured,
        };
        let weights: Vec<_> =
            cotangents.iter().map(|w| bounded(w, structure, self.model)).collect();
        let gradients =
            problem.op.reference.vjp_bounded(problem, &self.exact, &self.outputs, &weights);
        let terms = cotangents.iter().map(Tensor::len).sum();

        let named = |(operand, tensor): (&Operand, &Tensor)| Slot::input(operand.name, tensor);
        let mut slots: Vec<Slot> = problem.inputs().zip(&self.inputs).map(named).collect();
        slots.extend(problem.outputs().zip(&self.saved).map(named));
        slots.extend(
            problem
                .outputs()
                .zip(&cotangents)
                .map(|(operand, w)| Slot::input(&format!("g{}", operand.name), w)),
        );
        let mut expected = Vec::new();
        let differentiable = problem.inputs().filter(|o| o.gradient != Gradient::None);
        for (operand, gradient) in differentiable.zip(&gradients) {
            let (slot, want) = self.gradient(operand, gradient, terms, prefill);
            slots.push(slot);
            expected.push(want);
        }
        Trial { slots, expected }
    }

    /// The buffer of a gradient that is a sum of up to `terms` terms, and what it should hold.
    fn gradient(
        &self,
        operand: &Operand,
        gradient: &[Bounded<'_>],
        terms: usize,
        prefill: Prefill,
    ) -> (Slot, Expected) {
        let (problem, case) = (&self.problem, self.case);
        let name = format!("g{}", operand.name);
        let (dtype, shape) = (problem.gradient_dtype_of(operand), (operand.shape)(problem));
        let mut want = Expected::new(problem, operand, &name, gradient);
        want.dtype = dtype;
        if operand.gradient != Gradient::Add {
            return (Slot::output(&name, dtype, shape), want);
        }
        let start = draw_prefill(problem, case, &name, prefill, dtype, &shape);
        let factor = ErrorModel::sum_factor(case.regime.structure(), terms) * F32_EPS;
        for (at, before) in start.values().into_iter().enumerate() {
            want.values[at] += before;
            // Every addition on the way rounds a number that contains what was there, and
            // the last one the result.
            let rounded = 2.0 * F32_EPS * want.values[at].abs();
            want.bounds[at] += if before == 0.0 { 0.0 } else { factor * before.abs() + rounded };
        }
        (Slot::in_out(&name, &start), want)
    }
}

/// Buffers of a forward run.
#[must_use]
pub(super) fn forward_slots(problem: &Problem<'_>, inputs: &[Tensor]) -> Vec<Slot> {
    let mut given = inputs.iter();
    let mut slots = Vec::new();
    for operand in problem.op.operands {
        let contents = if operand.is_read() { given.next() } else { None };
        slots.push(match (operand.role, contents) {
            (Role::In, Some(x)) => Slot::input(operand.name, x),
            (_, Some(x)) => Slot::in_out(operand.name, x),
            (_, None) => {
                Slot::output(operand.name, problem.dtype_of(operand), (operand.shape)(problem))
            }
        });
    }
    slots
}

/// What the forward leaves for the VJP: rounded to storage for the kernel, and for the reference
/// with the distance to the stored value or the error of recomputing it, whichever is larger, so
/// that a VJP may use the output or compute it again.
fn saved_outputs<'m>(
    problem: &Problem<'_>,
    inputs: &[Vec<Bounded<'m>>],
) -> (Vec<Tensor>, Vec<Vec<Bounded<'m>>>) {
    let exact = problem.op.reference.forward_bounded(problem, inputs);
    let mut saved = Vec::new();
    let mut outputs = Vec::new();
    for (operand, exact) in problem.outputs().zip(exact) {
        let values: Vec<f64> = exact.iter().map(|y| y.value).collect();
        let tensor = Tensor::new(problem.dtype_of(operand), &(operand.shape)(problem), &values);
        let stored = tensor.values().into_iter().zip(exact).map(|(stored, exact)| {
            let equal = stored == exact.value;
            let distance = if equal { 0.0 } else { (stored - exact.value).abs() };
            exact.with_error(exact.error.max(distance))
        });
        outputs.push(stored.collect());
        saved.push(tensor);
    }
    (saved, outputs)
}

/// Cotangents lie on a grid of 2^-8, so that sums of two and powers of two are exact in f16.
fn draw_cotangent(
    problem: &Problem<'_>,
    case: &Case,
    operand: &Operand,
    cotangent: Cotangent,
) -> Tensor {
    let shape = (operand.shape)(problem);
    let len: usize = shape.iter().product();
    let id = case.id(problem.op);
    let draw = |which: u32| -> Vec<f64> {
        let name = format!("g{}#{which}", operand.name);
        let mut stream = Stream::new(case.seed, &[problem.op.name, &id, &name]);
        (0..len).map(|_| (stream.cotangent() * 256.0).round() / 256.0).collect()
    };
    let values = match cotangent {
        Cotangent::Draw(which) => draw(which),
        Cotangent::Ones => vec![1.0; len],
        Cotangent::Zero => vec![0.0; len],
        Cotangent::LastOnly => (0..len).map(|i| f64::from(u8::from(i + 1 == len))).collect(),
        Cotangent::SumOfTwo => draw(0).iter().zip(draw(1)).map(|(a, b)| a + b).collect(),
        Cotangent::Scaled(power) => draw(0).iter().map(|w| w * 2f64.powi(power)).collect(),
    };
    Tensor::new(problem.gradient_dtype_of(operand), &shape, &values)
}

fn draw_prefill(
    problem: &Problem<'_>,
    case: &Case,
    name: &str,
    prefill: Prefill,
    dtype: Dtype,
    shape: &[usize],
) -> Tensor {
    let len = shape.iter().product();
    let mut stream =
        Stream::new(case.seed, &[problem.op.name, &case.id(problem.op), name, "before"]);
    let values: Vec<f64> = match prefill {
        Prefill::Zeros => vec![0.0; len],
        Prefill::Random => (0..len).map(|_| stream.normal()).collect(),
    };
    Tensor::new(dtype, shape, &values)
}
