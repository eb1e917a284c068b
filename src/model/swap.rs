//! Which way each op of a tape is computed, and how to ask for another.

use std::fmt;

use thiserror::Error;

use super::tape::{Node, Tape};
use crate::ops::{self, Op, Pass, Variant, nearest, suggested};

/// How a node is computed on a device.
#[derive(Clone, Copy)]
pub enum Way {
    /// By a variant's kernels.
    Kernels(&'static Variant),
    /// By the f64 reference on the host, rounded to storage.
    Reference,
}

/// One replacement: `OP=VARIANT`, `OP=reference`, `OP.forward=reference` or `OP.vjp=reference`.
///
/// A variant replaces the pass that it computes; `OP=reference` replaces both.
#[derive(Clone, Copy)]
pub struct Swap {
    op: &'static Op,
    pass: Option<Pass>,
    way: Way,
}

/// A replacement that can't be made.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("--swap {text}: {reason}{}", suggested(.nearest))]
pub struct SwapError {
    text: String,
    reason: String,
    nearest: Vec<String>,
}

/// The word for the f64 reference.
const REFERENCE: &str = "reference";

impl Swap {
    /// Reads a replacement.
    ///
    /// # Errors
    /// No `=`; an op, pass or variant that doesn't exist, with the nearest names.
    pub fn parse(text: &str) -> Result<Self, SwapError> {
        let fail = |reason: String, nearest| SwapError { text: text.to_owned(), reason, nearest };
        let (subject, way) = text
            .split_once('=')
            .ok_or_else(|| fail("expected OP=VARIANT or OP=reference".to_owned(), Vec::new()))?;
        let (name, pass) = match subject.split_once('.') {
            None => (subject, None),
            Some((name, "forward")) => (name, Some(Pass::Forward)),
            Some((name, "vjp")) => (name, Some(Pass::Vjp)),
            Some((_, pass)) => {
                return Err(fail(format!("`{pass}` is neither forward nor vjp"), Vec::new()));
            }
        };
        let op = ops::find_op(name).ok_or_else(|| {
            let known = ops::ALL.iter().map(|op| op.name.to_owned());
            fail(format!("no op is called `{name}`"), nearest(name, known))
        })?;
        if way == REFERENCE {
            return Ok(Self { op, pass, way: Way::Reference });
        }
        let fits = |v: &&Variant| pass.is_none_or(|pass| pass == v.pass);
        let variant = op.variants.iter().filter(fits).find(|v| v.name == way).ok_or_else(|| {
            let known: Vec<&str> =
                op.variants.iter().filter(fits).map(|v| v.name).chain([REFERENCE]).collect();
            let near = nearest(way, known.iter().map(|name| (*name).to_owned()));
            fail(format!("`{subject}` is never `{way}` but {}", known.join(", ")), near)
        })?;
        Ok(Self { op, pass: Some(variant.pass), way: Way::Kernels(variant) })
    }

    fn is_used_by(&self, tape: &Tape) -> bool {
        tape.nodes().iter().any(|node| self.concerns(node))
    }

    fn concerns(&self, node: &Node) -> bool {
        self.op.name == node.op.name && self.pass.is_none_or(|pass| pass == node.pass)
    }
}

/// Whether every swap replaces something in one of the tapes.
///
/// # Errors
/// A swap of an op that none of them uses, with those that they use.
pub fn check_swaps(swaps: &[Swap], tapes: &[&Tape]) -> Result<(), SwapError> {
    let unused = swaps.iter().find(|swap| !tapes.iter().any(|tape| swap.is_used_by(tape)));
    let Some(swap) = unused else { return Ok(()) };
    let nodes = tapes.iter().flat_map(|tape| tape.nodes());
    let mut used: Vec<&str> = nodes.map(|node| node.op.name).collect();
    used.sort_unstable();
    used.dedup();
    Err(SwapError {
        text: swap.to_string(),
        reason: format!("the model doesn't use it; it uses {}", used.join(", ")),
        nearest: Vec::new(),
    })
}

/// The way of every node: the plainest variant unless a swap says otherwise, the last one winning.
/// Swaps of what the tape doesn't use change nothing.
///
/// # Panics
/// When an op of the tape has no variant for its pass.
#[must_use]
pub fn ways(tape: &Tape, swaps: &[Swap]) -> Vec<Way> {
    let way = |node: &Node| {
        let plainest = || {
            let variant = node.op.variants.iter().find(|v| v.pass == node.pass);
            Way::Kernels(variant.unwrap_or_else(|| panic!("{} lacks a variant", node.op.name)))
        };
        swaps.iter().rev().find(|s| s.concerns(node)).map_or_else(plainest, |swap| swap.way)
    };
    tape.nodes().iter().map(way).collect()
}

impl fmt::Display for Swap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pass = match self.pass {
            None => "",
            Some(Pass::Forward) => ".forward",
            Some(Pass::Vjp) => ".vjp",
        };
        let way = match self.way {
            Way::Kernels(variant) => variant.name,
            Way::Reference => REFERENCE,
        };
        write!(f, "{}{pass}={way}", self.op.name)
    }
}
