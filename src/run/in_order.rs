//! What workers report, in the order of tasks and cases, whichever worker was faster.

use std::collections::BTreeSet;

use crate::worker::{Answer, Task};

/// Whether cases may be left without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// What comes behind one waits for it.
    None,
    /// They are passed over.
    Passed,
}

/// Answers that wait for those before them.
#[derive(Clone, Debug)]
pub struct InOrder {
    /// By task and case; told ones are gone.
    waiting: Vec<Vec<Option<Answer>>>,
    /// Task and case to be told next.
    next: (usize, usize),
    /// Tasks of which the rest can't be done.
    refused: BTreeSet<usize>,
}

impl InOrder {
    /// Nothing is answered yet.
    #[must_use]
    pub fn new(tasks: &[Task]) -> Self {
        let waiting = tasks.iter().map(|task| vec![None; task.cases.len()]).collect();
        Self { waiting, next: (0, 0), refused: BTreeSet::new() }
    }

    /// A case of a task has its answer.
    pub fn answer(&mut self, task: usize, case: usize, answer: Answer) {
        self.waiting[task][case] = Some(answer);
    }

    /// The rest of a task can't be done.
    pub fn refuse(&mut self, task: usize) {
        self.refused.insert(task);
    }

    /// The next answer with its task and case, if it is there.
    pub fn next(&mut self, gaps: Gaps) -> Option<(usize, usize, Answer)> {
        while let Some(answers) = self.waiting.get_mut(self.next.0) {
            let (task, case) = self.next;
            let Some(answer) = answers.get_mut(case) else {
                self.next = (task + 1, 0);
                continue;
            };
            let answer = answer.take();
            if answer.is_none() && gaps == Gaps::None && !self.refused.contains(&task) {
                return None;
            }
            self.next.1 += 1;
            if let Some(answer) = answer {
                return Some((task, case, answer));
            }
        }
        None
    }

    /// Whether nothing more will come.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.next.0 >= self.waiting.len()
    }
}
