//! Wounded modules: the interpreter answers each with a result or an error, soon and in little
//! memory.
//!
//! The seeds are the lab's own kernels, and every `.spv` of at most 64 KiB below the folder that
//! `VKLAB_SPIRV_DIR` names. `VKLAB_FUZZ_SECONDS` makes the search longer than CI's, and
//! `VKLAB_FUZZ_SEED` another one; docs/fuzzing.md has all of them. What fails is left in the folder for tests' files as
//! `wounded-*.spv`.

#[path = "../fuzz/attempt.rs"]
mod attempt;
mod mutate;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use attempt::{Reached, attempt};
use mutate::mutate;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use vklab::glsl::{Build, Compiler, CompilerOptions, Library, Source, Target};
use vklab::soft::Watching;

/// What CI tries.
const ROUNDS: u64 = 20_000;

/// No module may take longer, on however busy a machine.
const LIMIT: Duration = Duration::from_secs(2);

/// No module may need more, the seeds and the compiler included.
const LIMIT_KIBIBYTES: u64 = 512 << 10;

const LIMIT_SEED_BYTES: u64 = 64 << 10;

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
    found.sort();
}

/// The lab's kernels that compile as they stand, with names and lines and without.
fn own_kernels() -> Vec<(String, Vec<u32>)> {
    let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("glsl"), "comp", &mut paths);
    let mut seeds = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).expect("text");
        let mut build = Build::new(Source::new(name.clone(), text));
        build.target = Target::Vulkan12;
        if let Ok(modules) = compiler.compile(&build, &Library) {
            seeds.push((name.clone(), modules.debug));
            seeds.push((name, modules.optimized));
        }
    }
    assert!(seeds.len() > 100, "only {} of the lab's modules compile", seeds.len());
    seeds
}

fn foreign() -> Vec<(String, Vec<u32>)> {
    let Some(folder) = env::var_os("VKLAB_SPIRV_DIR") else { return Vec::new() };
    let mut paths = Vec::new();
    files(Path::new(&folder), "spv", &mut paths);
    paths.retain(|path| path.metadata().is_ok_and(|data| data.len() <= LIMIT_SEED_BYTES));
    paths.iter().map(|path| (path.display().to_string(), words(path))).collect()
}

fn words(path: &Path) -> Vec<u32> {
    let bytes = fs::read(path).expect("a module");
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn keep(name: &str, words: &[u32]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.spv"));
    fs::write(&path, bytes(words)).expect("written");
    path
}

/// The most memory that this process had at a time, where the system says.
fn peak_kibibytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix("kB")?.trim().parse().ok());
    peak.unwrap_or(0)
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok()?.parse().ok()
}

fn groups(random: &mut ChaCha8Rng) -> [u32; 3] {
    [random.random_range(1..=3), 1, 1]
}

fn watch(random: &mut ChaCha8Rng) -> Watching {
    [Watching::Nothing, Watching::Bounds, Watching::Everything][random.random_range(0..3)]
}

#[test]
fn a_wounded_module_is_an_error_or_a_result() {
    if let Some(path) = env::var_os("VKLAB_FUZZ_MODULE") {
        let words = words(Path::new(&path));
        let reached = attempt(&words, [2, 1, 1], 3, Watching::Everything);
        eprintln!("{reached:?}, at most {} KiB", peak_kibibytes());
        return;
    }
    let mut seeds = own_kernels();
    for (name, sound) in &seeds {
        let reached = attempt(sound, [1; 3], 0, Watching::Everything);
        assert_ne!(reached, Reached::Refused, "{name}, unharmed");
    }
    if let Some(folder) = env::var_os("VKLAB_FUZZ_CORPUS") {
        fs::create_dir_all(&folder).expect("a folder");
        for (number, (_, words)) in seeds.iter().enumerate() {
            let path = Path::new(&folder).join(format!("{number}.spv"));
            fs::write(path, bytes(words)).expect("written");
        }
    }
    seeds.extend(foreign());
    let mut random = ChaCha8Rng::seed_from_u64(number("VKLAB_FUZZ_SEED").unwrap_or(1));
    let until =
        number("VKLAB_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut reached: BTreeMap<Reached, u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut rounds = 0;
    while until.map_or(rounds < ROUNDS, |until| Instant::now() < until) {
        rounds += 1;
        let (name, seed) = &seeds[random.random_range(0..seeds.len())];
        let (_, other) = &seeds[random.random_range(0..seeds.len())];
        let words = mutate(seed, other, &mut random);
        let (groups, schedule) = (groups(&mut random), random.random_range(0..4));
        let watch = watch(&mut random);
        if until.is_some() {
            keep("last", &words); // What is left of an abort.
        }
        let (begun, before) = (Instant::now(), peak_kibibytes());
        let what = match catch_unwind(|| attempt(&words, groups, schedule, watch)) {
            Ok(how) => {
                *reached.entry(how).or_default() += 1;
                let peak = peak_kibibytes();
                match begun.elapsed() {
                    long if long > LIMIT => format!("took {long:?}"),
                    _ if peak > before && peak > LIMIT_KIBIBYTES => format!("took {peak} KiB"),
                    _ => continue,
                }
            }
            Err(_) => "panicked".to_owned(),
        };
        let path = keep(&format!("wounded-{rounds}"), &words);
        let how = format!("{groups:?}, schedule {schedule}, {watch:?}");
        wrong.push(format!("{what}: {} of {name} ({how})", path.display()));
    }
    eprintln!("{rounds} modules of {} seeds: {reached:?}", seeds.len());
    let ran = reached.get(&Reached::Ran).copied().unwrap_or(0);
    assert!(ran * 10 > rounds, "only {ran} of {rounds} modules ran: the wounds are too deep");
    assert!(wrong.is_empty(), "{} of {rounds}:\n{}", wrong.len(), wrong.join("\n"));
}
