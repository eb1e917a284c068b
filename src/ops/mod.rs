//! Ops: one record a file, all of them in [`ALL`].
//!
//! A newcomer copies `add.rs` and its kernels, and adds a `mod` line and an entry here.

mod axis;
mod block;
mod broadcast;
mod builder;
mod case;
mod code;
mod derived;
mod flaws;
mod nearest;
mod needs;
mod plan;
mod problem;
mod push;
mod record;
mod reference;
mod registry;
mod rows;

pub mod adamw;
pub mod add;
pub mod bias_add;
pub mod cross_entropy;
pub mod elementwise;
pub mod embedding;
pub mod exp;
pub mod gelu_erf;
pub mod gelu_tanh;
pub mod layernorm;
pub mod matmul;
pub mod mean;
pub mod mul;
pub mod relu;
pub mod rmsnorm;
pub mod scale;
pub mod sgd;
pub mod softmax;
pub mod sum;
pub mod transpose;

#[cfg(test)]
mod tests;

pub use block::{PushBlock, PushField, PushScalar};
pub use builder::Elementwise;
pub use case::{Case, CaseError, Cases};
pub use code::Code;
pub use flaws::flaws;
pub use nearest::{nearest, suggested};
pub use needs::{Feature, Need};
pub use plan::{
    Constant, Dispatch, Name, Others, Plan, Scratch, Socket, Step, Target, Unsupported,
};
pub use problem::Problem;
pub use push::{HostMember, Push, PushValue};
pub use record::{
    Attribute, Dim, Example, Gradient, Op, Operand, Order, Pass, Property, Role, Variant,
};
pub use reference::{Formula, Reference};
pub use registry::{Registry, RegistryError};

/// Every op that comes with the lab, sorted by name.
pub const ALL: &[&Op] = &[
    &adamw::OP,
    &add::OP,
    &bias_add::OP,
    &cross_entropy::OP,
    &embedding::OP,
    &exp::OP,
    &gelu_erf::OP,
    &gelu_tanh::OP,
    &layernorm::OP,
    &matmul::OP,
    &mean::OP,
    &mul::OP,
    &relu::OP,
    &rmsnorm::OP,
    &scale::OP,
    &sgd::OP,
    &softmax::OP,
    &sum::OP,
    &transpose::OP,
];

/// The op of that name.
#[must_use]
pub fn find_op(name: &str) -> Option<&'static Op> {
    ALL.iter().find(|op| op.name == name).copied()
}

/// The op and its variant of those names.
#[must_use]
pub fn find(op: &str, variant: &str) -> Option<(&'static Op, &'static Variant)> {
    let op = find_op(op)?;
    let variant = op.variants.iter().find(|v| v.name == variant)?;
    Some((op, variant))
}
