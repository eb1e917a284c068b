//! Results by device, gathered from runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::check::{Outcome, Verdict};
use crate::device::DeviceInfo;
use crate::ops::Cases;
use crate::run::{PastRun, Refusal};

use super::outputs::{Fingerprint, Gathered, Key, column};
use super::snapshots::SnapshotError;

/// Results of one device from any number of runs.
#[derive(Clone, Debug)]
pub struct DeviceOutputs {
    pub(super) stem: String,
    pub(super) info: DeviceInfo,
    /// The run file that named the device first.
    pub(super) path: PathBuf,
    pub(super) lab: String,
    pub(super) seed: String,
    pub(super) cases: Cases,
    pub(super) gathered: Gathered,
}

/// Gathers the results by device.
///
/// # Errors
/// Two devices under one name, runs over other data, results that contradict one another.
pub fn gather(runs: &[PastRun]) -> Result<Vec<DeviceOutputs>, SnapshotError> {
    let mut devices: BTreeMap<String, DeviceOutputs> = BTreeMap::new();
    for run in runs {
        for info in &run.devices {
            let stem = file_stem(&info.name);
            let device = devices.entry(stem.clone()).or_insert_with(|| DeviceOutputs {
                stem,
                info: info.clone(),
                path: run.path.clone(),
                lab: run.lab.clone(),
                seed: run.seed.to_string(),
                cases: run.cases,
                gathered: Gathered::default(),
            });
            device.fits(info, run)?;
        }
        let ids: BTreeSet<&str> = run.verdicts.iter().map(|v| v.case.as_str()).collect();
        // A run of one case (`--case`), or one that was ended early, can't tell what is gone.
        let is_whole = run.is_whole() && ids.len() > 1;
        let refused = refused(run);
        for verdict in &run.verdicts {
            // Nor can a check that was refused some of its cases.
            let is_whole = is_whole && !refused.contains(&asked(verdict));
            let device = devices.values_mut().find(|device| device.info.name == verdict.device);
            match device {
                Some(device) => device.add(verdict, run, is_whole)?,
                None if verdict.output.is_some() => {
                    let (path, device) = (run.path.clone(), verdict.device.clone());
                    return Err(SnapshotError::NoDevice { path, device });
                }
                None => {}
            }
        }
    }
    Ok(devices.into_values().filter(|device| !device.gathered.written.is_empty()).collect())
}

/// Device, target and check.
type Asked = (String, String, String);

fn asked(verdict: &Verdict) -> Asked {
    let Key { target, check, .. } = Key::new(verdict);
    (verdict.device.clone(), target, check)
}

/// What a run could not ask, wholly or in part.
fn refused(run: &PastRun) -> BTreeSet<Asked> {
    let asked = |r: &Refusal| (r.device.clone(), column(&r.target), r.check.name().to_owned());
    run.refused.iter().map(asked).collect()
}

/// The device's name in small letters, without version numbers and what file systems refuse.
fn file_stem(name: &str) -> String {
    let is_version =
        |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let words = words.filter(|word| !is_version(word)).map(|word| word.trim_matches('.'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "device".to_owned() } else { words.join("-").to_lowercase() }
}

/// What decides a run's data.
pub(super) struct Data<'a> {
    pub(super) path: &'a Path,
    pub(super) seed: &'a str,
    pub(super) cases: &'a str,
}

impl Data<'_> {
    /// # Errors
    /// Another seed, another set of cases.
    pub(super) fn must_be(&self, other: &Self) -> Result<(), SnapshotError> {
        let Self { seed, cases, .. } = self;
        if (*seed, *cases) == (other.seed, other.cases) {
            return Ok(());
        }
        let text = |d: &Self| format!("{} (seed {}, {} cases)", d.path.display(), d.seed, d.cases);
        let (first, second) = (text(self), text(other));
        let repeat = format!("--seed {seed} --cases {cases}");
        Err(SnapshotError::Data { first, second, repeat })
    }
}

fn driver(info: &DeviceInfo) -> String {
    format!("{}, driver {}", info.name, info.driver_version)
}

impl DeviceOutputs {
    pub(super) fn data(&self) -> Data<'_> {
        Data { path: &self.path, seed: &self.seed, cases: self.cases.name() }
    }

    fn fits(&self, info: &DeviceInfo, run: &PastRun) -> Result<(), SnapshotError> {
        let identity = |info: &DeviceInfo| {
            let DeviceInfo { name, driver, driver_version, api_version, .. } = info.clone();
            (name, driver, driver_version, api_version, info.vendor_id, info.device_id)
        };
        if identity(&self.info) != identity(info) {
            let (stem, at) = (self.stem.clone(), |info, path: &Path| {
                format!("{} ({})", driver(info), path.display())
            });
            let (first, second) = (at(&self.info, &self.path), at(info, &run.path));
            return Err(SnapshotError::Twins { stem, first, second });
        }
        let seed = run.seed.to_string();
        self.data().must_be(&Data { path: &run.path, seed: &seed, cases: run.cases.name() })
    }

    fn add(
        &mut self,
        verdict: &Verdict,
        run: &PastRun,
        is_whole: bool,
    ) -> Result<(), SnapshotError> {
        let key = Key::new(verdict);
        if is_whole {
            self.gathered.whole.insert((key.target.clone(), key.check.clone()));
        }
        if let Some(result) = Fingerprint::of(verdict) {
            let before = self.gathered.written.insert(key.clone(), result.clone());
            if before.is_some_and(|before| before != result) {
                let (device, path) = (self.info.name.clone(), run.path.clone());
                let Key { target, check, case } = key;
                return Err(SnapshotError::Disagree { device, target, check, case, path });
            }
        } else if let Some(lost) = Fingerprint::lost(verdict) {
            self.gathered.lost.insert(key, lost);
        } else if matches!(verdict.outcome, Outcome::Skipped { .. }) {
            self.gathered.skipped.insert(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::file_stem;

    #[test]
    fn a_driver_update_keeps_the_name_of_the_file() {
        for (name, stem) in [
            ("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe-llvm-256-bits"),
            ("llvmpipe (LLVM 19.1.7, 256 bits)", "llvmpipe-llvm-256-bits"),
            ("AMD Radeon RX 7800 XT (RADV NAVI32)", "amd-radeon-rx-7800-xt-radv-navi32"),
            ("Adreno (TM) 640", "adreno-tm-640"),
            ("../..", "device"),
        ] {
            assert_eq!(file_stem(name), stem);
        }
    }
}
