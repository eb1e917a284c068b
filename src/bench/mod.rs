//! Measurement: how long a variant takes on a device.
//!
//! A [`Workload`] is a variant with its kernels loaded and its buffers filled. It exists only for a
//! result that was held against the reference first: how fast a wrong kernel is means nothing.

mod case;
mod error;
mod workload;

pub use case::{least_bytes, mid_size};
pub use error::BenchError;
pub use workload::{Clock, Measured, Workload};
