//! Bugs planted in these kernels are found, each by the check that is there for it.

use vklab::check::{Check, Kind, Outcome, Session, Subject, cases, run};
use vklab::glsl::Source;
use vklab::memory::LedgerOptions;
use vklab::ops::{Cases, Dispatch, Plan, Problem, Step, Target, Unsupported, Variant};
use vklab::vulkan::Validation;
use vklab::worker::{choose, open_session};

fn session() -> Session {
    let chosen = choose(&[], Validation::Off).expect("a device");
    let mut session = open_session(&chosen[0], LedgerOptions::default()).expect("it opens");
    session.add_includes(Box::new(own_ops::registry().includes().clone()));
    session
}

/// What the first quick case that fails says.
fn failure(session: &mut Session, subject: &Subject<'_>, check: Check) -> Option<Kind> {
    let cases = cases(check, subject.op, Cases::Quick, 3);
    cases.iter().find_map(|case| match run(session, subject, check, case).expect("it runs") {
        Outcome::Fail { finding } => Some(finding.kind),
        _ => None,
    })
}

/// The variant with one passage of one kernel replaced.
fn planted(
    target: (&str, &str),
    path: &str,
    right: &str,
    wrong: &str,
    check: Check,
) -> Option<Kind> {
    let registry = own_ops::registry();
    let (op, variant) = registry.find(target.0, target.1).expect("a variant of this registry");
    let file = format!("{}/glsl/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).expect("the kernel");
    assert!(text.contains(right), "{path} has no `{right}`");
    let mut session = session();
    let mut subject = Subject::new(op, variant);
    assert_eq!(failure(&mut session, &subject, check), None, "the right kernel passes");
    subject.replaced = Some((path, Source::new(path.to_owned(), text.replace(right, wrong))));
    failure(&mut session, &subject, check)
}

#[test]
fn a_wrong_constant() {
    let path = "swish/naive.comp";
    let kind = planted(("swish", "naive"), path, "0.5 * x[i] *", "0.51 * x[i] *", Check::Forward);
    assert_eq!(kind, Some(Kind::WrongResult));
}

/// The reference that judges this VJP is derived.
#[test]
fn a_wrong_slope() {
    let path = "swish/vjp_naive.comp";
    let kind = planted(("swish", "vjp_naive"), path, "1.0 - t * t", "1.0 - t", Check::Gradient);
    assert_eq!(kind, Some(Kind::WrongGradient));
}

/// The reference that judges this VJP is written.
#[test]
fn a_forgotten_factor() {
    let path = "energy/vjp_naive.comp";
    let kind = planted(("energy", "vjp_naive"), path, "2.0 * scale", "scale", Check::Gradient);
    assert_eq!(kind, Some(Kind::WrongGradient));
}

#[test]
fn a_dropped_bound() {
    let target = ("energy", "vjp_naive");
    let kind = planted(target, "energy/vjp_naive.comp", "if (i < len) ", "", Check::Memory);
    assert!(kind.is_some(), "guards behind the data see it");
}

#[test]
fn a_span_for_one_workgroup_size_only() {
    let path = "energy/parts.comp";
    let right = "flat_workgroup() * WORKGROUP * SPAN;";
    let kind =
        planted(("energy", "two_pass"), path, right, "flat_workgroup() * 256;", Check::Portability);
    assert!(kind.is_some(), "other workgroup sizes see it");
}

/// A plan is data, so a bug in one is planted there.
#[test]
fn a_dropped_barrier_between_the_passes() {
    fn unordered(p: &Problem<'_>, target: &Target<'_>) -> Result<Plan, Unsupported> {
        let mut plan = (own_ops::energy::OP.variants[1].plan)(p, target)?;
        plan.steps.retain(|step| !matches!(step, Step::Barrier));
        Ok(plan)
    }
    let registry = own_ops::registry();
    let (op, right) = registry.find("energy", "two_pass").expect("the variant");
    let wrong = Variant { plan: unordered, ..*right };
    let mut session = session();
    assert_eq!(failure(&mut session, &Subject::new(op, right), Check::Memory), None);
    assert!(failure(&mut session, &Subject::new(op, &wrong), Check::Memory).is_some());
}

#[test]
fn a_swapped_push_struct() {
    vklab::push_block! {
        struct Swapped {
            scale: f32,
            len: u32,
        }
    }
    fn swapped(p: &Problem<'_>, _target: &Target<'_>) -> Result<Plan, Unsupported> {
        let mut plan = (own_ops::energy::OP.variants[0].plan)(p, _target)?;
        let swap = |dispatch: Dispatch| dispatch.push_block(&Swapped { scale: 0.5, len: 1 });
        for step in &mut plan.steps {
            if let Step::Dispatch(dispatch) = step {
                **dispatch = swap((**dispatch).clone());
            }
        }
        Ok(plan)
    }
    let registry = own_ops::registry();
    let (op, right) = registry.find("energy", "naive").expect("the variant");
    let wrong = Variant { plan: swapped, ..*right };
    let case = &cases(Check::Forward, op, Cases::Quick, 3)[0];
    let error = run(&mut session(), &Subject::new(op, &wrong), Check::Forward, case);
    let error = error.expect_err("no kernel is blamed for it").to_string();
    assert!(error.contains("offset") && error.contains("scale"), "{error}");
}
