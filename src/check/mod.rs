//! Checks: one question each, asked of a variant in a case on a device.
//!
//! Tolerance comes from an op's reference run with error bounds and is applied in
//! [`compare`](Expected::compare) alone.

mod alias;
mod beside;
mod blame;
mod calibrate;
mod compare;
mod describe;
mod determinism;
mod diagnose;
mod error;
mod evidence;
mod exact;
mod execute;
mod finding;
mod foreign;
mod forward;
mod gradient;
mod gradient_exact;
mod kernels;
mod kind;
mod limits;
mod memory;
mod observed;
mod order;
mod output;
mod places;
mod portability;
mod property;
mod proven;
mod push;
mod question;
mod sanitize;
mod session;
mod shell;
mod shown;
mod shrink;
mod staged;
mod subject;
mod suite;
mod trial;
mod unwritten;
mod verdict;

pub use calibrate::calibrate;
pub use compare::{Comparison, Expected, Nan, excess};
pub use error::CheckError;
pub use evidence::Evidence;
pub use execute::{Executed, Place, Setting, Slot, execute, run_plan};
pub(crate) use execute::{planned, with_scratch};
pub use finding::{Finding, Mismatch};
pub use foreign::{Foreign, Own};
pub use kind::Kind;
pub use limits::{Profile, UnknownProfile};
pub use output::Output;
pub use session::Session;
pub use shell::shell_word;
pub use shown::ShownKernel;
pub use shrink::shrink;
pub use staged::{Placed, Staged, exact_buffers};
pub use subject::Subject;
use suite::Circumstances;
pub(crate) use suite::repeat;
pub use suite::{Effort, applies, cases, run};
pub use trial::{Cotangent, Prefill, Trial, draw_inputs};
pub use verdict::{Check, Known, Mark, Outcome, Turning, Verdict};
