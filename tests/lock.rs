//! Two jobs on one device: the second waits for the first, however that one ends.

#[cfg(unix)]
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{self, Child, Command, Stdio};
#[cfg(unix)]
use std::thread;
#[cfg(unix)]
use std::time::{Duration, Instant};

use vklab::vulkan::{self, Validation};
use vklab::worker::{DeviceLock, Found, choose};

#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(60);

fn device() -> vulkan::Found {
    match choose(&[], Validation::Off).expect("a device").swap_remove(0).found {
        Found::Vulkan(found) => found,
        Found::Soft { .. } => panic!("no Vulkan driver answers"),
    }
}

/// A run on the device, with its caches and locks in a folder of its own.
fn job(cache: &Path, locking: &str, work: &[&str]) -> Child {
    let device = format!("--device=vk:{}", device().info.name);
    Command::new(env!("CARGO_BIN_EXE_vklab"))
        .args(["check", "--seed", "1", &device, "--lock", locking])
        .args(work)
        .env("VKLAB_CACHE", cache)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}

const SHORT: [&str; 5] = ["add.naive", "--only", "forward", "--case", "rows=1,cols=1/normal"];
#[cfg(unix)]
const LONG: [&str; 3] = ["matmul", "--cases", "full"];

/// The first line that a job says on its standard error.
fn said(job: &mut Child) -> String {
    let mut line = String::new();
    let errors = job.stderr.take().expect("a pipe");
    BufReader::new(errors).read_line(&mut line).expect("text");
    line
}

/// Waits until the lock's file names the process. Windows lets nobody read a locked file.
#[cfg(unix)]
fn wait_for_lock(cache: &Path, id: u32) {
    let start = Instant::now();
    let names = || {
        let files = fs::read_dir(cache.join("locks")).into_iter().flatten().flatten();
        files.into_iter().any(|file| {
            fs::read_to_string(file.path()).is_ok_and(|text| text.trim() == id.to_string())
        })
    };
    while !names() {
        assert!(start.elapsed() < PATIENCE, "no lock of process {id}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_job_waits_for_the_process_that_has_the_device() {
    let cache = tempfile::tempdir().expect("a folder");
    let nobody = |_| panic!("nobody holds it");
    let held = DeviceLock::acquire(&cache.path().join("locks"), &device(), nobody);
    let held = held.expect("a lock");
    let mut waiting = job(cache.path(), "always", &SHORT);
    let line = said(&mut waiting);
    let holder = if cfg!(unix) { format!("process {}", process::id()) } else { String::new() };
    assert!(line.contains("waiting for") && line.contains(&holder), "{line}");
    // Who doesn't ask for the lock goes past both of them.
    let free = job(cache.path(), "never", &SHORT).wait().expect("it ends");
    assert_eq!(free.code(), Some(0));
    assert!(waiting.try_wait().expect("a process").is_none(), "it didn't wait");
    drop(held);
    assert_eq!(waiting.wait().expect("it ends").code(), Some(0));
}

#[cfg(unix)]
#[test]
fn the_lock_of_a_killed_process_is_free() {
    let cache = tempfile::tempdir().expect("a folder");
    let mut first = job(cache.path(), "always", &LONG);
    wait_for_lock(cache.path(), first.id());
    let mut second = job(cache.path(), "always", &SHORT);
    let line = said(&mut second);
    assert!(line.contains("waiting for"), "{line}");
    assert!(first.try_wait().expect("a process").is_none(), "the long run is over");
    first.kill().expect("killed");
    first.wait().expect("it ends");
    assert_eq!(second.wait().expect("it ends").code(), Some(0));
}

#[cfg(unix)]
#[test]
fn two_jobs_do_not_overlap() {
    let cache = tempfile::tempdir().expect("a folder");
    let mut first = job(cache.path(), "always", &["add.naive", "--only", "memory"]);
    wait_for_lock(cache.path(), first.id());
    let mut second = job(cache.path(), "always", &["add.naive", "--only", "memory"]);
    // The second signs the lock's file when it has it. The first must have done all its work by
    // then, and only has to end.
    wait_for_lock(cache.path(), second.id());
    let start = Instant::now();
    assert_eq!(first.wait().expect("it ends").code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(second.wait().expect("it ends").code(), Some(0));
}
