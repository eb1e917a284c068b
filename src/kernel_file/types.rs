//! Element types as kernel files name them.

use crate::tensor::Dtype;

/// The type of that name.
pub(super) fn dtype_of(name: &str) -> Option<Dtype> {
    name.parse().ok()
}

/// The type that stores what GLSL calls by that name, or that has the name itself.
pub(super) fn glsl_dtype_of(name: &str) -> Option<Dtype> {
    Dtype::from_glsl(name).or_else(|| dtype_of(name))
}

/// The names that a buffer's type may have, for suggestions.
pub(super) fn type_names() -> impl Iterator<Item = String> {
    Dtype::ALL.into_iter().map(|dtype| dtype.name().to_owned())
}
