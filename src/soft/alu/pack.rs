//! Packed words: each component of the vector is an operand of its own.

use rspirv::spirv::GlslStd450Op as Extended;

use super::halves::{f16_to_f32, f32_to_f16};
use super::wide::{four, one, two};
use crate::soft::program::Kernel;

/// A word of two or four f32, the first in the low bits.
pub(super) fn pack(op: Extended) -> Option<Kernel> {
    Some(match op {
        Extended::PackHalf2x16 => two!(f32, f32 => u32, |a, b| {
            u32::from(f32_to_f16(a)) | u32::from(f32_to_f16(b)) << 16
        }),
        Extended::PackSnorm2x16 => two!(f32, f32 => u32, |a, b| {
            signed(a, 32767.0) & 0xffff | signed(b, 32767.0) << 16
        }),
        Extended::PackUnorm2x16 => two!(f32, f32 => u32, |a, b| {
            unsigned(a, 65535.0) | unsigned(b, 65535.0) << 16
        }),
        Extended::PackSnorm4x8 => four!(f32, f32, f32, f32 => u32, |a, b, c, d| {
            let byte = |value| signed(value, 127.0) & 0xff;
            byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24
        }),
        Extended::PackUnorm4x8 => four!(f32, f32, f32, f32 => u32, |a, b, c, d| {
            let byte = |value| unsigned(value, 255.0);
            byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24
        }),
        _ => return None,
    })
}

/// One f32 of a packed word.
pub(crate) fn unpack(op: Extended, component: u32) -> Option<Kernel> {
    Some(match (op, component) {
        (Extended::UnpackHalf2x16, 0) => one!(u32 => f32, |a| f16_to_f32(half(a))),
        (Extended::UnpackHalf2x16, 1) => one!(u32 => f32, |a| f16_to_f32(half(a >> 16))),
        (Extended::UnpackSnorm2x16, 0) => one!(u32 => f32, |a| from_snorm(a << 16, 16)),
        (Extended::UnpackSnorm2x16, 1) => one!(u32 => f32, |a| from_snorm(a, 16)),
        (Extended::UnpackUnorm2x16, 0) => one!(u32 => f32, |a| f32::from(half(a)) / 65535.0),
        (Extended::UnpackUnorm2x16, 1) => one!(u32 => f32, |a| f32::from(half(a >> 16)) / 65535.0),
        (Extended::UnpackSnorm4x8, 0) => one!(u32 => f32, |a| from_snorm(a << 24, 8)),
        (Extended::UnpackSnorm4x8, 1) => one!(u32 => f32, |a| from_snorm(a << 16, 8)),
        (Extended::UnpackSnorm4x8, 2) => one!(u32 => f32, |a| from_snorm(a << 8, 8)),
        (Extended::UnpackSnorm4x8, 3) => one!(u32 => f32, |a| from_snorm(a, 8)),
        (Extended::UnpackUnorm4x8, 0) => one!(u32 => f32, |a| from_unorm(a)),
        (Extended::UnpackUnorm4x8, 1) => one!(u32 => f32, |a| from_unorm(a >> 8)),
        (Extended::UnpackUnorm4x8, 2) => one!(u32 => f32, |a| from_unorm(a >> 16)),
        (Extended::UnpackUnorm4x8, 3) => one!(u32 => f32, |a| from_unorm(a >> 24)),
        _ => return None,
    })
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most the scale, and rounded")]
fn signed(value: f32, scale: f32) -> u32 {
    ((value.clamp(-1.0, 1.0) * scale).round_ties_even() as i32).cast_unsigned()
}

#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the scale, and rounded"
)]
fn unsigned(value: f32, scale: f32) -> u32 {
    (value.clamp(0.0, 1.0) * scale).round_ties_even() as u32
}

#[inline(always)]
fn half(word: u32) -> u16 {
    (word & 0xffff) as u16
}

/// From the high bits of a word. Two patterns are -1.
#[inline(always)]
fn from_snorm(word: u32, bits: u32) -> f32 {
    let largest = (1 << (bits - 1)) - 1;
    ((word.cast_signed() >> (32 - bits)) as f32 / largest as f32).max(-1.0)
}

#[inline(always)]
fn from_unorm(word: u32) -> f32 {
    (word & 0xff) as f32 / 255.0
}
