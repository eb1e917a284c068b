//! `cargo bench --bench overhead`: what the lab costs on top of Vulkan.
//!
//! The same thousand small dispatches, in turn through the lab (ledger, recorder, Vulkan device) and
//! through a plain program on ash (`plain.rs`): the same SPIR-V, descriptor sets, push constants and
//! barriers. A round is everything from the first recorded command to the fence.
//!
//! Other programs share the machine and only ever add time, so the rounds come in pairs, now one
//! side first and now the other, and two figures are judged: the median of the pairs' ratios, and
//! the ratio of the two minima. The bench fails where both are above 1.5. `-- --test` runs one pair
//! and judges results only.

#[expect(unsafe_code, reason = "the yardstick is a program that calls Vulkan itself")]
mod plain;
#[expect(unsafe_code, reason = "as above")]
mod setup;

mod lab;

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use vklab::glsl::{Build, Compiler, CompilerOptions, Library, Source, default_cache_dir};
use vklab::vulkan::Validation;
use vklab::worker::{Found, choose};

/// Dispatches of a round.
const DISPATCHES: usize = 1000;
/// Buffers in a ring: dispatch `i` reads number `i` and writes the next, so that there are as many
/// distinct descriptor sets and each dispatch binds another one.
const BUFFERS: usize = 8;
/// Elements of a buffer.
const LEN: usize = 256;
/// Invocations of a workgroup, as the kernel declares.
const WORKGROUP: usize = 64;
/// Rounds of each side that are measured; as many as give a median that holds still on a shared
/// machine.
const ROUNDS: usize = 61;
/// Rounds before them: pools grow, caches fill.
const WARM_UP: usize = 3;
/// What the lab may cost.
const MOST: f64 = 1.5;

/// What both sides run.
struct Work {
    spirv: Vec<u32>,
    push: Vec<u8>,
    groups: [u32; 3],
}

/// Whether a barrier follows each dispatch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Barriers {
    Each,
    None,
}

/// What one round took.
#[derive(Clone, Copy)]
struct Round {
    /// Until the commands were on the queue.
    host: Duration,
    /// Until the fence.
    all: Duration,
}

fn main() -> ExitCode {
    let rounds = if env::args().any(|argument| argument == "--test") { 1 } else { ROUNDS };
    match run(rounds) {
        Ok(ratio) if rounds > 1 && !(ratio <= MOST) => {
            eprintln!("error: the lab costs {ratio:.2} times the plain program, more than {MOST}");
            ExitCode::FAILURE
        }
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The smaller ratio with barriers, up to the fence.
fn run(rounds: usize) -> Result<f64, Box<dyn Error>> {
    let selectors: Vec<String> = env::var("VKLAB_DEVICE").into_iter().collect();
    let Found::Vulkan(found) = choose(&selectors, Validation::Off)?.swap_remove(0).found else {
        return Err("a plain Vulkan program needs a Vulkan driver".into());
    };
    let work = work()?;
    let mut lab = lab::Lab::open(&found, &work)?;
    let mut plain = plain::Plain::open(&found, &work)?;
    println!("{DISPATCHES} dispatches of {LEN} elements on {}", found.info.name);
    println!("{rounds} pairs of rounds; milliseconds, median (minimum)\n");
    println!("{:<30} {:>16} {:>16} {:>14}", "", "lab", "plain", "ratio");
    let mut ratio = 0.0;
    for (barriers, name) in [(Barriers::Each, "barriers"), (Barriers::None, "no barriers")] {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..rounds + WARM_UP {
            let pair = if round % 2 == 0 {
                let lab = lab.round(&work, barriers)?;
                [lab, plain.round(&work, barriers)?]
            } else {
                let plain = plain.round(&work, barriers)?;
                [lab.round(&work, barriers)?, plain]
            };
            if round >= WARM_UP {
                times.iter_mut().zip(pair).for_each(|(times, one)| times.push(one));
            }
        }
        let all = line(&format!("{name}, to the fence"), &times, |round| round.all);
        line(&format!("{name}, to the queue"), &times, |round| round.host);
        if barriers == Barriers::Each {
            ratio = all;
            same_results(&mut lab, &mut plain, rounds + WARM_UP)?;
        }
    }
    Ok(ratio)
}

fn work() -> Result<Work, Box<dyn Error>> {
    let cache = default_cache_dir().map(|folder| folder.join("kernels"));
    let compiler = Compiler::new(CompilerOptions { cache, ..CompilerOptions::default() })?;
    let source = Source::new("step.comp", include_str!("step.comp"));
    let modules = compiler.compile(&Build::new(source), &Library)?;
    let mut push = u32::try_from(LEN)?.to_le_bytes().to_vec();
    push.extend_from_slice(&1.0_f32.to_le_bytes());
    let groups = [u32::try_from(LEN.div_ceil(WORKGROUP))?, 1, 1];
    Ok(Work { spirv: modules.optimized, push, groups })
}

/// Prints one line and returns the smaller of its two ratios.
fn line(name: &str, times: &[Vec<Round>; 2], part: impl Fn(&Round) -> Duration) -> f64 {
    let [lab, plain] = times.each_ref().map(|rounds| {
        rounds.iter().map(|round| part(round).as_secs_f64() * 1e3).collect::<Vec<f64>>()
    });
    let pairs = lab.iter().zip(&plain).map(|(lab, plain)| lab / plain).collect();
    let ratios = (median(pairs), least(&lab) / least(&plain));
    let show = |times: Vec<f64>| format!("{1:.3} ({0:.3})", least(&times), median(times));
    let (lab, plain) = (show(lab), show(plain));
    println!("{name:<30} {lab:>16} {plain:>16} {:>7.2} ({:.2})", ratios.0, ratios.1);
    ratios.0.min(ratios.1)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// A yardstick that does something else measures nothing: each round counts the first buffer up by
/// the number of dispatches.
fn same_results(
    lab: &mut lab::Lab,
    plain: &mut plain::Plain,
    rounds: usize,
) -> Result<(), Box<dyn Error>> {
    let want = f32::from(u16::try_from(DISPATCHES * rounds)?);
    for (name, got) in [("lab", lab.first_buffer()?), ("plain program", plain.first_buffer()?)] {
        if let Some(wrong) = got.iter().find(|value| **value != want) {
            return Err(format!("the {name} counted to {wrong}, not to {want}").into());
        }
    }
    Ok(())
}
