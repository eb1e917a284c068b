use vklab::check::{Check, Outcome, Session, Subject, applies, calibrate, cases, run};
use vklab::glsl::{Compiler, CompilerOptions};
use vklab::memory::LedgerOptions;
use vklab::ops::{ALL, Cases};
use vklab::vulkan::{OpenOptions, enumerate, open};

#[test]
fn smoke() {
    let found = enumerate().unwrap();
    let device = open(&found[0], &OpenOptions::default()).unwrap();
    let compiler = Compiler::new(CompilerOptions::default()).unwrap();
    let mut session = Session::new(Box::new(device), compiler, LedgerOptions::default());
    let t = std::time::Instant::now();
    let model = calibrate(&mut session).unwrap();
    eprintln!("{model:?} {:?}", t.elapsed());
    session.set_model(model);
    let only = std::env::var("OPS").unwrap_or_default();
    let full = if std::env::var("FULL").is_ok() { Cases::Full } else { Cases::Quick };
    for op in ALL {
        if !only.is_empty() && !only.split(',').any(|o| o == op.name) {
            continue;
        }
        for variant in op.variants {
            for check in Check::ALL {
                if !applies(check, op, variant) {
                    continue;
                }
                let t = std::time::Instant::now();
                let (mut pass, mut bad, mut other) = (0, 0, 0);
                for case in cases(check, op, full, 1) {
                    match run(&mut session, &Subject::new(op, variant), check, &case).unwrap() {
                        Outcome::Pass { .. } => pass += 1,
                        Outcome::Fail { finding } => {
                            bad += 1;
                            if bad < 3 {
                                eprintln!("{} {}\n{finding}", variant.name, case.id(op));
                            }
                        }
                        o => {
                            other += 1;
                            if other < 2 {
                                eprintln!("{o:?}");
                            }
                        }
                    }
                }
                eprintln!(
                    "{}.{} {check}: {pass} pass {bad} bad {other} other {:?}",
                    op.name,
                    variant.name,
                    t.elapsed()
                );
            }
        }
    }
    let (counters, leaks) = session.into_ledger().close();
    eprintln!("{counters:?} {leaks:?}");
}
