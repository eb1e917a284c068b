//! The `vklab` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    vklab::cli::main()
}
