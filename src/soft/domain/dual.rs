//! Dual numbers, from outside: tangents go in with uploads and come back with downloads.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, Mul};
use std::rc::Rc;

use crate::soft::findings::{Party, describe};
use crate::soft::observer::Moment;

use super::cells::{Cells, Torn};

/// The tangent of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tangent {
    /// The directional derivative.
    pub value: f64,
    /// The sum of the magnitudes of the terms that it is made of: where they cancel, rounding in
    /// the kernel's own numbers is as large as this times their precision.
    pub size: f64,
}

impl Tangent {
    /// A direction.
    #[must_use]
    pub const fn new(value: f64) -> Self {
        Self { value, size: value.abs() }
    }

    pub(super) const fn is_zero(self) -> bool {
        self.value == 0.0 && self.size == 0.0
    }
}

impl Add for Tangent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, size: self.size + other.size }
    }
}

/// A partial derivative times a tangent. Without a tangent nothing comes of an infinite slope.
impl Mul<f64> for Tangent {
    type Output = Self;

    fn mul(self, slope: f64) -> Self {
        if self.is_zero() {
            return self;
        }
        Self { value: self.value * slope, size: self.size * slope.abs() }
    }
}

/// Which side of a kink is taken: of two equal operands of a maximum the first one's tangent or the
/// second one's, and what a comparison says just beside the point where both sides are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tie {
    /// What the kernel itself takes.
    #[default]
    First,
    /// The other one.
    Second,
}

/// The tangents of an interpreter that was opened with them; clones are the same.
///
/// A tangent goes with the upload of a buffer and comes back with its download: both are known by
/// the buffer's name.
#[derive(Clone, Debug, Default)]
pub struct Dual(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    tie: Tie,
    seeds: HashMap<String, (u32, Vec<f64>)>,
    results: HashMap<String, Cells>,
    kinks: Vec<String>,
    lost: Vec<String>,
}

impl Dual {
    /// No tangents yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all tangents and all that was told.
    pub fn begin(&self, tie: Tie) {
        *self.0.borrow_mut() = State { tie, ..State::default() };
    }

    /// The tangents that uploads of a buffer carry from now on, one for each of its elements.
    pub fn set_tangent(&self, buffer: &str, element_bytes: u32, tangent: &[f64]) {
        let seed = (element_bytes, tangent.to_vec());
        self.0.borrow_mut().seeds.insert(buffer.to_owned(), seed);
    }

    /// The tangents of a buffer's elements as its first download found them.
    #[must_use]
    pub fn tangent(&self, buffer: &str, element_bytes: u32, len: usize) -> Vec<Tangent> {
        let state = self.0.borrow();
        let Some(cells) = state.results.get(buffer) else {
            return vec![Tangent::default(); len];
        };
        let torn = Tangent { value: f64::NAN, size: f64::NAN };
        let elements = (0..len).map(|at| {
            let at = u32::try_from(at).ok().and_then(|at| at.checked_mul(element_bytes));
            at.and_then(|at| cells.read(at, element_bytes).ok()).unwrap_or(torn)
        });
        elements.collect()
    }

    /// Places where the derivative depends on the side from which one comes.
    #[must_use]
    pub fn kinks(&self) -> Vec<String> {
        self.0.borrow().kinks.clone()
    }

    /// Operations that a tangent doesn't come through: what is behind them is not to be trusted.
    #[must_use]
    pub fn lost(&self) -> Vec<String> {
        self.0.borrow().lost.clone()
    }

    pub(super) fn tie(&self) -> Tie {
        self.0.borrow().tie
    }

    /// What an upload of so many bytes brings.
    pub(super) fn uploaded(&self, buffer: &str, bytes: u64) -> Option<(u32, Vec<f64>)> {
        let state = self.0.borrow();
        let (element, tangent) = state.seeds.get(buffer)?;
        // Beside the data only whole words are uploaded, as poison in front of them or behind.
        let own = u64::from(*element) * tangent.len() as u64;
        (own.next_multiple_of(4) == bytes).then(|| (*element, tangent.clone()))
    }

    pub(super) fn downloaded(&self, buffer: &str, cells: Cells) {
        self.0.borrow_mut().results.entry(buffer.to_owned()).or_insert(cells);
    }

    pub(super) fn kink(&self, moment: &Moment<'_>, what: &str) {
        let told = format!("{what} at {}", place(moment));
        tell(&mut self.0.borrow_mut().kinks, told);
    }

    pub(super) fn lose(&self, moment: &Moment<'_>, what: &str) {
        let told = format!("could not carry the tangent through {what} at {}", place(moment));
        tell(&mut self.0.borrow_mut().lost, told);
    }

    /// The tangent in memory, or none where a part of a number is read.
    pub(super) fn whole(&self, moment: &Moment<'_>, read: Result<Tangent, Torn>) -> Tangent {
        read.unwrap_or_else(|Torn| {
            self.lose(moment, "a read of a part of a number");
            Tangent::default()
        })
    }
}

/// Once for each line.
fn tell(told: &mut Vec<String>, what: String) {
    const MOST: usize = 16;
    if told.len() < MOST && !told.contains(&what) {
        told.push(what);
    }
}

fn place(moment: &Moment<'_>) -> String {
    let party = Party { what: "computes", at: moment.at, invocation: None };
    let act = describe(moment.program, party);
    match (act.line, act.text.as_str()) {
        (0, _) => format!("a place without a line in {}", act.kernel),
        (line, "") => format!("{}:{line}", act.file),
        (line, text) => format!("{}:{line}: {text}", act.file),
    }
}
