//! Workers that die, hang or talk nonsense cost a verdict and a new worker, never the run.
//!
//! The workers are this program again, told by its first argument to be one. A case's id tells
//! such a worker what to do with it, so that nothing has to be remembered from one to the next.

use std::env;
use std::io::{self, BufRead, Write};
use std::num::ParseIntError;
use std::process::{ExitCode, abort};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use vklab::check::{Check, Effort, Outcome};
use vklab::device::{DeviceInfo, Features, Limits};
use vklab::memory::Counters;
use vklab::numeric::ErrorModel;
use vklab::worker::{Event, Failure, Pool, PoolError, Task, Update, Work};

const WORKER: &str = "--be-a-worker";
const FINE: u64 = 0;
const EXIT: u64 = 1;
const ABORT: u64 = 2;
const SILENT: u64 = 3;
const BABBLE: u64 = 4;
const DEVICE_LOST: u64 = 5;
const FENCE: u64 = 6;
const LAB_FAULT: u64 = 7;
const LOST: u64 = 8;
const LEAVES: u64 = 9;
const BYTES: u64 = 10;
const REFUSE: u64 = 11;
const REFUSE_REST: u64 = 12;
const NO_DUMP: u64 = 13;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some(WORKER) {
        let mode = arguments.next().unwrap_or_default();
        return match worker(&mode) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let trials = vec![
        Trial::test("a_worker_that_exits_costs_one_verdict", || one_bad(EXIT)),
        Trial::test("a_worker_that_is_killed_by_a_signal_costs_one_verdict", || one_bad(ABORT)),
        Trial::test("a_worker_that_falls_silent_costs_one_verdict", || one_bad(SILENT)),
        Trial::test("a_lost_device_costs_one_verdict", || one_bad(DEVICE_LOST)),
        Trial::test("a_fence_that_never_signals_costs_one_verdict", || one_bad(FENCE)),
        Trial::test("what_a_driver_prints_is_no_answer", babble),
        Trial::test("an_answer_that_is_lost_is_a_crash_and_not_forgotten", lost_answer),
        Trial::test("a_death_between_two_cases_is_nobodys_fault", leaves),
        Trial::test("a_worker_that_dies_at_its_end_is_told", dies_at_its_end),
        Trial::test("every_case_may_be_bad", all_bad),
        Trial::test("the_first_bad_case_may_end_a_task", first_failure),
        Trial::test("a_refused_case_takes_no_other_with_it", refused_case),
        Trial::test("what_can_t_be_done_at_all_ends_its_task_alone", refused_rest),
        Trial::test("a_dump_that_can_t_be_written_loses_no_answer", not_dumped),
        Trial::test("several_workers_share_the_tasks", several),
        Trial::test("the_labs_own_fault_ends_the_run", labs_own_fault),
        Trial::test("a_worker_that_never_gets_ready_ends_the_run", never_ready),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn worker(mode: &str) -> io::Result<()> {
    match mode {
        "die" => {
            eprintln!("no such driver");
            return Err(io::Error::other("before it was ready"));
        }
        "refuse" => {
            let message = "the device is taken".to_owned();
            return say(&Event::Failed { failure: Failure::Error, message });
        }
        _ => {}
    }
    let model = Box::new(ErrorModel::SPEC.clone());
    say(&Event::Ready { info: Box::new(device()), model })?;
    'tasks: for line in io::stdin().lock().lines() {
        let task: Task = serde_json::from_str(&line?).map_err(io::Error::other)?;
        for (index, case) in task.cases.iter().enumerate() {
            say(&Event::Begin { case: index })?;
            let failed = |failure, message: &str| {
                say(&Event::Failed { failure, message: message.to_owned() })
            };
            let (at, act) = case.split_once(':').ok_or_else(|| io::Error::other("no act"))?;
            let (at, act): (u32, u64) = (number(at)?, number(act)?);
            match act {
                EXIT => {
                    eprintln!("the driver gave up");
                    return Err(io::Error::other("gone"));
                }
                ABORT => abort(),
                SILENT => thread::sleep(Duration::from_secs(3600)),
                // The answer follows on the same line as the last of these.
                BABBLE => print!("LLVM ERROR\n{{\"event\":\"nonsense\"}}\n\nwarning: slow "),
                LOST => continue,
                BYTES => io::stdout().write_all(b"\xff\xfe\n")?,
                DEVICE_LOST => return failed(Failure::Crash, "device lost"),
                FENCE => return failed(Failure::Hang, "fence"),
                REFUSE => {
                    let message = "no such build".to_owned();
                    say(&Event::Refused { case: Some(index), message })?;
                    continue;
                }
                REFUSE_REST => {
                    say(&Event::Refused { case: None, message: "no such file".to_owned() })?;
                    continue 'tasks;
                }
                LAB_FAULT => return failed(Failure::Error, "a kernel that doesn't compile"),
                _ => {}
            }
            let worst = f64::from(at) / 1024.0;
            say(&Event::Answer { case: index, answer: Outcome::Pass { worst }.into() })?;
            if act == NO_DUMP {
                say(&Event::NotDumped { message: "disk full".to_owned() })?;
            }
            if act == LEAVES {
                return Err(io::Error::other("left"));
            }
        }
        say(&Event::Finished)?;
    }
    if mode == "die at the end" {
        eprintln!("the driver fell over");
        return Err(io::Error::other("at its end"));
    }
    let counters = Counters { allocations: 1, frees: 1, ..Counters::default() };
    say(&Event::Closed { counters, leaks: Vec::new() })
}

fn number<T: FromStr<Err = ParseIntError>>(text: &str) -> io::Result<T> {
    text.parse().map_err(io::Error::other)
}

fn say(event: &Event) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, event)?;
    writeln!(out)?;
    out.flush()
}

fn device() -> DeviceInfo {
    DeviceInfo {
        name: "pretended".to_owned(),
        driver: "none".to_owned(),
        driver_version: "0".to_owned(),
        api_version: "1.1.0".to_owned(),
        kind: "other".to_owned(),
        vendor_id: 0,
        device_id: 0,
        limits: Limits::REQUIRED,
        features: Features::default(),
    }
}

fn pool(mode: &str, workers: usize) -> Pool {
    let program = env::current_exe().expect("this program").to_string_lossy().into_owned();
    let command = vec![program, WORKER.to_owned(), mode.to_owned()];
    Pool { command, workers, timeout: Duration::from_secs(20) }
}

/// A task whose cases do these things.
fn task(acts: &[u64]) -> Task {
    let case = |(index, act): (usize, &u64)| format!("{index}:{act}");
    let work = Work::Variant { op: "add".to_owned(), variant: "naive".to_owned(), fault: None };
    Task::new(work, Check::Forward, 0, acts.iter().enumerate().map(case).collect())
}

/// What the pool said, in its order.
#[derive(Default)]
struct Heard {
    answers: Vec<(usize, usize, Outcome)>,
    /// Task and case; no case stands for the rest.
    refused: Vec<(usize, Option<usize>)>,
    not_dumped: usize,
    ready: usize,
    closed: usize,
}

fn hear(pool: &Pool, tasks: &[Task]) -> Result<Heard, PoolError> {
    let mut heard = Heard::default();
    pool.run(tasks, |update| match update {
        Update::Ready(info, _) => {
            assert_eq!(info.name, "pretended");
            heard.ready += 1;
        }
        Update::Answer { task, case, answer } => heard.answers.push((task, case, answer.outcome)),
        Update::Refused { task, case, message } => {
            let words = if case.is_some() { "no such build" } else { "no such file" };
            assert_eq!(message, words);
            heard.refused.push((task, case));
        }
        Update::NotDumped { message, .. } => {
            assert_eq!(message, "disk full");
            heard.not_dumped += 1;
        }
        Update::Closed(counters, leaks) => {
            assert!(counters.allocations == 1 && leaks.is_empty());
            heard.closed += 1;
        }
    })?;
    Ok(heard)
}

fn expected(seed: u64) -> (&'static str, &'static str) {
    match seed {
        EXIT => ("crash", "the driver gave up"),
        ABORT => ("crash", "signal"),
        SILENT => ("hang", "no answer within 2s"),
        DEVICE_LOST => ("crash", "device lost"),
        FENCE => ("hang", "fence"),
        LOST => ("crash", "its answer was lost"),
        _ => ("pass", "worst"),
    }
}

/// Each case has one answer, in order, of the kind that its seed asks for.
fn answered(heard: &Heard, task: &Task) -> Result<(), Failed> {
    let order: Vec<usize> = heard.answers.iter().map(|(_, case, _)| *case).collect();
    if order != (0..task.cases.len()).collect::<Vec<_>>() {
        return Err(format!("answers in the order {order:?}").into());
    }
    for ((_, case, outcome), given) in heard.answers.iter().zip(&task.cases) {
        let (at, act) = given.split_once(':').ok_or("no act")?;
        let (word, part) = expected(act.parse()?);
        let unix_only = part == "signal" && !cfg!(unix);
        if outcome.word() != word || !(unix_only || outcome.to_string().contains(part)) {
            return Err(format!("case {case}: {outcome}, not {word} with `{part}`").into());
        }
        if let Outcome::Pass { worst } = outcome
            && (worst * 1024.0).to_string() != at
        {
            return Err(format!("case {case} has another's answer").into());
        }
    }
    Ok(())
}

/// The bad case first, in the middle and last.
fn one_bad(seed: u64) -> Result<(), Failed> {
    let start = Instant::now();
    for at in [0, 1, 3] {
        let mut seeds = [FINE; 4];
        seeds[at] = seed;
        let task = task(&seeds);
        // Only silence is waited for; a busy machine must not make the others look silent.
        let timeout = Duration::from_secs(if seed == SILENT { 2 } else { 20 });
        let pool = Pool { timeout, ..pool("", 1) };
        let heard = hear(&pool, std::slice::from_ref(&task))?;
        answered(&heard, &task)?;
        // Behind a bad last case there is nothing left to start a worker for.
        let workers = if at == 3 { (1, 0) } else { (2, 1) };
        if (heard.ready, heard.closed) != workers {
            return Err(format!("{} workers, {} ended well", heard.ready, heard.closed).into());
        }
    }
    if start.elapsed() > Duration::from_secs(30) {
        return Err(format!("it took {:?}", start.elapsed()).into());
    }
    Ok(())
}

fn babble() -> Result<(), Failed> {
    let task = task(&[FINE, BABBLE, BYTES, FINE]);
    let heard = hear(&pool("", 1), std::slice::from_ref(&task))?;
    answered(&heard, &task)?;
    if heard.ready == 1 { Ok(()) } else { Err("a worker was given up".into()) }
}

fn lost_answer() -> Result<(), Failed> {
    for seeds in [[LOST, FINE, FINE], [FINE, LOST, FINE], [FINE, FINE, LOST]] {
        let task = task(&seeds);
        answered(&hear(&pool("", 1), std::slice::from_ref(&task))?, &task)?;
    }
    Ok(())
}

fn leaves() -> Result<(), Failed> {
    let task = task(&[FINE, LEAVES, FINE, LEAVES]);
    let heard = hear(&pool("", 1), std::slice::from_ref(&task))?;
    answered(&heard, &task)?;
    if heard.ready == 2 { Ok(()) } else { Err(format!("{} workers", heard.ready).into()) }
}

fn dies_at_its_end() -> Result<(), Failed> {
    match hear(&pool("die at the end", 1), &[task(&[FINE])]) {
        Err(PoolError::NotClosed(words)) if words.contains("the driver fell over") => Ok(()),
        Err(other) => Err(other.into()),
        Ok(_) => Err("a worker that died at its end".into()),
    }
}

fn all_bad() -> Result<(), Failed> {
    let task = task(&[EXIT, ABORT, DEVICE_LOST, EXIT, FENCE]);
    let heard = hear(&pool("", 1), std::slice::from_ref(&task))?;
    answered(&heard, &task)?;
    if heard.ready == 5 { Ok(()) } else { Err(format!("{} workers", heard.ready).into()) }
}

fn first_failure() -> Result<(), Failed> {
    let task = Task { effort: Effort::FirstFailure, ..task(&[FINE, EXIT, FINE]) };
    let heard = hear(&pool("", 1), std::slice::from_ref(&task))?;
    if heard.answers.len() == 2 { Ok(()) } else { Err(format!("{:?}", heard.answers).into()) }
}

fn refused_case() -> Result<(), Failed> {
    let acts = [REFUSE, FINE, REFUSE, EXIT, REFUSE, LOST, REFUSE];
    let heard = hear(&pool("", 1), &[task(&acts)])?;
    let words: Vec<(usize, &str)> =
        heard.answers.iter().map(|(_, case, outcome)| (*case, outcome.word())).collect();
    if words != [(1, "pass"), (3, "crash"), (5, "crash")] {
        return Err(format!("{words:?}").into());
    }
    if heard.refused != [0, 2, 4, 6].map(|case| (0, Some(case))) || heard.ready != 2 {
        return Err(format!("{:?}, {} workers", heard.refused, heard.ready).into());
    }
    Ok(())
}

fn refused_rest() -> Result<(), Failed> {
    let heard = hear(&pool("", 1), &[task(&[FINE, REFUSE_REST, FINE]), task(&[FINE])])?;
    let answered: Vec<(usize, usize)> =
        heard.answers.iter().map(|(task, case, _)| (*task, *case)).collect();
    if answered != [(0, 0), (1, 0)] || heard.refused != [(0, None)] || heard.ready != 1 {
        return Err(format!("{answered:?}, {:?}", heard.refused).into());
    }
    Ok(())
}

fn not_dumped() -> Result<(), Failed> {
    let task = task(&[NO_DUMP, FINE, NO_DUMP]);
    let heard = hear(&pool("", 1), std::slice::from_ref(&task))?;
    answered(&heard, &task)?;
    if heard.not_dumped == 2 && heard.ready == 1 { Ok(()) } else { Err("forgotten".into()) }
}

fn several() -> Result<(), Failed> {
    let tasks: Vec<Task> = (0..12).map(|n| task(&[FINE, [FINE, EXIT][n % 2], FINE])).collect();
    let mut heard = hear(&pool("", 3), &tasks)?;
    heard.answers.sort_by_key(|(task, ..)| *task);
    for (index, task) in tasks.iter().enumerate() {
        let answers = heard.answers.iter().filter(|(of, ..)| *of == index).cloned().collect();
        answered(&Heard { answers, ..Heard::default() }, task)?;
    }
    Ok(())
}

fn labs_own_fault() -> Result<(), Failed> {
    match hear(&pool("", 2), &[task(&[FINE, LAB_FAULT, FINE]), task(&[FINE])]) {
        Err(PoolError::Failed(message)) if message == "a kernel that doesn't compile" => Ok(()),
        Err(other) => Err(other.into()),
        Ok(_) => Err("the run went on".into()),
    }
}

fn never_ready() -> Result<(), Failed> {
    match hear(&pool("die", 1), &[task(&[FINE])]) {
        Err(PoolError::NotReady(words)) if words.contains("no such driver") => {}
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("a worker that died before it was ready".into()),
    }
    match hear(&pool("refuse", 1), &[task(&[FINE])]) {
        Err(PoolError::Failed(message)) if message == "the device is taken" => {}
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("a worker that refused".into()),
    }
    let missing = Pool { command: vec!["/nonexistent/vklab".to_owned()], ..pool("", 1) };
    match hear(&missing, &[task(&[FINE])]) {
        Err(PoolError::Start(_)) => Ok(()),
        Err(other) => Err(other.into()),
        Ok(_) => Err("a program that doesn't exist".into()),
    }
}
