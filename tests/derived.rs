//! References whose VJP is derived: their bounds must hold right VJP kernels, and a wrong VJP that
//! is written must be told by its element.

use vklab::check::{Check, Outcome, Session, Subject, cases, run};
use vklab::memory::LedgerOptions;
use vklab::numeric::Scalar;
use vklab::ops::{Cases, Formula, Op, Pass, Problem, gelu_tanh, layernorm, relu, softmax};
use vklab::vulkan::Validation;
use vklab::worker::{choose, open_session};

/// The forward of another formula, and no VJP.
struct Forward<F>(F);

impl<F: Formula> Formula for Forward<F> {
    fn forward<S: Scalar>(&self, problem: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        self.0.forward(problem, inputs)
    }
}

static GELU: Op = Op { reference: &Forward(gelu_tanh::GeluTanh), ..gelu_tanh::OP };
static LAYERNORM: Op = Op { reference: &Forward(layernorm::LayerNorm), ..layernorm::OP };
static SOFTMAX: Op = Op { reference: &Forward(softmax::Softmax), ..softmax::OP };

fn session() -> Session {
    let chosen = choose(&[], Validation::Off).expect("a device");
    open_session(&chosen[0], LedgerOptions::default()).expect("an open device")
}

/// Failures of the gradient check, and the worst error that passed.
fn asked(session: &mut Session, op: &'static Op) -> (Vec<String>, f64) {
    let mut failures = Vec::new();
    let mut worst: f64 = 0.0;
    for variant in op.variants.iter().filter(|variant| variant.pass == Pass::Vjp) {
        for case in cases(Check::Gradient, op, Cases::Quick, 17) {
            let subject = Subject::new(op, variant);
            match run(session, &subject, Check::Gradient, &case).expect("it runs") {
                Outcome::Pass { worst: passed } => worst = worst.max(passed),
                Outcome::Unsupported { .. } => {}
                bad => {
                    failures.push(format!("{}.{} {}: {bad}", op.name, variant.name, case.id(op)));
                }
            }
        }
    }
    (failures, worst)
}

#[test]
fn right_kernels_keep_the_bounds_of_a_derived_vjp() {
    let mut session = session();
    for op in [&GELU, &LAYERNORM, &SOFTMAX] {
        let (failures, worst) = asked(&mut session, op);
        println!("{}: worst {worst:.2}", op.name);
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(worst > 0.01, "{}: bounds that nothing comes near say nothing", op.name);
    }
}

/// The slope of relu is 1 or 0; this says 2 for one element in ten.
struct Wrong;

impl Formula for Wrong {
    fn forward<S: Scalar>(&self, _p: &Problem<'_>, inputs: &[Vec<S>]) -> Vec<Vec<S>> {
        vec![inputs[0].iter().map(|x| x.max(S::zero())).collect()]
    }

    fn vjp<S: Scalar>(
        &self,
        _p: &Problem<'_>,
        inputs: &[Vec<S>],
        _outputs: &[Vec<S>],
        cotangents: &[Vec<S>],
    ) -> Vec<Vec<S>> {
        let slope = |at: usize, x: S| match (x.value() > 0.0, at % 10) {
            (true, 9) => 2.0,
            (true, _) => 1.0,
            (false, _) => 0.0,
        };
        let pairs = inputs[0].iter().zip(&cotangents[0]).enumerate();
        vec![pairs.map(|(at, (x, gy))| *gy * S::constant(slope(at, *x))).collect()]
    }
}

static RELU: Op = Op { reference: &Wrong, ..relu::OP };

#[test]
fn a_wrong_written_vjp_is_told_by_its_element() {
    let (failures, _) = asked(&mut session(), &RELU);
    let told = |text: &&String| text.contains("by the chain rule") && text.contains("9] is ");
    assert!(failures.iter().any(|failure| told(&failure)), "{failures:?}");
}
