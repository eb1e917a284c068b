//! Every check of every variant of the lab's registry on every device; see [`vklab::suite`].

use std::process::ExitCode;

use vklab::ops::Registry;

fn main() -> ExitCode {
    vklab::suite(Registry::lab())
}
