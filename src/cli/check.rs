//! `vklab check`.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::check::Verdict;
use crate::memory::MemoryFinding;
use crate::ops::{Cases, Registry};
use crate::report::{
    Annotations, Junit, Summary, finding_json, finding_text, leak_json, leak_text,
};
use crate::run::{Line, Matrices, RunFile, Targets, tasks};
use crate::worker::{Answer, Choice, Pool, Task, Update, choose};

use super::args::{CheckOptions, DeviceOptions, Format, validation};
use super::lock::lock;
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
    let mut say = Say::new(options.format(), file);
    let ran = chosen.iter().try_for_each(|choice| on_device(choice, options, &tasks, &mut say));
    // What was found counts even where the rest could not be asked.
    say.report(seed)?;
    ran?;
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
    let _lock = lock(choice, options.on.lock)?;
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
        refused: BTreeSet::new(),
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
    /// Tasks of which the rest can't be done.
    refused: BTreeSet<usize>,
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
            Update::Refused { task, message } => {
                self.refused.insert(task);
                let target = self.tasks[task].target();
                self.say.refuse(target, message);
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
                if gaps == Gaps::None && !self.refused.contains(&self.next.0) {
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
    format: Format,
    annotations: Annotations,
    junit: Junit,
    summary: Summary,
    bad: usize,
    /// What could not be asked, with the targets.
    refused: BTreeMap<String, BTreeSet<String>>,
    file: Option<RunFile>,
}

impl Say {
    fn new(format: Format, file: Option<RunFile>) -> Self {
        let (annotations, junit) = (Annotations::default(), Junit::default());
        let refused = BTreeMap::new();
        Self { format, annotations, junit, summary: Summary::default(), bad: 0, refused, file }
    }

    fn write(&mut self, line: &Line) -> Result<(), CliError> {
        if let Some(file) = &mut self.file {
            file.write(line)?;
        }
        Ok(())
    }

    fn verdict(&mut self, verdict: Verdict) -> Result<(), CliError> {
        self.summary.add(&verdict);
        match self.format {
            Format::Github => self.annotations.add(&verdict),
            Format::Junit => self.junit.add(&verdict),
            Format::Text | Format::Json => {}
        }
        if verdict.outcome.is_bad() {
            self.show(|| finding_text(&verdict), || finding_json(&verdict));
        }
        self.write(&Line::Verdict(Box::new(verdict)))
    }

    fn leak(&mut self, device: &str, leak: MemoryFinding) -> Result<(), CliError> {
        match self.format {
            Format::Github => self.annotations.add_leak(device, &leak),
            Format::Junit => self.junit.add_leak(device, &leak),
            Format::Text | Format::Json => {}
        }
        self.show(|| leak_text(device, &leak), || leak_json(device, &leak));
        self.write(&Line::Leak { device: device.to_owned(), leak: Box::new(leak) })
    }

    /// One message may stand for many targets.
    fn refuse(&mut self, target: String, message: String) {
        self.refused.entry(message).or_default().insert(target);
    }

    /// Findings are numbered as in the run file, so that `vklab explain RUN.jsonl:N` finds them.
    fn show(&mut self, text: impl Fn() -> String, json: impl Fn() -> Value) {
        self.bad += 1;
        match self.format {
            Format::Text => println!("{}. {}\n", self.bad, text()),
            Format::Json => println!("{}", json()),
            Format::Github | Format::Junit => {}
        }
    }

    /// What can only be printed when all is known.
    fn report(&self, seed: u64) -> Result<(), CliError> {
        match self.format {
            Format::Github => println!("{}", self.annotations),
            Format::Junit => println!("{}", self.junit.xml(seed)?.trim_end()),
            Format::Text | Format::Json => {}
        }
        Ok(())
    }

    fn end(mut self, seed: u64) -> Result<Ending, CliError> {
        let verdicts = self.summary.verdicts();
        self.write(&Line::End { verdicts })?;
        if matches!(self.format, Format::Text | Format::Github) {
            println!("{}seed {seed}", self.summary);
        }
        for (message, targets) in &self.refused {
            let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
            eprintln!("vklab: failed to check {}: {message}", targets.join(", "));
        }
        Ok(match (self.refused.len(), self.bad) {
            (0, 0) => Ending::Clean,
            (0, _) => Ending::Findings,
            _ => Ending::Refused,
        })
    }
}
