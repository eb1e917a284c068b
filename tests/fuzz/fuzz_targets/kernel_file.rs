//! Any text as a kernel file.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use vklab::kernel_file::KernelFile;

fuzz_target!(|text: &str| {
    let _ = KernelFile::parse(Path::new("nowhere/fuzzed.toml"), text);
});
