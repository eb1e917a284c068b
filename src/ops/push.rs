//! Push constants and specialization constants as a plan gives them.

use super::plan::Name;
use crate::tensor::Dtype;

/// The push constants of a dispatch.
#[derive(Clone, Debug, PartialEq)]
pub enum Push {
    /// Values by the names of the block's members, packed as the kernel declares them.
    Members(Vec<(Name, PushValue)>),
    /// The bytes as the host lays them out, held against the kernel's declaration member by member.
    Block(Vec<HostMember>),
}

/// A scalar of a push constant block as the host lays it out.
#[derive(Clone, Debug, PartialEq)]
pub struct HostMember {
    /// The member's name, where the host has one; dotted where it is nested.
    pub name: Option<Name>,
    /// Bytes from the block's start.
    pub offset_bytes: u32,
    /// Its type.
    pub dtype: Dtype,
    /// Its value.
    pub value: f64,
}

/// The value of a push constant member or specialization constant.
#[derive(Clone, Debug, PartialEq)]
pub enum PushValue {
    /// `uint`.
    U32(u32),
    /// `float`.
    F32(f32),
    /// Numbers for the scalars of a member, stored in whatever type it has.
    Numbers(Vec<f64>),
}

impl Default for Push {
    fn default() -> Self {
        Self::Members(Vec::new())
    }
}

impl Push {
    /// The same with one more member by name.
    #[must_use]
    pub(super) fn with(self, member: Name, value: PushValue) -> Self {
        let mut members = match self {
            Self::Members(members) => members,
            Self::Block(_) => Vec::new(),
        };
        members.push((member, value));
        Self::Members(members)
    }
}

impl From<u32> for PushValue {
    fn from(value: u32) -> Self {
        Self::U32(value)
    }
}

impl From<f32> for PushValue {
    fn from(value: f32) -> Self {
        Self::F32(value)
    }
}

impl From<f64> for PushValue {
    #[expect(clippy::cast_possible_truncation, reason = "a push constant holds f32")]
    fn from(value: f64) -> Self {
        Self::F32(value as f32)
    }
}

/// An extent as a push constant. A buffer of 2^32 elements is past every limit that a plan meets,
/// so the saturated value never reaches a device.
impl From<usize> for PushValue {
    fn from(value: usize) -> Self {
        Self::U32(u32::try_from(value).unwrap_or(u32::MAX))
    }
}
