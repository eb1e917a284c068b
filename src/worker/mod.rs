//! Workers: checks run in a child process of the same binary, so that a driver which crashes or
//! hangs costs a verdict and not the run.

mod child;
mod choice;
mod lock;
mod pool;
mod protocol;

pub use child::{ServeOptions, serve};
pub use choice::{Choice, ChoiceError, Found, choose, is_selector, open_session, selects};
pub use lock::{DeviceLock, LockError, Locking, lock_folder};
pub use pool::{Pool, PoolError, Update};
pub use protocol::{Answer, Event, Failure, Task, Unsaved, Work, slashed};
