//! `vklab check`.

use std::env;
use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::check::{Outcome, Verdict};
use crate::ops::{Case, Cases, Op};
use crate::report::Summary;
use crate::run::{Line, RunFile, Targets, tasks};
use crate::worker::{Choice, Pool, Task, Update, choose};

use super::args::{CheckOptions, DeviceOptions, validation};
use super::{CliError, Ending};

pub(super) fn check(options: &CheckOptions) -> Result<Ending, CliError> {
    let targets = Targets::parse(&options.targets)?;
    let chosen = choices(&options.on)?;
    let size = Cases::from(options.cases);
    let seed = options.seed.unwrap_or_else(rand::random);
    let one = one_case(options, &targets, seed)?;
    let pick = |_: &Op| one.clone();
    let pick: Option<&dyn Fn(&Op) -> Option<Case>> = if one.is_some() { Some(&pick) } else { None };
    let mut tasks = tasks(&targets, &options.checks.chosen(), size, seed, pick);
    if let Some(shard) = options.shard {
        tasks = shard.of(tasks);
    }
    let mut file = match &options.out {
        Some(path) => Some(RunFile::create(path)?),
        None => None,
    };
    if let Some(file) = &mut file {
        let lab = env!("CARGO_PKG_VERSION").to_owned();
        file.write(&Line::Run { version: crate::run::VERSION, lab, seed, cases: size })?;
    }
    let mut say = Say { json: options.json, summary: Summary::default(), bad: 0, file };
    for choice in &chosen {
        on_device(choice, options, &tasks, &mut say)?;
    }
    say.end(seed)
}

/// Devices that were asked for, with those that must be there.
pub(super) fn choices(on: &DeviceOptions) -> Result<Vec<Choice>, CliError> {
    for required in &on.require {
        choose(std::slice::from_ref(required), validation(on.validate))?;
    }
    Ok(choose(&on.device, validation(on.validate))?)
}

/// `--case` belongs to one op.
fn one_case(
    options: &CheckOptions,
    targets: &Targets,
    seed: u64,
) -> Result<Option<Case>, CliError> {
    let Some(text) = &options.case else { return Ok(None) };
    let variants = targets.variants();
    let op = variants[0].0;
    if variants.iter().any(|(other, _)| other.name != op.name) {
        return Err(CliError::Usage("--case needs targets of one op".to_owned()));
    }
    Ok(Some(Case::parse(op, text, seed)?))
}

/// The command that starts a worker on a device.
pub(super) fn pool(choice: &Choice, on: &DeviceOptions) -> Result<Pool, CliError> {
    let program = env::current_exe()?.to_string_lossy().into_owned();
    let mut command = vec![program, "worker".to_owned()];
    command.push(format!("--device=vk:{}", choice.found.info.name));
    command.push(format!("--timeout={}", on.timeout));
    if on.validate {
        command.push("--validate".to_owned());
    }
    Ok(Pool { command, workers: on.workers, timeout: on.timeout.into() })
}

fn on_device(
    choice: &Choice,
    options: &CheckOptions,
    tasks: &[Task],
    say: &mut Say,
) -> Result<(), CliError> {
    let device = &choice.found.info.name;
    let total = tasks.iter().map(|task| task.cases.len()).sum::<usize>();
    let bar = progress(total, device);
    let mut verdicts: Vec<Vec<Option<Verdict>>> =
        tasks.iter().map(|task| vec![None; task.cases.len()]).collect();
    let mut known = false;
    let mut result = Ok(());
    pool(choice, &options.on)?.run(tasks, |update| match update {
        Update::Ready(info, calibration) => {
            if !known {
                known = true;
                result = std::mem::replace(&mut result, Ok(()))
                    .and_then(|()| say.write(&Line::Device { info, calibration }));
            }
        }
        Update::Answer { task, case, outcome } => {
            bar.inc(1);
            verdicts[task][case] = Some(verdict(device, &tasks[task], case, outcome));
        }
        Update::Closed(counters, leaks) => {
            say.summary.add_ledger(device, counters);
            for leak in leaks {
                say.bad += 1;
                println!("{leak}");
            }
        }
    })?;
    bar.finish_and_clear();
    result?;
    for verdict in verdicts.into_iter().flatten().flatten() {
        say.verdict(verdict)?;
    }
    if let Some(counters) = say.summary.ledgers().get(device).copied() {
        say.write(&Line::Ledger { device: device.clone(), counters })?;
    }
    Ok(())
}

fn verdict(device: &str, task: &Task, case: usize, outcome: Outcome) -> Verdict {
    let op = crate::ops::find_op(&task.op);
    Verdict {
        device: device.to_owned(),
        op: task.op.clone(),
        variant: task.variant.clone(),
        check: task.check,
        case: op.map_or_else(String::new, |op| task.cases[case].id(op)),
        seed: task.cases[case].seed,
        outcome,
    }
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

/// Where verdicts go.
struct Say {
    json: bool,
    summary: Summary,
    bad: usize,
    file: Option<RunFile>,
}

impl Say {
    fn write(&mut self, line: &Line) -> Result<(), CliError> {
        if let Some(file) = &mut self.file {
            file.write(line)?;
        }
        Ok(())
    }

    fn verdict(&mut self, verdict: Verdict) -> Result<(), CliError> {
        self.summary.add(&verdict);
        if verdict.outcome.is_bad() {
            self.bad += 1;
            self.show(&verdict);
        }
        self.write(&Line::Verdict(Box::new(verdict)))
    }

    fn show(&self, verdict: &Verdict) {
        let subject = format!("{}.{}", verdict.op, verdict.variant);
        if self.json {
            let (kind, message, finding) = match &verdict.outcome {
                Outcome::Fail { finding } => {
                    (finding.kind.clone(), finding.message.clone(), Some(finding))
                }
                Outcome::Crash { reason } | Outcome::Hang { reason } => {
                    (verdict.outcome.word().to_owned(), reason.clone(), None)
                }
                _ => return,
            };
            let file = finding.and_then(|f| f.file.clone());
            println!(
                "{}",
                json!({
                    "kind": kind, "message": message, "file": file,
                    "line": finding.and_then(|f| f.line),
                    "other_line": finding.and_then(|f| f.other_line),
                    "device": verdict.device, "target": subject, "check": verdict.check,
                    "case": verdict.case, "seed": verdict.seed, "finding": finding,
                })
            );
            return;
        }
        println!("{subject} {} on {}: {}", verdict.check, verdict.device, verdict.case);
        match &verdict.outcome {
            Outcome::Fail { finding } => println!("{finding}\n"),
            Outcome::Crash { reason } | Outcome::Hang { reason } => {
                println!("{}: {reason}\n", verdict.outcome.word());
            }
            _ => {}
        }
    }

    fn end(mut self, seed: u64) -> Result<Ending, CliError> {
        let verdicts = self.summary.verdicts();
        self.write(&Line::End { verdicts })?;
        if !self.json {
            println!("{}seed {seed}", self.summary);
        }
        Ok(if self.bad == 0 { Ending::Clean } else { Ending::Findings })
    }
}
