//! A ring of staging buffers that is one too short.

use vklab::memory::{MemoryError, MisuseKind};

use super::{Host, assert_sites, buffer, floats, line, misuse};

pub(crate) fn faulty(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let x = buffer(&mut ledger, "x");
    let staging = ledger.staging("ring", floats(0.0).len());
    ledger.write_staging(staging, &floats(1.0))?;
    let mut recorder = ledger.recorder();
    recorder.upload_staging(staging, x)?;
    recorder.barrier();
    recorder.download(x)?;
    let recorded = recorder.finish();
    let in_flight = ledger.submit(&recorded)?;
    let submitted = line(1);

    let caught = misuse(ledger.write_staging(staging, &floats(2.0)));
    assert_sites(&caught, MisuseKind::StagingInFlight, submitted, line(1));
    assert_eq!(caught.buffer, "ring");
    let caught = misuse(ledger.free_staging(staging));
    assert_sites(&caught, MisuseKind::StagingInFlight, submitted, line(1));
    assert_eq!(ledger.wait(in_flight)?.downloads, [floats(1.0)]);

    ledger.free_staging(staging)?;
    let freed = line(1);
    let caught = misuse(ledger.submit(&recorded));
    assert_sites(&caught, MisuseKind::ReplayAfterFree, freed, line(1));
    Ok(())
}

pub(crate) fn fixed(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let x = buffer(&mut ledger, "x");
    let staging = ledger.staging("ring", floats(0.0).len());
    let mut recorder = ledger.recorder();
    recorder.upload_staging(staging, x)?;
    recorder.barrier();
    recorder.download(x)?;
    let recorded = recorder.finish();
    for value in [1.0, 2.0] {
        ledger.write_staging(staging, &floats(value))?;
        let in_flight = ledger.submit(&recorded)?;
        let finished = ledger.wait(in_flight)?;
        assert_eq!(finished.downloads, [floats(value)]);
    }
    ledger.free_staging(staging)?;
    Ok(())
}
