//! Quarantine, reuse, and what lies in memory between two owners.

use vklab::device::Command;
use vklab::memory::{Access, Dispatch, Ledger, LedgerOptions, MemoryError};
use vklab::tensor::Dtype;

use super::fake_device::{FakeDevice, Log, kernel};
use super::{bound, floats, ledger, run};

#[test]
fn a_buffer_is_reused_after_the_quarantine_and_holds_poison_again() -> Result<(), MemoryError> {
    let options = LedgerOptions { quarantine_buffers: 1, ..LedgerOptions::default() };
    let mut ledger = Ledger::new(Box::new(FakeDevice::new()), options);
    let first = floats(&mut ledger, "first", 8)?;
    let mut recorder = ledger.recorder();
    recorder.upload(first, &Dtype::F32.encode(&[1.0; 8]))?;
    let recorded = recorder.finish();
    let Command::Upload { buffer, .. } = recorded.recording().commands[0] else {
        panic!("an upload was recorded");
    };
    run(&mut ledger, &recorded)?;
    ledger.free(first)?;
    let second = floats(&mut ledger, "second", 8)?;
    ledger.free(second)?;
    let third = floats(&mut ledger, "third", 8)?;
    let mut recorder = ledger.recorder();
    recorder.download_written(third)?;
    let recorded = recorder.finish();
    assert_eq!(
        recorded.recording().buffers(),
        [buffer],
        "the first buffer left the quarantine when the second entered"
    );
    let finished = run(&mut ledger, &recorded)?;
    assert_eq!(finished.findings[0].count, 8, "nothing of `first` is left");
    Ok(())
}

#[test]
fn a_freed_buffer_is_poisoned_by_the_next_submission_even_in_flight() -> Result<(), MemoryError> {
    let options =
        LedgerOptions { quarantine_buffers: 0, idle_bytes: 0, ..LedgerOptions::default() };
    let mut ledger = Ledger::new(Box::new(FakeDevice::new()), options);
    let x = floats(&mut ledger, "x", 8)?;
    let y = floats(&mut ledger, "y", 8)?;
    let mut recorder = ledger.recorder();
    recorder.upload(x, &Dtype::F32.encode(&[1.0; 8]))?;
    let recorded = recorder.finish();
    let in_flight = ledger.submit(&recorded)?;
    // The submission in flight poisons `y`, so its device buffer has to outlive the free.
    ledger.free(y)?;
    let z = floats(&mut ledger, "z", 8)?;
    ledger.wait(in_flight)?;
    ledger.free(z)?;
    ledger.free(x)?;
    assert_eq!(ledger.counters().live_bytes, 0);
    Ok(())
}

#[test]
fn what_was_freed_is_poison_before_anything_else_runs() -> Result<(), MemoryError> {
    let log = Log::default();
    let mut ledger = ledger(FakeDevice::new().logging(&log));
    let x = floats(&mut ledger, "x", 8)?;
    let y = floats(&mut ledger, "y", 8)?;
    let word = ledger.poison(x)?.word();
    let [on_x, on_y] = [x, y].map(|handle| {
        let mut recorder = ledger.recorder();
        recorder.fill(handle, 0).map(|()| recorder.finish())
    });
    let (on_x, on_y) = (on_x?, on_y?);
    run(&mut ledger, &on_x)?;
    ledger.free(x)?;
    run(&mut ledger, &on_y)?;
    let expected = Command::Undefine {
        buffer: on_x.recording().buffers()[0],
        offset_bytes: 0,
        len_bytes: 8 * 4 + 256,
        pattern: word,
    };
    assert_eq!(
        log.borrow()[1].commands[..2],
        [expected, Command::Barrier],
        "though the submission doesn't touch `x`"
    );
    Ok(())
}

#[test]
fn memory_in_quarantine_makes_room_before_the_device_runs_out() -> Result<(), MemoryError> {
    let mut ledger = ledger(FakeDevice::new().with_memory(4096));
    for len in [100, 200, 300, 400, 500] {
        let buffer = floats(&mut ledger, "x", len)?;
        ledger.free(buffer)?;
    }
    let kept = floats(&mut ledger, "kept", 600)?;
    let refused = floats(&mut ledger, "one too many", 600);
    assert!(matches!(refused, Err(MemoryError::Device(_))));
    assert_eq!(ledger.counters().live, 1);
    ledger.free(kept)
}

#[test]
fn what_the_device_cannot_bind_or_hold_is_too_large() {
    let mut ledger = ledger(FakeDevice::new());
    let range = floats(&mut ledger, "range", 1 << 14);
    let Err(MemoryError::TooLarge { needed, limit, .. }) = range else {
        panic!("{range:?}");
    };
    assert_eq!((needed, limit), ((1 << 16) + 256, "a storage buffer binding"));
    for len in [1 << 18, usize::MAX] {
        let whole = floats(&mut ledger, "whole", len);
        assert!(matches!(whole, Err(MemoryError::TooLarge { .. })));
    }
    assert_eq!(ledger.counters().allocations, 0);
}

#[test]
fn events_are_numbered_from_the_allocation() -> Result<(), MemoryError> {
    let spill = |bound: &mut [Vec<u8>]| bound[0][4..8].fill(0);
    let mut texts = Vec::new();
    for warm_up in [0, 5] {
        let mut ledger = ledger(FakeDevice::new().with_kernel("spill", spill));
        let kernel = ledger.load(&kernel("spill"))?;
        for _ in 0..warm_up {
            let other = floats(&mut ledger, "other", 3)?;
            let mut recorder = ledger.recorder();
            recorder.fill(other, 0)?;
            let recorded = recorder.finish();
            run(&mut ledger, &recorded)?;
            ledger.free(other)?;
        }
        let x = floats(&mut ledger, "x", 1)?;
        let mut recorder = ledger.recorder();
        recorder.dispatch(&Dispatch {
            kernel,
            bindings: &bound(&[(x, Access::Write)]),
            push: &[],
            groups: [1, 1, 1],
        })?;
        let recorded = recorder.finish();
        texts.push(run(&mut ledger, &recorded)?.findings[0].to_string());
    }
    assert_eq!(texts[0], texts[1], "alone and within a larger run");
    Ok(())
}

#[test]
fn ten_thousand_small_cases_need_few_device_buffers() -> Result<(), MemoryError> {
    let mut ledger = ledger(FakeDevice::new().with_memory(64 << 10));
    for case in 0..10_000 {
        let len = 1 + case % 50;
        let x = floats(&mut ledger, "x", len)?;
        let mut recorder = ledger.recorder();
        recorder.fill(x, 0)?;
        recorder.barrier();
        recorder.download_written(x)?;
        let recorded = recorder.finish();
        assert_eq!(run(&mut ledger, &recorded)?.findings, []);
        ledger.free(x)?;
    }
    let (counters, leaks) = ledger.close();
    assert_eq!((counters.allocations, counters.frees), (10_000, 10_000));
    assert_eq!((counters.peak_bytes, leaks.len()), (50 * 4 + 256, 0));
    Ok(())
}
