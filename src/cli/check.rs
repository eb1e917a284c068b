//! `vklab check`.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::check::Verdict;
use crate::memory::MemoryFinding;
use crate::ops::{Cases, Registry};
use crate::report::{Summary, finding_json, finding_text, leak_json, leak_text};
use crate::run::{Line, Matrices, RunFile, Targets, tasks};
use crate::worker::{Answer, Choice, Pool, Task, Update, choose};

use super::args::{CheckOptions, DeviceOptions, validation};
use super::{CliError, Ending};

pub(super) fn check(registry: &Registry, options: &CheckOptions) -> Result<Ending, CliError> {
    let matrices = if options.many_builds > 1 { Matrices::Unbounded } else { Matrices::Bounded };
    let targets = Targets::parse(registry, &options.targets, matrices)?;
    for (path, reason) in targets.left_out() {
        eprintln!("vklab: skipped {}: {reason}", path.display());
    }
    let chosen = choices(&options.on)?;
    let size = Cases::from(options.cases);
    let seed = options.seed.unwrap_or_else(rand::random);
    let checks = options.checks.chosen();
    let mut tasks = tasks(&targets, &checks, size, seed, options.case.as_deref())?;
    if tasks.is_empty() && targets.left_out().is_empty() {
        let names: Vec<&str> = checks.iter().map(|check| check.name()).collect();
        let message =
            format!("{} asks nothing of these targets; see `vklab list`", names.join(", "));
        return Err(CliError::Usage(message));
    }
    if let Some(shard) = options.shard {
        tasks = shard.of(tasks);
    }
    if let Some(folder) = &options.dump {
        fs::create_dir_all(folder).map_err(|error| {
            CliError::Usage(format!("failed to make the folder {}: {error}", folder.display()))
        })?;
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

/// The command that starts a worker on a device.
pub(super) fn pool(
    choice: &Choice,
    on: &DeviceOptions,
    dump: Option<&Path>,
) -> Result<Pool, CliError> {
    let program = env::current_exe()?.to_string_lossy().into_owned();
    let mut command = vec![program, "worker".to_owned()];
    command.push(format!("--device=vk:{}", choice.found.info.name));
    command.push(format!("--timeout={}", on.timeout));
    if on.validate {
        command.push("--validate".to_owned());
    }
    if let Some(folder) = dump {
        command.push(format!("--dump={}", folder.display()));
    }
    Ok(Pool { command, workers: on.workers, timeout: on.timeout.into() })
}

fn on_device(
    choice: &Choice,
    options: &CheckOptions,
    tasks: &[Task],
    say: &mut Say,
) -> Result<(), CliError> {
    let pool = pool(choice, &options.on, options.dump.as_deref())?;
    let device = choice.found.info.name.as_str();
    let total = tasks.iter().map(|task| task.cases.len()).sum::<usize>();
    let bar = progress(total, device);
    let waiting = tasks.iter().map(|task| vec![None; task.cases.len()]).collect();
    let mut hearing = Hearing {
        device,
        tasks,
        say,
        bar,
        waiting,
        next: (0, 0),
        is_open: false,
        leaks: Vec::new(),
    };
    let mut heard = Ok(());
    let ran = pool.run(tasks, |update| {
        if heard.is_ok() {
            heard = hearing.hear(update);
        }
    });
    heard?;
    // What was found counts even where the rest could not be asked.
    hearing.end(if ran.is_ok() { Gaps::None } else { Gaps::Passed })?;
    Ok(ran?)
}

/// Whether cases may be left without an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gaps {
    None,
    Passed,
}

/// What workers report, told in the order of tasks and cases, whichever worker was faster.
struct Hearing<'a> {
    device: &'a str,
    tasks: &'a [Task],
    say: &'a mut Say,
    bar: ProgressBar,
    /// Answers by task and case; told ones are gone.
    waiting: Vec<Vec<Option<Answer>>>,
    /// Task and case to be told next.
    next: (usize, usize),
    is_open: bool,
    leaks: Vec<MemoryFinding>,
}

impl Hearing<'_> {
    fn hear(&mut self, update: Update) -> Result<(), CliError> {
        match update {
            // Each worker opens the same device.
            Update::Ready(..) if self.is_open => {}
            Update::Ready(info, calibration) => {
                self.is_open = true;
                self.say.write(&Line::Device { info, calibration })?;
            }
            Update::Answer { task, case, answer } => {
                self.bar.inc(1);
                self.waiting[task][case] = Some(answer);
                self.tell(Gaps::None)?;
            }
            Update::Closed(counters, leaks) => {
                self.say.summary.add_ledger(self.device, counters);
                self.leaks.extend(leaks);
            }
        }
        Ok(())
    }

    fn tell(&mut self, gaps: Gaps) -> Result<(), CliError> {
        while let Some(answers) = self.waiting.get_mut(self.next.0) {
            let Some(answer) = answers.get_mut(self.next.1) else {
                self.next = (self.next.0 + 1, 0);
                continue;
            };
            let Some(answer) = answer.take() else {
                if gaps == Gaps::None {
                    break;
                }
                self.next.1 += 1;
                continue;
            };
            let verdict = self.tasks[self.next.0].verdict(self.device, self.next.1, answer);
            self.bar.suspend(|| self.say.verdict(verdict))?;
            self.next.1 += 1;
        }
        Ok(())
    }

    fn end(mut self, gaps: Gaps) -> Result<(), CliError> {
        self.tell(gaps)?;
        self.bar.finish_and_clear();
        if gaps == Gaps::None && self.next.0 < self.tasks.len() {
            return Err(CliError::Usage("a worker left cases unanswered".to_owned()));
        }
        for leak in self.leaks {
            self.say.leak(self.device, leak)?;
        }
        let device = self.device.to_owned();
        match self.say.summary.ledgers().get(self.device).copied() {
            Some(counters) => self.say.write(&Line::Ledger { device, counters }),
            None => Ok(()),
        }
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
            self.show(|| finding_text(&verdict), || finding_json(&verdict));
        }
        self.write(&Line::Verdict(Box::new(verdict)))
    }

    fn leak(&mut self, device: &str, leak: MemoryFinding) -> Result<(), CliError> {
        self.show(|| leak_text(device, &leak), || leak_json(device, &leak));
        self.write(&Line::Leak { device: device.to_owned(), leak: Box::new(leak) })
    }

    /// Findings are numbered as in the run file, so that `vklab explain RUN.jsonl:N` finds them.
    fn show(&mut self, text: impl Fn() -> String, json: impl Fn() -> Value) {
        self.bad += 1;
        if self.json {
            println!("{}", json());
        } else {
            println!("{}. {}\n", self.bad, text());
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
