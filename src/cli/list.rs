//! `vklab list`.

use crate::check::{Check, applies, cases};
use crate::ops::Cases;
use crate::run::Targets;

use super::{CliError, Ending};

pub(super) fn list(targets: &[String]) -> Result<Ending, CliError> {
    let targets = Targets::parse(targets)?;
    let mut last = "";
    for (op, variant) in targets.variants() {
        if op.name != last {
            println!("{}: {}", op.name, op.formula);
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
        println!("  {:<18} {}", variant.name, checks.join(", "));
    }
    Ok(Ending::Clean)
}
