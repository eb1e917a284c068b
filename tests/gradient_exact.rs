//! Every VJP of the registry agrees with the derivative of the op's own forward kernel, and no faulty
//! one does.

use std::collections::BTreeMap;

use vklab::check::{Check, Effort, Outcome, Session, Subject, cases, run};
use vklab::faulty::{self, Fault};
use vklab::glsl::{Compiler, CompilerOptions};
use vklab::memory::LedgerOptions;
use vklab::ops::{self, Cases, Pass};
use vklab::soft::{Soft, SoftOptions};

const SEED: u64 = 17;

fn session() -> Session {
    let device = Soft::open(&SoftOptions::default()).expect("an interpreter");
    let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
    Session::new(Box::new(device), compiler, LedgerOptions::default())
}

/// Failures and refusals, with the number of cases that passed and the worst distance among them.
#[derive(Default)]
struct Answers {
    bad: Vec<String>,
    passed: usize,
    worst: f64,
}

#[test]
fn right_kernels_agree_with_the_forward() {
    let mut session = session();
    let mut failures = Vec::new();
    for op in ops::ALL {
        for variant in op.variants.iter().filter(|variant| variant.pass == Pass::Vjp) {
            let mut answers = Answers::default();
            for case in cases(Check::GradientExact, op, Cases::Quick, SEED) {
                let subject = Subject { effort: Effort::FirstFailure, ..Subject::new(op, variant) };
                let outcome = run(&mut session, &subject, Check::GradientExact, &case);
                match outcome.expect("it runs") {
                    Outcome::Pass { worst } => {
                        answers.passed += 1;
                        answers.worst = answers.worst.max(worst);
                    }
                    bad => answers.bad.push(format!(
                        "{}.{} {}: {bad}",
                        op.name,
                        variant.name,
                        case.id(op)
                    )),
                }
            }
            println!(
                "{}.{}: {} passed, worst {:.3}",
                op.name, variant.name, answers.passed, answers.worst
            );
            assert!(answers.passed > 0 || !answers.bad.is_empty(), "{} says nothing", op.name);
            failures.extend(answers.bad);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_backward_fault_is_found() {
    let mut session = session();
    let mut caught = BTreeMap::new();
    let mut missed = Vec::new();
    for fault in faulty::all().filter(|fault| fault.place().1.pass == Pass::Vjp) {
        match found(&mut session, fault) {
            Some(what) => {
                println!("{}: {what}", fault.name);
                caught.insert(fault.name, what);
            }
            None => missed.push(fault.name),
        }
    }
    assert!(caught.len() >= 16, "{caught:#?}");
    assert!(missed.is_empty(), "missed: {}", missed.join(", "));
}

/// The first failure.
fn found(session: &mut Session, fault: &Fault) -> Option<String> {
    let (op, variant) = fault.place();
    let mut subject = Subject { effort: Effort::FirstFailure, ..Subject::new(op, variant) };
    fault.plant(&mut subject);
    cases(Check::GradientExact, op, fault.needs, SEED).into_iter().find_map(|case| {
        match run(session, &subject, Check::GradientExact, &case).expect("it runs") {
            Outcome::Fail { finding } => Some(format!("{}: {finding}", case.id(op))),
            _ => None,
        }
    })
}
