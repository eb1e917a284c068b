//! The checks of a registry as a test binary: one trial per device, variant and check, so that
//! `cargo test softmax` and nextest filter them.

use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::check::{Check, Outcome, applies, cases};
use crate::ops::{Cases, Op, Registry, flaws};
use crate::run::{
    Coverage, DEFAULT_EXPECTATIONS, Expectations, Judge, Matrices, Standing, Targets,
    UnexpectedPass,
};
use crate::vulkan::Validation;
use crate::worker::{Choice, Pool, Task, Update, choose};

use super::check::say_instead;

/// What a case may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The `main` of a test without harness. A trial runs in a worker like `vklab check` does, with the
/// quick cases and a fresh seed, which a failure prints; `VKLAB_SEED` replays it. The test binary is
/// its own worker. A record is a trial too, which needs no device. Known findings are read from
/// `tests/expectations.txt`: what is expected passes, what is skipped is ignored, and a line that
/// expects a failure in vain fails its trial.
#[must_use]
pub fn suite(registry: Registry) -> ExitCode {
    let mut given = env::args().skip(1);
    // A filter may be called `worker`, and no filter is followed by a device.
    if given.next().as_deref() == Some("worker") && given.any(|a| a.starts_with("--device=")) {
        return super::main(registry);
    }
    let arguments = Arguments::from_args();
    let seed = env::var("VKLAB_SEED").ok().and_then(|text| text.parse().ok());
    let seed: u64 = seed.unwrap_or_else(rand::random);
    match trials(&registry, seed) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(reason) => {
            eprintln!("the suite can't run: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn trials(registry: &Registry, seed: u64) -> Result<Vec<Trial>, super::CliError> {
    registry.validate()?;
    let program = env::current_exe()?.to_string_lossy().into_owned();
    let of_record = |op: &&'static Op| {
        let op = *op;
        Trial::test(format!("record::{}", op.name), move || match flaws(op) {
            flaws if flaws.is_empty() => Ok(()),
            flaws => Err(flaws.join("\n").into()),
        })
    };
    let mut trials: Vec<Trial> = registry.ops().iter().map(of_record).collect();
    let chosen = choose(&[], Validation::Off)?;
    say_instead(&chosen);
    let judge = Judge {
        expectations: expectations(registry)?,
        devices: chosen.iter().map(|choice| choice.info().clone()).collect(),
        coverage: Coverage::Whole,
    };
    for choice in &chosen {
        for (op, variant) in registry.variants() {
            let on_it = |check: &Check| check.is_asked_on(choice.info());
            let asked = Check::ALL.into_iter().filter(on_it);
            let asked = asked.filter(|check| applies(*check, op, variant));
            trials.extend(asked.map(|check| {
                let task = Task::variant(op, variant, check, &cases(check, op, Cases::Quick, seed));
                trial(&program, choice, task, &judge)
            }));
        }
    }
    Ok(trials)
}

/// Known findings live as long as the process, as the registry's ops do.
fn expectations(registry: &Registry) -> Result<&'static Expectations, super::CliError> {
    let expectations = Expectations::load_or_empty(Path::new(DEFAULT_EXPECTATIONS))?;
    expectations.validate(registry, &Targets::parse(registry, &[], Matrices::Bounded)?)?;
    Ok(Box::leak(Box::new(expectations)))
}

fn trial(program: &str, choice: &Choice, task: Task, judge: &Judge<'static>) -> Trial {
    let info = choice.info();
    let short = info.name.split(' ').next().unwrap_or(&info.name);
    let variant = task.work.variant_name().unwrap_or_default();
    let name = format!("{short}::{}::{variant}::{}", task.work.group(), task.check);
    // The worker's device waits longer than the pool, so that a hang is told in one way only.
    let timeout = format!("--timeout={}", 2 * TIMEOUT.as_secs());
    let command = [program, "worker", &timeout, &format!("--device={}", info.selector())];
    let command = command.map(str::to_owned).to_vec();
    let standing = judge.standing(info, &task);
    let is_skipped = standing.skip().is_some();
    let path = judge.expectations.path();
    Trial::test(name, move || run(command, &task, standing, path)).with_ignored_flag(is_skipped)
}

fn run(
    command: Vec<String>,
    task: &Task,
    mut standing: Standing<'_>,
    path: &Path,
) -> Result<(), Failed> {
    let pool = Pool { command, workers: 1, timeout: TIMEOUT };
    let mut failures = Vec::new();
    let (mut passed, mut expected) = (0, 0);
    pool.run(std::slice::from_ref(task), |update| match update {
        Update::Answer { case, answer, .. } => {
            let known = standing.judge(&answer.outcome);
            match answer.outcome {
                Outcome::Pass { .. } => passed += 1,
                Outcome::Unsupported { .. } => {}
                _ if known.is_some() => expected += 1,
                bad => failures.push(format!("{}: {bad}", task.cases[case])),
            }
        }
        Update::Closed(_, leaks) => failures.extend(leaks.iter().map(ToString::to_string)),
        Update::Refused { case, message, .. } => {
            let case = case.map_or("the rest", |case| &task.cases[case]);
            failures.push(format!("{case}: {message}"));
        }
        Update::NotDumped { message, .. } => failures.push(message),
        Update::Ready(..) => {}
    })?;
    failures.extend(standing.unmet(task.cases.len()).map(|line| {
        let (path, kind) = (path.display(), UnexpectedPass::KIND);
        format!("{path}:{}: {kind}: no case failed with \"{}\"", line.line, line.message)
    }));
    if failures.is_empty() && passed + expected > 0 {
        return Ok(());
    }
    let seed = task.seed;
    // A table of all failures shows patterns that the first one alone would hide.
    Err(format!("seed {seed}, {passed} passed\n{}", failures.join("\n")).into())
}
