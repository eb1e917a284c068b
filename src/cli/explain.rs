//! `vklab explain`.

use std::path::Path;

use crate::ops::nearest;
use crate::report::{explanation, explanations, finding_text, leak_text, pass_text};
use crate::run::{Line, UnexpectedPass, read};

use super::{CliError, Ending};

pub(super) fn explain(asked: &str) -> Result<Ending, CliError> {
    if let Some(known) = explanation(asked) {
        println!("{known}");
        return Ok(Ending::Clean);
    }
    if let Some((path, number)) = asked.rsplit_once(':')
        && let Ok(number) = number.parse()
    {
        return finding(Path::new(path), number);
    }
    if Path::new(asked).is_file() {
        return Err(CliError::Usage(format!("which finding? {asked}:1 is the first")));
    }
    let names = || explanations().map(|e| e.name.to_owned());
    let mut near = nearest(asked, names());
    let word = if near.is_empty() { "known" } else { "nearest" };
    if near.is_empty() {
        near = names().collect();
    }
    let text = format!("no kind of finding is called `{asked}`; {word}: {}", near.join(", "));
    Err(CliError::Usage(text))
}

/// The `number`-th finding of a run file, counted from 1, and what its kind means.
fn finding(path: &Path, number: usize) -> Result<Ending, CliError> {
    let lines = read(path)?;
    let found = lines.iter().filter_map(|line| match line {
        Line::Verdict(verdict) => {
            let kind = verdict.outcome.kind();
            verdict.is_finding().then(|| (finding_text(verdict), kind))
        }
        Line::Leak { device, leak } => Some((leak_text(device, leak), "leak")),
        Line::UnexpectedPass { pass } => Some((pass_text(pass), UnexpectedPass::KIND)),
        _ => None,
    });
    let found: Vec<_> = found.collect();
    let Some((text, kind)) = number.checked_sub(1).and_then(|at| found.get(at)) else {
        let (path, count) = (path.display(), found.len());
        return Err(CliError::Usage(format!("{path} has {count} findings, no number {number}")));
    };
    println!("{text}");
    if let Some(known) = explanation(kind) {
        println!("\n{known}");
    }
    Ok(Ending::Clean)
}
