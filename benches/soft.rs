//! `cargo bench --bench soft`: the interpreter without observers, telling of bounds, and with all of
//! them, beside lavapipe on one thread, on the same kernels in one run.
//!
//! The table at the end has processor time, which other work on the machine hardly changes. It fails
//! where naive matmul takes more than 8 times lavapipe's time, or 40 times with every observer.
//! lavapipe reads its number of threads when it is loaded, so the bench starts itself again.

use std::env;
use std::fs;
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime};

use criterion::{BenchmarkId, Criterion};
use vklab::bench::{BenchError, Workload};
use vklab::check::{Session, Subject};
use vklab::memory::LedgerOptions;
use vklab::ops::{Case, Registry};
use vklab::soft::{SoftOptions, Watching};
use vklab::vulkan::Validation;
use vklab::worker::{Choice, Found, choose, open_session};

/// With none, lavapipe works in the thread of its queue alone.
const THREADS: &str = "LP_NUM_THREADS";

const KERNELS: [(&str, &str, &str); 4] = [
    ("matmul", "naive", "batch=1,m=128,n=128,k=128"),
    ("matmul", "tiled", "batch=1,m=128,n=128,k=128"),
    ("softmax", "shared", "rows=64,cols=1000"),
    ("sum", "shared", "outer=64,axis=1000,inner=1"),
];

/// The first is what the others are compared with.
const ENGINES: [(&str, Option<Watching>); 4] = [
    ("lavapipe", None),
    ("plain", Some(Watching::Nothing)),
    ("bounds", Some(Watching::Bounds)),
    ("everything", Some(Watching::Everything)),
];

/// Times lavapipe's that the engines may take for the first kernel.
const LIMITS: [f64; 4] = [f64::INFINITY, 8.0, 8.0, 40.0];

/// Rounds of which the best counts, and how long one should take.
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_millis(400);

fn main() -> ExitCode {
    if env::var_os(THREADS).is_none() {
        let again = env::current_exe().and_then(|program| {
            Command::new(program).args(env::args_os().skip(1)).env(THREADS, "0").status()
        });
        return if again.is_ok_and(|status| status.success()) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Box<dyn std::error::Error>> {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .configure_from_args();
    let mut sessions = Vec::new();
    for (_, watch) in ENGINES {
        sessions.push(open(watch)?);
    }
    let mut table = Vec::new();
    for (op, variant, case) in KERNELS {
        let name = format!("{op}.{variant}");
        let (op, variant) = Registry::lab().find(op, variant).ok_or("no such kernel")?;
        let case = Case::parse(op, case, 1)?;
        let mut workloads = Vec::new();
        for session in &mut sessions {
            workloads.push(Workload::new(session, &Subject::new(op, variant), &case)?);
        }
        let mut group = criterion.benchmark_group(&name);
        for (((engine, _), session), workload) in
            ENGINES.iter().zip(&mut sessions).zip(&mut workloads)
        {
            group.bench_function(BenchmarkId::new(*engine, case.id(op)), |bencher| {
                bencher.iter_custom(|count| match workload.measure(session, count) {
                    Ok(measured) => {
                        let all = measured.nanoseconds() * 1e-9 * count as f64;
                        Duration::from_secs_f64(all.max(1e-9))
                    }
                    Err(error) => panic!("{name} on {engine}: {error}"),
                });
            });
        }
        group.finish();
        table.push((name, times(&mut sessions, &mut workloads)?));
    }
    criterion.final_summary();
    Ok(tell(&table))
}

fn open(watch: Option<Watching>) -> Result<Session, Box<dyn std::error::Error>> {
    let choice = match watch {
        None => choose(&["vk:llvmpipe".to_owned()], Validation::Off)?.swap_remove(0),
        Some(watch) => Choice {
            found: Found::soft(SoftOptions { watch, ..SoftOptions::default() }),
            validation: Validation::Off,
            instead: None,
        },
    };
    Ok(open_session(&choice, LedgerOptions::default())?)
}

/// Milliseconds of processor time for one repetition, engine by engine; their rounds alternate.
fn times(sessions: &mut [Session], workloads: &mut [Workload]) -> Result<Vec<f64>, BenchError> {
    let mut counts = vec![1; sessions.len()];
    let mut best = vec![f64::INFINITY; sessions.len()];
    for round in 0..=ROUNDS {
        for (at, (session, workload)) in sessions.iter_mut().zip(&mut *workloads).enumerate() {
            let begin = processor_time();
            let measured = workload.measure(session, counts[at])?;
            let time = (processor_time() - begin).as_secs_f64() / measured.repetitions as f64;
            // The first round says how many repetitions the others take.
            if round == 0 {
                let time = Duration::from_secs_f64(time.max(1e-6));
                counts[at] =
                    u64::try_from(ROUND.as_nanos().div_ceil(time.as_nanos().max(1))).unwrap_or(1);
            } else {
                best[at] = best[at].min(1e3 * time);
            }
        }
    }
    Ok(best)
}

/// Of all threads of this process, in steps of 10 ms; where the system doesn't tell, the time of day
/// has to do.
fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").ok();
    let ticks = stat.as_deref().and_then(|stat| {
        // What comes before has the program's name in brackets, with anything in it.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(ticks(11)? + ticks(12)?)
    });
    match ticks {
        Some(ticks) => Duration::from_millis(10 * ticks),
        None => SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
    }
}

/// Whether the limits are kept.
fn tell(table: &[(String, Vec<f64>)]) -> bool {
    let names = ENGINES[1..].iter().map(|(name, _)| format!("{name:>20}"));
    println!("{:16}{:>14}{}", "processor time", ENGINES[0].0, names.collect::<String>());
    for (name, times) in table {
        let row = times[1..].iter().map(|time| format!("{time:>9.3} ms {:>6.2}x", time / times[0]));
        println!("{name:16}{:>11.3} ms{}", times[0], row.collect::<String>());
    }
    let Some((name, times)) = table.first() else { return true };
    let mut is_kept = true;
    for (((engine, _), time), limit) in ENGINES.iter().zip(times).zip(LIMITS) {
        // A NaN keeps no limit.
        if !(time / times[0] <= limit) {
            println!("{name} on {engine} takes more than {limit} times lavapipe's time");
            is_kept = false;
        }
    }
    is_kept
}
