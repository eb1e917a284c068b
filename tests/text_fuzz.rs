//! Wounded texts: the parsers of kernel files and Amber scripts answer each with an error or what
//! it says, soon.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use vklab::amber;
use vklab::kernel_file::KernelFile;

/// No text may take longer, on however busy a machine.
const LIMIT: Duration = Duration::from_secs(2);

/// What grammars stumble over.
const EDGES: [&str; 16] = [
    "0",
    "-1",
    "4294967296",
    "1e400",
    "nan",
    "\"",
    "\n",
    "{",
    "[[",
    "..",
    "\u{0}",
    "ß",
    "**",
    "%",
    "((((((((",
    "18446744073709551615",
];

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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Words and what stands between them, so that a text put together from them is the same text.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(end);
        found.push(token);
        rest = after;
    }
    found
}

fn mutate(seed: &str, other: &str, random: &mut ChaCha8Rng) -> String {
    let (mut tokens, others) = (tokens(seed), tokens(other));
    for _ in 0..random.random_range(1..=3) {
        if tokens.is_empty() {
            break;
        }
        let at = random.random_range(0..tokens.len());
        match random.random_range(0..6) {
            0 => drop(tokens.remove(at)),
            1 => tokens[at] = EDGES[random.random_range(0..EDGES.len())],
            2 => tokens[at] = others[random.random_range(0..others.len())],
            3 => tokens.insert(at, tokens[random.random_range(0..tokens.len())]),
            4 => {
                let end = (at + random.random_range(1..20)).min(tokens.len());
                let copy = tokens[at..end].to_vec();
                tokens.splice(at..at, copy);
            }
            _ => {
                let end = (at + random.random_range(1..20)).min(tokens.len());
                tokens.drain(at..end);
            }
        }
    }
    tokens.concat()
}

/// Parses wounded seeds; true where one was understood all the same.
fn survive(seeds: &[String], rounds: u32, parse: &dyn Fn(&str) -> bool) {
    assert!(seeds.len() > 3, "{} seeds", seeds.len());
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut understood = 0;
    for _ in 0..rounds {
        let pick = |random: &mut ChaCha8Rng| random.random_range(0..seeds.len());
        let (seed, other) = (pick(&mut random), pick(&mut random));
        let text = mutate(&seeds[seed], &seeds[other], &mut random);
        let begun = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| parse(&text))) {
            Ok(is_understood) => understood += u32::from(is_understood),
            Err(_) => panic!("the parser panicked at:\n{text}"),
        }
        assert!(begun.elapsed() < LIMIT, "it took {:?}:\n{text}", begun.elapsed());
    }
    assert!(understood * 50 > rounds, "only {understood} of {rounds} were understood");
}

/// What the files name, so that a seed is understood while it is whole.
const STAND_IN: &str = "#version 450
layout(local_size_x = 1) in;
void main() {}
";

#[test]
fn a_wounded_kernel_file_is_an_error_or_is_understood() {
    let page = fs::read_to_string(root().join("docs/kernel-file.md")).expect("the page");
    let blocks = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut seeds: Vec<String> = blocks.map(str::to_owned).collect();
    let mut paths = Vec::new();
    files(&root().join("tests/ggml"), "toml", &mut paths);
    seeds.extend(
        paths
            .iter()
            .map(|path| fs::read_to_string(path).expect("text").replace("$VKLAB_GGML_DIR/", "")),
    );
    let folder = tempfile::tempdir().expect("a folder");
    for name in seeds.iter().flat_map(|seed| seed.lines()).filter_map(named) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, STAND_IN).expect("written");
    }
    let path = folder.path().join("fuzzed.toml");
    survive(&seeds, 8000, &|text| KernelFile::parse(&path, text).is_ok());
}

/// The file that a line names.
fn named(line: &str) -> Option<&str> {
    line.split("file = \"").nth(1)?.split('"').next()
}

#[test]
fn a_wounded_amber_script_is_an_error_or_is_understood() {
    let mut paths = Vec::new();
    files(&root().join("tests/amber"), "amber", &mut paths);
    let read = |path: &PathBuf| fs::read_to_string(path).expect("text");
    let seeds: Vec<String> = paths.iter().map(read).collect();
    survive(&seeds, 20_000, &|text| {
        amber::parse(&root().join("tests/amber/fuzzed.amber"), text).is_ok()
    });
}
