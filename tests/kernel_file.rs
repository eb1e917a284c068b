//! Kernel files: the zoo's load, the documented example is one, wrong ones say what is wrong.

use std::fs;
use std::path::{Path, PathBuf};

use vklab::kernel_file::KernelFile;

/// The folder of kernel files with real bugs, which isn't part of this repository.
fn zoo() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/zoo");
    let folder = std::env::var_os("VKLAB_ZOO").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

#[test]
fn every_file_of_the_zoo_loads_and_plans() {
    let Some(zoo) = zoo() else {
        eprintln!("skipped: neither VKLAB_ZOO nor ../shared/zoo is a folder");
        return;
    };
    let mut failed = Vec::new();
    let mut count = 0;
    for folder in fs::read_dir(zoo).expect("the zoo") {
        let folder = folder.expect("an entry").path();
        for twin in ["buggy.toml", "fixed.toml"] {
            let path = folder.join(twin);
            if path.is_file() {
                count += 1;
                failed.extend(loads_and_plans(&path).err());
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(count, 78);
}

fn loads_and_plans(path: &Path) -> Result<(), String> {
    let file = KernelFile::load(path).map_err(|e| e.to_string())?;
    let points = file.points();
    let [point] = points.as_slice() else {
        return Err(format!("{}: {} cases", path.display(), points.len()));
    };
    let id = file.id(point);
    if file.point(&id).as_ref() != Ok(point) {
        return Err(format!("{}: {id} doesn't read back", path.display()));
    }
    let instance = file.instance(point).map_err(|e| e.to_string())?;
    if instance.plan.steps.is_empty() || instance.buffers.is_empty() {
        return Err(format!("{}: nothing to run", path.display()));
    }
    Ok(())
}
