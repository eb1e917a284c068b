//! Every element type at lengths that don't fill words: uploads, fills, guards and downloads.

use vklab::memory::{Access, Dispatch, FindingKind, Guard, Handle, Ledger, MemoryError, Poison};
use vklab::tensor::Dtype;

use super::{bound, run, with_kernel};

/// Blocks in a buffer: with one byte, two bytes or 18 a block, words remain half filled.
const BLOCKS: [usize; 4] = [1, 3, 5, 7];

fn allocate(ledger: &mut Ledger, name: &str, dtype: Dtype, blocks: usize) -> Handle {
    let mut request = ledger.request(name, dtype, blocks * dtype.block_len());
    request.poison_index = 6;
    request.before_bytes = 64;
    ledger.allocate(&request).expect("it fits")
}

/// Bytes that are nobody's poison.
fn contents(dtype: Dtype, blocks: usize) -> Vec<u8> {
    (0x10..0x17).cycle().take(blocks * dtype.block_bytes()).collect()
}

fn each_type_and_length() -> impl Iterator<Item = (Dtype, usize)> {
    Dtype::ALL.into_iter().flat_map(|dtype| BLOCKS.map(|blocks| (dtype, blocks)))
}

#[test]
fn a_copy_comes_back_and_raises_nothing() -> Result<(), MemoryError> {
    for (dtype, blocks) in each_type_and_length() {
        let bytes = contents(dtype, blocks);
        let len = bytes.len();
        let (mut ledger, kernel) = with_kernel(move |b| {
            let data = b[0][..len].to_vec();
            b[1][..len].copy_from_slice(&data);
        });
        let x = allocate(&mut ledger, "x", dtype, blocks);
        let y = allocate(&mut ledger, "y", dtype, blocks);
        let mut recorder = ledger.recorder();
        recorder.upload(x, &bytes)?;
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
        let finished = run(&mut ledger, &recorded)?;
        assert_eq!(finished.findings, [], "{dtype} {blocks}");
        assert_eq!(finished.downloads, [bytes], "{dtype} {blocks}");
    }
    Ok(())
}

#[test]
fn a_byte_beyond_the_data_is_a_hit_and_is_mended() -> Result<(), MemoryError> {
    for (dtype, blocks) in each_type_and_length() {
        let bytes = contents(dtype, blocks);
        let len = bytes.len();
        let (mut ledger, kernel) = with_kernel(move |b| b[0][len] ^= 1);
        let x = allocate(&mut ledger, "x", dtype, blocks);
        let mut recorder = ledger.recorder();
        recorder.upload(x, &bytes)?;
        recorder.barrier();
        recorder.dispatch(&Dispatch {
            kernel,
            bindings: &bound(&[(x, Access::ReadWrite)]),
            push: &[],
            groups: [1, 1, 1],
        })?;
        recorder.barrier();
        recorder.download(x)?;
        let recorded = recorder.finish();
        // The kernel flips a bit: a guard that nobody mended would look whole the second time.
        for _ in 0..2 {
            let finished = run(&mut ledger, &recorded)?;
            assert_eq!(finished.downloads, std::slice::from_ref(&bytes), "{dtype} {blocks}");
            assert_eq!(finished.findings.len(), 1, "{dtype} {blocks}");
            let hit = &finished.findings[0];
            assert_eq!(hit.kind, FindingKind::GuardHit);
            let first = (blocks * dtype.block_len()) as i64;
            assert_eq!(hit.ranges[0].start, first, "{dtype} {blocks}");
            assert_eq!(hit.count, dtype.block_len() as u64, "{dtype} {blocks}");
        }
    }
    Ok(())
}

#[test]
fn what_nobody_wrote_is_found_in_full() -> Result<(), MemoryError> {
    for (dtype, blocks) in each_type_and_length() {
        for poison in [Poison::Nan, Poison::Huge] {
            let (mut ledger, _) = with_kernel(|_| {});
            let mut request = ledger.request("out", dtype, blocks * dtype.block_len());
            (request.poison, request.poison_index) = (poison, 6);
            request.guard = Guard::Exact;
            let out = ledger.allocate(&request)?;
            let mut recorder = ledger.recorder();
            recorder.download_written(out)?;
            let recorded = recorder.finish();
            let findings = run(&mut ledger, &recorded)?.findings;
            assert_eq!(findings.len(), 1, "{dtype} {blocks} {poison:?}");
            assert_eq!(findings[0].kind, FindingKind::Unwritten);
            assert_eq!(findings[0].count, request.len as u64, "{dtype} {blocks} {poison:?}");
        }
    }
    Ok(())
}

#[test]
fn a_fill_stops_at_the_last_byte_of_the_data() -> Result<(), MemoryError> {
    for (dtype, blocks) in each_type_and_length() {
        let (mut ledger, kernel) = with_kernel(|_| {});
        let x = allocate(&mut ledger, "x", dtype, blocks);
        let mut recorder = ledger.recorder();
        recorder.fill(x, 0x4433_2211)?;
        recorder.barrier();
        recorder.dispatch(&Dispatch {
            kernel,
            bindings: &bound(&[(x, Access::ReadWrite)]),
            push: &[],
            groups: [1, 1, 1],
        })?;
        recorder.barrier();
        recorder.download(x)?;
        let recorded = recorder.finish();
        let finished = run(&mut ledger, &recorded)?;
        assert_eq!(finished.findings, [], "{dtype} {blocks}");
        let len = blocks * dtype.block_bytes();
        let want: Vec<u8> = [0x11, 0x22, 0x33, 0x44].into_iter().cycle().take(len).collect();
        assert_eq!(finished.downloads, [want], "{dtype} {blocks}");
    }
    Ok(())
}

#[test]
fn a_changed_input_is_named_by_its_block() -> Result<(), MemoryError> {
    for (dtype, start, end) in [(Dtype::U8, 2, 3), (Dtype::F64, 2, 3), (Dtype::Q4_0, 64, 96)] {
        let at = 2 * dtype.block_bytes();
        let (mut ledger, kernel) = with_kernel(move |b| b[0][at] ^= 1);
        let x = allocate(&mut ledger, "x", dtype, 3);
        let mut recorder = ledger.recorder();
        recorder.upload(x, &contents(dtype, 3))?;
        recorder.barrier();
        recorder.dispatch(&Dispatch {
            kernel,
            bindings: &bound(&[(x, Access::Read)]),
            push: &[],
            groups: [1, 1, 1],
        })?;
        let recorded = recorder.finish();
        let findings = run(&mut ledger, &recorded)?.findings;
        assert_eq!(findings.len(), 1, "{dtype}");
        assert_eq!(findings[0].kind, FindingKind::InputChanged);
        assert_eq!((findings[0].ranges[0].start, findings[0].ranges[0].end), (start, end));
    }
    Ok(())
}

#[test]
fn a_double_computed_from_poison_names_whose_it_is() -> Result<(), MemoryError> {
    let (mut ledger, kernel) = with_kernel(|b| {
        let behind = b[0][16..24].to_vec();
        b[1][..8].copy_from_slice(&behind);
    });
    let x = allocate(&mut ledger, "x", Dtype::F64, 2);
    let y = allocate(&mut ledger, "y", Dtype::F64, 1);
    let mut recorder = ledger.recorder();
    recorder.upload(x, &contents(Dtype::F64, 2))?;
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
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].kind, FindingKind::PoisonRead);
    assert!(findings[0].message.contains("poison of buffer `x`"), "{}", findings[0]);
    Ok(())
}

#[test]
fn elements_that_fill_no_block_are_refused() {
    let (mut ledger, _) = with_kernel(|_| {});
    let request = ledger.request("blocks", Dtype::Q4K, 300);
    let refused = ledger.allocate(&request).expect_err("300 isn't a multiple of 256");
    assert!(matches!(refused, MemoryError::PartialBlock { len: 300, .. }));
    assert_eq!(
        refused.to_string(),
        "buffer `blocks`: 300 elements don't fill blocks of 256 as q4_k has them"
    );
}
