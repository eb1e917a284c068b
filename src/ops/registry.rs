//! The registry: every op that a binary knows, and the files that its kernels may include.

use thiserror::Error;

use super::{ALL, Op, Pass, Variant};
use crate::glsl::{Source, Texts};

/// The ops of one binary. Its workers are the same binary, and so have the same registry.
#[derive(Clone, Default)]
pub struct Registry {
    ops: Vec<&'static Op>,
    includes: Texts,
}

/// Why a registry can't be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryError {
    /// A name decides which op is meant.
    #[error("two ops are called `{op}`")]
    TwoOps {
        /// The name.
        op: &'static str,
    },
    /// A name decides which variant is meant.
    #[error("op `{op}` has two variants called `{variant}`")]
    TwoVariants {
        /// The op.
        op: &'static str,
        /// The name of both.
        variant: &'static str,
    },
    /// The first forward variant is what the others and the VJPs stand on.
    #[error("the first variant of op `{op}` must compute its forward")]
    NoForward {
        /// The op.
        op: &'static str,
    },
    /// The first storage type and the first value of an attribute are the defaults.
    #[error("op `{op}` lists no {what}")]
    NoDefault {
        /// The op.
        op: &'static str,
        /// What it lacks.
        what: String,
    },
    /// The first include would hide the second.
    #[error("two includes are called `{name}`")]
    TwoIncludes {
        /// The name.
        name: String,
    },
}

impl Registry {
    /// No op.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The ops that come with the lab.
    #[must_use]
    pub fn lab() -> Self {
        Self { ops: ALL.to_vec(), includes: Texts::default() }
    }

    /// The same with one more op, which is kept until the process ends.
    #[must_use]
    pub fn op(mut self, op: Op) -> Self {
        self.ops.push(Box::leak(Box::new(op)));
        self
    }

    /// The same with one more file for `#include`, found before those of the lab.
    #[must_use]
    pub fn include(mut self, name: &'static str, text: &'static str) -> Self {
        self.includes.push(Source::new(name, text));
        self
    }

    /// The ops in the order in which they were added.
    #[must_use]
    pub fn ops(&self) -> &[&'static Op] {
        &self.ops
    }

    /// Every op with each of its variants.
    pub fn variants(&self) -> impl Iterator<Item = (&'static Op, &'static Variant)> {
        self.ops.iter().flat_map(|op| op.variants.iter().map(move |variant| (*op, variant)))
    }

    /// The op of that name.
    #[must_use]
    pub fn find_op(&self, name: &str) -> Option<&'static Op> {
        self.ops.iter().find(|op| op.name == name).copied()
    }

    /// The op and its variant of those names.
    #[must_use]
    pub fn find(&self, op: &str, variant: &str) -> Option<(&'static Op, &'static Variant)> {
        self.variants().find(|(o, v)| o.name == op && v.name == variant)
    }

    /// The files that every kernel may include.
    #[must_use]
    pub fn includes(&self) -> &Texts {
        &self.includes
    }

    /// Whether every name means one thing and every op has what all checks rely on.
    ///
    /// # Errors
    /// The first op that hasn't.
    pub fn validate(&self) -> Result<(), RegistryError> {
        for (at, op) in self.ops.iter().enumerate() {
            if self.ops[..at].iter().any(|other| other.name == op.name) {
                return Err(RegistryError::TwoOps { op: op.name });
            }
            sound(op)?;
        }
        match self.includes.repeated() {
            Some(name) => Err(RegistryError::TwoIncludes { name: name.to_owned() }),
            None => Ok(()),
        }
    }
}

fn sound(op: &Op) -> Result<(), RegistryError> {
    if op.variants.first().is_none_or(|first| first.pass != Pass::Forward) {
        return Err(RegistryError::NoForward { op: op.name });
    }
    for (at, variant) in op.variants.iter().enumerate() {
        if op.variants[..at].iter().any(|other| other.name == variant.name) {
            return Err(RegistryError::TwoVariants { op: op.name, variant: variant.name });
        }
        if variant.workgroups.is_empty() {
            let what = format!("workgroup size for variant `{}`", variant.name);
            return Err(RegistryError::NoDefault { op: op.name, what });
        }
    }
    let lacking = op.attributes.iter().find(|attribute| attribute.values.is_empty());
    let lacking = lacking.map(|attribute| format!("value for attribute `{}`", attribute.name));
    let lacking = lacking.or_else(|| op.dtypes.is_empty().then(|| "storage type".to_owned()));
    lacking.map_or(Ok(()), |what| Err(RegistryError::NoDefault { op: op.name, what }))
}

#[cfg(test)]
mod tests {
    use super::{Registry, RegistryError};
    use crate::ops::{Attribute, Op, Variant, add, scale};

    #[test]
    fn the_labs_ops_are_sound_and_can_be_added_to() {
        let other = Op { name: "other", ..add::OP };
        let registry = Registry::lab().op(other);
        assert_eq!(registry.validate(), Ok(()));
        assert!(registry.find("other", "naive").is_some() && registry.find_op("add").is_some());
        assert!(Registry::new().op(other).find_op("add").is_none());
    }

    #[test]
    fn what_would_confuse_a_check_is_refused() {
        const NAIVE: Variant = add::OP.variants[0];
        let backward_only = Op { variants: &add::OP.variants[2..], ..add::OP };
        let repeated = Op { variants: &[NAIVE, NAIVE], ..add::OP };
        let valueless = Op { attributes: &[Attribute { name: "alpha", values: &[] }], ..scale::OP };
        let of = |op| Registry::new().op(op).validate();
        assert_eq!(of(backward_only), Err(RegistryError::NoForward { op: "add" }));
        assert_eq!(of(repeated), Err(RegistryError::TwoVariants { op: "add", variant: "naive" }));
        let what = "value for attribute `alpha`".to_owned();
        assert_eq!(of(valueless), Err(RegistryError::NoDefault { op: "scale", what }));
        let twice = Registry::lab().op(add::OP).validate();
        assert_eq!(twice, Err(RegistryError::TwoOps { op: "add" }));
        let twice = Registry::new().include("a.glsl", "").include("a.glsl", "").validate();
        assert_eq!(twice, Err(RegistryError::TwoIncludes { name: "a.glsl".to_owned() }));
    }

    #[test]
    fn threads_may_share_a_registry() {
        fn shared<T: Send + Sync + 'static>(_: &T) {}
        shared(&Registry::lab());
    }
}
