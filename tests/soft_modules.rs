//! Modules from elsewhere load on the interpreter: every `.spv` below the folder that
//! `VKLAB_SPIRV_DIR` names. Without it nothing is tried, and the test says so.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use vklab::device::{Device, Kernel};
use vklab::soft::{Soft, SoftOptions};

fn modules(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            modules(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "spv") {
            found.push(path);
        }
    }
}

fn kernel(path: &Path) -> Kernel {
    let bytes = fs::read(path).expect("a module");
    let words: Vec<u32> =
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    Kernel {
        name: path.display().to_string(),
        optimized: words.clone(),
        debug: words,
        entry: "main".to_owned(),
        bindings: Vec::new(),
        push_bytes: 0,
        spec: Vec::new(),
        subgroup_size: None,
        capabilities: Vec::new(),
    }
}

#[test]
fn modules_from_elsewhere_load() {
    let Some(folder) = env::var_os("VKLAB_SPIRV_DIR") else {
        eprintln!("skipped: VKLAB_SPIRV_DIR names no folder of modules");
        return;
    };
    let mut paths = Vec::new();
    modules(Path::new(&folder), &mut paths);
    assert!(!paths.is_empty(), "no .spv below {}", folder.display());
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in &paths {
        // A device of its own, so that programs don't pile up.
        let mut device = Soft::open(&SoftOptions::default()).expect("opens");
        if let Err(error) = device.load(&kernel(path)) {
            let name = path.display().to_string();
            let reason = error.to_string().replace(&name, "");
            refused.entry(reason).or_default().push(name);
        }
    }
    let count: usize = refused.values().map(Vec::len).sum();
    eprintln!("{} modules, {count} refused", paths.len());
    // SPV_VALVE_mixed_float_dot_product, a vendor's own.
    let vendor = |reason: &str| reason.contains("capability 6912");
    for (reason, names) in &refused {
        eprintln!("{} x {reason}: {}", names.len(), names[0]);
    }
    assert!(refused.keys().all(|reason| vendor(reason)), "refused modules");
}
