//! Runs a script on a device and answers whether its expectations hold.

use std::collections::{BTreeMap, VecDeque};

use super::error::AmberError;
use super::judge::{self, Failed};
use super::needs::needs;
use super::prepare::{Prepared, prepare};
use super::script::{Action, Command, Script};
use crate::check::{Check, CheckError, Finding, Kind, Outcome, Session, repeat, shell_word};
use crate::device::Limits;
use crate::memory::{Dispatch, Finished, Guard, Handle, MemoryFinding, Request, Site};

/// Commands that a script may do, repeated ones counted each time.
const MOST_COMMANDS: usize = 100_000;
/// What its buffers may take together: the host keeps copies of them.
const MOST_BYTES: u64 = 1 << 30;
/// What one submission brings back, after which another begins.
const BATCH_BYTES: usize = 64 << 20;
/// Dispatches of one submission: some systems end those that take long.
const BATCH_DISPATCHES: usize = 256;
/// Other expectations that a finding names.
const MOST_PLACES: usize = 5;

/// Runs a script: a pass if every expectation holds, else a finding about the first that doesn't.
///
/// # Errors
/// What keeps the script from being run and isn't a verdict of its own.
pub fn check(session: &mut Session, script: &Script, seed: u64) -> Result<Outcome, CheckError> {
    if let Some(unsupported) = &script.unsupported {
        let reason = format!("line {}: no support for {}", unsupported.line, unsupported.what);
        return Ok(Outcome::Unsupported { reason });
    }
    let asked = needs(script, &session.info().features).and_then(|()| run(session, script));
    let finding = match asked {
        Err(CheckError::Unsupported(reason)) => return Ok(Outcome::Unsupported { reason }),
        Err(error) => return Err(error),
        Ok(None) => return Ok(Outcome::Pass { worst: 0.0 }),
        Ok(Some(finding)) => finding,
    };
    let target = shell_word(&script.path.display().to_string());
    let repeat = repeat(session, &target, Check::Forward, CASE, seed, &finding);
    Ok(Outcome::fail(Finding { repeat, ..finding }))
}

/// A script's only case.
pub const CASE: &str = "only";

impl From<AmberError> for CheckError {
    fn from(error: AmberError) -> Self {
        match error {
            AmberError::Wrong { place, message } => Self::Interface {
                kernel: place.to_string(),
                what: format!("{message}{}", place.excerpt()),
            },
            AmberError::Unreadable { path, reason } => {
                Self::Interface { kernel: path, what: reason }
            }
        }
    }
}

fn run(session: &mut Session, script: &Script) -> Result<Option<Finding>, CheckError> {
    let commands = flat(&script.commands)?;
    fits(script, &session.info().limits)?;
    let contents = script.buffers.iter().map(|buffer| buffer.contents(script));
    let contents = contents.collect::<Result<Vec<_>, _>>()?;
    let mut handles = Vec::new();
    let result = allocate(session, script, &mut handles)
        .and_then(|()| prepare(session, script, &handles, &contents))
        .and_then(|pipelines| {
            let uploads = contents.into_iter().enumerate().collect();
            let mut running = Running { script, handles: &handles, pipelines, uploads, commands };
            running.all(session)
        });
    for handle in handles {
        // After a lost device there is nothing to give back; the first error is the one to tell.
        let freed = session.ledger_mut().free(handle);
        if result.is_ok() {
            freed?;
        }
    }
    result
}

/// The commands with repeated ones as often as they are done.
fn flat(commands: &[Command]) -> Result<VecDeque<&Command>, CheckError> {
    let mut found = VecDeque::new();
    for command in commands {
        let (count, inner) = match &command.action {
            Action::Repeat { count, commands } => (*count as usize, commands.as_slice()),
            _ => (1, std::slice::from_ref(command)),
        };
        if found.len().saturating_add(count.saturating_mul(inner.len())) > MOST_COMMANDS {
            let what = format!("line {}: more than {MOST_COMMANDS} commands", command.line);
            return Err(CheckError::Unsupported(what));
        }
        // Nothing, however often, is nothing.
        let times = if inner.is_empty() { 0 } else { count };
        for _ in 0..times {
            found.extend(inner);
        }
    }
    Ok(found)
}

/// Buffers are looked at before anything of their size is made.
fn fits(script: &Script, limits: &Limits) -> Result<(), CheckError> {
    let most = limits.storage_range_bytes.min(limits.allocation_bytes).min(MOST_BYTES);
    let is_larger = |bytes: usize| u64::try_from(bytes).is_ok_and(|bytes| bytes > most);
    let all = script.buffers.iter().filter_map(|b| u64::try_from(b.bytes()?).ok());
    match script.buffers.iter().find(|b| b.bytes().is_none_or(is_larger)) {
        None if all.fold(0, u64::saturating_add) > MOST_BYTES => Err(CheckError::Unsupported(
            format!("buffers of more than {MOST_BYTES} bytes together"),
        )),
        None => Ok(()),
        Some(buffer) => Err(CheckError::Unsupported(format!(
            "buffer `{}` of {} elements of {} bytes; at most {most} bytes can be bound",
            buffer.name, buffer.len, buffer.element.stride
        ))),
    }
}

fn allocate(
    session: &mut Session,
    script: &Script,
    handles: &mut Vec<Handle>,
) -> Result<(), CheckError> {
    let file = script.path.display().to_string();
    for buffer in &script.buffers {
        let (dtype, len) = buffer.storage();
        let ledger = session.ledger_mut();
        let request = Request {
            // Scripts ask for lengths, and bind all of a buffer.
            guard: Guard::Exact,
            site: Some(Site { file: file.clone().into(), line: buffer.line }),
            ..ledger.request(&buffer.name, dtype, len)
        };
        handles.push(ledger.allocate(&request)?);
    }
    Ok(())
}

/// A script on its way.
struct Running<'s> {
    script: &'s Script,
    handles: &'s [Handle],
    pipelines: Vec<Prepared>,
    /// What the next submission writes first, by buffer.
    uploads: Vec<(usize, Vec<u8>)>,
    /// What is left to do.
    commands: VecDeque<&'s Command>,
}

/// What a submission brings back, by download.
struct Batch<'s> {
    /// Commands with the downloads that they look at.
    questions: Vec<(&'s Command, [usize; 2])>,
    /// A copy that ends the batch: the download and the buffer that gets it.
    copy: Option<(usize, usize)>,
}

impl<'s> Running<'s> {
    fn all(&mut self, session: &mut Session) -> Result<Option<Finding>, CheckError> {
        let mut failed = Vec::new();
        let mut memory: Vec<MemoryFinding> = Vec::new();
        let mut messages = Vec::new();
        while !self.commands.is_empty() {
            let (batch, finished) = self.submit(session)?;
            for (command, downloads) in &batch.questions {
                let bytes = downloads.map(|at| finished.downloads[at].as_slice());
                failed.extend(self.ask(command, bytes).map(|failure| (command.line, failure)));
            }
            if let Some((download, to)) = batch.copy {
                self.uploads.push((to, finished.downloads[download].clone()));
            }
            memory.extend(finished.findings);
            messages.extend(finished.messages);
        }
        let path = self.script.path.display().to_string();
        let mut failures = failed.into_iter();
        if let Some((line, Failed { message, mismatch })) = failures.next() {
            let also =
                |(line, failure): (u32, Failed)| format!("line {line} too: {}", failure.message);
            return Ok(Some(Finding {
                file: Some(path),
                line: Some(line),
                mismatch: Some(mismatch),
                places: failures.take(MOST_PLACES).map(also).collect(),
                memory,
                ..Finding::new(Kind::WrongResult, message)
            }));
        }
        let invalid = messages.first().map(|text| Finding::new(Kind::Validation, text.clone()));
        Ok(Finding::of_memory(memory).or(invalid))
    }

    /// Records and runs commands up to a copy, or as many as one submission should have.
    fn submit(&mut self, session: &mut Session) -> Result<(Batch<'s>, Finished), CheckError> {
        let ledger = session.ledger_mut();
        let mut recorder = ledger.recorder();
        for (buffer, bytes) in std::mem::take(&mut self.uploads) {
            recorder.upload(self.handles[buffer], &bytes)?;
        }
        recorder.barrier();
        let mut batch = Batch { questions: Vec::new(), copy: None };
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut bytes, mut dispatches) = (0, 0);
        let (script, handles) = (self.script, self.handles);
        while let Some(command) = self.commands.pop_front() {
            let mut download = |buffer: usize| -> Result<usize, CheckError> {
                if let Some(at) = known.get(&buffer) {
                    return Ok(*at);
                }
                bytes += script.buffers[buffer].bytes().unwrap_or(0);
                let at = recorder.download(handles[buffer])?;
                known.insert(buffer, at);
                Ok(at)
            };
            match &command.action {
                Action::Run { pipeline, groups } => {
                    let Prepared { kernel, bounds, windows, push } = &self.pipelines[*pipeline];
                    let dispatch =
                        Dispatch { kernel: *kernel, bindings: bounds, push, groups: *groups };
                    // Vulkan lets a dispatch be empty, and it does nothing.
                    if groups.iter().all(|count| *count > 0) {
                        recorder.barrier();
                        recorder.dispatch_within(&dispatch, windows)?;
                        recorder.barrier();
                        known.clear();
                        dispatches += 1;
                    }
                }
                Action::Copy { from, to } => batch.copy = Some((download(*from)?, *to)),
                Action::Expect(expect) => {
                    let at = download(expect.buffer)?;
                    batch.questions.push((command, [at, at]));
                }
                Action::Compare { got, want, .. } => {
                    let pair = [download(*got)?, download(*want)?];
                    batch.questions.push((command, pair));
                }
                // `flat` has done them away.
                Action::Repeat { .. } => {}
            }
            if batch.copy.is_some() || bytes > BATCH_BYTES || dispatches >= BATCH_DISPATCHES {
                break;
            }
        }
        let recorded = recorder.finish();
        let in_flight = ledger.submit(&recorded)?;
        Ok((batch, ledger.wait(in_flight)?))
    }

    fn ask(&self, command: &Command, [got, want]: [&[u8]; 2]) -> Option<Failed> {
        let buffers = &self.script.buffers;
        match &command.action {
            Action::Expect(expect) => judge::expect(&buffers[expect.buffer], got, expect),
            Action::Compare { got: left, want: right, tolerance } => {
                let name = &buffers[*right].name;
                judge::compare(&buffers[*left], name, (got, want), *tolerance)
            }
            Action::Run { .. } | Action::Copy { .. } | Action::Repeat { .. } => None,
        }
    }
}
