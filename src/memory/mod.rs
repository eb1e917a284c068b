//! The ledger: who asked for which memory, who touched it last, and who must not any more.
//!
//! A [`Ledger`] owns a device and hands out [`Handle`]s instead of buffers. A handle names a slot
//! and a generation; slots are used again after a quarantine, generations never, so a handle that
//! outlived its buffer is recognised when it is recorded and again when it is submitted. Every
//! buffer starts and ends its life filled with poison and carries guards inside its bound range.
//!
//! What the host does wrong is a [`HostMisuse`] and stops at once; what a kernel does wrong is a
//! [`MemoryFinding`] and arrives with the results of [`Ledger::wait`].

mod assemble;
mod counters;
mod events;
mod findings;
mod inspect;
mod ledger;
mod lookup;
mod misuse;
mod poison;
mod quarantine;
mod recorded;
mod recorder;
mod request;
mod slot;
mod staging;
mod submit;
mod table;

pub use counters::Counters;
pub use events::{Event, EventKind, Site};
pub use findings::{ElementRange, ElementRanges, FindingKind, MemoryFinding};
pub use ledger::Ledger;
pub use misuse::{HostMisuse, MemoryError, MisuseKind};
pub use poison::{Poison, PoisonPattern, poison_word};
pub use recorded::Recorded;
pub use recorder::{Dispatch, Recorder, Window};
pub use request::{Guard, Inspection, LedgerOptions, Request};
pub use slot::Handle;
pub use staging::Staging;
pub use submit::{Finished, InFlight};
pub use table::{Access, Bindings, Bound};
