//! Snapshots of outputs: one insta file a device, compared with what runs told.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};
use thiserror::Error;

use super::gather::{Data, DeviceOutputs};
use super::insta::SnapshotFile;
use super::outputs::{Change, Class, Outputs, by_class, counted};

/// Why no snapshot could be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A file that can't be read, written or removed.
    #[error("failed to {verb} {path}: {source}")]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// An accepted file that the lab can't have written.
    #[error("{path} is no snapshot of outputs: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Devices that would share a file.
    #[error("two devices would share {stem}.snap: {first} and {second}")]
    Twins {
        /// The file's name.
        stem: String,
        /// One device, with its driver and run file.
        first: String,
        /// The other.
        second: String,
    },
    /// Runs over other data.
    #[error("{first} and {second} can't be compared: run again with `{repeat}`")]
    Data {
        /// What was accepted or came first.
        first: String,
        /// What doesn't fit it.
        second: String,
        /// The options that fit.
        repeat: String,
    },
    /// Two results of one case on one driver.
    #[error(
        "{device}: {target} {check} {case} has other results in {path} than in the runs before"
    )]
    Disagree {
        /// The device's name.
        device: String,
        /// The variant.
        target: String,
        /// The check.
        check: String,
        /// The case.
        case: String,
        /// The later run.
        path: PathBuf,
    },
    /// Results of a device that the run never described.
    #[error("{path} has results of {device} and doesn't describe it")]
    NoDevice {
        /// The run.
        path: PathBuf,
        /// The device's name.
        device: String,
    },
}

/// A device's results beside those that were accepted.
#[derive(Clone, Debug)]
pub struct Compared {
    device: String,
    /// The accepted file, there or not.
    path: PathBuf,
    accepted: Option<SnapshotFile>,
    new: SnapshotFile,
    changes: Vec<Change>,
    /// Targets with a line, and how many of them the runs asked.
    target_count: usize,
    asked_count: usize,
}

/// Compares a device's results with the file for it in a folder.
///
/// # Errors
/// An accepted file that can't be read, is none, or was made with other data.
pub fn compare(device: &DeviceOutputs, folder: &Path) -> Result<Compared, SnapshotError> {
    let path = folder.join(format!("{}.snap", device.stem));
    let accepted = read(&path)?;
    let mut outputs = Outputs::default();
    if let Some(file) = &accepted {
        let format = |reason: String| SnapshotError::Format { path: path.clone(), reason };
        let known = |key| file.info(key).ok_or(format(format!("its header has no {key}")));
        let data = Data { path: &path, seed: known("seed")?, cases: known("cases")? };
        data.must_be(&device.data())?;
        outputs = Outputs::parse(&file.contents).map_err(format)?;
    }
    let (outputs, changes) = outputs.after(&device.gathered);
    let asked: Vec<&str> = device.gathered.written.keys().map(|key| key.target.as_str()).collect();
    let targets = outputs.targets();
    Ok(Compared {
        device: device.info.name.clone(),
        new: file(device, accepted.as_ref(), &outputs, &changes),
        path,
        accepted,
        target_count: targets.len(),
        asked_count: targets.iter().filter(|target| asked.contains(target)).count(),
        changes,
    })
}

fn read(path: &Path) -> Result<Option<SnapshotFile>, SnapshotError> {
    match fs::read_to_string(path) {
        Ok(text) => {
            let file = SnapshotFile::parse(&text);
            let format = |reason| SnapshotError::Format { path: path.to_owned(), reason };
            file.map(Some).map_err(format)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SnapshotError::Io { verb: "read", path: path.to_owned(), source }),
    }
}

/// What an accepted file says of its driver.
const DRIVER_VERSION: &str = "driver version";

fn file(
    device: &DeviceOutputs,
    accepted: Option<&SnapshotFile>,
    outputs: &Outputs,
    changes: &[Change],
) -> SnapshotFile {
    let now = &device.info.driver_version;
    let description = match accepted.and_then(|file| file.info(DRIVER_VERSION)) {
        None => format!("What kernels wrote under {now}; the first of this device"),
        Some(then) if then == now => format!("What kernels wrote under {now}, as before"),
        Some(then) => format!("What kernels wrote under {now}; accepted was {then}"),
    };
    let facts = [
        ("device", device.info.name.as_str()),
        ("driver", &device.info.driver),
        (DRIVER_VERSION, now),
        ("api version", &device.info.api_version),
        ("lab", &device.lab),
        ("seed", &device.seed),
        ("cases", device.cases.name()),
    ];
    let facts = facts.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let classes = by_class(changes);
    let classes = classes.iter().map(|(class, variants)| {
        let cases = variants.values().sum::<usize>();
        let listed = match accepted {
            // Everything is new in a first file.
            None if *class == Class::New => format!("{cases} cases"),
            _ => format!("{cases} cases: {}", counted(variants)),
        };
        (class.name().to_owned(), listed)
    });
    SnapshotFile {
        source: "vklab report".to_owned(),
        description,
        info: facts.into_iter().chain(classes).collect(),
        contents: outputs.to_string(),
    }
}

impl Compared {
    /// Whether a person has to look at it.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.accepted.is_none() || !self.changes.is_empty()
    }

    fn pending_path(&self) -> PathBuf {
        self.path.with_extension("snap.new")
    }

    /// Writes the pending file, or removes the one of an earlier report where nothing is pending
    /// any more.
    ///
    /// # Errors
    /// No permission, a full disk.
    pub fn write(&self) -> Result<(), SnapshotError> {
        let path = self.pending_path();
        let io = |verb, path: &Path| {
            let path = path.to_owned();
            move |source| SnapshotError::Io { verb, path, source }
        };
        if self.is_pending() {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder).map_err(io("make", folder))?;
            return fs::write(&path, self.new.text()).map_err(io("write", &path));
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// The driver's version, where it isn't the accepted one.
    fn driver_change(&self) -> Option<(&str, &str)> {
        let then = self.accepted.as_ref()?.info(DRIVER_VERSION)?;
        let now = self.new.info(DRIVER_VERSION)?;
        (then != now).then_some((then, now))
    }

    /// One JSON object for the device, and one for every line that differs.
    #[must_use]
    pub fn json(&self) -> Vec<Value> {
        let device = json!({
            "kind": "snapshot",
            "file": self.path,
            "device": self.device,
            "pending": self.is_pending().then(|| self.pending_path()),
            "message": self.state(),
        });
        let changes = self.changes.iter().map(|change| {
            json!({
                "kind": change.class.name(),
                "file": self.path,
                "device": self.device,
                "target": change.key.target,
                "check": change.key.check,
                "case": change.key.case,
                "before": change.before,
                "after": change.after,
            })
        });
        std::iter::once(device).chain(changes).collect()
    }

    fn state(&self) -> String {
        match (&self.accepted, self.changes.len(), self.driver_change()) {
            (None, count, _) => format!("pending: the first of this device, {count} cases"),
            (_, 0, Some((then, now))) => {
                format!("no output changed from driver version {then} to {now}")
            }
            (_, 0, None) => "no output changed".to_owned(),
            (_, count, Some((then, now))) => {
                format!("pending: {count} cases changed from driver version {then} to {now}")
            }
            (_, count, None) => format!("pending: {count} cases changed under the same driver"),
        }
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.device, self.path.display())?;
        if self.asked_count < self.target_count {
            let (asked, all) = (self.asked_count, self.target_count);
            writeln!(f, "  {asked} of {all} targets ran; the lines of the others stay")?;
        }
        write!(f, "  {}", self.state())?;
        let classes = by_class(&self.changes);
        if classes.is_empty() {
            return Ok(());
        }
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
        table.set_header(["class", "cases", "variants, with cases"]);
        for (class, variants) in &classes {
            let cases = variants.values().sum::<usize>().to_string();
            table.add_row([class.name().to_owned(), cases, counted(variants)]);
        }
        write!(f, "\n\n{table}\n\nto look at them: cargo insta review")
    }
}
