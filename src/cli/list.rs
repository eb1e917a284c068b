//! `vklab list`.

use crate::check::{Check, applies, cases};
use crate::ops::{Cases, Op, Operand, Registry};
use crate::report::wrapped;
use crate::run::{Matrices, Targets};

use super::{CliError, Ending};

/// Column at which the checks of a variant start.
const INDENT: usize = 21;

pub(super) fn list(registry: &Registry, targets: &[String]) -> Result<Ending, CliError> {
    let targets = Targets::parse(registry, targets, Matrices::Bounded)?;
    println!("op: formula; what it is made of; then its variants with their checks,");
    println!("cases quick/full");
    let mut last = "";
    for &(op, variant) in targets.variants() {
        if op.name != last {
            let used = op.name.len() + 2;
            println!("{}: {}", op.name, wrapped(op.formula.split(' '), used, 4));
            println!("    {}", wrapped(parts(op).iter().map(String::as_str), 4, 4));
            last = op.name;
        }
        let count = |check, size| cases(check, op, size, 0).len();
        let asked = Check::ALL.into_iter().filter(|check| applies(*check, op, variant));
        println!("  {:<18} {}", variant.name, row(asked, count));
    }
    for file in targets.files() {
        println!("{}: {}", file.name(), file.foreign().file().about().unwrap_or("a kernel file"));
        let mut asked = Vec::new();
        for check in Check::ALL {
            if file.foreign().applies(check)? {
                asked.push(check);
            }
        }
        let count = |check, size| file.foreign().cases(check, size).len();
        println!("  {:<18} {}", "", row(asked.into_iter(), count));
    }
    for script in targets.scripts() {
        println!("{script}: an Amber script");
        println!("  {:<18} {}", "", row([Check::Forward].into_iter(), |_, _| 1));
    }
    for (path, reason) in targets.left_out() {
        println!("{}: skipped, {reason}", path.display());
    }
    Ok(Ending::Clean)
}

/// Checks with their numbers of cases.
fn row(checks: impl Iterator<Item = Check>, count: impl Fn(Check, Cases) -> usize) -> String {
    let counted: Vec<String> = checks
        .map(|check| {
            format!("{check} {}/{}", count(check, Cases::Quick), count(check, Cases::Full))
        })
        .collect();
    let (last, others) = counted.split_last().map_or(("", &[][..]), |(l, o)| (l.as_str(), o));
    let pieces: Vec<String> = others.iter().map(|check| format!("{check},")).collect();
    wrapped(pieces.iter().map(String::as_str).chain([last]), INDENT, INDENT)
}

/// Operands, dimensions, attributes and types: the names that a kernel file's truth speaks in.
fn parts(op: &Op) -> Vec<String> {
    let names = |wanted: fn(&Operand) -> bool| -> String {
        let names: Vec<&str> = op.operands.iter().filter(|o| wanted(o)).map(|o| o.name).collect();
        names.join(" ")
    };
    let dims: Vec<&str> = op.dims.iter().map(|dim| dim.name).collect();
    let dtypes: Vec<String> = op.dtypes.iter().map(ToString::to_string).collect();
    let mut parts = vec![
        format!("reads {};", names(Operand::is_read)),
        format!("writes {};", names(Operand::is_written)),
        format!("dims {};", dims.join(" ")),
    ];
    parts.extend(op.attributes.iter().map(|a| format!("{} = {};", a.name, a.values[0])));
    parts.push(dtypes.join(" "));
    parts
}
