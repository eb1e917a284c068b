//! The checks of a registry as a test binary: one trial per device, variant and check, so that
//! `cargo test softmax` and nextest filter them.

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::check::{Check, Outcome, applies, cases};
use crate::ops::{Cases, Op, Registry, Variant, flaws};
use crate::vulkan::Validation;
use crate::worker::{Choice, Pool, Task, Update, choose};

/// What a case may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The `main` of a test without harness. A trial runs in a worker like `vklab check` does, with the
/// quick cases and a fresh seed, which a failure prints; `VKLAB_SEED` replays it. The test binary is
/// its own worker. A record is a trial too, which needs no device.
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
    for choice in &choose(&[], Validation::Off)? {
        for (op, variant) in registry.variants() {
            let asked = Check::ALL.into_iter().filter(|check| applies(*check, op, variant));
            trials.extend(asked.map(|check| trial(&program, choice, op, variant, check, seed)));
        }
    }
    Ok(trials)
}

fn trial(
    program: &str,
    choice: &Choice,
    op: &'static Op,
    variant: &Variant,
    check: Check,
    seed: u64,
) -> Trial {
    let device = &choice.found.info.name;
    let short = device.split(' ').next().unwrap_or(device);
    let name = format!("{short}::{}::{}::{check}", op.name, variant.name);
    let timeout = format!("--timeout={}", TIMEOUT.as_secs());
    let command = [program, "worker", &timeout, &format!("--device=vk:{device}")];
    let command = command.map(str::to_owned).to_vec();
    let task = Task::variant(op, variant, check, &cases(check, op, Cases::Quick, seed));
    Trial::test(name, move || run(command, &task, seed))
}

fn run(command: Vec<String>, task: &Task, seed: u64) -> Result<(), Failed> {
    let pool = Pool { command, workers: 1, timeout: TIMEOUT };
    let mut failures = Vec::new();
    let mut passed = 0;
    pool.run(std::slice::from_ref(task), |update| match update {
        Update::Answer { case, answer, .. } => match answer.outcome {
            Outcome::Pass { .. } => passed += 1,
            Outcome::Unsupported { .. } => {}
            bad => failures.push(format!("{}: {bad}", task.cases[case])),
        },
        Update::Closed(_, leaks) => failures.extend(leaks.iter().map(ToString::to_string)),
        Update::Refused { message, .. } => failures.push(message),
        Update::Ready(..) => {}
    })?;
    if failures.is_empty() && passed > 0 {
        return Ok(());
    }
    // A table of all failures shows patterns that the first one alone would hide.
    Err(format!("seed {seed}, {passed} passed\n{}", failures.join("\n")).into())
}
