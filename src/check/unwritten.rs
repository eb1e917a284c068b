//! Outputs that nobody wrote, told apart from outputs that happen to equal the poison.

use crate::memory::{FindingKind, MemoryFinding, Poison};

use super::execute::{Executed, Slot, poison_index};

/// What two runs, with NaN and with huge poison, say together. A NaN that names its buffer is
/// poison; any other pattern may be a result, so an integer was never written if it holds the one
/// poison in the one run and the other in the other.
pub(super) fn in_both(slots: &[Slot], nan: &Executed, huge: &Executed) -> Vec<MemoryFinding> {
    let mut found = surely(slots, nan);
    for finding in reported(nan) {
        let Some(slot) = slot(slots, finding).filter(|slot| slot.dtype.is_integer()) else {
            continue;
        };
        let [Some(first), Some(second)] = [nan, huge].map(|run| run.written.get(&slot.name)) else {
            continue;
        };
        let [one, other] = [Poison::Nan, Poison::Huge].map(|p| f64::from(poison_index(slot, p)));
        let pairs = first.values().into_iter().zip(second.values());
        let never = pairs.enumerate().filter(|(_, pair)| *pair == (one, other));
        let never: Vec<usize> = never.map(|(at, _)| at).collect();
        if let [at, ..] = never[..] {
            let (count, len) = (never.len(), first.len());
            let message = format!("{count} elements of {len} never written, the first at {at}");
            found.push(MemoryFinding { message, ..finding.clone() });
        }
    }
    found
}

/// What one run with NaN poison says beyond doubt.
pub(super) fn surely(slots: &[Slot], nan: &Executed) -> Vec<MemoryFinding> {
    let is_sure =
        |finding: &&MemoryFinding| slot(slots, finding).is_none_or(|slot| !slot.dtype.is_integer());
    reported(nan).filter(is_sure).cloned().collect()
}

fn reported(executed: &Executed) -> impl Iterator<Item = &MemoryFinding> {
    executed.memory.iter().filter(|finding| finding.kind == FindingKind::Unwritten)
}

fn slot<'s>(slots: &'s [Slot], finding: &MemoryFinding) -> Option<&'s Slot> {
    slots.iter().find(|slot| slot.name == finding.buffer)
}
