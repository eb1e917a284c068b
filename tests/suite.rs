//! One trial per device, variant and check, so that `cargo test softmax` and nextest filter them.
//!
//! A trial runs in a worker like `vklab check` does, with the quick cases and a fresh seed, which a
//! failure prints; `VKLAB_SEED` replays it.

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use vklab::check::{Check, Outcome, applies, cases};
use vklab::ops::{self, Cases, Op, Variant};
use vklab::vulkan::Validation;
use vklab::worker::{Choice, Pool, Task, Update, choose};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let seed = env::var("VKLAB_SEED").ok().and_then(|text| text.parse().ok());
    let seed: u64 = seed.unwrap_or_else(rand::random);
    let chosen = match choose(&[], Validation::Off) {
        Ok(chosen) => chosen,
        Err(error) => {
            eprintln!("the suite needs a device that executes: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = Vec::new();
    for choice in &chosen {
        for op in ops::ALL {
            for variant in op.variants {
                let asked = Check::ALL.into_iter().filter(|check| applies(*check, op, variant));
                trials.extend(asked.map(|check| trial(choice, op, variant, check, seed)));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(choice: &Choice, op: &'static Op, variant: &Variant, check: Check, seed: u64) -> Trial {
    let device = choice.found.info.name.clone();
    let short = device.split(' ').next().unwrap_or(&device).to_owned();
    let name = format!("{short}::{}::{}::{check}", op.name, variant.name);
    let task = Task::variant(op, variant, check, &cases(check, op, Cases::Quick, seed));
    Trial::test(name, move || run(&device, &task, seed))
}

fn run(device: &str, task: &Task, seed: u64) -> Result<(), Failed> {
    let device = format!("--device=vk:{device}");
    let command = [env!("CARGO_BIN_EXE_vklab"), "worker", "--timeout=30", &device];
    let command = command.map(str::to_owned).to_vec();
    let pool = Pool { command, workers: 1, timeout: Duration::from_secs(30) };
    let mut failures = Vec::new();
    let mut passed = 0;
    pool.run(std::slice::from_ref(task), |update| match update {
        Update::Answer { case, answer, .. } => match answer.outcome {
            Outcome::Pass { .. } => passed += 1,
            Outcome::Unsupported { .. } => {}
            bad => failures.push(format!("{}: {bad}", task.cases[case])),
        },
        Update::Closed(_, leaks) => failures.extend(leaks.iter().map(ToString::to_string)),
        Update::Ready(..) => {}
    })?;
    if failures.is_empty() && passed > 0 {
        return Ok(());
    }
    // A table of all failures shows patterns that the first one alone would hide.
    Err(format!("seed {seed}, {passed} passed\n{}", failures.join("\n")).into())
}
