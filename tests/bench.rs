//! Measurements on lavapipe: what is timed is right, and a measurement ends.
#![cfg(feature = "glsl")]

use std::time::{Duration, Instant};

use vklab::bench::{BenchError, Clock, Workload, mid_size};
use vklab::check::{Session, Subject};
use vklab::memory::LedgerOptions;
use vklab::ops::{Plan, find};
use vklab::vulkan::Validation;
use vklab::worker::{choose, open_session};

fn session() -> Session {
    let chosen = choose(&["vk:llvmpipe".to_owned()], Validation::Off)
        .expect("the tests need lavapipe (mesa-vulkan-drivers)");
    open_session(&chosen[0], LedgerOptions::default()).expect("lavapipe opens")
}

fn subject() -> Subject<'static> {
    let (op, variant) = find("relu", "naive").expect("relu.naive");
    Subject::new(op, variant)
}

#[test]
fn every_repetition_counts_and_every_buffer_goes_back() {
    let mut session = session();
    let (subject, case) = (subject(), mid_size(subject().op, 1));
    let mut workload = Workload::new(&mut session, &subject, &case).expect("a right kernel");
    let few = workload.measure(&mut session, 3).expect("three repetitions");
    let many = workload.measure(&mut session, 300).expect("three hundred");
    assert_eq!((few.repetitions, many.repetitions), (3, 300));
    assert_eq!(many.clock, Clock::Device);
    assert!(many.time > few.time, "{few:?} {many:?}");
    workload.free(&mut session).expect("nothing holds the buffers");
    let (counters, leaks) = session.into_ledger().close();
    assert_eq!((counters.live, leaks.len()), (0, 0), "{leaks:?}");
}

#[test]
fn a_measurement_ends_whatever_was_asked_for() {
    let mut session = session();
    let (subject, case) = (subject(), mid_size(subject().op, 1));
    let mut workload = Workload::new(&mut session, &subject, &case).expect("a right kernel");
    let begin = Instant::now();
    let measured = workload.measure(&mut session, u64::MAX).expect("some of them");
    assert!(measured.repetitions > 1 && measured.repetitions < u64::MAX);
    // Ten times what it should take, since tests share the machine.
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    assert!(measured.nanoseconds() > 0.0);
    workload.free(&mut session).expect("nothing holds the buffers");
}

#[test]
fn a_wrong_kernel_is_not_timed() {
    let mut session = session();
    let case = mid_size(subject().op, 1);
    let idle = Subject { edit: Some(|_| Plan::empty()), ..subject() };
    let refused = Workload::new(&mut session, &idle, &case).expect_err("it writes nothing");
    assert!(matches!(refused, BenchError::Wrong(_)), "{refused}");
    assert!(refused.to_string().contains("not timed"), "{refused}");
}
