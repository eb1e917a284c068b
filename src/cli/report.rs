//! `vklab report`.

use std::path::Path;

use serde_json::{Value, json};

use crate::check::Verdict;
use crate::report::{
    Compared, Refused, Summary, compare, finding_json, gather, leak_json, pass_json, refusal_json,
};
use crate::run::PastRun;

use super::args::ReportOptions;
use super::check::tell_refused;
use super::{CliError, Ending};

pub(super) fn report(options: &ReportOptions) -> Result<Ending, CliError> {
    let runs: Result<Vec<PastRun>, _> = options.runs.iter().map(|p| PastRun::read(p)).collect();
    let runs = runs?;
    // Whatever refuses one device comes before anything is written.
    let compared = match &options.snapshots {
        Some(folder) => Some(compare_all(&runs, folder)?),
        None => None,
    };
    if options.json {
        runs.iter().flat_map(objects).for_each(|object| println!("{object}"));
    } else {
        println!("{}", summary(&runs));
        runs.iter().for_each(|run| println!("{}", state(run)));
    }
    let mut refused = Refused::new();
    for refusal in runs.iter().flat_map(|run| &run.refused) {
        refused.entry(refusal.message.clone()).or_default().insert(refusal.target.clone());
    }
    tell_refused(&refused);
    let Some(compared) = compared else {
        let is_bad = |run: &PastRun| {
            let more = !run.leaks.is_empty() || !run.passes.is_empty();
            more || run.verdicts.iter().any(Verdict::is_finding)
        };
        return Ok(match runs.iter().any(is_bad) {
            _ if !refused.is_empty() => Ending::Refused,
            true => Ending::Findings,
            false => Ending::Clean,
        });
    };
    for device in &compared {
        device.write()?;
        if options.json {
            device.json().iter().for_each(|object| println!("{object}"));
        } else {
            println!("\n{device}");
        }
    }
    Ok(match compared.iter().any(Compared::is_pending) {
        _ if !refused.is_empty() => Ending::Refused,
        true => Ending::Findings,
        false => Ending::Clean,
    })
}

fn compare_all(runs: &[PastRun], folder: &Path) -> Result<Vec<Compared>, CliError> {
    let devices = gather(runs)?;
    if devices.is_empty() {
        let message = "no run has an output: forward and gradient checks record them";
        return Err(CliError::Usage(message.to_owned()));
    }
    Ok(devices.iter().map(|device| compare(device, folder)).collect::<Result<_, _>>()?)
}

fn summary(runs: &[PastRun]) -> Summary {
    let mut summary = Summary::default();
    for run in runs {
        run.verdicts.iter().for_each(|verdict| summary.add(verdict));
        run.refused.iter().for_each(|_| summary.refuse());
        run.ledgers.iter().for_each(|(device, counters)| summary.add_ledger(device, *counters));
    }
    summary
}

/// What of a file could be used.
fn state(run: &PastRun) -> String {
    let (path, count, seed) = (run.path.display(), run.verdicts.len(), run.seed);
    let mut run_of = format!("seed {seed}, {} cases", run.cases.name());
    if !run.refused.is_empty() {
        run_of = format!("{} refused, {run_of}", run.refused.len());
    }
    match run.promised {
        _ if run.is_whole() => format!("{path}: {count} verdicts, {run_of}"),
        Some(all) => format!("{path}: incomplete, {count} of {all} verdicts usable, {run_of}"),
        None => format!("{path}: truncated, {count} verdicts before its end usable, {run_of}"),
    }
}

fn objects(run: &PastRun) -> Vec<Value> {
    let head = json!({
        "kind": "run",
        "file": run.path,
        "message": state(run),
        "complete": run.is_whole(),
        "verdicts": run.verdicts.len(),
        "refused": run.refused.len(),
        "seed": run.seed,
        "cases": run.cases,
    });
    let bad = run.verdicts.iter().filter(|verdict| verdict.is_finding()).map(finding_json);
    let leaks = run.leaks.iter().map(|(device, leak)| leak_json(device, leak));
    let passes = run.passes.iter().map(pass_json);
    let refused = run.refused.iter().map(refusal_json);
    std::iter::once(head).chain(bad).chain(leaks).chain(passes).chain(refused).collect()
}
