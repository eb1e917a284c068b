//! From targets to tasks.

use globset::Glob;
use thiserror::Error;

use crate::check::{Check, applies, cases};
use crate::ops::{Case, Cases, Op, Registry, Variant, nearest, suggested};
use crate::worker::Task;

/// Which variants to look at.
#[derive(Clone)]
pub struct Targets(Vec<(&'static Op, &'static Variant)>);

/// Why targets could not be read.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetsError {
    /// A pattern that isn't one.
    #[error("target `{pattern}`: {reason}")]
    Pattern {
        /// As given.
        pattern: String,
        /// The parser's words.
        reason: String,
    },
    /// A pattern that matches nothing.
    #[error("no op or variant is called `{pattern}`{}", suggested(.nearest))]
    Unknown {
        /// As given.
        pattern: String,
        /// Names that come close.
        nearest: Vec<String>,
    },
}

impl Targets {
    /// Reads globs on `op` and `op.variant`; none means everything in the registry.
    ///
    /// # Errors
    /// A malformed pattern, or one that matches nothing, with the nearest names.
    pub fn parse(registry: &Registry, patterns: &[String]) -> Result<Self, TargetsError> {
        let mut matchers = Vec::new();
        for pattern in patterns {
            let glob = Glob::new(pattern).map_err(|error| TargetsError::Pattern {
                pattern: pattern.clone(),
                reason: error.to_string(),
            })?;
            let matcher = glob.compile_matcher();
            let names = || {
                registry.ops().iter().flat_map(|op| {
                    let variants = op.variants.iter().map(|v| full_name(op, v));
                    std::iter::once(op.name.to_owned()).chain(variants)
                })
            };
            if !names().any(|name| matcher.is_match(name)) {
                let nearest = nearest(pattern, names());
                return Err(TargetsError::Unknown { pattern: pattern.clone(), nearest });
            }
            matchers.push(matcher);
        }
        let meant = |(op, variant): &(&Op, &Variant)| {
            matchers.is_empty()
                || matchers
                    .iter()
                    .any(|m| m.is_match(op.name) || m.is_match(full_name(op, variant)))
        };
        Ok(Self(registry.variants().filter(meant).collect()))
    }

    /// The variants, in registry order.
    #[must_use]
    pub fn variants(&self) -> &[(&'static Op, &'static Variant)] {
        &self.0
    }
}

fn full_name(op: &Op, variant: &Variant) -> String {
    format!("{}.{}", op.name, variant.name)
}

/// Part `index` of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

/// The tasks of a run: every check that applies to every variant, on its cases; or on one case of
/// the one op that the targets belong to.
#[must_use]
pub fn tasks(
    targets: &Targets,
    checks: &[Check],
    size: Cases,
    seed: u64,
    one: Option<&Case>,
) -> Vec<Task> {
    let mut tasks = Vec::new();
    for &(op, variant) in targets.variants() {
        for check in checks.iter().filter(|check| applies(**check, op, variant)) {
            let cases = match one {
                Some(case) => vec![case.clone()],
                None => cases(*check, op, size, seed),
            };
            if !cases.is_empty() {
                tasks.push(Task::new(op, variant, *check, cases));
            }
        }
    }
    tasks
}

impl Shard {
    /// The tasks of this part: every `count`-th.
    #[must_use]
    pub fn of(self, tasks: Vec<Task>) -> Vec<Task> {
        tasks
            .into_iter()
            .enumerate()
            .filter(|(at, _)| at % self.count == self.index - 1)
            .map(|(_, task)| task)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Targets, TargetsError};
    use crate::ops::Registry;

    fn count(pattern: &str) -> Result<usize, TargetsError> {
        Targets::parse(&Registry::lab(), &[pattern.to_owned()]).map(|t| t.variants().len())
    }

    #[test]
    fn an_unknown_target_names_its_neighbours() {
        let error = count("ad").expect_err("no such op");
        let TargetsError::Unknown { nearest, .. } = error else { panic!("{error}") };
        assert!(nearest.contains(&"add".to_owned()), "{nearest:?}");
    }

    #[test]
    fn globs_reach_ops_and_variants() {
        assert_eq!(count("add"), Ok(3));
        assert_eq!(count("add.vjp_*"), Ok(1));
        assert!(count("*.naive").is_ok_and(|n| n > 0));
    }
}
