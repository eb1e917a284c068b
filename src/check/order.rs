//! Order between the steps of a plan. Drivers that run dispatches one after another hide a missing
//! barrier, so it is found in the plan itself: from what each kernel declares to read and write.

use crate::memory::Access;

/// The uses of memory since the last barrier, and the conflicts found so far. `M` is what tells one
/// piece of memory from another.
#[derive(Debug)]
pub(super) struct Unordered<M> {
    uses: Vec<(M, Access, String)>,
    conflicts: Vec<String>,
}

impl<M: PartialEq> Unordered<M> {
    pub(super) const fn new() -> Self {
        Self { uses: Vec::new(), conflicts: Vec::new() }
    }

    /// Everything before is ordered against everything behind.
    pub(super) fn barrier(&mut self) {
        self.uses.clear();
    }

    /// Adds a step with the buffers that it uses. Two steps conflict where one writes what the
    /// other reads or writes. Returns the first buffer over which this one does.
    pub(super) fn step<'n>(
        &mut self,
        by: &str,
        uses: Vec<(M, Access, &'n str)>,
    ) -> Option<&'n str> {
        let mut first = None;
        for (memory, access, name) in &uses {
            let earlier = self.uses.iter().find(|(other, their, _)| {
                other == memory && !(reads_only(*their) && reads_only(*access))
            });
            if let Some((_, their, other)) = earlier {
                first = first.or(Some(*name));
                self.conflicts.push(format!(
                    "{by} {} `{name}`, which {other} {} with no barrier between them",
                    verb(*access),
                    verb(*their)
                ));
            }
        }
        self.uses
            .extend(uses.into_iter().map(|(memory, access, _)| (memory, access, by.to_owned())));
        first
    }

    /// The conflicts, in the order of the steps.
    pub(super) fn finish(self) -> Vec<String> {
        self.conflicts
    }
}

fn reads_only(access: Access) -> bool {
    access == Access::Read
}

const fn verb(access: Access) -> &'static str {
    match access {
        Access::Read => "reads",
        Access::Write => "writes",
        Access::ReadWrite => "reads and writes",
    }
}
