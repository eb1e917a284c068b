//! A tangent for each register of each invocation.

use crate::soft::program::Slot;
use crate::soft::registers::Active;

use super::dual::Tangent;

/// The tangents of one workgroup's registers. Most registers hold no number that depends on an
/// input: those have no column.
#[derive(Debug, Default)]
pub(super) struct Columns {
    columns: Vec<Option<Vec<Tangent>>>,
    width: usize,
}

impl Columns {
    pub(super) fn new(slots: usize, width: usize) -> Self {
        Self { columns: vec![None; slots], width }
    }

    /// Whether any invocation may have a tangent there.
    pub(super) fn has(&self, slot: Slot) -> bool {
        self.columns.get(slot as usize).is_some_and(Option::is_some)
    }

    pub(super) fn get(&self, slot: Slot, lane: usize) -> Tangent {
        match self.columns.get(slot as usize) {
            Some(Some(column)) => column.get(lane).copied().unwrap_or_default(),
            _ => Tangent::default(),
        }
    }

    /// Of all invocations.
    pub(super) fn column(&self, slot: Slot) -> Vec<Tangent> {
        (0..self.width).map(|lane| self.get(slot, lane)).collect()
    }

    pub(super) fn put(&mut self, slot: Slot, lane: usize, tangent: Tangent) {
        let width = self.width;
        let Some(column) = self.columns.get_mut(slot as usize) else { return };
        if column.is_some() || !tangent.is_zero() {
            column.get_or_insert_with(|| vec![Tangent::default(); width])[lane] = tangent;
        }
    }

    /// Writes the active invocations' tangents, which may be computed from any register's.
    pub(super) fn set(
        &mut self,
        slot: Slot,
        active: &Active,
        mut value: impl FnMut(&Self, usize) -> Tangent,
    ) {
        let mut has_any = false;
        for lane in active.iter() {
            let tangent = value(self, lane);
            has_any |= !tangent.is_zero();
            self.put(slot, lane, tangent);
        }
        if !has_any {
            self.clear(slot, active);
        }
    }

    /// The active invocations have none.
    pub(super) fn clear(&mut self, slot: Slot, active: &Active) {
        let width = self.width;
        let Some(column) = self.columns.get_mut(slot as usize) else { return };
        match column {
            None => {}
            Some(_) if active.count() == width => *column = None,
            Some(column) => active.iter().for_each(|lane| column[lane] = Tangent::default()),
        }
    }
}
