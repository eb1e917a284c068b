//! Every check of every variant on every device: `cargo test --release --test suite`.

use std::process::ExitCode;

fn main() -> ExitCode {
    vklab::suite(own_ops::registry())
}
