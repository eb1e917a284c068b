//! A module of any words goes as far as it gets: interface, load, one dispatch on small buffers.

use std::time::Duration;

use vklab::device::{Binding, BufferId, Command, Device, Extent, Kernel, KernelId, Recording};
use vklab::soft::{Soft, SoftOptions, Watching};
use vklab::spirv::{reflect, touched};

/// Instructions that a workgroup gets. A kernel of the lab ends within them on small buffers; one
/// that doesn't end costs milliseconds.
const FUEL: u64 = 1 << 12;

/// Small enough to be passed by everything that counts, large enough for a tile.
const BUFFER_BYTES: u64 = 256;

/// How far a module got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// The loader refused it.
    Refused,
    /// It was loaded, and the dispatch was an error.
    Stopped,
    /// It ran to its end.
    Ran,
}

/// A kernel with the interface that the words speak of, if they can be read at all.
pub(crate) fn kernel(words: &[u32]) -> Kernel {
    let interface = reflect(words).ok();
    let mut bindings: Vec<(u32, u32)> = interface
        .iter()
        .flat_map(|interface| &interface.bindings)
        .map(|binding| (binding.set, binding.binding))
        .collect();
    bindings.sort_unstable();
    bindings.dedup();
    let push_bytes = interface.as_ref().map_or(0, |interface| interface.push_bytes);
    Kernel {
        name: "fuzzed".to_owned(),
        optimized: words.to_vec(),
        debug: words.to_vec(),
        entry: interface.map_or_else(|| "main".to_owned(), |interface| interface.entry),
        bindings,
        push_bytes: push_bytes.next_multiple_of(4),
        spec: Vec::new(),
        subgroup_size: None,
        capabilities: Vec::new(),
    }
}

/// A kernel on a device.
pub(crate) struct Loaded {
    soft: Soft,
    id: KernelId,
    kernel: Kernel,
}

/// Reflects on the words and loads them, if they can be.
pub(crate) fn load(words: &[u32], watch: Watching) -> Option<Loaded> {
    let _ = touched(words);
    let kernel = kernel(words);
    let options = SoftOptions { subgroup_size: 8, watch, fuel: FUEL, ..SoftOptions::default() };
    let mut soft = Soft::open(&options).ok()?;
    let id = soft.load(&kernel).ok()?;
    Some(Loaded { soft, id, kernel })
}

/// Loads the words and dispatches them. Everything but a panic is an answer.
pub(crate) fn attempt(words: &[u32], groups: [u32; 3], schedule: u64, watch: Watching) -> Reached {
    let Some(Loaded { mut soft, id, kernel }) = load(words, watch) else {
        return Reached::Refused;
    };
    let mut commands = Vec::new();
    let mut bindings = Vec::new();
    for (set, binding) in &kernel.bindings {
        let Ok(buffer) = soft.allocate("buffer", BUFFER_BYTES) else { return Reached::Stopped };
        commands.push(fill(buffer));
        let extent =
            Extent { offset_bytes: 0, range_bytes: BUFFER_BYTES, logical_bytes: BUFFER_BYTES };
        bindings.push(Binding { set: *set, binding: *binding, buffer, extent });
    }
    let push = [3, 0, 0, 0].repeat(kernel.push_bytes as usize / 4);
    commands.push(Command::Dispatch { kernel: id, bindings, push, groups });
    let ticket = soft.submit(&Recording { commands, schedule });
    match ticket.and_then(|ticket| soft.wait(ticket, Duration::from_secs(1))) {
        Ok(_) => Reached::Ran,
        Err(_) => Reached::Stopped,
    }
}

/// Small integers, which are indices too.
fn fill(buffer: BufferId) -> Command {
    Command::Fill { buffer, offset_bytes: 0, len_bytes: BUFFER_BYTES, word: 2 }
}
