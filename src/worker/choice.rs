//! Which devices to use, and how one is opened.

use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::check::{CheckError, Session, calibrate};
use crate::device::{Device, DeviceError, DeviceInfo};
use crate::glsl::{Compiler, CompilerOptions, default_cache_dir};
use crate::memory::LedgerOptions;
use crate::numeric::ErrorModel;
use crate::soft::{Soft, SoftOptions};
use crate::vulkan::{self, OpenOptions, Validation};

/// A device that was chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What it is.
    pub found: Found,
    /// With the validation layer or without.
    pub validation: Validation,
    /// Why it stands in for the devices that nobody named, where it does.
    pub instead: Option<String>,
}

/// A device as it was found.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each device")]
pub enum Found {
    /// As the Vulkan loader lists it.
    Vulkan(vulkan::Found),
    /// The interpreter.
    Soft {
        /// How it is opened.
        options: SoftOptions,
        /// What it will say of itself.
        info: Box<DeviceInfo>,
    },
}

impl Found {
    /// The interpreter.
    #[must_use]
    pub fn soft(options: SoftOptions) -> Self {
        Self::Soft { options, info: Box::new(options.info()) }
    }
}

impl Choice {
    /// Who it is and what it can do.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        match &self.found {
            Found::Vulkan(found) => &found.info,
            Found::Soft { info, .. } => info,
        }
    }

    fn soft(validation: Validation) -> Self {
        Self { found: Found::soft(SoftOptions::default()), validation, instead: None }
    }
}

/// Why no device could be chosen.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No loader or no driver.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A selector that matches nothing.
    #[error("no device matches `{selector}`; there is {}", .known.join(", "))]
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

/// The devices that selectors name: `all`, `soft` for the interpreter, or `vk:` with a part of a name
/// or driver. Without selectors, every Vulkan device that executes; `soft` where no Vulkan driver
/// answers.
///
/// # Errors
/// A selector that matches nothing, or only devices that can't be used.
pub fn choose(selectors: &[String], validation: Validation) -> Result<Vec<Choice>, ChoiceError> {
    let mut chosen = Vec::new();
    if selectors.is_empty() {
        let found = match executing() {
            Ok(found) => found,
            Err(error) => {
                let instead = Some(error.to_string());
                return Ok(vec![Choice { instead, ..Choice::soft(validation) }]);
            }
        };
        take(&mut chosen, found, validation);
    }
    for selector in selectors {
        let is_soft = |choice: &Choice| choice.info().is_interpreter();
        match selector.as_str() {
            SOFT if chosen.iter().any(is_soft) => {}
            SOFT => chosen.push(Choice::soft(validation)),
            "all" => {
                take(&mut chosen, executing().unwrap_or_default(), validation);
                if !chosen.iter().any(is_soft) {
                    chosen.push(Choice::soft(validation));
                }
            }
            _ => take(&mut chosen, matching(selector)?, validation),
        }
    }
    Ok(chosen)
}

/// Selects the interpreter.
const SOFT: &str = "soft";

/// Adds those that aren't there yet.
fn take(chosen: &mut Vec<Choice>, found: Vec<vulkan::Found>, validation: Validation) {
    for found in found {
        let is_same = |c: &Choice| matches!(&c.found, Found::Vulkan(f) if f.index == found.index);
        if !chosen.iter().any(is_same) {
            let found = Found::Vulkan(found);
            chosen.push(Choice { found, validation, instead: None });
        }
    }
}

/// Every Vulkan device that executes.
fn executing() -> Result<Vec<vulkan::Found>, DeviceError> {
    let mut found = vulkan::enumerate()?;
    found.retain(|found| found.left_out.is_none());
    if found.is_empty() { Err(DeviceError::NoDriver) } else { Ok(found) }
}

/// The Vulkan devices that a selector means.
fn matching(selector: &str) -> Result<Vec<vulkan::Found>, ChoiceError> {
    let found = match vulkan::enumerate() {
        Ok(found) => found,
        Err(_) if !is_selector(selector) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    // A whole name is that device alone, though it be part of another's.
    let is_exact = |f: &&vulkan::Found| selector.strip_prefix("vk:") == Some(&f.info.name);
    let mut matching: Vec<&vulkan::Found> = found.iter().filter(is_exact).collect();
    if matching.is_empty() {
        matching = found.iter().filter(|f| matches(selector, &f.info)).collect();
    }
    let usable = matching.iter().filter(|f| f.left_out.is_none());
    let usable: Vec<vulkan::Found> = usable.map(|f| (*f).clone()).collect();
    match matching.first() {
        Some(_) if !usable.is_empty() => Ok(usable),
        Some(vulkan::Found { info, left_out: Some(reason), .. }) => {
            let (device, reason) = (info.name.clone(), reason.clone());
            Err(ChoiceError::LeftOut { device, reason })
        }
        _ => {
            let mut known: Vec<String> = found.iter().map(|f| f.info.selector()).collect();
            known.push(SOFT.to_owned());
            Err(ChoiceError::Unknown { selector: selector.to_owned(), known })
        }
    }
}

/// Whether a text selects devices at all: `all`, `soft`, or `vk:` with a part of a name or driver.
#[must_use]
pub fn is_selector(text: &str) -> bool {
    text == "all" || text == SOFT || text.strip_prefix("vk:").is_some_and(|part| !part.is_empty())
}

/// Whether a selector means one of these devices. As in [`choose`], a whole name is that device
/// alone, though it be part of another's.
#[must_use]
pub fn selects(selector: &str, info: &DeviceInfo, among: &[DeviceInfo]) -> bool {
    if info.is_interpreter() {
        return selector == "all" || selector == SOFT;
    }
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
    let device: Box<dyn Device> = match &choice.found {
        Found::Vulkan(found) => Box::new(vulkan::open(
            found,
            &OpenOptions { validate: choice.validation, cache_dir: cache.clone() },
        )?),
        Found::Soft { options, .. } => Box::new(Soft::open(options)?),
    };
    let compiler = Compiler::new(CompilerOptions {
        cache: cache.as_ref().map(|dir| dir.join("kernels")),
        ..CompilerOptions::default()
    })?;
    let mut session = Session::new(device, compiler, options);
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
