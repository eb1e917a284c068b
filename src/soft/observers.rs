//! All who look on.

use std::ops::Range;

use super::device::Watching;
use super::observer::{Observer, Transfer};

/// The observers of a device, each told of everything.
#[derive(Default)]
pub(crate) struct Observers(pub(crate) Vec<Box<dyn Observer>>);

impl Observers {
    pub(super) fn watching(watch: Watching) -> Self {
        match watch {
            // The machine itself looks for accesses outside of memory.
            Watching::Nothing | Watching::Bounds | Watching::Everything => Self::default(),
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
