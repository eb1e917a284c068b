//! What the recorder turns into commands, and what it refuses.

use vklab::memory::{HostMisuse, MemoryError, MisuseKind};
use vklab::tensor::Dtype;

use super::fake_device::FakeDevice;
use super::{floats, ledger, run};

fn refused<T: std::fmt::Debug>(answer: Result<T, MemoryError>) -> HostMisuse {
    let error = answer.expect_err("misuse must be caught");
    error.misuse().expect("a misuse").clone()
}

#[test]
fn downloads_keep_their_order_among_inspections_and_empty_buffers() -> Result<(), MemoryError> {
    let mut ledger = ledger(FakeDevice::new());
    let [a, empty, b] =
        [("a", 2), ("empty", 0), ("b", 1)].map(|(name, len)| floats(&mut ledger, name, len));
    let (a, empty, b) = (a?, empty?, b?);
    let mut recorder = ledger.recorder();
    recorder.upload(a, &Dtype::F32.encode(&[1.0, 2.0]))?;
    recorder.upload(empty, &[])?;
    recorder.fill(empty, 7)?;
    recorder.undefine(empty)?;
    recorder.fill(b, 3.0_f32.to_bits())?;
    recorder.timestamp();
    recorder.barrier();
    recorder.verify_unchanged(a)?;
    let indices =
        [recorder.download_written(b)?, recorder.download_written(empty)?, recorder.download(a)?];
    let recorded = recorder.finish();
    let finished = run(&mut ledger, &recorded)?;
    assert_eq!(indices, [0, 1, 2]);
    let values: Vec<Vec<f64>> =
        finished.downloads.iter().map(|bytes| Dtype::F32.decode(bytes)).collect();
    assert_eq!(values, [vec![3.0], vec![], vec![1.0, 2.0]]);
    assert_eq!(finished.timestamps_ns.len(), 1);
    assert_eq!(finished.findings, []);
    Ok(())
}

#[test]
fn a_recording_serialises_without_the_ledgers_own_commands() -> Result<(), MemoryError> {
    let mut ledger = ledger(FakeDevice::new());
    let x = floats(&mut ledger, "x", 1)?;
    let mut recorder = ledger.recorder();
    recorder.fill(x, 0)?;
    recorder.barrier();
    recorder.retire(x)?;
    let recorded = recorder.finish();
    let text = serde_json::to_string(recorded.recording()).expect("plain data");
    let back = serde_json::from_str(&text).expect("the same data");
    assert_eq!(recorded.recording(), &back);
    assert_eq!(back.commands.len(), 3);
    Ok(())
}

#[test]
fn a_retired_buffer_is_used_no_more_in_its_recording_but_the_recording_replays()
-> Result<(), MemoryError> {
    let mut ledger = ledger(FakeDevice::new());
    let x = floats(&mut ledger, "x", 1)?;
    let mut recorder = ledger.recorder();
    recorder.fill(x, 0)?;
    recorder.retire(x)?;
    let caught = refused(recorder.download(x));
    assert_eq!(caught.what, MisuseKind::Retired);
    assert_eq!(caught.first.line + 1, caught.second.line);
    let recorded = recorder.finish();
    run(&mut ledger, &recorded)?;
    run(&mut ledger, &recorded)?;
    Ok(())
}

#[test]
fn handles_recordings_and_submissions_of_another_ledger_are_refused() -> Result<(), MemoryError> {
    let mut here = ledger(FakeDevice::new());
    let mut there = ledger(FakeDevice::new());
    let x = floats(&mut there, "x", 1)?;
    let recorded = there.recorder().finish();
    let in_flight = there.submit(&recorded)?;
    let staging = there.staging("s", 4);
    let table = there.bindings(&[])?;
    let caught = [
        refused(here.recorder().fill(x, 0)),
        refused(here.submit(&recorded)),
        refused(here.is_done(&in_flight)),
        refused(here.wait(in_flight)),
        refused(here.write_staging(staging, &[0; 4])),
        refused(here.free_bindings(table)),
    ];
    for misuse in caught {
        assert_eq!(misuse.what, MisuseKind::ForeignHandle, "{misuse}");
    }
    Ok(())
}

#[test]
fn lengths_and_indices_that_do_not_fit_are_refused() -> Result<(), MemoryError> {
    let mut ledger = ledger(FakeDevice::new());
    let x = floats(&mut ledger, "x", 2)?;
    let short = ledger.recorder().upload(x, &[0; 4]);
    assert!(matches!(short, Err(MemoryError::WrongLength { given: 4, expected: 8, .. })));
    let staging = ledger.staging("s", 4);
    assert!(ledger.recorder().upload_staging(staging, x).is_err());
    assert!(ledger.write_staging(staging, &[0; 8]).is_err());
    let table = ledger.bindings(&[])?;
    let bound = super::bound(&[(x, vklab::memory::Access::Read)])[0];
    assert!(matches!(
        ledger.rewrite(table, 0, bound),
        Err(MemoryError::NoSuchDescriptor { index: 0, len: 0, .. })
    ));
    Ok(())
}
