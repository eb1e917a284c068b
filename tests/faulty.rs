//! Every kernel of glsl/faulty is caught by its check, and no twin is.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use vklab::check::{Check, Outcome, applies, cases};
use vklab::faulty::{self, Defect, Family, Fault};
use vklab::ops::{Case, Cases};
use vklab::report::Catches;
use vklab::run::Campaign;
use vklab::vulkan::Validation;
use vklab::worker::{Pool, Task, Update, choose};

/// A kernel may need this many lines for its defect, the sentence in its head included.
const MOST_LINES: usize = 6;

fn glsl() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("glsl")
}

/// Workers on lavapipe, on which every race of the table is known to show; elsewhere on the first
/// device.
fn pool() -> Pool {
    let lavapipe = choose(&["vk:llvmpipe".to_owned()], Validation::Off);
    let chosen = lavapipe.or_else(|_| choose(&[], Validation::Off)).expect("a device");
    let command = [env!("CARGO_BIN_EXE_vklab"), "worker", "--timeout=30"].map(str::to_owned);
    let mut command = command.to_vec();
    command.push(format!("--device=vk:{}", chosen[0].info().name));
    Pool { command, workers: 2, timeout: Duration::from_secs(30) }
}

/// The checks of a driver; what an interpreter sees is proved by kernels of its own.
fn asked() -> Vec<Check> {
    let watches = |check: &Check| matches!(check, Check::Sanitize | Check::GradientExact);
    Check::ALL.into_iter().filter(|check| !watches(check)).collect()
}

#[test]
fn each_fault_is_caught_by_its_check_and_no_twin_is() {
    let faults: Vec<&Fault> = faulty::all().collect();
    let mut campaign = Campaign::new(&faults, &asked(), 1);
    let tasks = campaign.tasks().to_vec();
    let ran = pool().run(&tasks, |update| {
        if let Update::Answer { task, case, answer } = update {
            campaign.hear(task, case, answer.outcome);
        }
    });
    ran.expect("workers that work");
    assert!(campaign.is_clean(), "{}", Catches(&campaign));
}

#[test]
fn a_threshold_that_no_case_lists_is_reported_exactly() {
    let fault = faulty::find("softmax_256_columns").expect("the fault");
    let (op, variant) = fault.place();
    let cols = op.dims.iter().position(|dim| dim.name == "cols").expect("columns");
    let all = cases(Check::Forward, op, Cases::Full, 1);
    assert!(all.iter().all(|case| case.dims[cols] != 257));
    let beyond: Vec<Case> = all.into_iter().filter(|case| case.dims[cols] > 257).collect();
    let task = Task::variant(op, variant, Check::Forward, &beyond).planted(fault.name);
    let mut reported = Vec::new();
    let ran = pool().run(std::slice::from_ref(&task), |update| {
        if let Update::Answer { case, answer, .. } = update {
            match answer.outcome {
                Outcome::Fail { finding } => reported.push(finding.smallest.unwrap_or_default()),
                outcome => panic!("{}: {outcome:?}", task.cases[case]),
            }
        }
    });
    ran.expect("workers that work");
    assert!(!reported.is_empty());
    for smallest in &reported {
        assert!(smallest.starts_with("rows=1,cols=257/"), "{reported:?}");
    }
}

#[test]
fn every_family_and_every_check_has_its_faults() {
    assert!(faulty::all().count() >= 36);
    for family in Family::ALL {
        assert!(!family.faults().is_empty(), "{}", family.name());
        assert!(family.faults().iter().all(|fault| fault.family == family), "{}", family.name());
    }
    for check in asked() {
        let own = faulty::all().filter(|fault| fault.caught_by == check).count();
        assert!(own >= 3, "{check} has {own}");
    }
    for fault in faulty::all() {
        let (op, variant) = fault.place();
        assert!(applies(fault.caught_by, op, variant), "{}", fault.name);
    }
}

#[test]
fn the_table_is_sorted_and_each_name_stands_once() {
    assert!(Family::ALL.is_sorted_by_key(|family| family.name()));
    for family in Family::ALL {
        assert!(family.faults().is_sorted_by_key(|fault| fault.name), "{}", family.name());
    }
    let names: BTreeSet<&str> = faulty::all().map(|fault| fault.name).collect();
    assert_eq!(names.len(), faulty::all().count());
}

#[test]
fn the_folder_holds_the_kernels_of_the_table() {
    let is_kernel = |fault: &&Fault| matches!(fault.defect, Defect::Kernel { .. });
    let listed: BTreeSet<String> =
        faulty::all().filter(is_kernel).map(|fault| format!("{}.comp", fault.name)).collect();
    let folder = fs::read_dir(glsl().join("faulty")).expect("the folder");
    let found: BTreeSet<String> = folder
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, listed);
}

#[test]
fn each_kernel_is_its_twin_with_one_small_defect() {
    for fault in faulty::all() {
        let Defect::Kernel { twin, text } = fault.defect else { continue };
        let twin = fs::read_to_string(glsl().join(twin)).expect("the twin");
        let head = text.lines().nth(1).unwrap_or_default();
        assert_eq!(head, format!("// Wrong on purpose: {}.", fault.wrong));
        let (right, wrong): (Vec<&str>, Vec<&str>) =
            (twin.lines().collect(), text.lines().collect());
        let kept = common(&right, &wrong);
        let changed = (right.len() - kept).max(wrong.len() - kept);
        assert!(changed <= MOST_LINES, "{} changes {changed} lines", fault.name);
        let only_head = right.len() == kept && wrong.len() == kept + 1;
        assert!(!only_head, "{} changes nothing but its head", fault.name);
    }
}

/// Length of the longest common subsequence.
fn common(a: &[&str], b: &[&str]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for line in a {
        let mut diagonal = 0;
        for (at, other) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if line == other { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[b.len()]
}
