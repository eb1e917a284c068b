//! What came back from the device, held against what should have.

use super::findings::{ElementRanges, FindingKind, MemoryFinding};
use super::ledger::Ledger;
use super::poison::{blocks, named_slot};
use super::slot::{Handle, Tenant};
use crate::device::Command;
use crate::tensor::Dtype;

/// A download of the ledger's own, with the reason for it.
#[derive(Debug)]
pub(super) struct Inspected {
    pub(super) handle: Handle,
    pub(super) offset_bytes: u64,
    pub(super) len_bytes: u64,
    pub(super) question: Question,
}

#[derive(Debug)]
pub(super) enum Question {
    /// Is it still poison?
    Guard,
    /// Is it poison no more, and nobody else's?
    Written,
    /// Is it still this?
    Unchanged(Vec<u8>),
}

impl Ledger {
    /// Answers the questions in order. Guards that were hit are poisoned again before the next
    /// submission, so that a fault is reported once.
    pub(super) fn judge(
        &mut self,
        inspected: Vec<Inspected>,
        answers: Vec<Vec<u8>>,
    ) -> Vec<MemoryFinding> {
        let mut findings = Vec::new();
        let mut guards: Vec<(Handle, ElementRanges)> = Vec::new();
        for (inspected, bytes) in inspected.into_iter().zip(answers) {
            let handle = inspected.handle;
            match &inspected.question {
                Question::Guard => {
                    let hit = self.guard_hit(&inspected, &bytes);
                    if hit.is_empty() {
                        continue;
                    }
                    self.repair(&inspected, &bytes);
                    match guards.last_mut().filter(|(last, _)| *last == handle) {
                        Some((_, before)) => before.append(hit),
                        None => guards.push((handle, hit)),
                    }
                }
                Question::Written => self.judge_written(handle, &bytes, &mut findings),
                Question::Unchanged(expected) => {
                    findings.extend(self.judge_unchanged(handle, expected, &bytes));
                }
            }
        }
        let hits = guards.into_iter().map(|(handle, hit)| {
            self.count(|counters| counters.guard_hits += 1);
            let tenant = self.tenant(handle);
            let message = format!(
                "{} outside of its {} elements written: {hit}",
                plural(hit.count),
                tenant.len
            );
            self.finding(FindingKind::GuardHit, tenant, hit, message)
        });
        let mut all: Vec<MemoryFinding> = hits.collect();
        all.append(&mut findings);
        all
    }

    fn tenant(&self, handle: Handle) -> &Tenant {
        self.slots[handle.slot as usize].tenant_of(handle.generation)
    }

    fn guard_hit(&self, inspected: &Inspected, bytes: &[u8]) -> ElementRanges {
        let tenant = self.tenant(inspected.handle);
        let data = self.data_bytes_in(inspected);
        let offset = i64::try_from(inspected.offset_bytes).unwrap_or(i64::MAX);
        let before = i64::try_from(tenant.layout.before).unwrap_or(i64::MAX);
        let first = offset - before + i64::try_from(data).unwrap_or(0);
        tenant.pattern.overwritten(first, &bytes[data..])
    }

    /// Bytes at the start of an inspected guard that belong to the data.
    fn data_bytes_in(&self, inspected: &Inspected) -> usize {
        let layout = self.tenant(inspected.handle).layout;
        if inspected.offset_bytes == layout.behind() { layout.shared() } else { 0 }
    }

    fn repair(&mut self, inspected: &Inspected, bytes: &[u8]) {
        let data = self.data_bytes_in(inspected);
        let tenant = self.tenant(inspected.handle);
        let (buffer, pattern) = (tenant.buffer, tenant.pattern.word);
        let mut offset_bytes = inspected.offset_bytes;
        let mut len_bytes = inspected.len_bytes;
        let mut commands = Vec::new();
        if data > 0 {
            commands.push(Command::Upload {
                buffer,
                offset_bytes,
                data: tenant.pad(&bytes[..data]),
            });
            offset_bytes += 4;
            len_bytes -= 4;
        }
        if len_bytes > 0 {
            commands.push(Command::Undefine { buffer, offset_bytes, len_bytes, pattern });
        }
        self.pending.entry(buffer).or_default().extend(commands);
    }

    fn judge_written(&self, handle: Handle, bytes: &[u8], findings: &mut Vec<MemoryFinding>) {
        let tenant = self.tenant(handle);
        let dtype = tenant.pattern.dtype;
        let data = &bytes[..tenant.data_bytes()];
        let unwritten = tenant.pattern.unwritten(data);
        if !unwritten.is_empty() {
            let message =
                format!("{} of {} never written: {unwritten}", plural(unwritten.count), tenant.len);
            findings.push(self.finding(FindingKind::Unwritten, tenant, unwritten, message));
        }
        let owner = |element: &[u8]| {
            self.poison_owner(dtype, element).filter(|owner| *owner != handle.slot)
        };
        let Some(source) = data.chunks_exact(dtype.block_bytes()).find_map(owner) else {
            return;
        };
        let poisoned = blocks(dtype, data, |element| owner(element).is_some());
        self.count(|counters| counters.poison_reads += 1);
        let source = &self.slots[source as usize].tenant;
        let state = match &source.freed {
            Some(site) => format!("freed at {site}"),
            None => format!("requested at {}", source.requested),
        };
        let message = format!(
            "{} of {} computed from the poison of buffer `{}`, {state}: {poisoned}",
            plural(poisoned.count),
            tenant.len,
            source.name
        );
        findings.push(self.finding(FindingKind::PoisonRead, tenant, poisoned, message));
    }

    /// The slot whose poison this element of the same type is.
    fn poison_owner(&self, dtype: Dtype, element: &[u8]) -> Option<u32> {
        let slot = named_slot(dtype, element)?;
        let tenant = &self.slots.get(slot as usize)?.tenant;
        (tenant.named && tenant.pattern.dtype == dtype).then_some(slot)
    }

    fn judge_unchanged(
        &self,
        handle: Handle,
        expected: &[u8],
        bytes: &[u8],
    ) -> Option<MemoryFinding> {
        let tenant = self.tenant(handle);
        let dtype = tenant.pattern.dtype;
        let len = tenant.data_bytes();
        if expected[..len] == bytes[..len] {
            return None;
        }
        let size = dtype.block_bytes();
        let pairs = expected[..len].chunks_exact(size).zip(bytes[..len].chunks_exact(size));
        let changed =
            ElementRanges::of((0..).zip(pairs), |(was, is)| was != is).times(dtype.block_len());
        let message = format!(
            "{} of {} changed after the upload, though only bound for reading: {changed}",
            plural(changed.count),
            tenant.len
        );
        Some(self.finding(FindingKind::InputChanged, tenant, changed, message))
    }
}

fn plural(count: u64) -> String {
    if count == 1 { "1 element".to_owned() } else { format!("{count} elements") }
}
