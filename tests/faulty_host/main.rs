//! Hosts that misuse memory, one file per fault, each with a twin that does it right.
//!
//! A fault is a function of a [`Host`], so any device can be tried. The ledger decides by fences
//! waited for, never by what a device happens to have finished, so the answer is always the same.

#[path = "../fake_device/mod.rs"]
#[expect(dead_code, reason = "shared with tests/ledger, which also kills devices")]
mod fake_device;

mod descriptor_in_flight;
mod double_free;
mod freed_in_flight;
mod paused_closure;
mod replay_after_free;
mod staging_before_fence;

use std::panic::Location;

use fake_device::{FakeDevice, kernel};
use vklab::device::{Device, Kernel, KernelId};
use vklab::glsl::{Build, Compiler, CompilerOptions, Library, Source};
use vklab::memory::{
    Access, Bound, Handle, HostMisuse, Ledger, LedgerOptions, MemoryError, MisuseKind,
};
use vklab::tensor::Dtype;
use vklab::vulkan::{self, OpenOptions};

/// A device under test and a kernel for it that copies 64 floats from binding 0 to binding 1.
pub(crate) struct Host {
    open: fn() -> Box<dyn Device>,
    copy: fn() -> Kernel,
}

/// Elements of every buffer here.
const LEN: usize = 64;

impl Host {
    /// A ledger without a quarantine, so that slots come back at once.
    fn ledger(&self) -> (Ledger, KernelId) {
        let options = LedgerOptions { quarantine_buffers: 0, ..LedgerOptions::default() };
        let mut ledger = Ledger::new((self.open)(), options);
        let copy = ledger.load(&(self.copy)()).expect("the kernel loads");
        (ledger, copy)
    }
}

#[track_caller]
fn buffer(ledger: &mut Ledger, name: &str) -> Handle {
    let request = ledger.request(name, Dtype::F32, LEN);
    ledger.allocate(&request).expect("a small buffer")
}

fn floats(value: f64) -> Vec<u8> {
    Dtype::F32.encode(&[value; LEN])
}

fn copy_bindings(from: Handle, to: Handle) -> [Bound; 2] {
    [(0, from, Access::Read), (1, to, Access::Write)].map(|(binding, handle, access)| Bound {
        set: 0,
        binding,
        handle,
        access,
    })
}

/// The misuse in an answer that must be one.
#[track_caller]
fn misuse<T: std::fmt::Debug>(answer: Result<T, MemoryError>) -> HostMisuse {
    let error = answer.expect_err("misuse must be caught");
    error.misuse().expect("a misuse").clone()
}

/// A line, `above` lines above the caller's.
#[track_caller]
fn line(above: u32) -> (&'static str, u32) {
    let here = Location::caller();
    (here.file(), here.line() - above)
}

/// Asserts what was caught and that both call sites are named, in the message too.
#[track_caller]
fn assert_sites(
    caught: &HostMisuse,
    what: MisuseKind,
    first: (&'static str, u32),
    second: (&'static str, u32),
) {
    assert_eq!(caught.what, what, "{caught}");
    assert_eq!((&*caught.first.file, caught.first.line), first, "{caught}");
    assert_eq!((&*caught.second.file, caught.second.line), second, "{caught}");
    let message = caught.to_string();
    for (file, line) in [first, second] {
        assert!(message.contains(&format!("{file}:{line}")), "{message}");
    }
}

const FAKE: Host = Host {
    open: || {
        Box::new(FakeDevice::new().with_kernel("copy", |bound| {
            let data: Vec<u8> = bound[0][..LEN * 4].to_vec();
            bound[1][..LEN * 4].copy_from_slice(&data);
        }))
    },
    copy: || kernel("copy"),
};

const VULKAN: Host = Host {
    open: || {
        let found = vulkan::enumerate().expect("a driver");
        let usable = found.iter().find(|f| f.left_out.is_none()).expect("a device that executes");
        Box::new(vulkan::open(usable, &OpenOptions::default()).expect("the device opens"))
    },
    copy: || {
        let text = "#version 450\n\
            layout(local_size_x = 64) in;\n\
            layout(binding = 0) readonly buffer X { float x[]; };\n\
            layout(binding = 1) writeonly buffer Y { float y[]; };\n\
            void main() { y[gl_LocalInvocationID.x] = x[gl_LocalInvocationID.x]; }\n";
        let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
        let build = Build::new(Source::new("copy.comp", text));
        let modules = compiler.compile(&build, &Library).expect("the kernel compiles");
        let bindings = vec![(0, 0), (0, 1)];
        let (optimized, debug) = (modules.optimized, modules.debug);
        Kernel { optimized, debug, bindings, ..kernel("copy") }
    },
};

/// The ledger must give the same answers over every device.
fn on_each_device(
    mut fault: impl FnMut(&Host) -> Result<(), MemoryError>,
) -> Result<(), MemoryError> {
    fault(&FAKE)?;
    fault(&VULKAN)
}

#[test]
fn a_recording_replayed_after_a_free_is_caught() -> Result<(), MemoryError> {
    on_each_device(|host| {
        replay_after_free::faulty(host)?;
        replay_after_free::fixed(host)
    })
}

#[test]
fn a_staging_buffer_reused_before_its_fence_is_caught() -> Result<(), MemoryError> {
    on_each_device(|host| {
        staging_before_fence::faulty(host)?;
        staging_before_fence::fixed(host)
    })
}

#[test]
fn a_descriptor_rewritten_in_flight_is_caught() -> Result<(), MemoryError> {
    on_each_device(|host| {
        descriptor_in_flight::faulty(host)?;
        descriptor_in_flight::faulty_replay(host)?;
        descriptor_in_flight::fixed(host)
    })
}

#[test]
fn a_handle_kept_in_a_paused_closure_is_caught() -> Result<(), MemoryError> {
    on_each_device(|host| {
        paused_closure::faulty(host)?;
        paused_closure::fixed(host)
    })
}

#[test]
fn a_buffer_freed_twice_is_caught() -> Result<(), MemoryError> {
    on_each_device(|host| {
        double_free::faulty(host)?;
        double_free::faulty_after_reuse(host)?;
        double_free::fixed(host)
    })
}

#[test]
fn a_buffer_freed_or_submitted_again_in_flight_is_caught() -> Result<(), MemoryError> {
    on_each_device(|host| {
        freed_in_flight::faulty_free(host)?;
        freed_in_flight::faulty_submit(host)?;
        freed_in_flight::fixed(host)
    })
}
