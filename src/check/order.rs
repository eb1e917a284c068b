//! Order between the steps of a plan. Drivers that run dispatches one after another hide a missing
//! barrier, so it is found in the plan itself: from what each kernel declares to read and write.

use crate::memory::{Access, Handle};

/// The uses of memory since the last barrier, and the conflicts found so far.
#[derive(Debug, Default)]
pub(super) struct Unordered {
    uses: Vec<(Handle, Access, String)>,
    conflicts: Vec<String>,
}

impl Unordered {
    /// Everything before is ordered against everything behind.
    pub(super) fn barrier(&mut self) {
        self.uses.clear();
    }

    /// Adds a step with the buffers that it uses. Two steps conflict where one writes what the
    /// other reads or writes.
    pub(super) fn step(&mut self, by: &str, uses: Vec<(Handle, Access, &str)>) {
        for (handle, access, name) in &uses {
            let earlier = self.uses.iter().find(|(other, their, _)| {
                other == handle && !(reads_only(*their) && reads_only(*access))
            });
            if let Some((_, their, other)) = earlier {
                self.conflicts.push(format!(
                    "{by} {} `{name}`, which {other} {} with no barrier between them",
                    verb(*access),
                    verb(*their)
                ));
            }
        }
        self.uses.extend(uses.iter().map(|(handle, access, _)| (*handle, *access, by.to_owned())));
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
