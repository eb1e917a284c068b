//! A lab for GLSL compute kernels on any Vulkan device.
//!
//! A kernel belongs to an op; an op is one record with a plain reference, its cases and its
//! variants; a check asks one question of a variant on a device and answers with a verdict.
//! `ARCHITECTURE.md` tells how the modules below stand on one another.
#![warn(missing_docs)]
#![deny(clippy::print_stdout)]

pub mod amber;
pub mod bench;
pub mod check;
pub mod cli;
pub mod device;
pub mod faulty;
pub mod glsl;
pub mod import;
pub mod kernel_file;
pub mod memory;
pub mod model;
pub mod numeric;
pub mod ops;
pub mod report;
pub mod run;
pub mod soft;
pub mod spirv;
pub mod tensor;
#[expect(unsafe_code, reason = "Vulkan is a C interface; each block names the rule it relies on")]
pub mod vulkan;
pub mod worker;

pub use cli::{main, suite};
