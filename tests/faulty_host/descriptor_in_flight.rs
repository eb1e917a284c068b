//! A descriptor table changes under a submission, or between recording and replay.

use vklab::device::KernelId;
use vklab::memory::{Bindings, Handle, Ledger, MemoryError, MisuseKind, Recorded};

use super::{Host, assert_sites, buffer, copy_bindings, floats, line, misuse};

pub(crate) fn faulty(host: &Host) -> Result<(), MemoryError> {
    let mut scene = Scene::set(host);
    let recorded = scene.record();
    let in_flight = scene.ledger.submit(&recorded)?;
    let submitted = line(1);

    let other = copy_bindings(scene.other, scene.to)[0];
    let caught = misuse(scene.ledger.rewrite(scene.table, 0, other));
    assert_sites(&caught, MisuseKind::BindingsInFlight, submitted, line(1));
    assert_eq!(caught.buffer, "from");
    let caught = misuse(scene.ledger.free_bindings(scene.table));
    assert_sites(&caught, MisuseKind::BindingsInFlight, submitted, line(1));

    let finished = scene.ledger.wait(in_flight)?;
    assert_eq!(finished.downloads, [floats(1.0)], "the old descriptor held");
    Ok(())
}

pub(crate) fn faulty_replay(host: &Host) -> Result<(), MemoryError> {
    let mut scene = Scene::set(host);
    let recorded = scene.record();
    let other = copy_bindings(scene.other, scene.to)[0];
    scene.ledger.rewrite(scene.table, 0, other)?;
    let rewritten = line(1);
    let caught = misuse(scene.ledger.submit(&recorded));
    assert_sites(&caught, MisuseKind::BindingsRewritten, rewritten, line(1));
    Ok(())
}

pub(crate) fn fixed(host: &Host) -> Result<(), MemoryError> {
    let mut scene = Scene::set(host);
    let recorded = scene.record();
    let in_flight = scene.ledger.submit(&recorded)?;
    let finished = scene.ledger.wait(in_flight)?;
    assert_eq!(finished.downloads, [floats(1.0)]);

    let other = copy_bindings(scene.other, scene.to)[0];
    scene.ledger.rewrite(scene.table, 0, other)?;
    let recorded = scene.record();
    let in_flight = scene.ledger.submit(&recorded)?;
    let finished = scene.ledger.wait(in_flight)?;
    assert_eq!(finished.downloads, [floats(2.0)]);
    assert_eq!(finished.findings, []);
    scene.ledger.free_bindings(scene.table)?;
    Ok(())
}

struct Scene {
    ledger: Ledger,
    copy: KernelId,
    table: Bindings,
    from: Handle,
    other: Handle,
    to: Handle,
}

impl Scene {
    fn set(host: &Host) -> Self {
        let (mut ledger, copy) = host.ledger();
        let [from, other, to] = ["from", "other", "to"].map(|name| buffer(&mut ledger, name));
        let bindings = ledger.bindings(&copy_bindings(from, to));
        Self { table: bindings.expect("live handles"), ledger, copy, from, other, to }
    }

    fn record(&self) -> Recorded {
        let mut recorder = self.ledger.recorder();
        let steps =
            [recorder.upload(self.from, &floats(1.0)), recorder.upload(self.other, &floats(2.0))];
        recorder.barrier();
        let dispatched = recorder.dispatch_with(self.copy, self.table, &[], [1, 1, 1]);
        recorder.barrier();
        let downloaded = recorder.download(self.to).map(|_| ());
        for step in steps.into_iter().chain([dispatched, downloaded]) {
            step.expect("recorded");
        }
        recorder.finish()
    }
}
