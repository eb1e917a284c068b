//! What a kernel wrote, in a line: enough to see that a driver's update moved it.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ops::Order;
use crate::tensor::{Tensor, unravel};

use super::execute::Executed;
use super::trial::Trial;

/// A fingerprint of one run's results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Hash of what the buffers held before the run, 16 hexadecimal digits.
    pub inputs: String,
    /// Hash of every bit that the run wrote, 16 hexadecimal digits.
    pub bits: String,
    /// The worst error as a fraction of its bound; none where nothing is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<f64>,
    /// Where that is: the buffer and the coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The first, the middle and the last element of the first buffer.
    pub samples: Vec<String>,
    /// Float atomics added in the order in which invocations happened to run: another run may
    /// give other bits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_order: bool,
}

impl Output {
    /// The fingerprint of a run.
    #[must_use]
    pub(super) fn new(trial: &Trial, executed: &Executed, order: Order) -> Self {
        let before =
            trial.slots.iter().filter_map(|s| Some((s.name.as_str(), s.contents.as_ref()?)));
        let after = executed.written.iter().map(|(name, tensor)| (name.as_str(), tensor));
        let mut output = Self {
            inputs: hash(before),
            bits: hash(after),
            worst: None,
            at: None,
            samples: trial
                .expected
                .first()
                .and_then(|expected| executed.written.get(&expected.name))
                .or(executed.written.values().next())
                .map_or_else(Vec::new, samples),
            any_order: order == Order::Atomic,
        };
        for expected in &trial.expected {
            let Some(got) = executed.written.get(&expected.name) else { continue };
            let comparison = expected.compare(got);
            if output.worst.is_none_or(|worst| comparison.worst > worst) {
                // JSON has no infinity, and an error is as wrong at 10^300 times its bound.
                output.worst = Some(comparison.worst.min(f64::MAX));
                let index = unravel(&expected.shape, comparison.worst_at);
                output.at = (!got.is_empty()).then(|| format!("{}{index:?}", expected.name));
            }
        }
        output
    }
}

fn hash<'a>(tensors: impl Iterator<Item = (&'a str, &'a Tensor)>) -> String {
    let mut hash = Sha256::new();
    for (name, tensor) in tensors {
        hash.update(name.as_bytes());
        hash.update((tensor.bytes().len() as u64).to_le_bytes());
        if !tensor.dtype().is_float() {
            hash.update(tensor.bytes());
            continue;
        }
        // A NaN's payload may name a buffer by its place in the ledger, which other work changes.
        for (value, bits) in tensor.values().iter().zip(tensor.bytes().chunks(size(tensor))) {
            hash.update(if value.is_nan() { b"NaN" } else { bits });
        }
    }
    hash.finalize().iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn size(tensor: &Tensor) -> usize {
    tensor.dtype().block_bytes()
}

fn samples(tensor: &Tensor) -> Vec<String> {
    let values = tensor.values();
    let mut places = vec![0, values.len() / 2, values.len().saturating_sub(1)];
    places.dedup();
    places.into_iter().filter_map(|at| Some(format!("{:.6e}", values.get(at)?))).collect()
}
