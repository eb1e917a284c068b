//! A device that hangs or goes away leaves a ledger that still knows what it knew.

use vklab::device::DeviceError;
use vklab::memory::MemoryError;

use super::fake_device::{Death, FakeDevice};
use super::{floats, ledger};

#[test]
fn after_a_death_counters_can_be_read_and_buffers_freed() -> Result<(), MemoryError> {
    for death in [Death::Hang, Death::Loss] {
        let mut ledger = ledger(FakeDevice::new().dying(death));
        let x = floats(&mut ledger, "x", 1)?;
        let y = floats(&mut ledger, "y", 1)?;
        let [on_x, on_y] = [x, y].map(|handle| {
            let mut recorder = ledger.recorder();
            recorder.fill(handle, 0).map(|()| recorder.finish())
        });
        let first = ledger.submit(&on_x?)?;
        let second = ledger.submit(&on_y?)?;
        let died = ledger.wait(first);
        match death {
            Death::Hang => {
                assert!(matches!(died, Err(MemoryError::Device(DeviceError::Timeout { .. }))));
            }
            Death::Loss => {
                assert!(matches!(died, Err(MemoryError::Device(DeviceError::Lost { .. }))));
            }
        }
        // No fence will come any more, so the other submission is lost too and holds nothing.
        assert!(matches!(ledger.wait(second), Err(MemoryError::Device(DeviceError::Lost { .. }))));
        ledger.free(x)?;
        ledger.free(y)?;
        let (counters, leaks) = ledger.close();
        assert_eq!((counters.allocations, counters.live), (2, 0));
        assert_eq!(leaks, []);
    }
    Ok(())
}

#[test]
fn a_dropped_ledger_with_work_in_flight_is_quiet() -> Result<(), MemoryError> {
    let mut ledger = ledger(FakeDevice::new());
    let x = floats(&mut ledger, "x", 1)?;
    let mut recorder = ledger.recorder();
    recorder.fill(x, 0)?;
    let recorded = recorder.finish();
    let in_flight = ledger.submit(&recorded)?;
    assert!(!ledger.is_done(&in_flight)?);
    drop(ledger);
    Ok(())
}
