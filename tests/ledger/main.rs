//! The ledger around a device of closures: what kernels do wrong is found, what they do right is
//! not, and buffers live and die as they should.

#[path = "../fake_device/mod.rs"]
mod fake_device;

mod device_faults;
mod element_types;
mod kernel_faults;
mod lifetimes;
mod recordings;

use fake_device::FakeDevice;
use vklab::device::KernelId;
use vklab::memory::{
    Access, Bound, Finished, Handle, Ledger, LedgerOptions, MemoryError, Recorded,
};
use vklab::tensor::Dtype;

fn ledger(device: FakeDevice) -> Ledger {
    Ledger::new(Box::new(device), LedgerOptions::default())
}

/// A ledger and a loaded kernel with this body.
fn with_kernel(body: impl Fn(&mut [Vec<u8>]) + 'static) -> (Ledger, KernelId) {
    let mut ledger = ledger(FakeDevice::new().with_kernel("kernel", body));
    let kernel = ledger.load(&fake_device::kernel("kernel"));
    (ledger, kernel.expect("the kernel loads"))
}

#[track_caller]
fn floats(ledger: &mut Ledger, name: &str, len: usize) -> Result<Handle, MemoryError> {
    let request = ledger.request(name, Dtype::F32, len);
    ledger.allocate(&request)
}

fn run(ledger: &mut Ledger, recorded: &Recorded) -> Result<Finished, MemoryError> {
    let in_flight = ledger.submit(recorded)?;
    ledger.wait(in_flight)
}

/// Bindings 0, 1, .. of set 0.
fn bound(buffers: &[(Handle, Access)]) -> Vec<Bound> {
    (0..)
        .zip(buffers)
        .map(|(binding, (handle, access))| Bound {
            set: 0,
            binding,
            handle: *handle,
            access: *access,
        })
        .collect()
}

/// Writes f32 values at an element of a bound range.
fn put(range: &mut [u8], element: usize, values: &[f64]) {
    let bytes = Dtype::F32.encode(values);
    range[element * 4..][..bytes.len()].copy_from_slice(&bytes);
}
