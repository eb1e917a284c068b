//! A variant that is ready to run, and how it is timed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::check::{
    self, Check, Expected, Finding, Kind, Outcome, Placed, Session, Setting, Slot, Staged, Subject,
    Trial, exact_buffers, execute, planned, with_scratch,
};
use crate::memory::{Guard, Handle};
use crate::ops::{Case, Plan};

use super::BenchError;

/// How long a submission should take: long against what it costs to make one, and short against
/// the two seconds after which some systems end it.
const SUBMISSION: Duration = Duration::from_millis(250);
/// Repetitions of a submission at most, since its recording is data that somebody must hold.
const MOST_REPETITIONS: u64 = 4096;
/// After so long a measurement ends, whatever number of repetitions was asked for.
const MEASUREMENT: Duration = Duration::from_secs(1);

/// Which clock a measurement was taken with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The device's timestamps, around the dispatches alone.
    Device,
    /// The host's, from the submission to its fence, where the queue has no timestamps.
    Host,
}

impl Clock {
    /// The word for labels.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device time",
            Self::Host => "host time",
        }
    }
}

/// What a number of repetitions took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// All of them together.
    pub time: Duration,
    /// How many there were.
    pub repetitions: u64,
    /// By which clock.
    pub clock: Clock,
}

impl Measured {
    /// One repetition, in nanoseconds.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "2^53 repetitions take longer than anybody waits"
    )]
    pub fn nanoseconds(&self) -> f64 {
        self.time.as_secs_f64() * 1e9 / self.repetitions.max(1) as f64
    }
}

/// A variant on a case: kernels loaded, buffers filled, result checked.
#[derive(Debug)]
pub struct Workload {
    staged: Staged,
    handles: Vec<Handle>,
    clock: Clock,
    /// How many repetitions the next submission may hold.
    batch: u64,
}

impl Workload {
    /// Checks the variant's result on this case, then makes its buffers and fills them.
    ///
    /// # Errors
    /// A wrong result; what keeps the variant from running.
    pub fn new(
        session: &mut Session,
        subject: &Subject<'_>,
        case: &Case,
    ) -> Result<Self, BenchError> {
        let trial = Trial::new(subject, case, session.model());
        check_result(session, subject, case, &trial)?;
        let info = session.info();
        // An interpreter's clock counts instructions.
        let has_clock = info.limits.timestamp_bits > 0 && !info.is_interpreter();
        let clock = if has_clock { Clock::Device } else { Clock::Host };
        let setting = Setting::default_for(subject.variant);
        let plan = planned(session, subject, &case.problem(subject.op), &setting)?;
        let mut buffers = BTreeMap::new();
        let staged = fill(session, &plan, &trial.slots, &mut buffers);
        let handles = buffers.into_values().map(|placed| placed.handle).collect();
        match staged {
            Ok(staged) => Ok(Self { staged, handles, clock, batch: 1 }),
            Err(error) => {
                // The error to tell is the first one, not what it left behind.
                let _ = free(session, handles);
                Err(error)
            }
        }
    }

    /// Which clock [`Workload::measure`] reads.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// Runs the plan `repetitions` times, or for about a second if that is less, in submissions of
    /// about a quarter of a second; a barrier ends each repetition.
    ///
    /// # Errors
    /// Device lost, time-out, and what the ledger saw meanwhile as a finding.
    pub fn measure(
        &mut self,
        session: &mut Session,
        repetitions: u64,
    ) -> Result<Measured, BenchError> {
        let begin = Instant::now();
        let mut done = Measured { time: Duration::ZERO, repetitions: 0, clock: self.clock };
        while done.repetitions < repetitions
            && (done.repetitions == 0 || begin.elapsed() < MEASUREMENT)
        {
            let count = self.batch.min(repetitions - done.repetitions);
            let (time, host) = self.submit(session, count)?;
            done.time += time;
            done.repetitions += count;
            let affordable = SUBMISSION.as_nanos() / (host.as_nanos() / u128::from(count)).max(1);
            self.batch = u64::try_from(affordable).unwrap_or(u64::MAX).clamp(1, MOST_REPETITIONS);
        }
        Ok(done)
    }

    /// Time by the workload's clock, and by the host's.
    fn submit(
        &self,
        session: &mut Session,
        count: u64,
    ) -> Result<(Duration, Duration), BenchError> {
        let ledger = session.ledger_mut();
        let mut recorder = ledger.recorder();
        recorder.timestamp();
        for _ in 0..count {
            self.staged.record(&mut recorder)?;
            recorder.barrier();
        }
        recorder.timestamp();
        let recorded = recorder.finish();
        let begin = Instant::now();
        let in_flight = ledger.submit(&recorded)?;
        let finished = ledger.wait(in_flight)?;
        let host = begin.elapsed();
        if let Some(finding) = Finding::of_memory(finished.findings) {
            return Err(BenchError::Wrong(Box::new(finding)));
        }
        let time = match (self.clock, &finished.timestamps_ns[..]) {
            (Clock::Device, [first, last]) => {
                Duration::from_secs_f64((last - first).max(0.0) * 1e-9)
            }
            _ => host,
        };
        Ok((time, host))
    }

    /// Gives the buffers back.
    ///
    /// # Errors
    /// Those of [`crate::memory::Ledger::free`].
    pub fn free(self, session: &mut Session) -> Result<(), BenchError> {
        free(session, self.handles)
    }
}

/// Holds one run against the reference. The forward check says what is wrong, should anything be.
fn check_result(
    session: &mut Session,
    subject: &Subject<'_>,
    case: &Case,
    trial: &Trial,
) -> Result<(), BenchError> {
    let setting = Setting::default_for(subject.variant);
    let problem = case.problem(subject.op);
    let executed = execute(session, subject, &problem, &trial.slots, &setting)?;
    let wrong = |finding| Err(BenchError::Wrong(Box::new(finding)));
    if let Some(finding) = Finding::of_memory(executed.memory) {
        return wrong(finding);
    }
    let is_right = |expected: &Expected| {
        let got = executed.written.get(&expected.name);
        got.is_some_and(|got| expected.compare(got).bad.is_empty())
    };
    if trial.expected.iter().all(is_right) {
        return Ok(());
    }
    match check::run(session, subject, Check::Forward, case)? {
        Outcome::Fail { finding } => wrong(*finding),
        _ => wrong(Finding::new(Kind::WrongResult, "differs from the reference in some runs only")),
    }
}

fn free(session: &mut Session, handles: Vec<Handle>) -> Result<(), BenchError> {
    for handle in handles {
        session.ledger_mut().free(handle)?;
    }
    Ok(())
}

/// Allocates and uploads; what was allocated is in `buffers` even when something fails.
fn fill(
    session: &mut Session,
    plan: &Plan,
    slots: &[Slot],
    buffers: &mut BTreeMap<String, Placed>,
) -> Result<Staged, BenchError> {
    let exact = exact_buffers(session, plan)?;
    let slots = with_scratch(slots, plan);
    let ledger = session.ledger_mut();
    for slot in &slots {
        let mut request = ledger.request(&slot.name, slot.dtype, slot.len());
        if exact.contains(&slot.name) {
            request.guard = Guard::Exact;
        }
        let handle = ledger.allocate(&request)?;
        let placed = Placed { handle, access: slot.access(), dtype: slot.dtype };
        buffers.insert(slot.name.clone(), placed);
    }
    let mut recorder = ledger.recorder();
    for slot in &slots {
        if let Some(tensor) = slot.contents.as_ref().filter(|tensor| !tensor.is_empty()) {
            recorder.upload(buffers[&slot.name].handle, tensor.bytes())?;
        }
    }
    let recorded = recorder.finish();
    let in_flight = ledger.submit(&recorded)?;
    ledger.wait(in_flight)?;
    Ok(Staged::new(session, plan, buffers)?)
}
