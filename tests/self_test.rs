//! The comparison's own test: in every op and case, one element moved by twice what it is allowed
//! is caught, and the result itself is not.

use vklab::check::{Check, Expected, Subject, Trial, cases};
use vklab::numeric::{ErrorModel, Stream, next_after, ulp_of};
use vklab::ops::{self, Cases, Pass};
use vklab::tensor::{Dtype, Tensor};

/// What the seeds of this test are derived from; every run of the suite draws the same.
const SEED: u64 = 20;

/// The exact result, rounded to storage.
fn rounded(expected: &Expected) -> Tensor {
    Tensor::new(expected.dtype, &expected.shape, &expected.values)
}

/// Twice the bound away, in storage: f16 adds the ulp by which rounding may go either way. Away from
/// zero, since what is subnormal may be flushed to it.
fn moved(expected: &Expected, at: usize) -> f64 {
    let (want, bound) = (expected.values[at], expected.bounds[at]);
    let step = if expected.dtype == Dtype::F16 { ulp_of(Dtype::F16, want) } else { 0.0 };
    let outwards = f64::INFINITY.copysign(want);
    let away = want + (2.0 * (bound + step)).copysign(want);
    next_after(expected.dtype, expected.dtype.round(away), outwards)
}

#[test]
fn one_element_moved_by_twice_its_bound_is_caught_in_every_case() {
    let (mut elements, mut unbounded, mut missed) = (0usize, 0usize, Vec::new());
    for op in ops::ALL {
        for pass in [Pass::Forward, Pass::Vjp] {
            let Some(variant) = op.variants.iter().find(|v| v.pass == pass) else { continue };
            let check = if pass == Pass::Forward { Check::Forward } else { Check::Gradient };
            for case in cases(check, op, Cases::Quick, SEED) {
                let trial = Trial::new(&Subject::new(op, variant), &case, &ErrorModel::SPEC);
                for expected in &trial.expected {
                    let clean = rounded(expected);
                    let name = format!("{} {} {}", op.name, case.id(op), expected.name);
                    if !expected.compare(&clean).bad.is_empty() {
                        missed.push(format!("{name}: false alarm on the reference itself"));
                    }
                    let bounded: Vec<usize> = (0..clean.len())
                        .filter(|at| expected.bounds[*at].is_finite())
                        .filter(|at| expected.values[*at].abs() < 60_000.0)
                        .collect();
                    elements += clean.len();
                    unbounded += clean.len() - bounded.len();
                    if bounded.is_empty() {
                        let says_nothing =
                            clean.is_empty() || expected.values.iter().all(|v| !v.is_finite());
                        if !says_nothing && expected.values.iter().any(|v| v.abs() < 60_000.0) {
                            missed.push(format!("{name}: no element has a bound"));
                        }
                        continue;
                    }
                    let mut stream = Stream::new(SEED, &[&name]);
                    let at = bounded[stream.index(bounded.len())];
                    let mut values = clean.values();
                    values[at] = moved(expected, at);
                    let got = Tensor::new(expected.dtype, &expected.shape, &values);
                    if !expected.compare(&got).bad.contains(&at) {
                        missed.push(format!("{name}[{at}]: {:e} passed", values[at]));
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    // A bound that says nothing would make this test pass for the wrong reason.
    assert!(unbounded * 20 < elements, "{unbounded} of {elements} elements have no bound");
}

/// An in-place pair that names nothing, or an output before its input, would run apart and pass.
#[test]
fn every_pair_that_may_share_memory_can_be_shared() {
    for op in ops::ALL {
        for variant in op.variants {
            let check =
                if variant.pass == Pass::Forward { Check::Forward } else { Check::Gradient };
            let case = &cases(check, op, Cases::Quick, SEED)[0];
            let slots = Trial::new(&Subject::new(op, variant), case, &ErrorModel::SPEC).slots;
            let place = |name: &str| slots.iter().position(|slot| slot.name == name);
            for (input, output) in variant.aliases {
                let both = (place(input), place(output));
                let shared = matches!(both, (Some(first), Some(second)) if first < second);
                assert!(shared, "{}.{}: {input} and {output} at {both:?}", op.name, variant.name);
            }
        }
    }
}
