//! Which devices to use, and how one is opened.

use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::check::{CheckError, Session, calibrate};
use crate::device::{DeviceError, DeviceInfo};
use crate::glsl::{Compiler, CompilerOptions, default_cache_dir};
use crate::memory::LedgerOptions;
use crate::numeric::ErrorModel;
use crate::vulkan::{self, Found, OpenOptions, Validation};

/// A device that was chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// As enumerated.
    pub found: Found,
    /// With the validation layer or without.
    pub validation: Validation,
}

/// Why no device could be chosen.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No loader or no driver.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A selector that matches nothing.
    #[error("no device matches `{selector}`; there is {}", listed(.known))]
    Unknown {
        /// What was asked for.
        selector: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A device that matches but can't be used.
    #[error("{device}: {reason}")]
    LeftOut {
        /// Its name.
        device: String,
        /// Why.
        reason: String,
    },
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

/// The devices that selectors name: `all`, or `vk:` with a part of a name or driver. Without
/// selectors, every device that executes.
///
/// # Errors
/// A selector that matches nothing, or only devices that can't be used.
pub fn choose(selectors: &[String], validation: Validation) -> Result<Vec<Choice>, ChoiceError> {
    let found = vulkan::enumerate()?;
    let mut chosen: Vec<Choice> = Vec::new();
    let mut take = |found: &Found| {
        if chosen.iter().all(|c| c.found.index != found.index) {
            chosen.push(Choice { found: found.clone(), validation });
        }
    };
    let executing = |f: &&Found| f.left_out.is_none();
    if selectors.is_empty() {
        found.iter().filter(executing).for_each(&mut take);
    }
    for selector in selectors {
        if selector == "all" {
            found.iter().filter(executing).for_each(&mut take);
            continue;
        }
        // A whole name is that device alone, though it be part of another's.
        let exact = found.iter().filter(|f| selector.strip_prefix("vk:") == Some(&f.info.name));
        let mut matching: Vec<&Found> = exact.collect();
        if matching.is_empty() {
            matching = found.iter().filter(|f| matches(selector, &f.info)).collect();
        }
        match matching.iter().find(|f| f.left_out.is_none()) {
            Some(_) => matching.into_iter().filter(executing).for_each(&mut take),
            None => match matching.first().and_then(|f| f.left_out.clone().map(|r| (*f, r))) {
                Some((f, reason)) => {
                    return Err(ChoiceError::LeftOut { device: f.info.name.clone(), reason });
                }
                None => {
                    let known = found.iter().map(|f| format!("vk:{}", f.info.name)).collect();
                    return Err(ChoiceError::Unknown { selector: selector.clone(), known });
                }
            },
        }
    }
    if chosen.is_empty() {
        return Err(DeviceError::NoDriver.into());
    }
    Ok(chosen)
}

/// Whether a text selects devices at all: `all`, or `vk:` with a part of a name or driver.
#[must_use]
pub fn is_selector(text: &str) -> bool {
    text == "all" || text.strip_prefix("vk:").is_some_and(|part| !part.is_empty())
}

/// Whether a selector means one of these devices. As in [`choose`], a whole name is that device
/// alone, though it be part of another's.
#[must_use]
pub fn selects(selector: &str, info: &DeviceInfo, among: &[DeviceInfo]) -> bool {
    let is_name = |info: &DeviceInfo| selector.strip_prefix("vk:") == Some(&info.name);
    if among.iter().any(is_name) {
        return is_name(info);
    }
    selector == "all" || matches(selector, info)
}

fn matches(selector: &str, info: &DeviceInfo) -> bool {
    let Some(part) = selector.strip_prefix("vk:") else { return false };
    let part = part.to_lowercase();
    info.name.to_lowercase().contains(&part) || info.driver.to_lowercase().contains(&part)
}

/// Opens a device with its calibration, which is measured once per driver and kept on disk.
///
/// # Errors
/// A device that doesn't open, a compiler that isn't there, a builtin outside the specification.
pub fn open_session(choice: &Choice, options: LedgerOptions) -> Result<Session, CheckError> {
    let cache = default_cache_dir();
    let device = vulkan::open(
        &choice.found,
        &OpenOptions { validate: choice.validation, cache_dir: cache.clone() },
    )?;
    let compiler = Compiler::new(CompilerOptions {
        cache: cache.as_ref().map(|dir| dir.join("kernels")),
        ..CompilerOptions::default()
    })?;
    let mut session = Session::new(Box::new(device), compiler, options);
    let file = cache.map(|dir| dir.join("calibration").join(calibration_name(session.info())));
    let known = file.as_deref().and_then(read_model);
    let model = match known {
        Some(model) => model,
        None => {
            let model = calibrate(&mut session)?;
            if let Some(file) = &file {
                // A cache that can't be written costs time, not results.
                let _ = write_model(file, &model);
            }
            model
        }
    };
    session.set_model(model);
    Ok(session)
}

/// A name that changes with whatever may change the device's arithmetic.
fn calibration_name(info: &DeviceInfo) -> String {
    let identity = format!(
        "{}\0{}\0{}\0{}\0{:x}\0{:x}",
        env!("CARGO_PKG_VERSION"),
        info.name,
        info.driver,
        info.driver_version,
        info.vendor_id,
        info.device_id
    );
    let digest = Sha256::digest(identity.as_bytes());
    let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("{hex}.json")
}

fn read_model(file: &Path) -> Option<ErrorModel> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

fn write_model(file: &Path, model: &ErrorModel) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&mut temporary, model)?;
    temporary.persist(file)?;
    Ok(())
}
