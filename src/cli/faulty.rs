//! `vklab faulty`.

use glob::Pattern;
use serde_json::json;

use crate::check::Check;
use crate::faulty::{self, Defect, Fault};
use crate::ops::{nearest, suggested};
use crate::report::Catches;
use crate::run::{Answer, Campaign};
use crate::worker::Update;

use super::args::FaultyOptions;
use super::check::{choices, pool, progress};
use super::lock::lock;
use super::{CliError, Ending};

pub(super) fn faulty(options: &FaultyOptions) -> Result<Ending, CliError> {
    let faults = named(&options.names)?;
    let checks = options.checks.chosen();
    let seed = options.seed.unwrap_or_else(rand::random);
    let mut is_clean = true;
    for choice in choices(&options.on)? {
        let _lock = lock(&choice, options.on.lock)?;
        let device = &choice.info().name;
        let mut checks = checks.clone();
        checks.retain(|check| check.is_asked_on(choice.info()));
        let mut campaign = Campaign::new(&faults, &checks, seed);
        let tasks = campaign.tasks().to_vec();
        let bar = progress(tasks.iter().map(|task| task.cases.len()).sum(), device);
        let mut pool = pool(&choice, &options.on, None)?;
        pool.command.push("--lab".to_owned());
        let mut refused = None;
        pool.run(&tasks, |update| match update {
            Update::Answer { task, case, answer } => {
                bar.inc(1);
                campaign.hear(task, case, answer.outcome);
            }
            Update::Refused { message, .. } | Update::NotDumped { message, .. } => {
                refused = Some(message);
            }
            Update::Ready(..) | Update::Closed(..) => {}
        })?;
        bar.finish_and_clear();
        if let Some(message) = refused {
            return Err(CliError::Usage(message));
        }
        is_clean &= campaign.is_clean();
        if options.json {
            print_json(&campaign, device, seed);
        } else {
            println!("{device}\n{}", Catches(&campaign));
        }
    }
    if !options.json {
        println!("seed {seed}");
    }
    Ok(if is_clean { Ending::Clean } else { Ending::Findings })
}

/// The faults that globs name; all if there are none.
fn named(patterns: &[String]) -> Result<Vec<&'static Fault>, CliError> {
    let mut matchers = Vec::new();
    for pattern in patterns {
        let matcher = Pattern::new(pattern).map_err(|error| CliError::Usage(error.to_string()))?;
        if !faulty::all().any(|fault| matcher.matches(fault.name)) {
            let near = nearest(pattern, faulty::all().map(|fault| fault.name.to_owned()));
            let near = suggested(&near);
            return Err(CliError::Usage(format!("no fault is called `{pattern}`{near}")));
        }
        matchers.push(matcher);
    }
    let wanted =
        |fault: &&Fault| matchers.is_empty() || matchers.iter().any(|m| m.matches(fault.name));
    Ok(faulty::all().filter(wanted).collect())
}

fn print_json(campaign: &Campaign, device: &str, seed: u64) {
    for row in campaign.rows() {
        let fault = row.fault;
        let file = match fault.defect {
            Defect::Kernel { .. } => Some(format!("glsl/faulty/{}.comp", fault.name)),
            Defect::Plan(_) => None,
        };
        let with = |wanted: Answer| -> Vec<Check> {
            row.answers.iter().filter(|(_, answer)| **answer == wanted).map(|(c, _)| *c).collect()
        };
        println!(
            "{}",
            json!({
                "kind": "fault", "file": file, "line": null, "other_line": null,
                "device": device, "seed": seed, "name": fault.name,
                "family": fault.family.name(), "target": format!("{}.{}", fault.op, fault.variant),
                "message": fault.wrong, "must": fault.caught_by, "caught": with(Answer::Caught),
                "missed": with(Answer::Missed), "unknown": with(Answer::Unknown),
            })
        );
    }
    for twin in campaign.failed_twins() {
        println!(
            "{}",
            json!({
                "kind": "failed-twin", "file": null, "line": null, "other_line": null,
                "message": twin.outcome.to_string(),
                "device": device, "seed": seed, "target": twin.target,
                "check": twin.check, "case": twin.case, "outcome": twin.outcome,
            })
        );
    }
}
