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

/// What came of a case.
#[derive(Clone, Debug)]
pub enum Said {
    /// It has its outcome.
    Answer(Answer),
    /// It can't be done; the error's text.
    Refused(String),
    /// Neither it nor any case behind it can be done; the error's text.
    RestRefused(String),
}

/// What was said of cases and waits for those before them.
#[derive(Clone, Debug)]
pub struct InOrder {
    /// By task and case; told ones are gone.
    waiting: Vec<Vec<Option<Said>>>,
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
        self.waiting[task][case] = Some(Said::Answer(answer));
    }

    /// A case of a task can't be done, or whatever of the task nothing was said of yet.
    pub fn refuse(&mut self, task: usize, case: Option<usize>, message: String) {
        if let Some(case) = case {
            self.waiting[task][case] = Some(Said::Refused(message));
            return;
        }
        self.refused.insert(task);
        let told = if task == self.next.0 { self.next.1 } else { 0 };
        if let Some(first) = self.waiting[task].iter_mut().skip(told).find(|said| said.is_none()) {
            *first = Some(Said::RestRefused(message));
        }
    }

    /// The next word with its task and case, if it is there.
    pub fn next(&mut self, gaps: Gaps) -> Option<(usize, usize, Said)> {
        while let Some(cases) = self.waiting.get_mut(self.next.0) {
            let (task, case) = self.next;
            let Some(said) = cases.get_mut(case) else {
                self.next = (task + 1, 0);
                continue;
            };
            let said = said.take();
            if said.is_none() && gaps == Gaps::None && !self.refused.contains(&task) {
                return None;
            }
            self.next.1 += 1;
            if let Some(said) = said {
                return Some((task, case, said));
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

#[cfg(test)]
mod tests {
    use super::{Gaps, InOrder, Said};
    use crate::check::{Check, Outcome};
    use crate::worker::{Task, Work};

    /// What is said next, while something is: `+` is an answer, `-` a refusal, `=` one of the rest.
    fn said(order: &mut InOrder) -> String {
        let mut said = String::new();
        while let Some((task, case, word)) = order.next(Gaps::None) {
            let sign = match word {
                Said::Answer(_) => '+',
                Said::Refused(_) => '-',
                Said::RestRefused(_) => '=',
            };
            said.push_str(&format!("{task}{case}{sign} "));
        }
        said
    }

    #[test]
    fn refusals_take_their_turn() {
        let work = Work::Variant { op: "add".to_owned(), variant: "naive".to_owned(), fault: None };
        let cases = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let task = Task::new(work, Check::Forward, 0, cases);
        let mut order = InOrder::new(&[task.clone(), task]);
        let pass = || Outcome::Pass { worst: 0.0 }.into();
        order.answer(1, 0, pass());
        order.refuse(1, None, "no file".to_owned());
        assert_eq!(said(&mut order), "");
        order.answer(0, 0, pass());
        order.refuse(0, Some(1), "no build".to_owned());
        assert_eq!(said(&mut order), "00+ 01- ");
        order.refuse(0, None, "no file".to_owned());
        assert_eq!(said(&mut order), "02= 10+ 11= ");
        assert!(order.is_over());
    }
}
