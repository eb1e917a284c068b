//! Models: tapes of ops, executed by a device's kernels or by the references.
//!
//! A model that trains wrong although every op passed its checks has its fault between the ops, so
//! the same tape runs on every [`Machine`]: [`OnDevice`], and [`Host`] with f64 or with f32 whose
//! sums are [shuffled](crate::numeric::Shuffled). A [`Swap`] replaces one op on a device.

mod curve;
mod data;
mod digits;
mod host;
mod machine;
mod on_device;
mod perceptron;
mod swap;
mod tape;
mod train;

pub use curve::{ALLOWED_SPREADS, Band, Distance, furthest_apart, relative_difference};
pub use data::{CLASSES, Digits, Examples, PIXELS};
pub use digits::{Report, Truth, train_on_device};
pub use host::Host;
pub use machine::{HostScalar, Machine};
pub use on_device::OnDevice;
pub use perceptron::{Optimizer, PARAMETERS, Parameter, Perceptron, ScaledGradient};
pub use swap::{Swap, SwapError, Way, check_swaps, ways};
pub use tape::{Declared, Life, Node, Tape, TensorId, Value};
pub use train::{Recipe, Trained, answering, count_right, train};
