//! The child's side: reads tasks, answers with events.

mod dump;

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use crate::amber;
use crate::check::{CheckError, Effort, Foreign, Outcome, Profile, Session, Subject, run};
use crate::device::DeviceError;
use crate::faulty;
use crate::kernel_file::KernelFile;
use crate::memory::LedgerOptions;
use crate::ops::{Case, Op, Registry};

use super::choice::{Choice, open_session};
use super::protocol::{Answer, Event, Failure, Task, Unsaved, Work};

/// How a child serves.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The device.
    pub choice: Choice,
    /// The ledger's ways.
    pub ledger: LedgerOptions,
    /// The program's name, for the commands that repeat a finding.
    pub program: String,
    /// The subgroup sizes of an interpreter; any if there is none.
    pub subgroup_sizes: Vec<u32>,
    /// Where the arrays of findings go.
    pub dump: Option<PathBuf>,
    /// What the limits check holds kernels against.
    pub profile: Profile,
}

/// Serves tasks from `input` until it ends.
///
/// # Errors
/// A parent that is gone.
pub fn serve(
    registry: &Registry,
    options: &ServeOptions,
    input: impl BufRead,
    mut out: impl Write,
) -> io::Result<()> {
    let mut session = match open_session(&options.choice, options.ledger.clone()) {
        Ok(session) => session,
        Err(error) => return failed(&mut out, &error),
    };
    session.set_program(&options.program);
    session.set_subgroup_sizes(&options.subgroup_sizes);
    session.set_profile(options.profile.clone());
    session.add_includes(Box::new(registry.includes().clone()));
    say(
        &mut out,
        &Event::Ready {
            info: Box::new(session.info().clone()),
            model: Box::new(session.model().clone()),
        },
    )?;
    for line in input.lines() {
        let task: Task = serde_json::from_str(&line?).map_err(io::Error::other)?;
        match work(&mut session, registry, &task, options, &mut out)? {
            Ok(()) => say(&mut out, &Event::Finished)?,
            Err(error) if error.is_of_device() => return failed(&mut out, &error),
            Err(error) => {
                say(&mut out, &Event::Refused { case: None, message: error.to_string() })?;
            }
        }
    }
    let (counters, leaks) = session.into_ledger().close();
    say(&mut out, &Event::Closed { counters, leaks })
}

fn work(
    session: &mut Session,
    registry: &Registry,
    task: &Task,
    options: &ServeOptions,
    out: &mut impl Write,
) -> io::Result<Result<(), CheckError>> {
    let job = match Job::new(registry, task) {
        Ok(Some(job)) => job,
        Ok(None) => return Err(io::Error::other(format!("no such subject: {}", task.target()))),
        Err(error) => return Ok(Err(error)),
    };
    for (index, case) in task.cases.iter().enumerate() {
        say(out, &Event::Begin { case: index })?;
        let mut outcome = match job.run(session, task, case) {
            Ok(outcome) => outcome,
            Err(error) if error.is_of_device() => return Ok(Err(error)),
            Err(error) => {
                say(out, &Event::Refused { case: Some(index), message: error.to_string() })?;
                continue;
            }
        };
        let dumped = options.dump.as_ref().map_or(Ok(()), |folder| {
            dump::arrays(&mut outcome, folder, &session.info().name, task, case)
        });
        let is_last = outcome.is_bad() && task.effort == Effort::FirstFailure;
        let answer = Answer { outcome, output: session.take_output() };
        say(out, &Event::Answer { case: index, answer })?;
        if let Err(message) = dumped {
            say(out, &Event::NotDumped { message })?;
        }
        if session.is_broken() {
            // The parent goes on with a new child; nobody is to blame for this end.
            return Err(io::Error::other("the device went away while a case was shrunk"));
        }
        if is_last {
            break;
        }
    }
    Ok(Ok(()))
}

/// What a task is about, looked up.
enum Job {
    Variant(&'static Op, Subject<'static>),
    File(Box<Foreign>),
    Script(Box<amber::Script>),
}

impl Job {
    /// None for a name that this binary doesn't have, which its parent, the same binary, has.
    fn new(registry: &Registry, task: &Task) -> Result<Option<Self>, CheckError> {
        match &task.work {
            Work::Variant { op, variant, fault } => {
                let Some((op, variant)) = registry.find(op, variant) else { return Ok(None) };
                let mut subject = Subject { effort: task.effort, ..Subject::new(op, variant) };
                if let Some(name) = fault {
                    let Some(fault) = faulty::find(name) else { return Ok(None) };
                    fault.plant(&mut subject);
                }
                Ok(Some(Self::Variant(op, subject)))
            }
            Work::File { path, unsaved: None } => {
                let foreign = Foreign::new(KernelFile::load(path)?, registry)?;
                Ok(Some(Self::File(Box::new(foreign))))
            }
            Work::File { path, unsaved: Some(Unsaved { text, asked }) } => {
                let foreign = Foreign::new(KernelFile::parse(path, text)?, registry)?;
                Ok(Some(Self::File(Box::new(foreign.asked_as(asked.clone())))))
            }
            Work::Script { path } => Ok(Some(Self::Script(Box::new(amber::Script::load(path)?)))),
        }
    }

    fn run(&self, session: &mut Session, task: &Task, case: &str) -> Result<Outcome, CheckError> {
        match self {
            Self::Variant(op, subject) => {
                let case = Case::parse(op, case, task.seed)?;
                run(session, subject, task.check, &case)
            }
            Self::File(foreign) => foreign.run(session, task.check, case, task.seed, task.effort),
            Self::Script(script) => amber::check(session, script, task.seed),
        }
    }
}

fn failed(out: &mut impl Write, error: &CheckError) -> io::Result<()> {
    let failure = match error.of_device() {
        Some(DeviceError::Timeout { .. }) => Failure::Hang,
        Some(DeviceError::Lost { .. } | DeviceError::Driver { .. }) => Failure::Crash,
        _ => Failure::Error,
    };
    say(out, &Event::Failed { failure, message: error.to_string() })
}

fn say(out: &mut impl Write, event: &Event) -> io::Result<()> {
    // In one piece, so that a driver's own words can't come between.
    let mut line = serde_json::to_string(event)?;
    line.push('\n');
    out.write_all(line.as_bytes())?;
    out.flush()
}
