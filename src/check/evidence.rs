//! The arrays behind a finding.

use std::fs;
use std::io;
use std::path::Path;

use crate::tensor::{Tensor, write_npy, write_npy_f64};

use super::compare::Expected;
use super::execute::Slot;

/// Inputs, result, expectation and bound of a finding that compares values, as .npy files that
/// only have to be written. Reports and run files leave them out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence(Vec<(String, Vec<u8>)>);

impl Evidence {
    /// What the buffers of a run held before it, and one of them afterwards.
    #[must_use]
    pub(super) fn new(slots: &[Slot], expected: &Expected, got: &Tensor) -> Self {
        let mut files = Vec::new();
        for slot in slots {
            if let Some(contents) = &slot.contents {
                files.push((format!("input.{}.npy", slot.name), npy(contents)));
            }
        }
        let name = expected.name.replace(' ', "-");
        files.push((format!("got.{name}.npy"), npy(got)));
        files.push((format!("expected.{name}.npy"), npy_f64(&expected.shape, &expected.values)));
        files.push((format!("bound.{name}.npy"), npy_f64(&expected.shape, &expected.bounds)));
        Self(files)
    }

    /// Whether the finding compares no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the files into a folder, which is made where it doesn't exist.
    ///
    /// # Errors
    /// No permission, a full disk.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        self.0.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes))
    }
}

fn npy(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_npy(tensor, &mut bytes).expect("shapes of a few axes fit the header");
    bytes
}

fn npy_f64(shape: &[usize], values: &[f64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_npy_f64(shape, values, &mut bytes).expect("shapes of a few axes fit the header");
    bytes
}
