//! The child's side: reads tasks, answers with events.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use crate::check::{CheckError, Effort, Finding, Foreign, Outcome, Session, Subject, run};
use crate::device::DeviceError;
use crate::faulty;
use crate::kernel_file::KernelFile;
use crate::memory::LedgerOptions;
use crate::ops::{Case, Op, Registry};

use super::choice::{Choice, open_session};
use super::protocol::{Answer, Event, Failure, Task, Work};

/// How a child serves.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The device.
    pub choice: Choice,
    /// The ledger's ways.
    pub ledger: LedgerOptions,
    /// The program's name, for the commands that repeat a finding.
    pub program: String,
    /// Where the arrays of findings go.
    pub dump: Option<PathBuf>,
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
        match work(&mut session, registry, &task, options.dump.as_deref(), &mut out)? {
            Ok(()) => say(&mut out, &Event::Finished)?,
            Err(error) if error.is_of_device() => return failed(&mut out, &error),
            Err(error) => say(&mut out, &Event::Refused { message: error.to_string() })?,
        }
    }
    let (counters, leaks) = session.into_ledger().close();
    say(&mut out, &Event::Closed { counters, leaks })
}

fn work(
    session: &mut Session,
    registry: &Registry,
    task: &Task,
    dump: Option<&Path>,
    out: &mut impl Write,
) -> io::Result<Result<(), CheckError>> {
    let job = match Job::new(registry, task) {
        Ok(Some(job)) => job,
        Ok(None) => return Err(io::Error::other(format!("no such subject: {}", task.target()))),
        Err(error) => return Ok(Err(error)),
    };
    for (index, case) in task.cases.iter().enumerate() {
        say(out, &Event::Begin { case: index })?;
        match job.run(session, task, case) {
            Ok(mut outcome) => {
                if let (Outcome::Fail { finding }, Some(folder)) = (&mut outcome, dump) {
                    let case = finding.smallest.clone().unwrap_or_else(|| case.clone());
                    let folder = folder_of(folder, &session.info().name, task, &case);
                    if let Err(error) = write_arrays(finding, &folder) {
                        let message = format!("failed to write {}: {error}", folder.display());
                        say(out, &Event::Failed { failure: Failure::Error, message })?;
                        return Err(error);
                    }
                }
                let is_last = outcome.is_bad() && task.effort == Effort::FirstFailure;
                let answer = Answer { outcome, output: session.take_output() };
                say(out, &Event::Answer { case: index, answer })?;
                if session.is_broken() {
                    // The parent goes on with a new child; nobody is to blame for this end.
                    return Err(io::Error::other("the device went away while a case was shrunk"));
                }
                if is_last {
                    break;
                }
            }
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}

/// What a task is about, looked up.
enum Job {
    Variant(&'static Op, Subject<'static>),
    File(Box<Foreign>),
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
            Work::File { path, text } => {
                let file = match text {
                    Some(text) => KernelFile::parse(path, text)?,
                    None => KernelFile::load(path)?,
                };
                Ok(Some(Self::File(Box::new(Foreign::new(file, registry)?))))
            }
        }
    }

    fn run(&self, session: &mut Session, task: &Task, case: &str) -> Result<Outcome, CheckError> {
        match self {
            Self::Variant(op, subject) => {
                let case = Case::parse(op, case, task.seed)?;
                run(session, subject, task.check, &case)
            }
            Self::File(foreign) => foreign.run(session, task.check, case, task.seed, task.effort),
        }
    }
}

/// DIR/device/op.variant/check/case, each a name that every file system takes.
fn folder_of(dump: &Path, device: &str, task: &Task, case: &str) -> PathBuf {
    let safe = |name: &str| -> String {
        let keeps = |c: char| c.is_ascii_alphanumeric() || "=,.-".contains(c);
        name.chars().map(|c| if keeps(c) { c } else { '_' }).collect()
    };
    let subject = match &task.work {
        Work::Variant { fault: Some(fault), .. } => fault.clone(),
        _ => task.target(),
    };
    dump.join(safe(device)).join(safe(&subject)).join(task.check.name()).join(safe(case))
}

fn write_arrays(finding: &mut Finding, folder: &Path) -> io::Result<()> {
    if !finding.evidence.is_empty() {
        finding.evidence.write(folder)?;
        finding.arrays = Some(folder.display().to_string());
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Task, Work, folder_of};
    use crate::check::Check;
    use crate::ops;

    #[test]
    fn each_finding_has_a_folder_that_every_file_system_takes() {
        let (op, variant) = ops::find("add", "naive").expect("add.naive");
        let task = Task::new(Work::variant(op, variant), Check::Forward, 0, Vec::new());
        let device = "llvmpipe (LLVM 15.0.6, 256 bits)";
        let folder = folder_of(Path::new("out"), device, &task, "rows=1,cols=4/normal/f16");
        let parts = ["out", "llvmpipe__LLVM_15.0.6,_256_bits_", "add.naive", "forward"];
        let want = parts.iter().collect::<PathBuf>().join("rows=1,cols=4_normal_f16");
        assert_eq!(folder, want);
    }
}
