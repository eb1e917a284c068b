//! Scalars that a reference can be run with, and the streams that feed it.
//!
//! One generic reference answers four questions: what is the value (`f64`), what is its
//! directional derivative ([`Dual`]), how far may an f32 kernel be from it ([`Bounded`]), and how
//! far apart are f32 computations that only add in another order ([`Shuffled`]). Each but the
//! second can also be had for the gradients, by tracing it ([`Trace`]).

mod bounded;
mod dual;
mod model;
mod regime;
mod scalar;
mod shuffled;
mod stream;
mod traced;
mod ulp;

pub use bounded::Bounded;
pub use dual::Dual;
pub use model::{Builtin, ErrorModel, Structure};
pub use regime::{Domain, Regime};
pub use scalar::Scalar;
pub use shuffled::{Order, Shuffled};
pub use stream::Stream;
pub use traced::{Trace, Traced};
pub use ulp::{F32_EPS, F32_MIN_NORMAL, max_finite, min_normal, next_after, ulp_of};
