//! The command line: arguments only; all work is done by the modules above.

/// The standard macro panics when nobody reads any more, as behind `| head`; this one ends.
macro_rules! println {
    ($($argument:tt)*) => {
        $crate::cli::print_line(format_args!($($argument)*))
    };
}

mod args;
mod check;
mod devices;
mod explain;
mod faulty;
mod import;
mod list;
mod lock;
mod look;
mod profile;
mod report;
mod suite;
mod train;

use std::env;
use std::fmt;
use std::io::{self, Write};
use std::process::{self, ExitCode};

use clap::Parser;
use thiserror::Error;

use crate::check::CheckError;
use crate::device::DeviceError;
use crate::glsl::GlslError;
use crate::import::ImportError;
use crate::memory::LedgerOptions;
use crate::model::SwapError;
use crate::ops::{CaseError, Registry, RegistryError};
use crate::report::{SnapshotError, TellError};
use crate::run::{ExpectationsError, LookError, MatchError, ReadError, RunError, TargetsError};
use crate::worker::{ChoiceError, LockError, PoolError, ServeOptions, choose, serve};

use args::{Arguments, Command};

pub use suite::suite;

/// Everything that ends a command with exit code 2.
#[derive(Debug, Error)]
enum CliError {
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Targets(#[from] TargetsError),
    #[error(transparent)]
    Look(#[from] LookError),
    #[error(transparent)]
    Case(#[from] CaseError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Glsl(#[from] GlslError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Swap(#[from] SwapError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Tell(#[from] TellError),
    #[error(transparent)]
    Expectations(#[from] ExpectationsError),
    #[error(transparent)]
    Match(#[from] MatchError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Usage(String),
}

/// How a command ended well.
enum Ending {
    Clean,
    Findings,
    /// Some of it could not be done, which was said; the rest was.
    Refused,
}

/// Runs the lab on a registry with the process's arguments. Exit codes: 0 clean, 1 findings, 2
/// error.
#[must_use]
pub fn main(registry: Registry) -> ExitCode {
    let arguments = Arguments::parse();
    match dispatch(&registry, arguments.command) {
        Ok(Ending::Clean) => ExitCode::SUCCESS,
        Ok(Ending::Findings) => ExitCode::from(1),
        Ok(Ending::Refused) => ExitCode::from(2),
        Err(error) => {
            eprintln!("vklab: {error}");
            ExitCode::from(2)
        }
    }
}

/// The name under which a person starts this program. A test binary is none that a person starts;
/// cargo, which starts it from its folder `deps`, says what the package is called.
fn program() -> String {
    let file = env::current_exe().unwrap_or_default();
    let is_test = file.parent().is_some_and(|folder| folder.ends_with("deps"));
    let package = env::var("CARGO_PKG_NAME").ok().filter(|_| is_test);
    let stem = || Some(file.file_stem()?.to_string_lossy().into_owned());
    package.or_else(stem).unwrap_or_else(|| "vklab".to_owned())
}

fn print_line(text: fmt::Arguments<'_>) {
    if let Err(error) = writeln!(io::stdout().lock(), "{text}") {
        if error.kind() != io::ErrorKind::BrokenPipe {
            eprintln!("vklab: failed to write to the standard output: {error}");
        }
        process::exit(2);
    }
}

fn dispatch(registry: &Registry, command: Command) -> Result<Ending, CliError> {
    registry.validate()?;
    match command {
        Command::Devices { json } => devices::devices(json),
        Command::List { targets } => list::list(registry, &targets),
        Command::Check(options) if options.look.as_file => look::print(&options),
        Command::Check(options) => check::check(registry, &options),
        Command::Faulty(options) => faulty::faulty(&options),
        Command::Import(options) => import::import(&options),
        Command::Report(options) => report::report(&options),
        Command::Train(options) => train::train(&options),
        Command::Explain { finding } => explain::explain(&finding),
        Command::Worker { device, validate, timeout, subgroup_size, dump, profile, lab } => {
            let mut chosen = choose(&[device], args::validation(validate))?;
            let choice = chosen.swap_remove(0);
            let ledger = LedgerOptions { timeout: timeout.into(), ..LedgerOptions::default() };
            let (program, subgroup_sizes) = (program(), subgroup_size);
            let profile = profile.0.unwrap_or_default();
            let options = ServeOptions { choice, ledger, program, subgroup_sizes, dump, profile };
            let labs = Registry::lab();
            let registry = if lab { &labs } else { registry };
            serve(registry, &options, io::stdin().lock(), io::stdout().lock())?;
            Ok(Ending::Clean)
        }
    }
}
