//! Any text as an Amber script.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = vklab::amber::parse(Path::new("nowhere/fuzzed.amber"), text);
});
