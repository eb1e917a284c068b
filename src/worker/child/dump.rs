//! Where the arrays of a finding go: DIR/device/op.variant/check/case.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::check::Outcome;
use crate::worker::protocol::{Task, Work};

/// Writes the arrays of a finding, if there is one and it has some, and notes where they are.
///
/// # Errors
/// What keeps them from being written, in words.
pub(super) fn arrays(
    outcome: &mut Outcome,
    dump: &Path,
    device: &str,
    task: &Task,
    case: &str,
) -> Result<(), String> {
    let Outcome::Fail { finding } = outcome else { return Ok(()) };
    if finding.evidence.is_empty() {
        return Ok(());
    }
    let folder = folder(dump, device, task, finding.smallest.as_deref().unwrap_or(case));
    let flaw = |error| format!("failed to write {}: {error}", folder.display());
    finding.evidence.write(&folder).map_err(flaw)?;
    finding.arrays = Some(folder.display().to_string());
    Ok(())
}

fn folder(dump: &Path, device: &str, task: &Task, case: &str) -> PathBuf {
    let subject = match &task.work {
        Work::Variant { fault: Some(fault), .. } => fault.clone(),
        _ => task.target(),
    };
    dump.join(part(device)).join(part(&subject)).join(task.check.name()).join(part(case))
}

/// Bytes of a text that a name keeps.
const LONGEST: usize = 100;

/// A name that every file system takes. Where it isn't the whole text, a hash of that follows,
/// behind a sign that no whole text has, so that two texts never share a name.
fn part(text: &str) -> String {
    let keeps = |c: char| c.is_ascii_alphanumeric() || "=,.-_".contains(c);
    let is_plain = text.chars().all(keeps) && !text.chars().all(|c| c == '.');
    if is_plain && text.len() <= LONGEST {
        return text.to_owned();
    }
    let kept = text.chars().take(LONGEST).map(|c| if keeps(c) { c } else { '_' });
    let hash = Sha256::digest(text.as_bytes());
    let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{}~{hash}", kept.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::{LONGEST, Task, Work, folder, part};
    use crate::check::Check;
    use crate::ops;

    #[test]
    fn each_finding_has_a_folder_that_every_file_system_takes() {
        let (op, variant) = ops::find("add", "naive").expect("add.naive");
        let task = Task::new(Work::variant(op, variant), Check::Forward, 0, Vec::new());
        let device = "llvmpipe (LLVM 15.0.6, 256 bits)";
        let folder = folder(Path::new("out"), device, &task, "rows=1,cols=4/normal/f16");
        let parts: Vec<String> =
            folder.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let [out, device, target, check, case] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!([out, target, check].map(String::as_str), ["out", "add.naive", "forward"]);
        assert!(device.starts_with("llvmpipe__LLVM_15.0.6,_256_bits_~"), "{device}");
        assert!(case.starts_with("rows=1,cols=4_normal_f16~"), "{case}");
    }

    #[test]
    fn two_texts_never_share_a_name() {
        let long = "x".repeat(LONGEST);
        let texts = ["T=(1)", "T=*1*", "T=_1_", "", ".", "..", "a/b", "a_b", &long];
        let texts = texts.map(str::to_owned).into_iter();
        let texts: Vec<String> = texts.chain(["y", "z"].map(|c| format!("{long}{c}"))).collect();
        let names: BTreeSet<String> = texts.iter().map(|text| part(text)).collect();
        assert_eq!(names.len(), texts.len(), "{names:?}");
        assert!(names.iter().all(|name| !name.is_empty() && name.len() <= LONGEST + 17));
        assert_eq!(part("n=255,BM=32"), "n=255,BM=32");
    }
}
