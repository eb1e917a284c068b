//! The parent's side: children for one device, tasks handed out, deaths turned into verdicts.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::check::{Effort, Outcome};
use crate::device::DeviceInfo;
use crate::memory::{Counters, MemoryFinding};
use crate::numeric::ErrorModel;

use super::protocol::{Answer, EVENT_START, Event, Failure, Task};

/// Children of one device.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Program and arguments that start a child.
    pub command: Vec<String>,
    /// Children at a time.
    pub workers: usize,
    /// How long a case may take, and how long a child may take to get ready.
    pub timeout: Duration,
}

/// What the pool reports while it works.
#[derive(Debug)]
pub enum Update {
    /// A child's device is open.
    Ready(Box<DeviceInfo>, Box<ErrorModel>),
    /// A case of a task has its outcome.
    Answer {
        /// Index of the task.
        task: usize,
        /// Index of the case in the task.
        case: usize,
        /// What came of it.
        answer: Answer,
    },
    /// A case can't be done, or the rest of a task.
    Refused {
        /// Index of the task.
        task: usize,
        /// Index of the case in the task; the rest of it if there is none.
        case: Option<usize>,
        /// The child's own words.
        message: String,
    },
    /// The arrays of a finding could not be written.
    NotDumped {
        /// Index of the task.
        task: usize,
        /// The child's own words.
        message: String,
    },
    /// A child ended well.
    Closed(Counters, Vec<MemoryFinding>),
}

/// Why the pool gave up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The child could not be started.
    #[error("failed to start a worker: {0}")]
    Start(io::Error),
    /// The lab or its input is at fault; the child's own words.
    #[error("{0}")]
    Failed(String),
    /// The child died after its last task, and with it what its ledger knew.
    #[error("a worker died while its device was closed: {0}")]
    NotClosed(String),
    /// The child died before its device was open.
    #[error("a worker died before its device was open: {0}")]
    NotReady(String),
}

type Queue = Mutex<VecDeque<(usize, usize, Task)>>;

impl Pool {
    /// Runs all tasks; `sink` hears of everything as it happens. Outcomes arrive in the order of
    /// cases within a task, up to the first bad one where the task asks for no more, and tasks in
    /// any order.
    ///
    /// # Errors
    /// A child that can't work at all. Crashes and hangs of a case are outcomes.
    pub fn run(&self, tasks: &[Task], mut sink: impl FnMut(Update)) -> Result<(), PoolError> {
        let queue: Queue = Mutex::new(
            tasks.iter().enumerate().map(|(index, task)| (index, 0, task.clone())).collect(),
        );
        let (send, receive) = mpsc::channel();
        let workers = self.workers.clamp(1, tasks.len().max(1));
        thread::scope(|scope| {
            for _ in 0..workers {
                let (send, queue) = (send.clone(), &queue);
                scope.spawn(move || {
                    if let Err(error) = self.work(queue, &send) {
                        // The others stop at their next task; the receiver may be gone by then.
                        queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
                        let _ = send.send(Err(error));
                    }
                });
            }
            drop(send);
            let mut result = Ok(());
            for update in receive {
                match update {
                    Ok(update) => sink(update),
                    Err(error) => result = result.and(Err(error)),
                }
            }
            result
        })
    }

    fn work(
        &self,
        queue: &Queue,
        send: &Sender<Result<Update, PoolError>>,
    ) -> Result<(), PoolError> {
        let mut live: Option<Live> = None;
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some((index, done, task)) = next else { break };
            let mut child = match live.take() {
                Some(child) => child,
                None => self.start(send)?,
            };
            let rest = Task { cases: task.cases[done..].to_vec(), ..task.clone() };
            let mut heard = Heard::default();
            let say = |update| {
                let _ = send.send(Ok(update));
            };
            let tell =
                |case, answer| say(Update::Answer { task: index, case: done + case, answer });
            let lose = |from, to| {
                for lost in from..to {
                    tell(lost, Outcome::Crash { reason: LOST.to_owned() }.into());
                }
            };
            let ended = child.ask(&rest, self.timeout, |event| match event {
                Event::Begin { case } => heard.open = Some(case),
                Event::Answer { case, answer } => {
                    lose(heard.answered, case);
                    let is_bad = answer.outcome.is_bad();
                    heard = Heard { answered: case + 1, open: None, is_bad };
                    tell(case, answer);
                }
                Event::Refused { case: Some(case), message } => {
                    lose(heard.answered, case);
                    heard = Heard { answered: case + 1, ..Heard::default() };
                    say(Update::Refused { task: index, case: Some(done + case), message });
                }
                Event::NotDumped { message } => say(Update::NotDumped { task: index, message }),
                _ => {}
            });
            let stops = task.effort == Effort::FirstFailure;
            let is_complete = heard.answered == rest.cases.len() || (stops && heard.is_bad);
            let outcome = match ended {
                Ended::Finished if is_complete => {
                    live = Some(child);
                    continue;
                }
                Ended::Refused(message) => {
                    say(Update::Refused { task: index, case: None, message });
                    live = Some(child);
                    continue;
                }
                Ended::Finished => Outcome::Crash { reason: LOST.to_owned() },
                Ended::Failed(Failure::Error, message) => return Err(PoolError::Failed(message)),
                Ended::Failed(Failure::Hang, reason) => Outcome::Hang { reason, place: None },
                Ended::Failed(Failure::Crash, reason) => Outcome::Crash { reason },
                Ended::Silent => {
                    let reason = format!("no answer within {:?}", self.timeout);
                    Outcome::Hang { reason, place: None }
                }
                Ended::Died => Outcome::Crash { reason: child.last_words() },
            };
            child.end();
            if is_complete {
                continue;
            }
            // A death between two cases is nobody's fault, unless the child did nothing at all.
            let blamed = heard.open.or((heard.answered == 0).then_some(0));
            let next = done + blamed.map_or(heard.answered, |case| case + 1);
            if let Some(case) = blamed {
                tell(case, outcome.into());
            }
            if next < task.cases.len() && !(stops && blamed.is_some()) {
                let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                queue.push_front((index, next, task));
            }
        }
        live.map_or(Ok(()), |child| child.close(self.timeout, send))
    }

    fn start(&self, send: &Sender<Result<Update, PoolError>>) -> Result<Live, PoolError> {
        let mut live = Live::start(&self.command).map_err(PoolError::Start)?;
        // Opening compiles and calibrates; on a slow driver that takes a while the first time.
        match live.events.recv_timeout(self.timeout.max(Duration::from_secs(60))) {
            Ok(Event::Ready { info, model }) => {
                let _ = send.send(Ok(Update::Ready(info, model)));
                Ok(live)
            }
            Ok(Event::Failed { message, .. }) => {
                live.end();
                Err(PoolError::Failed(message))
            }
            Err(RecvTimeoutError::Timeout) => {
                live.end();
                Err(PoolError::NotReady("it gave no answer".to_owned()))
            }
            _ => Err(PoolError::NotReady(live.last_words())),
        }
    }
}

/// What a child said of the task that it has.
#[derive(Clone, Copy, Default)]
struct Heard {
    /// Cases answered or refused, all before it included.
    answered: usize,
    /// A case that was begun and not answered.
    open: Option<usize>,
    /// Whether the last answer was a bad one.
    is_bad: bool,
}

/// Blame for an answer that was written and never arrived.
const LOST: &str = "its answer was lost; the driver may write to the standard output";

enum Ended {
    Finished,
    Refused(String),
    Failed(Failure, String),
    Silent,
    Died,
}

/// A running child.
struct Live {
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<Event>,
    errors: Arc<Mutex<String>>,
    error_reader: Option<JoinHandle<()>>,
}

/// How long a child that closed its output may take to end.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Live {
    fn start(command: &[String]) -> io::Result<Self> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| io::Error::other("no program"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (send, events) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                // A driver may write anything, not only UTF-8.
                for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                    let line = String::from_utf8_lossy(&line);
                    // A driver that prints to the standard output must not end the worker, not even
                    // when an event follows on the same line.
                    let start = line.find(EVENT_START).unwrap_or(0);
                    if let Ok(event) = serde_json::from_str(&line[start..])
                        && send.send(event).is_err()
                    {
                        break;
                    }
                }
            });
        }
        let errors = Arc::new(Mutex::new(String::new()));
        let error_reader = child.stderr.take().map(|mut stderr| {
            let errors = Arc::clone(&errors);
            thread::spawn(move || {
                let mut chunk = [0; 4096];
                while let Ok(count @ 1..) = stderr.read(&mut chunk) {
                    let mut kept = errors.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.push_str(&String::from_utf8_lossy(&chunk[..count]));
                    let surplus = kept.chars().count().saturating_sub(2000);
                    *kept = kept.chars().skip(surplus).collect();
                }
            })
        });
        let input = child.stdin.take();
        Ok(Self { child, input, events, errors, error_reader })
    }

    fn ask(&mut self, task: &Task, timeout: Duration, mut hear: impl FnMut(Event)) -> Ended {
        let sent = serde_json::to_string(task)
            .map_err(io::Error::other)
            .and_then(|line| self.input.as_mut().map_or(Ok(()), |input| writeln!(input, "{line}")));
        if sent.is_err() {
            return Ended::Died;
        }
        loop {
            match self.events.recv_timeout(timeout) {
                Ok(Event::Finished) => return Ended::Finished,
                Ok(Event::Refused { case: None, message }) => return Ended::Refused(message),
                Ok(Event::Failed { failure, message }) => return Ended::Failed(failure, message),
                Ok(event) => hear(event),
                Err(RecvTimeoutError::Timeout) => return Ended::Silent,
                Err(RecvTimeoutError::Disconnected) => return Ended::Died,
            }
        }
    }

    /// Exit status and the end of the error output of a child that died.
    fn last_words(&mut self) -> String {
        let patience = Instant::now() + LAST_WORDS;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status.to_string(),
                Ok(None) if Instant::now() < patience => thread::sleep(Duration::from_millis(5)),
                Ok(None) => {
                    let _ = self.child.kill();
                    break "it closed its output and went on".to_owned();
                }
                Err(error) => break error.to_string(),
            }
        };
        // What it wrote may still be in the pipe, which a child of its own may hold open.
        let is_read = |reader: &JoinHandle<()>| reader.is_finished();
        while !self.error_reader.as_ref().is_none_or(is_read) && Instant::now() < patience {
            thread::sleep(Duration::from_millis(5));
        }
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let words = errors.trim();
        if words.is_empty() { status } else { format!("{status}; it said: {words}") }
    }

    fn end(mut self) {
        // It may already be gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn close(
        mut self,
        timeout: Duration,
        send: &Sender<Result<Update, PoolError>>,
    ) -> Result<(), PoolError> {
        drop(self.input.take());
        let Ok(Event::Closed { counters, leaks }) = self.events.recv_timeout(timeout) else {
            return Err(PoolError::NotClosed(self.last_words()));
        };
        let _ = send.send(Ok(Update::Closed(counters, leaks)));
        self.end();
        Ok(())
    }
}
