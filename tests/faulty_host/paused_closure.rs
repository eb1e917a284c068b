//! Work is put off in a closure that remembers a handle; when it runs, somebody else lives there.

use vklab::memory::{Ledger, MemoryError, MisuseKind};

use super::{Host, assert_sites, buffer, floats, line, misuse};

pub(crate) fn faulty(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let scratch = buffer(&mut ledger, "scratch");
    let paused = |ledger: &Ledger| -> Result<(), MemoryError> {
        ledger.recorder().upload(scratch, &floats(1.0))
    };
    let used = line(2);
    ledger.free(scratch)?;
    let freed = line(1);

    let caught = misuse(paused(&ledger));
    assert_sites(&caught, MisuseKind::StaleHandle, freed, used);

    let tenant = buffer(&mut ledger, "tenant");
    let caught = misuse(paused(&ledger));
    assert_sites(&caught, MisuseKind::StaleHandle, freed, used);
    assert_eq!(caught.buffer, "scratch");
    assert!(ledger.is_poison(tenant, &[0; 4]).is_ok_and(|poison| !poison));
    assert_eq!(ledger.counters().stale_uses, 2);
    Ok(())
}

pub(crate) fn fixed(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let scratch = buffer(&mut ledger, "scratch");
    let paused = |ledger: &Ledger| ledger.recorder().upload(scratch, &floats(1.0));
    paused(&ledger)?;
    ledger.free(scratch)?;
    assert_eq!(ledger.counters().stale_uses, 0);
    Ok(())
}
