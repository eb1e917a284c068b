//! Element types as kernel files name them.

use crate::tensor::Dtype;

/// The types by their own names.
const TYPES: [(&str, Dtype); 4] =
    [("f16", Dtype::F16), ("f32", Dtype::F32), ("i32", Dtype::I32), ("u32", Dtype::U32)];

/// What a define holds instead.
const GLSL_TYPES: [(&str, Dtype); 24] = [
    ("float", Dtype::F32),
    ("vec2", Dtype::F32),
    ("vec3", Dtype::F32),
    ("vec4", Dtype::F32),
    ("float32_t", Dtype::F32),
    ("f32vec2", Dtype::F32),
    ("f32vec3", Dtype::F32),
    ("f32vec4", Dtype::F32),
    ("float16_t", Dtype::F16),
    ("f16vec2", Dtype::F16),
    ("f16vec3", Dtype::F16),
    ("f16vec4", Dtype::F16),
    ("int", Dtype::I32),
    ("ivec2", Dtype::I32),
    ("ivec3", Dtype::I32),
    ("ivec4", Dtype::I32),
    ("int32_t", Dtype::I32),
    ("i32vec4", Dtype::I32),
    ("uint", Dtype::U32),
    ("uvec2", Dtype::U32),
    ("uvec3", Dtype::U32),
    ("uvec4", Dtype::U32),
    ("uint32_t", Dtype::U32),
    ("u32vec4", Dtype::U32),
];

/// The type of that name.
pub(super) fn dtype_of(name: &str) -> Option<Dtype> {
    TYPES.iter().find(|(known, _)| *known == name).map(|(_, dtype)| *dtype)
}

/// The type that stores what GLSL calls by that name, or that has the name itself.
pub(super) fn glsl_dtype_of(name: &str) -> Option<Dtype> {
    let glsl = GLSL_TYPES.iter().find(|(known, _)| *known == name).map(|(_, dtype)| *dtype);
    glsl.or_else(|| dtype_of(name))
}

/// The names that a buffer's type may have, for suggestions.
pub(super) fn type_names() -> impl Iterator<Item = String> {
    TYPES.iter().map(|(name, _)| (*name).to_owned())
}

/// Elements of one block of storage.
pub(super) const fn block_len(_dtype: Dtype) -> u64 {
    1
}

/// Bytes of one block of storage.
pub(super) const fn block_bytes(dtype: Dtype) -> u64 {
    dtype.size_bytes() as u64
}
