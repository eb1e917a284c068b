//! `vklab check`.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::check::Check;
use crate::ops::Registry;
use crate::report::{Colour, Hearing, Refused, Stale, Telling};
use crate::run::{
    DEFAULT_EXPECTATIONS, Expectations, Gaps, Judge, Learned, Line, Matrices, Rewritten, RunFile,
    Targets, tasks,
};
use crate::worker::{Choice, Pool, Task, choose};

use super::args::{CheckOptions, DeviceOptions, validation};
use super::lock::lock;
use super::look::targets;
use super::{CliError, Ending, print_line};

pub(super) fn check(registry: &Registry, options: &CheckOptions) -> Result<Ending, CliError> {
    // One case is one build, however many there are.
    let is_unbounded = options.many_builds > 1 || options.case.is_some();
    let matrices = if is_unbounded { Matrices::Unbounded } else { Matrices::Bounded };
    let targets = targets(registry, options, matrices)?;
    for (path, reason) in targets.left_out() {
        eprintln!("vklab: skipped {}: {reason}", path.display());
    }
    let chosen = choices(&options.on)?;
    let is_asked = |check: &Check| chosen.iter().any(|choice| check.is_asked_on(choice.info()));
    if !options.checks.chosen().iter().any(is_asked) {
        let message = "sanitize asks the interpreter alone: name it with --device soft".to_owned();
        return Err(CliError::Usage(message));
    }
    let seed = options.seed.unwrap_or_else(rand::random);
    let tasks = asked(&targets, options, seed)?;
    let expectations = expectations(options)?;
    expectations.validate(registry, &targets)?;
    let judge = Judge {
        expectations: &expectations,
        devices: chosen.iter().map(|choice| choice.info().clone()).collect(),
        coverage: options.coverage(),
    };
    if let Some(folder) = &options.dump {
        fs::create_dir_all(folder).map_err(|error| {
            CliError::Usage(format!("failed to make the folder {}: {error}", folder.display()))
        })?;
    }
    let telling = Telling::new(options.style(), print_line, run_file(options, seed)?);
    let mut telling = telling.coloured(colour());
    if options.write_expectations {
        expectations.prepare()?;
    }
    let mut learned = Learned::default();
    let ran = chosen.iter().try_for_each(|choice| {
        on_device(choice, options, &tasks, &judge, &mut telling, &mut learned)
    });
    // What was found counts even where the rest could not be asked.
    telling.report(seed)?;
    tell_refused(telling.refused());
    ran?;
    let told = telling.end(seed)?;
    let mut findings = told.findings;
    if options.write_expectations {
        let Rewritten { text, lines, fresh } = learned.rewritten(&expectations, seed);
        expectations.replace(&text)?;
        let path = expectations.path().display();
        eprintln!("vklab: wrote {lines} lines to {path}, {fresh} of them new");
        // No line can speak of a leak.
        findings = told.leaks;
    }
    Ok(match (told.refused.len(), findings) {
        (0, 0) => Ending::Clean,
        (0, _) => Ending::Findings,
        _ => Ending::Refused,
    })
}

/// Colours are for terminals, and for those who don't mind them (no-color.org).
fn colour() -> Colour {
    let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stdout().is_terminal() && !is_unwanted { Colour::Ansi } else { Colour::None }
}

/// Errors that are told; a kernel file may have one for each of its builds.
const TOLD: usize = 20;

pub(super) fn tell_refused(refused: &Refused) {
    for (message, targets) in refused.iter().take(TOLD) {
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        eprintln!("vklab: failed to check {}: {message}", targets.join(", "));
    }
    if refused.len() > TOLD {
        eprintln!("vklab: and {} more errors; a run file has them all", refused.len() - TOLD);
    }
}

fn asked(targets: &Targets, options: &CheckOptions, seed: u64) -> Result<Vec<Task>, CliError> {
    let mut checks = options.checks.chosen();
    checks.retain(|check| *check != Check::Limits || options.profile.0.is_some());
    let tasks = tasks(targets, &checks, options.cases.into(), seed, options.case.as_deref())?;
    if tasks.is_empty() && targets.left_out().is_empty() {
        let names: Vec<&str> = checks.iter().map(|check| check.name()).collect();
        let message =
            format!("{} asks nothing of these targets; see `vklab list`", names.join(", "));
        return Err(CliError::Usage(message));
    }
    if tasks.is_empty() {
        eprintln!("vklab: nothing was checked: every kernel file was skipped");
    }
    Ok(match options.shard {
        Some(shard) => shard.of(tasks),
        None => tasks,
    })
}

fn expectations(options: &CheckOptions) -> Result<Expectations, CliError> {
    let given = options.expectations.as_deref();
    Ok(match given {
        Some(path) if !options.write_expectations => Expectations::load(path)?,
        _ => Expectations::load_or_empty(given.unwrap_or(Path::new(DEFAULT_EXPECTATIONS)))?,
    })
}

fn run_file(options: &CheckOptions, seed: u64) -> Result<Option<RunFile>, CliError> {
    let Some(path) = &options.out else { return Ok(None) };
    let mut file = RunFile::create(path)?;
    let (lab, cases) = (env!("CARGO_PKG_VERSION").to_owned(), options.cases.into());
    file.write(&Line::Run { version: crate::run::VERSION, lab, seed, cases })?;
    Ok(Some(file))
}

/// Devices that were asked for, with those that must be there.
pub(super) fn choices(on: &DeviceOptions) -> Result<Vec<Choice>, CliError> {
    for required in &on.require {
        choose(std::slice::from_ref(required), validation(on.validate))?;
    }
    let chosen = choose(&on.device, validation(on.validate))?;
    say_instead(&chosen);
    if !on.subgroup_size.is_empty() && !chosen.iter().any(|c| c.info().is_interpreter()) {
        let message = "--subgroup-size goes with --device soft".to_owned();
        return Err(CliError::Usage(message));
    }
    Ok(chosen)
}

/// Says why a device was chosen that nobody named.
pub(super) fn say_instead(chosen: &[Choice]) {
    for choice in chosen {
        if let Some(reason) = &choice.instead {
            eprintln!("vklab: {reason}; using `{}`, the interpreter", choice.info().selector());
        }
    }
}

/// The command that starts a worker on a device.
pub(super) fn pool(
    choice: &Choice,
    on: &DeviceOptions,
    dump: Option<&Path>,
) -> Result<Pool, CliError> {
    let program = env::current_exe()?.to_string_lossy().into_owned();
    let mut command = vec![program, "worker".to_owned()];
    command.push(format!("--device={}", choice.info().selector()));
    // The worker's device waits longer than the pool, so that a hang is told in one way only.
    let timeout = Duration::from(on.timeout);
    command.push(format!("--timeout={}", (2.0 * timeout.as_secs_f64()).min(9e8)));
    if choice.info().is_interpreter() && !on.subgroup_size.is_empty() {
        let sizes: Vec<String> = on.subgroup_size.iter().map(u32::to_string).collect();
        command.push(format!("--subgroup-size={}", sizes.join(",")));
    }
    if on.validate {
        command.push("--validate".to_owned());
    }
    if let Some(folder) = dump {
        command.push(format!("--dump={}", folder.display()));
    }
    Ok(Pool { command, workers: on.workers, timeout })
}

fn on_device(
    choice: &Choice,
    options: &CheckOptions,
    tasks: &[Task],
    judge: &Judge<'_>,
    telling: &mut Telling,
    learned: &mut Learned,
) -> Result<(), CliError> {
    let _lock = lock(choice, options.on.lock)?;
    let mut pool = pool(choice, &options.on, options.dump.as_deref())?;
    if let Some(profile) = &options.profile.0 {
        pool.command.push(format!("--profile={profile}"));
    }
    let info = choice.info();
    let on_it = |task: &&Task| task.check.is_asked_on(info);
    let tasks: Vec<Task> = tasks.iter().filter(on_it).cloned().collect();
    let mut hearing = Hearing::new(info, &tasks, judge, telling, progress(0, &info.name));
    let mut heard = Ok(());
    let ran = pool.run(&hearing.asked(), |update| {
        if heard.is_ok() {
            heard = hearing.hear(update);
        }
    });
    heard?;
    let stale = if options.write_expectations { Stale::Removed } else { Stale::Told };
    // What was found counts even where the rest could not be asked.
    hearing.end(if ran.is_ok() { Gaps::None } else { Gaps::Passed }, stale, learned)?;
    Ok(ran?)
}

pub(super) fn progress(total: usize, device: &str) -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {eta}");
    let bar = ProgressBar::with_draw_target(Some(total as u64), target);
    bar.set_prefix(device.to_owned());
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}
