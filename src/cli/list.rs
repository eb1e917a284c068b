//! `vklab list`.

use crate::check::{Check, applies, cases};
use crate::ops::{Cases, Registry};
use crate::report::wrapped;
use crate::run::{Matrices, Targets};

use super::{CliError, Ending};

/// Column at which the checks of a variant start.
const INDENT: usize = 21;

pub(super) fn list(registry: &Registry, targets: &[String]) -> Result<Ending, CliError> {
    let targets = Targets::parse(registry, targets, Matrices::Bounded)?;
    println!("op: formula; then its variants with their checks, cases quick/full");
    let mut last = "";
    for &(op, variant) in targets.variants() {
        if op.name != last {
            let used = op.name.len() + 2;
            println!("{}: {}", op.name, wrapped(op.formula.split(' '), used, 4));
            last = op.name;
        }
        let checks: Vec<String> = Check::ALL
            .into_iter()
            .filter(|check| applies(*check, op, variant))
            .map(|check| {
                let count = |size| cases(check, op, size, 0).len();
                format!("{check} {}/{}", count(Cases::Quick), count(Cases::Full))
            })
            .collect();
        let (last, others) = checks.split_last().map_or(("", &[][..]), |(l, o)| (l.as_str(), o));
        let pieces: Vec<String> = others.iter().map(|check| format!("{check},")).collect();
        let pieces = pieces.iter().map(String::as_str).chain([last]);
        println!("  {:<18} {}", variant.name, wrapped(pieces, INDENT, INDENT));
    }
    Ok(Ending::Clean)
}
