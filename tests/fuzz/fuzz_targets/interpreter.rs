//! Any bytes as a module, as far as it gets: load and one dispatch under little fuel. The first
//! word of the header that nobody reads, the generator's, chooses workgroups and schedule.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vklab::soft::Watching;
use vklab_fuzz::attempt;

fuzz_target!(|bytes: &[u8]| {
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes[..bytes.len() / 4 * 4]);
    let choice = words.get(2).copied().unwrap_or(0);
    let groups = [choice % 3 + 1, 1, 1];
    attempt(&words, groups, u64::from(choice >> 2 & 3), Watching::Everything);
});
