//! A lab for GLSL compute kernels on any Vulkan device.
//!
//! A kernel belongs to an op; an op is one record with a plain reference, its cases and its
//! variants; a check asks one question of a variant on a device and answers with a verdict.
//! `ARCHITECTURE.md` tells how the modules below stand on one another.
#![warn(missing_docs)]
#![deny(clippy::print_stdout)]

pub mod device;
#[expect(unsafe_code, reason = "the one module that calls Vulkan")]
pub mod vulkan;
