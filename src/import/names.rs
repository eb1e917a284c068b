//! Names of stubs.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

use super::Built;
use super::matrix::values;

/// Longer names are replaced by numbers; some file systems allow 143 bytes.
const LIMIT_BYTES: usize = 100;

/// The names that are taken. Letters of both cases count as the same, as on some file systems.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Names the groups of a source: after the source where there is one group; else after the
    /// modules that the command lines write, where each has one of its own; else after the
    /// defines in which they differ.
    pub(super) fn name(
        &mut self,
        source: &Path,
        groups: Vec<Vec<Built>>,
    ) -> Vec<(String, Vec<Built>)> {
        let stem = plain(&text(source.file_stem()));
        let single = groups.len() == 1;
        let outputs = outputs(&groups);
        let all: Vec<Built> = groups.iter().flatten().cloned().collect();
        let name = |(at, group): (usize, Vec<Built>)| {
            let wanted = match &outputs {
                _ if single => stem.clone(),
                Some(outputs) => outputs[at].clone(),
                None => differing(&stem, &all, &group),
            };
            (self.unique(source, &stem, wanted), group)
        };
        groups.into_iter().enumerate().map(name).collect()
    }

    /// The name itself, else with the source's folder before it, else with a number behind it.
    fn unique(&mut self, source: &Path, stem: &str, wanted: String) -> String {
        let base = if wanted.len() > LIMIT_BYTES { stem.to_owned() } else { wanted };
        let folder = plain(&text(source.parent().and_then(Path::file_name)));
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let mut candidates = [base.clone(), format!("{folder}-{base}")].into_iter().chain(numbered);
        let free = candidates.find(|name| self.taken.insert(name.to_lowercase()));
        free.unwrap_or(base)
    }
}

/// The stems of the modules, if every group has one and no two are the same.
fn outputs(groups: &[Vec<Built>]) -> Option<Vec<String>> {
    let stem = |group: &Vec<Built>| Some(plain(group[0].output.as_ref()?.file_stem()?.to_str()?));
    let stems: Vec<String> = groups.iter().map(stem).collect::<Option<_>>()?;
    let distinct: HashSet<&String> = stems.iter().collect();
    (distinct.len() == stems.len()).then_some(stems)
}

fn differing(stem: &str, all: &[Built], group: &[Built]) -> String {
    let mut name = stem.to_owned();
    for (define, values) in values(all) {
        if values.len() > 1
            && let Some(value) = group[0].defines.get(&define)
        {
            let value = if value.is_empty() { String::new() } else { format!("={value}") };
            name.push_str(&plain(&format!("-{define}{value}")));
        }
    }
    if all.iter().any(|built| built.target != group[0].target) {
        name.push_str(&format!("-{}", group[0].target));
    }
    name
}

fn text(name: Option<&OsStr>) -> String {
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Without what a file name can't hold everywhere.
fn plain(name: &str) -> String {
    let keep = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '=' | ',');
    name.chars().map(|c| if keep(c) { c } else { '_' }).collect()
}
