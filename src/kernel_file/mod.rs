//! Kernel files: kernels from outside the lab, described in TOML.
//!
//! [`KernelFile::load`] reads and checks a file of the format that docs/kernel-file.md describes.
//! Its lists span cases ([`Point`]); [`KernelFile::instance`] turns one into buffers, a plan and
//! the truth that the result is held against.

mod buffers;
mod error;
mod expr;
mod files;
mod formula;
mod instance;
mod kernels;
mod keys;
mod load;
mod needs;
mod number;
mod plan;
mod points;
mod read;
mod scope;
mod steps;
mod truth;
mod twin;
mod types;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use buffers::BufferDecl;
use error::Text;
use kernels::KernelDecl;
use scope::Scope;
use steps::StepDecl;
use truth::TruthDecl;

use crate::ops::{Need, Order};

pub use buffers::{BufferRole, Init};
pub use error::{KernelFileError, Place};
pub use instance::{Buffer, Expect, Instance, OpTruth, Truth, Want};
pub use points::Point;

/// A kernel file that was read and checked.
#[derive(Clone, Debug)]
pub struct KernelFile {
    path: PathBuf,
    text: Text,
    about: Option<String>,
    order: Order,
    kernels: Vec<KernelDecl>,
    buffers: Vec<BufferDecl>,
    steps: Vec<StepDecl>,
    truth: TruthDecl,
    twin: Option<Box<Self>>,
    vjp: Vec<PathBuf>,
    subgroup_sizes: Vec<u32>,
    needs: Vec<Need>,
    scope: Scope,
}

impl KernelFile {
    /// Reads a file and whatever code it names.
    ///
    /// # Errors
    /// What is wrong with it, at the line and column.
    pub fn load(path: &Path) -> Result<Self, KernelFileError> {
        load::load(path, &|name| std::env::var_os(name))
    }

    /// A text that isn't on disk, as if it were the file at `path`.
    ///
    /// # Errors
    /// As [`KernelFile::load`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, KernelFileError> {
        load::parse(path, text, &|name| std::env::var_os(name))
    }

    /// Whether a file is meant to be a kernel file: TOML with a version and kernels.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        std::fs::read_to_string(path).is_ok_and(|text| load::is_meant(&text))
    }

    /// The path as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its line for reports.
    #[must_use]
    pub fn about(&self) -> Option<&str> {
        self.about.as_deref()
    }

    /// Whether two runs give the same bits.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// How many builds the lists of defines and specialization constants span.
    #[must_use]
    pub fn build_count(&self) -> usize {
        self.scope.build_count()
    }

    /// Every combination of shapes and builds, first values first.
    #[must_use]
    pub fn points(&self) -> Vec<Point> {
        self.scope.points()
    }

    /// The first of them.
    #[must_use]
    pub fn first_point(&self) -> Point {
        Point(vec![0; self.scope.axes.len()])
    }

    /// The name of a case: `n=255,BM=32`.
    #[must_use]
    pub fn id(&self, point: &Point) -> String {
        self.scope.id(point)
    }

    /// The case of that name.
    ///
    /// # Errors
    /// What of the name fits nothing.
    pub fn point(&self, id: &str) -> Result<Point, KernelFileError> {
        self.scope.point(id).map_err(|reason| KernelFileError::Case {
            file: self.text.shown.clone(),
            id: id.to_owned(),
            reason,
        })
    }

    /// The kernel files of the gradient.
    #[must_use]
    pub fn vjp(&self) -> &[PathBuf] {
        &self.vjp
    }

    /// The subgroup sizes that the file asks for; none stands for what the device offers.
    #[must_use]
    pub fn subgroup_sizes(&self) -> &[u32] {
        &self.subgroup_sizes
    }

    /// What the file declares that its kernels need of a device.
    #[must_use]
    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// Neighbours in which one shape has its next smaller listed value.
    #[must_use]
    pub fn shrunk(&self, point: &Point) -> Vec<Point> {
        self.scope.shrunk(point)
    }
}
