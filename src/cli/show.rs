//! `vklab show`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::check::{Check, Session, ShownKernel, Subject, applies, cases};
use crate::device::LineCost;
use crate::glsl::{Compiler, CompilerOptions, default_cache_dir};
use crate::import::{Command, module_of};
use crate::memory::LedgerOptions;
use crate::ops::{Case, Cases, Registry};
use crate::report::costs_text;
use crate::run::{Matrices, Targets};
use crate::soft::{Counting, SoftOptions, Watching};
use crate::spirv::{disassemble, reflect};
use crate::vulkan::Validation;
use crate::worker::{Choice, Found, open_session};

use super::{CliError, Ending};

#[derive(Args, Debug)]
pub(super) struct ShowOptions {
    /// `op.variant`, a kernel file, or a .comp or .spv.
    #[arg(value_name = "KERNEL")]
    kernel: String,
    /// Run a case on the interpreter and print what each source line costs, in instructions times
    /// invocations.
    #[arg(long, conflicts_with = "spirv")]
    cost: bool,
    /// Print the unoptimised module as text.
    #[arg(long)]
    spirv: bool,
    /// The case, as printed in findings; the middle one of the quick cases if not given.
    #[arg(long, value_name = "CASE")]
    case: Option<String>,
    /// Seed of the data.
    #[arg(long, default_value_t = 1, requires = "cost")]
    seed: u64,
    /// One JSON object a kernel, or a line that costs something.
    #[arg(long)]
    json: bool,
}

pub(super) fn show(registry: &Registry, options: &ShowOptions) -> Result<Ending, CliError> {
    let path = Path::new(&options.kernel);
    if path.extension().is_some_and(|extension| extension == "comp" || extension == "spv") {
        return alone(path, options);
    }
    let targets =
        Targets::parse(registry, std::slice::from_ref(&options.kernel), Matrices::Bounded)?;
    let mut session = session(registry)?;
    let subject = match (targets.variants(), targets.files()) {
        ([(op, variant)], []) => Shown::Variant(Subject::new(op, variant)),
        ([], [file]) => Shown::File(file.foreign()),
        (variants, files) => {
            let names =
                variants.iter().map(|(op, variant)| format!("{}.{}", op.name, variant.name));
            let names: Vec<String> = names.chain(files.iter().map(|file| file.name())).collect();
            let all = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(CliError::Usage(format!("`{}` is no one kernel: {all}", options.kernel)));
        }
    };
    let case = subject.case(options)?;
    if options.cost {
        print_costs(&subject.costs(&mut session, &case, options.seed)?, &case, options);
        return Ok(Ending::Clean);
    }
    for kernel in subject.kernels(&mut session, &case)? {
        print_kernel(&kernel, options)?;
    }
    Ok(Ending::Clean)
}

/// What is shown of a registry or kernel file.
enum Shown<'a> {
    Variant(Subject<'a>),
    File(&'a crate::check::Foreign),
}

impl Shown<'_> {
    /// The id of the case that was asked for, or of the middle one.
    fn case(&self, options: &ShowOptions) -> Result<String, CliError> {
        if let Some(case) = &options.case {
            return Ok(case.clone());
        }
        let all: Vec<String> = match self {
            Self::Variant(subject) => {
                let mut asked = Check::ALL.into_iter();
                let check = asked.find(|check| applies(*check, subject.op, subject.variant));
                let of = |check| cases(check, subject.op, Cases::Quick, options.seed);
                // An empty problem may have nothing to run.
                let all = check.map(of).unwrap_or_default();
                let some = all.iter().filter(|case| !case.dims.contains(&0));
                some.map(|case| case.id(subject.op)).collect()
            }
            Self::File(foreign) => foreign.cases(Check::Memory, Cases::Quick),
        };
        let middle = all.get(all.len() / 2).cloned();
        middle.ok_or_else(|| CliError::Usage(format!("`{}` has no cases", options.kernel)))
    }

    fn kernels(&self, session: &mut Session, case: &str) -> Result<Vec<ShownKernel>, CliError> {
        Ok(match self {
            Self::Variant(subject) => {
                subject.kernels(session, &Case::parse(subject.op, case, 0)?)?
            }
            Self::File(foreign) => foreign.kernels(session, case)?,
        })
    }

    fn costs(
        &self,
        session: &mut Session,
        case: &str,
        seed: u64,
    ) -> Result<Vec<LineCost>, CliError> {
        Ok(match self {
            Self::Variant(subject) => {
                subject.costs(session, &Case::parse(subject.op, case, seed)?)?
            }
            Self::File(foreign) => foreign.costs(session, case, seed)?,
        })
    }
}

/// The interpreter, which counts.
fn session(registry: &Registry) -> Result<Session, CliError> {
    let options = SoftOptions {
        watch: Watching::Nothing,
        counting: Counting::Lines,
        ..SoftOptions::default()
    };
    let found = Found::soft(options);
    let choice = Choice { found, validation: Validation::Off, instead: None };
    let mut session = open_session(&choice, LedgerOptions::default())?;
    session.add_includes(Box::new(registry.includes().clone()));
    Ok(session)
}

/// A kernel that nothing plans for: it says what it is, and can't be run.
fn alone(path: &Path, options: &ShowOptions) -> Result<Ending, CliError> {
    let name = path.display().to_string();
    if options.cost || options.case.is_some() {
        let message = format!(
            "--cost and --case take something to run, and {name} is a kernel alone: \
             `vklab check {name} --groups ... --as-file` writes a kernel file"
        );
        return Err(CliError::Usage(message));
    }
    let cache = default_cache_dir().map(|folder| folder.join("kernels"));
    let compiler = Compiler::new(CompilerOptions { cache, ..CompilerOptions::default() })?;
    let command = Command {
        source: PathBuf::from(path),
        includes: Vec::new(),
        defines: BTreeMap::new(),
        target: crate::glsl::Target::default(),
        output: None,
    };
    let debug = module_of(&command, &compiler).map_err(CliError::Usage)?;
    let failed = |error: crate::spirv::SpirvError| CliError::Usage(format!("{name}: {error}"));
    let interface = reflect(&debug).map_err(failed)?;
    print_kernel(&ShownKernel { name: name.clone(), debug, interface }, options)?;
    Ok(Ending::Clean)
}

fn print_kernel(kernel: &ShownKernel, options: &ShowOptions) -> Result<(), CliError> {
    let text = if options.spirv {
        let failed = |error| CliError::Usage(format!("{}: {error}", kernel.name));
        disassemble(&kernel.debug).map_err(failed)?
    } else {
        kernel.interface.to_string()
    };
    if options.json {
        let key = if options.spirv { "spirv" } else { "interface" };
        println!("{}", json!({ "kernel": kernel.name, key: text }));
        return Ok(());
    }
    println!("{}", kernel.name);
    for line in text.lines() {
        println!("  {line}");
    }
    Ok(())
}

fn print_costs(costs: &[LineCost], case: &str, options: &ShowOptions) {
    if !options.json {
        println!("{} in case {case}", options.kernel);
        println!("{}", costs_text(costs).trim_end());
        return;
    }
    for cost in costs {
        println!("{}", json!(cost));
    }
}
