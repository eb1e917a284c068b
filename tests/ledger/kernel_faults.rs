//! Kernels that harm memory, next to kernels that don't.

use vklab::device::KernelId;
use vklab::memory::{
    Access, Bound, Dispatch, FindingKind, Guard, Handle, Ledger, MemoryError, MemoryFinding, Poison,
};
use vklab::tensor::Dtype;

use super::fake_device::{FakeDevice, kernel};
use super::{bound, floats, ledger, put, run, with_kernel};

/// Runs a kernel over an uploaded input `x` and an output `y` of 4 floats each.
fn scene(
    body: impl Fn(&mut [Vec<u8>]) + 'static,
) -> Result<(Ledger, Vec<MemoryFinding>), MemoryError> {
    let (mut ledger, kernel) = with_kernel(body);
    let x = floats(&mut ledger, "x", 4)?;
    let y = floats(&mut ledger, "y", 4)?;
    let mut recorder = ledger.recorder();
    recorder.upload(x, &Dtype::F32.encode(&[1.0, 2.0, 3.0, 4.0]))?;
    recorder.barrier();
    recorder.dispatch(&Dispatch {
        kernel,
        bindings: &bound(&[(x, Access::Read), (y, Access::Write)]),
        push: &[],
        groups: [1, 1, 1],
    })?;
    recorder.barrier();
    recorder.download_written(y)?;
    let recorded = recorder.finish();
    let findings = run(&mut ledger, &recorded)?.findings;
    Ok((ledger, findings))
}

fn dispatch_on(kernel: KernelId, bindings: &[Bound]) -> Dispatch<'_> {
    Dispatch { kernel, bindings, push: &[], groups: [1, 1, 1] }
}

#[track_caller]
fn the_only(findings: &[MemoryFinding], kind: FindingKind) -> &MemoryFinding {
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].kind, kind);
    &findings[0]
}

#[test]
fn a_correct_kernel_raises_nothing() -> Result<(), MemoryError> {
    let (ledger, findings) = scene(|b| put(&mut b[1], 0, &[1.0, 2.0, f64::NAN, 0.0]))?;
    assert_eq!(findings, []);
    let counters = ledger.counters();
    assert_eq!((counters.guard_hits, counters.poison_reads), (0, 0));
    Ok(())
}

#[test]
fn a_write_behind_the_data_names_buffer_owner_and_writer() -> Result<(), MemoryError> {
    let (ledger, findings) = scene(|b| put(&mut b[1], 0, &[1.0; 6]))?;
    let hit = the_only(&findings, FindingKind::GuardHit);
    assert_eq!((hit.buffer.as_str(), hit.count), ("y", 2));
    assert_eq!((hit.ranges[0].start, hit.ranges[0].end), (4, 6));
    let text = hit.to_string();
    assert!(text.contains("requested at tests/ledger/kernel_faults.rs:"), "{text}");
    assert!(text.contains("written by kernel `kernel` at dispatch 0 of submission 1"), "{text}");
    assert_eq!(ledger.counters().guard_hits, 1);
    Ok(())
}

#[test]
fn a_write_behind_an_input_is_a_guard_hit_too() -> Result<(), MemoryError> {
    let (_, findings) = scene(|b| {
        put(&mut b[0], 4, &[0.0]);
        put(&mut b[1], 0, &[1.0; 4]);
    })?;
    assert_eq!(the_only(&findings, FindingKind::GuardHit).buffer, "x");
    Ok(())
}

#[test]
fn elements_never_written_are_listed() -> Result<(), MemoryError> {
    let (_, findings) = scene(|b| put(&mut b[1], 1, &[1.0, 1.0]))?;
    let found = the_only(&findings, FindingKind::Unwritten);
    assert_eq!((found.buffer.as_str(), found.count), ("y", 2));
    assert_eq!(found.message, "2 elements of 4 never written: 0, 3");
    Ok(())
}

#[test]
fn an_input_that_changed_is_found_without_being_asked_for() -> Result<(), MemoryError> {
    let (_, findings) = scene(|b| {
        put(&mut b[0], 2, &[9.0]);
        put(&mut b[1], 0, &[1.0; 4]);
    })?;
    let changed = the_only(&findings, FindingKind::InputChanged);
    assert_eq!((changed.buffer.as_str(), changed.ranges[0].start), ("x", 2));
    assert!(changed.to_string().contains("\n  uploaded in submission 1 at"));
    Ok(())
}

#[test]
fn a_read_past_the_input_names_the_buffer_whose_poison_came_out() -> Result<(), MemoryError> {
    let (ledger, findings) = scene(|b| {
        let shifted = b[0][4..20].to_vec();
        b[1][..16].copy_from_slice(&shifted);
        b[1][15] |= 0x80; // The kernel negates, which keeps a NaN's payload.
    })?;
    let read = the_only(&findings, FindingKind::PoisonRead);
    assert_eq!((read.buffer.as_str(), read.ranges[0].start), ("y", 3));
    assert!(read.message.contains("poison of buffer `x`"), "{read}");
    assert_eq!(ledger.counters().poison_reads, 1);
    Ok(())
}

#[test]
fn a_guard_hit_is_reported_once() -> Result<(), MemoryError> {
    let (mut ledger, kernel) = with_kernel(|b| b[0][6..10].fill(0));
    let request = ledger.request("halves", Dtype::F16, 3);
    let halves = ledger.allocate(&request)?;
    let mut recorder = ledger.recorder();
    recorder.fill(halves, 0x3C00_3C00)?;
    recorder.barrier();
    let quiet = recorder.finish();
    let mut recorder = ledger.recorder();
    recorder.dispatch(&dispatch_on(kernel, &bound(&[(halves, Access::ReadWrite)])))?;
    recorder.barrier();
    recorder.download(halves)?;
    let faulty = recorder.finish();
    assert_eq!(run(&mut ledger, &quiet)?.findings, []);
    let finished = run(&mut ledger, &faulty)?;
    assert_eq!(finished.findings[0].message, "2 elements outside of its 3 elements written: 3..5");
    assert_eq!(Dtype::F16.decode(&finished.downloads[0]), [1.0; 3]);

    // The repair keeps the last element, which shares a word with the guard.
    let mut recorder = ledger.recorder();
    recorder.download(halves)?;
    let look = recorder.finish();
    assert_eq!(Dtype::F16.decode(&run(&mut ledger, &look)?.downloads[0]), [1.0; 3]);
    let again = run(&mut ledger, &faulty)?;
    assert_eq!(again.findings.len(), 1, "and a new hit is a new finding");
    Ok(())
}

#[test]
fn a_write_before_the_data_has_negative_elements() -> Result<(), MemoryError> {
    // Only a device that gets offsets or bounds wrong lets a kernel reach the front.
    for (device, expected) in [
        (FakeDevice::new(), vec![]),
        (
            FakeDevice::new().ignoring_offsets(),
            vec![
                "5 elements outside of its 5 elements written: -32..-27",
                "5 elements of 5 never written: 0..5",
            ],
        ),
    ] {
        let body = |b: &mut [Vec<u8>]| put(&mut b[0], 0, &[0.0; 5]);
        let mut ledger = ledger(device.with_kernel("kernel", body));
        let kernel = ledger.load(&kernel("kernel"))?;
        let mut request = ledger.request("shifted", Dtype::F32, 5);
        request.before_bytes = 128;
        let shifted = ledger.allocate(&request)?;
        let mut recorder = ledger.recorder();
        recorder.dispatch(&dispatch_on(kernel, &bound(&[(shifted, Access::Write)])))?;
        recorder.barrier();
        recorder.download_written(shifted)?;
        let recorded = recorder.finish();
        let findings = run(&mut ledger, &recorded)?.findings;
        let messages: Vec<&str> = findings.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(messages, expected);
    }
    Ok(())
}

#[test]
fn an_offset_that_cannot_be_bound_is_refused() {
    let (mut ledger, _) = with_kernel(|_| {});
    let mut request = ledger.request("shifted", Dtype::F32, 4);
    request.before_bytes = 3;
    assert!(matches!(
        ledger.allocate(&request),
        Err(MemoryError::Misaligned { alignment: 64, .. })
    ));
}

#[test]
fn an_exact_range_ends_with_the_data() -> Result<(), MemoryError> {
    let (mut ledger, kernel) = with_kernel(|b| {
        let len = b[0].len() / 4;
        put(&mut b[0], 0, &vec![1.0; len]);
    });
    let mut request = ledger.request("exact", Dtype::F32, 5);
    request.guard = Guard::Exact;
    let exact = ledger.allocate(&request)?;
    request.guard = Guard::Words(3);
    let guarded = ledger.allocate(&request)?;
    for (handle, findings) in [(exact, 0), (guarded, 1)] {
        let mut recorder = ledger.recorder();
        recorder.dispatch(&dispatch_on(kernel, &bound(&[(handle, Access::Write)])))?;
        recorder.expect_written(handle)?;
        let recorded = recorder.finish();
        assert_eq!(run(&mut ledger, &recorded)?.findings.len(), findings);
    }
    Ok(())
}

#[test]
fn both_poisons_and_the_integer_index_are_found() -> Result<(), MemoryError> {
    for (dtype, poison) in [
        (Dtype::F32, Poison::Nan),
        (Dtype::F32, Poison::Huge),
        (Dtype::F16, Poison::Nan),
        (Dtype::F16, Poison::Huge),
        (Dtype::I32, Poison::Nan),
        (Dtype::U32, Poison::Huge),
    ] {
        let (mut ledger, _) = with_kernel(|_| {});
        let mut request = ledger.request("out", dtype, 7);
        (request.poison, request.poison_index) = (poison, 6);
        let out = ledger.allocate(&request)?;
        let mut recorder = ledger.recorder();
        recorder.download_written(out)?;
        let recorded = recorder.finish();
        let finished = run(&mut ledger, &recorded)?;
        let unwritten = the_only(&finished.findings, FindingKind::Unwritten);
        assert_eq!(unwritten.count, 7, "{dtype} {poison:?}");
        let listed = ledger.unwritten(out, &finished.downloads[0])?;
        assert_eq!(listed.ranges, unwritten.ranges);
    }
    Ok(())
}

#[test]
fn an_input_can_be_verified_by_name_but_only_if_it_was_uploaded() -> Result<(), MemoryError> {
    let (mut ledger, kernel) = with_kernel(|b| put(&mut b[0], 0, &[5.0]));
    let x = floats(&mut ledger, "x", 2)?;
    let mut recorder = ledger.recorder();
    assert!(matches!(recorder.verify_unchanged(x), Err(MemoryError::NothingToCompare { .. })));
    recorder.upload(x, &Dtype::F32.encode(&[1.0, 2.0]))?;
    recorder.verify_unchanged(x)?;
    recorder.barrier();
    recorder.dispatch(&dispatch_on(kernel, &bound(&[(x, Access::ReadWrite)])))?;
    let recorded = recorder.finish();
    let findings = run(&mut ledger, &recorded)?.findings;
    assert_eq!(the_only(&findings, FindingKind::InputChanged).count, 1);
    Ok(())
}

#[test]
fn a_leak_names_who_asked() -> Result<(), MemoryError> {
    let (mut ledger, _) = with_kernel(|_| {});
    let kept: Handle = floats(&mut ledger, "kept", 3)?;
    let freed = floats(&mut ledger, "freed", 3)?;
    ledger.free(freed)?;
    assert!(ledger.is_poison(kept, &ledger.poison(kept)?.element())?);
    let (counters, leaks) = ledger.close();
    let leak = the_only(&leaks, FindingKind::Leak);
    assert_eq!((leak.buffer.as_str(), counters.leaks), ("kept", 1));
    let json = serde_json::to_value(leak).expect("a finding is plain data");
    assert_eq!(json["kind"], "leak");
    assert_eq!(json["events"][0]["what"], "allocated");
    assert_eq!(json["requested_at"]["file"], "tests/ledger/kernel_faults.rs");
    Ok(())
}
