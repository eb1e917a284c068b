//! Any bytes as a module: reflection and lowering.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vklab::soft::Watching;
use vklab_fuzz::load;

fuzz_target!(|bytes: &[u8]| {
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes[..bytes.len() / 4 * 4]);
    let _ = load(&words, Watching::Nothing);
});
