//! `cargo bench`: every variant of the registry on one mid-size case, on the first device.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use vklab::bench::{Workload, least_bytes, mid_size};
use vklab::check::Subject;
use vklab::memory::LedgerOptions;
use vklab::vulkan::Validation;
use vklab::worker::{choose, open_session};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let registry = own_ops::registry();
    let mut session = open_session(&choose(&[], Validation::Off)?[0], LedgerOptions::default())?;
    session.add_includes(Box::new(registry.includes().clone()));
    for (op, variant) in registry.variants() {
        let case = mid_size(op, 1);
        // A wrong result is an error here: how fast a wrong kernel is means nothing.
        let mut workload = Workload::new(&mut session, &Subject::new(op, variant), &case)?;
        let mut failed = None;
        let mut group = criterion.benchmark_group(op.name);
        group.throughput(Throughput::Bytes(least_bytes(op, variant.pass, &case)));
        group.bench_function(BenchmarkId::new(variant.name, case.id(op)), |bencher| {
            bencher.iter_custom(|repetitions| {
                let one = match workload.measure(&mut session, repetitions) {
                    Ok(measured) => measured.nanoseconds(),
                    Err(error) => {
                        failed.get_or_insert(error);
                        0.0
                    }
                };
                // A clock that saw nothing would make criterion plan for ever.
                Duration::from_secs_f64(one.max(1e-3) * 1e-9 * repetitions as f64)
            });
        });
        group.finish();
        workload.free(&mut session)?;
        if let Some(error) = failed {
            return Err(error.into());
        }
    }
    criterion.final_summary();
    Ok(())
}
