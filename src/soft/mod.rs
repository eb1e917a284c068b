//! `soft`: a SPIR-V interpreter, present on every machine without a driver, that watches.
//!
//! A module is refused or lowered ([`program`]) to bytecode over columns, one register for all
//! invocations of a workgroup. The machine executes it workgroup by workgroup under a seeded
//! schedule; observers look at what it does and tell what no driver tells.

mod alu;
mod atomics;
mod cost;
mod device;
mod domain;
mod error;
mod findings;
mod groups;
mod limits;
mod lower;
mod machine;
mod matrix;
mod memory;
mod observer;
mod observers;
mod program;
mod registers;
mod scalar;
mod watch;
mod words;
pub use device::{Counting, Soft, SoftOptions, Watching};
pub use domain::{Dual, Tangent, Tie};
pub use error::SoftError;
