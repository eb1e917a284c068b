//! Arguments, as clap reads them.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::check::Check;
use crate::ops::Cases;
use crate::report::Style;
use crate::run::{Coverage, Shard};
use crate::soft::SoftOptions;
use crate::vulkan::Validation;
use crate::worker::Locking;

use super::look::LookOptions;
use super::profile::ProfileName;
use super::train::TrainOptions;

/// A lab for GLSL compute kernels on any Vulkan device.
#[derive(Debug, Parser)]
#[command(name = "vklab", version, about)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Every device and driver, what it can do, why one was left out.
    Devices {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Ops, variants, checks and their cases.
    List {
        /// Globs on `op` or `op.variant`.
        targets: Vec<String>,
    },
    /// Check kernels on devices.
    Check(Box<CheckOptions>),
    /// Train a model made of the lab's ops on devices, and hold it against the references.
    Train(TrainOptions),
    /// One finding with all that is known, or what a kind of finding means.
    Explain {
        /// A kind such as `wrong-result`, or RUN.jsonl:N for the N-th finding of a run file.
        #[arg(value_name = "KIND|FINDING")]
        finding: String,
    },
    /// Write stubs of kernel files for kernels that exist.
    Import(ImportOptions),
    /// Merge run files of any number of devices and machines.
    Report(ReportOptions),
    /// Ask the checks about kernels that are wrong on purpose, and print which check catches what.
    Faulty(FaultyOptions),
    /// Serve a parent over standard input and output.
    #[command(hide = true)]
    Worker {
        #[arg(long)]
        device: String,
        #[arg(long)]
        validate: bool,
        #[arg(long)]
        timeout: Seconds,
        #[arg(long, value_delimiter = ',')]
        subgroup_size: Vec<u32>,
        #[arg(long)]
        dump: Option<PathBuf>,
        #[arg(long, default_value = "common")]
        profile: ProfileName,
        /// Serve the ops that come with the lab, whatever the registry.
        #[arg(long)]
        lab: bool,
    },
}

#[derive(Args, Debug)]
pub(super) struct CheckOptions {
    /// Globs on `op` or `op.variant`, kernel files, folders of them, or a .comp or .spv with
    /// --groups and --buffer; every op if none is given.
    pub(super) targets: Vec<String>,
    #[command(flatten)]
    pub(super) on: DeviceOptions,
    #[command(flatten)]
    pub(super) checks: ChecksOptions,
    /// Given twice, a kernel file's matrix may have more than 10,000 builds.
    #[arg(long, action = ArgAction::Count)]
    pub(super) many_builds: u8,
    /// How many cases.
    #[arg(long, default_value = "quick")]
    pub(super) cases: CasesName,
    /// One case only, as printed in findings.
    #[arg(long, value_name = "CASE")]
    pub(super) case: Option<String>,
    /// Seed of all random data; drawn and printed if not given.
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Part I of N of the tasks.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(super) shard: Option<Shard>,
    /// Write everything learned to this file, as JSON Lines.
    #[arg(long, value_name = "RUN.jsonl")]
    pub(super) out: Option<PathBuf>,
    /// Known findings; tests/expectations.txt, if it is there and nothing is given.
    #[arg(long, value_name = "FILE")]
    pub(super) expectations: Option<PathBuf>,
    /// Make the expectations file fit this run, and end as if it had.
    #[arg(long)]
    pub(super) write_expectations: bool,
    /// How findings are printed.
    #[arg(long, default_value = "text")]
    format: Format,
    /// The short form of `--format json`.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write inputs, results, expectations and bounds of findings to this folder, as .npy.
    #[arg(long, value_name = "DIR")]
    pub(super) dump: Option<PathBuf>,
    /// What the limits check holds kernels against: `common` (what every device of a table offers),
    /// `minimum` (what the specification requires), a device of the table such as `rtx-2060`, or
    /// `none`.
    #[arg(long, value_name = "PROFILE", default_value = "common")]
    pub(super) profile: ProfileName,
    #[command(flatten)]
    pub(super) look: LookOptions,
}

impl CheckOptions {
    pub(super) const fn style(&self) -> Style {
        match self.format {
            _ if self.json => Style::Json,
            Format::Text => Style::Text,
            Format::Json => Style::Json,
            Format::Github => Style::Github,
            Format::Junit => Style::Junit,
        }
    }

    pub(super) const fn coverage(&self) -> Coverage {
        if self.case.is_some() { Coverage::OneCase } else { Coverage::Whole }
    }
}

#[derive(Args, Debug)]
pub(super) struct ImportOptions {
    /// Lists of glslc or glslangValidator command lines, `compile_commands.json`, folders of
    /// .comp and .spv files, or single ones.
    #[arg(required = true)]
    pub(super) inputs: Vec<PathBuf>,
    /// Folder for the stubs; a single one is printed if not given, several go to kernels/.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long)]
    pub(super) overwrite: bool,
    /// Where the command lines were run; the folder of their list if not given.
    #[arg(long, value_name = "DIR")]
    pub(super) directory: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct ReportOptions {
    /// What `vklab check --out` wrote.
    #[arg(required = true, value_name = "RUN.jsonl")]
    pub(super) runs: Vec<PathBuf>,
    /// Compare what kernels wrote with the accepted snapshots of this folder, one file a device,
    /// and leave what changed as pending snapshots for `cargo insta review`. `--snapshots` alone
    /// means snapshots/outputs.
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "snapshots/outputs"
    )]
    pub(super) snapshots: Option<PathBuf>,
    /// One JSON object a run file, a finding, a snapshot and a line that differs.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct FaultyOptions {
    /// Globs on names of faults; all if none is given.
    pub(super) names: Vec<String>,
    #[command(flatten)]
    pub(super) on: DeviceOptions,
    #[command(flatten)]
    pub(super) checks: ChecksOptions,
    /// Seed of all random data; drawn and printed if not given.
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Print one JSON object a fault instead of the table.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct ChecksOptions {
    /// Only these checks.
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    pub(super) only: Vec<CheckName>,
    /// All checks but these.
    #[arg(long, value_name = "CHECK", value_delimiter = ',', conflicts_with = "only")]
    pub(super) without: Vec<CheckName>,
}

impl ChecksOptions {
    /// The checks that are on, in the order in which they run.
    pub(super) fn chosen(&self) -> Vec<Check> {
        let named = |names: &[CheckName], check| names.contains(&CheckName(check));
        let on = |check: &Check| {
            (self.only.is_empty() || named(&self.only, *check)) && !named(&self.without, *check)
        };
        Check::ALL.into_iter().filter(on).collect()
    }
}

#[derive(Args, Clone, Debug)]
pub(super) struct DeviceOptions {
    /// `vk:` with a part of a name or driver, `soft` for the interpreter, or `all`; every Vulkan
    /// device if not given.
    #[arg(long, value_name = "DEVICE")]
    pub(super) device: Vec<String>,
    /// Fail if this device is absent.
    #[arg(long, value_name = "DEVICE")]
    pub(super) require: Vec<String>,
    /// Subgroup sizes for `soft`, from 4 to 128: sanitize runs at each, the other checks at the first.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = subgroup_size)]
    pub(super) subgroup_size: Vec<u32>,
    /// Turn the Khronos validation layer's messages into findings.
    #[arg(long)]
    pub(super) validate: bool,
    /// Worker processes per device.
    #[arg(long, default_value_t = 2)]
    pub(super) workers: usize,
    /// Seconds that one case may take.
    #[arg(long, default_value = "30")]
    pub(super) timeout: Seconds,
    /// Wait until no other process has locked the device.
    #[arg(long, default_value = "auto")]
    pub(super) lock: LockName,
}

/// A positive number of seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seconds(f64);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(seconds) if seconds > 0.0 && seconds < 1e9 => Ok(Self(seconds)),
            _ => Err("expected a positive number of seconds".to_owned()),
        }
    }
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        Self::from_secs_f64(seconds.0)
    }
}

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

fn subgroup_size(text: &str) -> Result<u32, String> {
    let sizes = SoftOptions::default().info().subgroup_sizes();
    let sizes: Vec<String> = sizes.map(|size| size.to_string()).collect();
    match text.parse() {
        Ok(size) if sizes.iter().any(|known| known == text) => Ok(size),
        _ => Err(format!("expected one of {}", sizes.join(", "))),
    }
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((index, count)) if index >= 1 && index <= count => Ok(Shard { index, count }),
        _ => Err("expected I/N with I from 1 to N".to_owned()),
    }
}

pub(super) const fn validation(validate: bool) -> Validation {
    if validate { Validation::On } else { Validation::Off }
}

/// [`Check`] as a value of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckName(pub(super) Check);

impl ValueEnum for CheckName {
    fn value_variants<'a>() -> &'a [Self] {
        const NAMES: [CheckName; Check::ALL.len()] = {
            let mut names = [CheckName(Check::Forward); Check::ALL.len()];
            let mut at = 0;
            while at < names.len() {
                names[at] = CheckName(Check::ALL[at]);
                at += 1;
            }
            names
        };
        &NAMES
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// [`Locking`] as a value of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LockName {
    /// All devices but CPU drivers.
    Auto,
    /// Every device.
    Always,
    /// No device.
    Never,
}

impl From<LockName> for Locking {
    fn from(name: LockName) -> Self {
        match name {
            LockName::Auto => Self::Auto,
            LockName::Always => Self::Always,
            LockName::Never => Self::Never,
        }
    }
}

/// [`Style`] as a value of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, with a summary.
    Text,
    /// One JSON object a finding.
    Json,
    /// Annotations of a GitHub workflow on the GLSL lines, and the summary.
    Github,
    /// JUnit XML, when the run ends.
    Junit,
}

/// [`Cases`] as a value of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CasesName {
    /// Boundary shapes around one tile.
    Quick,
    /// Those, several tiles, and all dimensions past their tiles.
    Full,
}

impl From<CasesName> for Cases {
    fn from(name: CasesName) -> Self {
        match name {
            CasesName::Quick => Self::Quick,
            CasesName::Full => Self::Full,
        }
    }
}
