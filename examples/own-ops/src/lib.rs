//! Ops of one's own, with their kernels in glsl/: one record a file.

pub mod energy;
pub mod swish;

use vklab::ops::Registry;

/// What the binary, the tests and the benchmarks know.
#[must_use]
pub fn registry() -> Registry {
    Registry::new()
        .op(swish::OP)
        .op(energy::OP)
        .include("square.glsl", include_str!("../glsl/include/square.glsl"))
}
