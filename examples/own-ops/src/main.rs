//! The lab with these ops: `cargo run --release -- check`.

use std::process::ExitCode;

fn main() -> ExitCode {
    vklab::main(own_ops::registry())
}
