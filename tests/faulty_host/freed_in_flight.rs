//! A buffer is freed, or submitted again, while the device may still be using it.

use vklab::memory::{Handle, Ledger, MemoryError, MisuseKind, Recorded};

use super::{Host, assert_sites, buffer, floats, line, misuse};

pub(crate) fn faulty_free(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let x = buffer(&mut ledger, "x");
    let recorded = upload(&ledger, x);
    let in_flight = ledger.submit(&recorded)?;
    let submitted = line(1);
    let caught = misuse(ledger.free(x));
    assert_sites(&caught, MisuseKind::InFlight, submitted, line(1));
    ledger.wait(in_flight)?;
    ledger.free(x)?;
    Ok(())
}

pub(crate) fn faulty_submit(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let x = buffer(&mut ledger, "x");
    let recorded = upload(&ledger, x);
    let in_flight = ledger.submit(&recorded)?;
    let submitted = line(1);
    let caught = misuse(ledger.submit(&recorded));
    assert_sites(&caught, MisuseKind::InFlight, submitted, line(1));
    ledger.wait(in_flight)?;
    Ok(())
}

pub(crate) fn fixed(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let [x, y] = ["x", "y"].map(|name| buffer(&mut ledger, name));
    let (on_x, on_y) = (upload(&ledger, x), upload(&ledger, y));
    let first = ledger.submit(&on_x)?;
    let second = ledger.submit(&on_y)?;
    ledger.wait(first)?;
    ledger.free(x)?;
    ledger.wait(second)?;
    ledger.free(y)?;
    Ok(())
}

fn upload(ledger: &Ledger, handle: Handle) -> Recorded {
    let mut recorder = ledger.recorder();
    let uploaded = recorder.upload(handle, &floats(1.0));
    uploaded.expect("a live handle");
    recorder.finish()
}
