//! Kernels with real bugs beside their fixed twins, where the folder of them is there: in
//! `VKLAB_ZOO`, or at ../shared/zoo.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use vklab::check::{Check, Kind, Verdict};
use vklab::report::finding_json;
use vklab::run::{Line, read};

/// Bugs that show in a result on lavapipe without any sanitizer.
const SHOWN: usize = 26;

/// Those that take more than every device offers.
const BEYOND: [&str; 3] =
    ["060-grid-over-65535", "062-push-block-over-128", "064-misaligned-binding-offset"];

fn zoo() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/zoo");
    let folder = env::var_os("VKLAB_ZOO").map_or(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// Verdicts by the animal's folder and the name of its file.
fn verdicts(zoo: &Path, device: &str) -> BTreeMap<(String, String), Vec<Verdict>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run.jsonl");
    let status = Command::new(env!("CARGO_BIN_EXE_vklab"))
        .arg("check")
        .arg(zoo)
        .args(["--device", device, "--timeout", "20", "--seed", "1", "--out"])
        .arg(&run)
        .output()
        .expect("the lab");
    // Some kernel is wrong, and all of them could be asked.
    assert_eq!(status.status.code(), Some(1), "{}", String::from_utf8_lossy(&status.stderr));
    let mut found: BTreeMap<_, Vec<Verdict>> = BTreeMap::new();
    for line in read(&run).expect("a run file") {
        if let Line::Verdict(verdict) = line {
            let path = Path::new(&verdict.op);
            let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
            let animal = path.parent().and_then(Path::file_name).expect("a folder");
            let animal = animal.to_string_lossy().into_owned();
            found.entry((animal, name)).or_default().push(*verdict);
        }
    }
    found
}

/// Whether lavapipe shows what is wrong, by the animal's own description.
fn shows(animal: &Path) -> bool {
    let text = fs::read_to_string(animal.join("case.toml")).expect("a description");
    let case: toml::Table = text.parse().expect("TOML");
    case["lavapipe"]["hidden"].as_bool() == Some(false)
}

#[test]
fn every_bug_that_shows_is_found_and_no_fixed_twin_is() {
    let Some(zoo) = zoo() else {
        eprintln!("skipped: there is no folder of wrong kernels");
        return;
    };
    let verdicts = verdicts(&zoo, "vk:llvmpipe");
    let animals: BTreeSet<&str> = verdicts.keys().map(|(animal, _)| animal.as_str()).collect();
    assert_eq!(verdicts.len(), 2 * animals.len(), "each has two files");
    let is_bad = |animal: &str, name: &str| {
        let verdicts = &verdicts[&(animal.to_owned(), name.to_owned())];
        verdicts.iter().any(|verdict| verdict.outcome.is_bad())
    };
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for animal in animals {
        if is_bad(animal, "fixed") {
            wrong.push(format!("{animal}: the fixed twin is called wrong"));
        }
        match (is_bad(animal, "buggy"), shows(&zoo.join(animal))) {
            (true, _) => found.push(animal),
            (false, true) => wrong.push(format!("{animal} shows and isn't found")),
            (false, false) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // One more hangs, and more than devices offer is found without running anything.
    assert!(found.len() > SHOWN + BEYOND.len(), "only {} found: {found:?}", found.len());
    for animal in BEYOND {
        let kinds = |name: &str| {
            let verdicts = &verdicts[&(animal.to_owned(), name.to_owned())];
            let limits = verdicts.iter().filter(|verdict| verdict.check == Check::Limits);
            limits.map(|verdict| verdict.outcome.kind()).collect::<Vec<_>>()
        };
        assert_eq!(kinds("buggy"), [Kind::LimitExceeded.name()], "{animal}");
        assert_eq!(kinds("fixed"), ["pass"], "{animal}");
    }
}

#[test]
fn the_interpreter_sees_what_a_driver_hides_and_nothing_in_a_fixed_twin() {
    let Some(zoo) = zoo() else {
        eprintln!("skipped: there is no folder of wrong kernels");
        return;
    };
    let mut missed = Vec::new();
    for ((animal, name), verdicts) in verdicts(&zoo, "soft") {
        let bad: Vec<_> = verdicts.iter().filter(|verdict| verdict.outcome.is_bad()).collect();
        assert!(name == "buggy" || bad.is_empty(), "{animal}: the fixed twin: {bad:?}");
        if name == "buggy" && bad.is_empty() {
            missed.push(animal);
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

/// Bugs of memory, synchronisation, undefined arithmetic, a hang or the birth of a NaN, where the
/// interpreter must point at the line that its description gives, or at one of a pair.
const AT_THEIR_LINE: [&str; 15] = [
    "001-scan-total-reused",
    "003-scale-cache-war",
    "005-lockstep-exchange",
    "007-zero-init-no-barrier",
    "013-return-before-barrier",
    "015-barrier-in-ragged-loop",
    "016-shared-tail-uninit",
    "018-grad-tail-never-written",
    "020-tile-load-unguarded",
    "022-row-past-the-end",
    "031-epsilon-from-wrong-field",
    "037-shuffle-from-returned-lane",
    "069-spinlock-in-subgroup",
    "071-modulo-by-absent-dimension",
    "072-war-between-dispatches",
];

#[test]
fn the_interpreter_finds_every_bug_and_no_fixed_twin() {
    let Some(zoo) = zoo() else {
        eprintln!("skipped: there is no folder of wrong kernels");
        return;
    };
    let verdicts = verdicts(&zoo, "soft");
    let mut wrong = Vec::new();
    for ((animal, name), verdicts) in &verdicts {
        let bad: Vec<_> = verdicts.iter().filter(|verdict| verdict.outcome.is_bad()).collect();
        match name.as_str() {
            "fixed" => wrong.extend(bad.iter().map(|verdict| {
                format!("{animal}: the fixed twin is called wrong: {}", verdict.outcome)
            })),
            _ if bad.is_empty() => wrong.push(format!("{animal} isn't found")),
            _ if AT_THEIR_LINE.contains(&animal.as_str()) => {
                let text = fs::read_to_string(zoo.join(animal).join("case.toml")).expect("text");
                let case: toml::Table = text.parse().expect("TOML");
                let line = case["line"].as_integer();
                let lines = bad.iter().flat_map(|verdict| {
                    let found = finding_json(verdict);
                    [found["line"].as_i64(), found["other_line"].as_i64()]
                });
                let lines: BTreeSet<_> = lines.flatten().collect();
                if !lines.contains(&line.expect("a line")) {
                    wrong.push(format!("{animal}: line {line:?} isn't among {lines:?}"));
                }
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
