//! `cargo bench --bench ops`: every variant of the registry on one mid-size case.
//!
//! Times are the device's where its queue has timestamps; the label says so. Throughput is what any
//! variant must move at least, so that variants of one op compare. `VKLAB_DEVICE` chooses a device
//! as `--device` of the command line does; without it the first that executes runs.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use vklab::bench::{BenchError, Workload, least_bytes, mid_size};
use vklab::check::{CheckError, Session, Subject};
use vklab::memory::LedgerOptions;
use vklab::ops::{self, Case, Op, Variant};
use vklab::vulkan::Validation;
use vklab::worker::{choose, open_session};

/// The data is the same in every run, so that runs compare.
const SEED: u64 = 1;

fn main() -> ExitCode {
    // A repetition varies little, and there are many variants: criterion's own defaults would take
    // a quarter of an hour.
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let mut bench = Bench::default();
    for op in ops::ALL {
        let case = mid_size(op, SEED);
        let mut group = criterion.benchmark_group(op.name);
        for variant in op.variants {
            bench.variant(&mut group, op, variant, &case);
        }
        group.finish();
    }
    criterion.final_summary();
    if bench.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What the benchmarks share. The device is opened by the first one that runs: filters and `--list`
/// cost none.
#[derive(Default)]
struct Bench {
    session: Option<Session>,
    failed: bool,
}

/// Leaves a benchmark that can't be measured: criterion knows no other way to skip one.
struct Skipped;

impl Bench {
    fn variant(
        &mut self,
        group: &mut BenchmarkGroup<'_, WallTime>,
        op: &'static Op,
        variant: &'static Variant,
        case: &Case,
    ) {
        group.throughput(Throughput::Bytes(least_bytes(op, variant.pass, case)));
        let id = BenchmarkId::new(variant.name, case.id(op));
        let mut workload = None;
        let ran = catch_unwind(AssertUnwindSafe(|| {
            group.bench_function(id, |bencher| {
                // Not within `iter_custom`, or criterion would plan with the time that it takes.
                if let Err(error) = self.prepare(&mut workload, op, variant, case) {
                    self.skip(op, variant, &error);
                }
                bencher.iter_custom(|repetitions| {
                    let time = self.time(workload.as_mut(), repetitions);
                    time.unwrap_or_else(|error| self.skip(op, variant, &error))
                });
            });
        }));
        if let Err(panic) = ran
            && !panic.is::<Skipped>()
        {
            resume_unwind(panic);
        }
        if let (Some(workload), Some(session)) = (workload, &mut self.session)
            && let Err(error) = workload.free(session)
        {
            eprintln!("{}.{}: {error}", op.name, variant.name);
            self.failed = true;
        }
    }

    /// Makes what will be timed, once.
    fn prepare(
        &mut self,
        workload: &mut Option<Workload>,
        op: &'static Op,
        variant: &'static Variant,
        case: &Case,
    ) -> Result<(), BenchError> {
        let session = self.session.get_or_insert_with(open);
        if workload.is_none() {
            let made = Workload::new(session, &Subject::new(op, variant), case)?;
            println!("{}.{}: {}", op.name, variant.name, made.clock().name());
            *workload = Some(made);
        }
        Ok(())
    }

    /// Time for that many repetitions, from as many as fit into a measurement.
    fn time(
        &mut self,
        workload: Option<&mut Workload>,
        repetitions: u64,
    ) -> Result<Duration, BenchError> {
        let (Some(session), Some(workload)) = (&mut self.session, workload) else {
            return Ok(Duration::ZERO);
        };
        let one = workload.measure(session, repetitions)?.nanoseconds();
        // A clock that saw nothing would make criterion plan for ever.
        Ok(Duration::from_secs_f64(one.max(1e-3) * 1e-9 * repetitions as f64))
    }

    fn skip(&mut self, op: &Op, variant: &Variant, error: &BenchError) -> ! {
        eprintln!("{}.{}: {error}", op.name, variant.name);
        self.failed |= !matches!(error, BenchError::Check(CheckError::Unsupported(_)));
        resume_unwind(Box::new(Skipped))
    }
}

fn open() -> Session {
    let selectors: Vec<String> = env::var("VKLAB_DEVICE").into_iter().collect();
    let opened =
        choose(&selectors, Validation::Off).map_err(|error| error.to_string()).and_then(|chosen| {
            open_session(&chosen[0], LedgerOptions::default()).map_err(|error| error.to_string())
        });
    match opened {
        Ok(session) => {
            println!("device: {}", session.info().name);
            session
        }
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    }
}
