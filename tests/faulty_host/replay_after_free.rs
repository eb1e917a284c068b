//! A recording is kept and submitted again after one of its buffers was freed.

use vklab::memory::{MemoryError, MisuseKind, Recorded};

use super::{Host, assert_sites, buffer, floats, line, misuse};

pub(crate) fn faulty(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let x = buffer(&mut ledger, "x");
    let mut recorder = ledger.recorder();
    recorder.upload(x, &floats(1.0))?;
    let uploaded = line(1);
    let recorded: Recorded = recorder.finish();
    let first = ledger.submit(&recorded)?;
    ledger.wait(first)?;

    ledger.free(x)?;
    let freed = line(1);
    let replay = ledger.submit(&recorded);
    let caught = misuse(replay);
    assert_sites(&caught, MisuseKind::ReplayAfterFree, freed, line(2));
    let recorded_at = caught.recorded.expect("the recording is a third place");
    assert_eq!((&*recorded_at.file, recorded_at.line), uploaded);
    assert_eq!(caught.buffer, "x");

    // The slot has a new tenant: the recording means the old one all the same.
    buffer(&mut ledger, "y");
    let caught = misuse(ledger.submit(&recorded));
    assert_sites(&caught, MisuseKind::ReplayAfterFree, freed, line(1));
    assert_eq!((caught.buffer.as_str(), ledger.counters().stale_uses), ("x", 2));
    Ok(())
}

pub(crate) fn fixed(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let x = buffer(&mut ledger, "x");
    let mut recorder = ledger.recorder();
    recorder.upload(x, &floats(1.0))?;
    recorder.barrier();
    recorder.download(x)?;
    let recorded = recorder.finish();
    for _ in 0..2 {
        let in_flight = ledger.submit(&recorded)?;
        assert_eq!(ledger.wait(in_flight)?.downloads, [floats(1.0)]);
    }
    ledger.free(x)?;
    assert_eq!(ledger.close().1, []);
    Ok(())
}
