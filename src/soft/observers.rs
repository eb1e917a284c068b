//! All who look on.

use std::ops::Range;

use super::device::Watching;
use super::observer::{Observer, Transfer};
use super::watch::arithmetic::Arithmetic;
use super::watch::defined::Definedness;
use super::watch::race::Races;

/// The observers of a device, each told of everything.
#[derive(Default)]
pub(crate) struct Observers(pub(crate) Vec<Box<dyn Observer>>);

impl Observers {
    pub(super) fn watching(watch: Watching) -> Self {
        match watch {
            // The machine itself looks for accesses outside of memory.
            Watching::Nothing | Watching::Bounds => Self::default(),
            Watching::Everything => Self(vec![
                Box::new(Definedness::new()),
                Box::new(Arithmetic::new()),
                Box::new(Races::new()),
            ]),
        }
    }

    pub(crate) fn each(&mut self, mut tell: impl FnMut(&mut dyn Observer)) {
        for observer in &mut self.0 {
            tell(observer.as_mut());
        }
    }

    pub(crate) fn transfer(&mut self, buffer: usize, bytes: &Range<u64>, written: Transfer) {
        for observer in &mut self.0 {
            observer.transfer(buffer, bytes.clone(), written);
        }
    }

    pub(crate) fn free(&mut self, buffer: usize) {
        for observer in &mut self.0 {
            observer.free(buffer);
        }
    }
}
