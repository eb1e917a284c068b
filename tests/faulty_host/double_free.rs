//! Two owners each free the buffer they share.

use vklab::memory::{MemoryError, MisuseKind};

use super::{Host, assert_sites, buffer, line, misuse};

pub(crate) fn faulty(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let x = buffer(&mut ledger, "x");
    ledger.free(x)?;
    let freed = line(1);
    let caught = misuse(ledger.free(x));
    assert_sites(&caught, MisuseKind::DoubleFree, freed, line(1));
    assert!(caught.to_string().contains("allocated at"), "{caught}");
    let counters = ledger.counters();
    assert_eq!((counters.double_frees, counters.frees), (1, 1));
    Ok(())
}

pub(crate) fn faulty_after_reuse(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let x = buffer(&mut ledger, "x");
    ledger.free(x)?;
    let freed = line(1);
    buffer(&mut ledger, "y");
    let caught = misuse(ledger.free(x));
    assert_sites(&caught, MisuseKind::DoubleFree, freed, line(1));
    assert_eq!(ledger.counters().live, 1, "the new tenant lives");

    let (mut other, _) = host.ledger();
    let caught = misuse(other.free(x));
    assert_eq!(caught.what, MisuseKind::ForeignHandle);
    Ok(())
}

pub(crate) fn fixed(host: &Host) -> Result<(), MemoryError> {
    let (mut ledger, _) = host.ledger();
    let x = buffer(&mut ledger, "x");
    ledger.free(x)?;
    let y = buffer(&mut ledger, "y");
    ledger.free(y)?;
    let (counters, leaks) = ledger.close();
    assert_eq!((counters.double_frees, counters.leaks), (0, 0));
    assert_eq!(leaks, []);
    Ok(())
}
