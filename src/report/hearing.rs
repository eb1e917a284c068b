//! What the workers of a device report, held against what was expected and told in order.

use indicatif::ProgressBar;

use crate::check::Outcome;
use crate::device::DeviceInfo;
use crate::memory::MemoryFinding;
use crate::run::{Gaps, InOrder, Judge, Learned, Line, Refusal, Said, Standing};
use crate::worker::{Task, Update};

use super::telling::{TellError, Telling};

/// A device's part of a run.
pub struct Hearing<'a> {
    device: &'a str,
    judge: &'a Judge<'a>,
    tasks: &'a [Task],
    telling: &'a mut Telling,
    bar: ProgressBar,
    order: InOrder,
    /// By task.
    standings: Vec<Standing<'a>>,
    /// Indices of the tasks that the workers are given.
    asked: Vec<usize>,
    is_open: bool,
    leaks: Vec<MemoryFinding>,
}

impl<'a> Hearing<'a> {
    /// Nothing is heard yet, and what must not run is skipped.
    #[must_use]
    pub fn new(
        info: &'a DeviceInfo,
        tasks: &'a [Task],
        judge: &'a Judge<'a>,
        telling: &'a mut Telling,
        bar: ProgressBar,
    ) -> Self {
        let mut order = InOrder::new(tasks);
        let standings: Vec<_> = tasks.iter().map(|task| judge.standing(info, task)).collect();
        let mut asked = Vec::new();
        for (index, standing) in standings.iter().enumerate() {
            let Some(reason) = standing.skip() else {
                asked.push(index);
                continue;
            };
            for case in 0..tasks[index].cases.len() {
                let outcome = Outcome::Skipped { reason: reason.to_owned() };
                order.answer(index, case, outcome.into());
            }
        }
        let cases = asked.iter().map(|index| tasks[*index].cases.len() as u64).sum();
        bar.set_length(cases);
        let device = info.name.as_str();
        let (is_open, leaks) = (false, Vec::new());
        Self { device, judge, tasks, telling, bar, order, standings, asked, is_open, leaks }
    }

    /// The tasks for the workers.
    #[must_use]
    pub fn asked(&self) -> Vec<Task> {
        self.asked.iter().map(|index| self.tasks[*index].clone()).collect()
    }

    /// Takes in what the workers say of [`Hearing::asked`].
    ///
    /// # Errors
    /// A run file that can't be written.
    pub fn hear(&mut self, update: Update) -> Result<(), TellError> {
        match update {
            // Each worker opens the same device.
            Update::Ready(..) if self.is_open => {}
            Update::Ready(info, calibration) => {
                self.is_open = true;
                self.telling.write(&Line::Device { info, calibration })?;
            }
            Update::Answer { task, case, answer } => {
                self.bar.inc(1);
                self.order.answer(self.asked[task], case, answer);
                self.tell(Gaps::None)?;
            }
            Update::Refused { task, case, message } => {
                self.bar.inc(1);
                self.order.refuse(self.asked[task], case, message);
                self.tell(Gaps::None)?;
            }
            Update::NotDumped { task, message } => {
                self.telling.not_dumped(self.tasks[self.asked[task]].target(), message);
            }
            Update::Closed(counters, leaks) => {
                self.telling.add_ledger(self.device, counters);
                self.leaks.extend(leaks);
            }
        }
        Ok(())
    }

    fn tell(&mut self, gaps: Gaps) -> Result<(), TellError> {
        while let Some((task, case, said)) = self.order.next(gaps) {
            let asked = &self.tasks[task];
            let (case, message) = match said {
                Said::Answer(answer) => {
                    let mut verdict = asked.verdict(self.device, case, answer);
                    verdict.expected = self.standings[task].judge(&verdict.outcome);
                    self.bar.suspend(|| self.telling.verdict(verdict))?;
                    continue;
                }
                Said::Refused(message) => (Some(asked.cases[case].clone()), message),
                Said::RestRefused(message) => (None, message),
            };
            let (device, target) = (self.device.to_owned(), asked.target());
            let refusal = Refusal { device, target, check: asked.check, case, message };
            self.bar.suspend(|| self.telling.refuse(refusal))?;
        }
        Ok(())
    }

    /// The end of the device's part. `stale` says whether lines that expected failures in vain are
    /// findings.
    ///
    /// # Errors
    /// A run file that can't be written; answers that are missing where there should be none.
    pub fn end(mut self, gaps: Gaps, stale: Stale, learned: &mut Learned) -> Result<(), TellError> {
        self.tell(gaps)?;
        self.bar.finish_and_clear();
        if gaps == Gaps::None && !self.order.is_over() {
            return Err(TellError::Unanswered);
        }
        for leak in self.leaks {
            self.telling.leak(self.device, leak)?;
        }
        let path = self.judge.expectations.path();
        for pass in learned.hear(path, self.device, self.tasks, self.standings) {
            if stale == Stale::Told {
                self.telling.unexpected_pass(pass)?;
            }
        }
        Ok(self.telling.end_device(self.device)?)
    }
}

/// What becomes of lines that expected failures in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// They are findings.
    Told,
    /// They are about to be removed.
    Removed,
}
