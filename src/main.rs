//! The `vklab` binary.

use std::process::ExitCode;

use vklab::ops::Registry;

fn main() -> ExitCode {
    vklab::main(Registry::lab())
}
