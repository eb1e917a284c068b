//! The table of catches: fault by check.

use std::fmt;

use comfy_table::{Table, presets};

use crate::check::Check;
use crate::run::{Answer, Campaign};

/// A campaign as a table of marks, with totals and whatever went wrong below it.
#[derive(Clone, Copy, Debug)]
pub struct Catches<'a>(pub &'a Campaign);

/// Eight columns and the longest name fit into 80 characters with these.
const fn short(check: Check) -> &'static str {
    match check {
        Check::Forward => "fwd",
        Check::Gradient => "gra",
        Check::Property => "pro",
        Check::Memory => "mem",
        Check::Alias => "ali",
        Check::Determinism => "det",
        Check::Portability => "por",
        Check::Sanitize => "san",
        Check::GradientExact => "exa",
        Check::Limits => "lim",
    }
}

impl fmt::Display for Catches<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let campaign = self.0;
        let checks = campaign.checks();
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(std::iter::once("fault").chain(checks.iter().map(|c| short(*c))));
        for row in campaign.rows() {
            let marks = checks.iter().map(|check| match row.answers.get(check) {
                Some(Answer::Caught) if row.fault.caught_by == *check => "X",
                Some(Answer::Caught) => "x",
                Some(Answer::Missed) => "-",
                Some(Answer::Unknown) => "?",
                None => "",
            });
            table.add_row(std::iter::once(row.fault.name).chain(marks));
        }
        let totals: Vec<_> = checks.iter().map(|check| campaign.totals(*check)).collect();
        let line = |name: &str, numbers: &mut dyn Iterator<Item = usize>| {
            std::iter::once(name.to_owned())
                .chain(numbers.map(|number| number.to_string()))
                .collect::<Vec<_>>()
        };
        table.add_row(line("caught", &mut totals.iter().map(|(caught, _)| *caught)));
        table.add_row(line("caught by no other", &mut totals.iter().map(|(_, alone)| *alone)));
        writeln!(f, "{table}\n")?;
        writeln!(f, "X caught by the check that must, x by another, - not, ? no case could run\n")?;
        let rows = campaign.rows().len();
        let uncaught = campaign.uncaught();
        writeln!(f, "{} of {rows} faults caught", rows - uncaught.len())?;
        for fault in uncaught {
            writeln!(f, "uncaught: {}: {}", fault.name, fault.wrong)?;
        }
        for fault in campaign.missed() {
            writeln!(f, "missed by {}: {}: {}", fault.caught_by, fault.name, fault.wrong)?;
        }
        for twin in campaign.failed_twins() {
            writeln!(f, "twin {} {} in {}: {}", twin.target, twin.check, twin.case, twin.outcome)?;
        }
        Ok(())
    }
}
