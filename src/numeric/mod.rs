//! Scalars that a reference can be run with, and the streams that feed it.
//!
//! One generic reference answers three questions: what is the value (`f64`), what is its
//! directional derivative ([`Dual`]), and how far may an f32 kernel be from it ([`Bounded`]).

mod bounded;
mod dual;
mod model;
mod regime;
mod scalar;
mod stream;
mod ulp;

pub use bounded::Bounded;
pub use dual::Dual;
pub use model::{Builtin, ErrorModel, Structure};
pub use regime::{Domain, Regime};
pub use scalar::Scalar;
pub use stream::Stream;
pub use ulp::{F32_EPS, F32_MIN_NORMAL, next_after, ulp_of};
