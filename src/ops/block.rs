//! Push constant blocks as Rust structures.

use half::f16;

use super::push::HostMember;
use crate::tensor::Dtype;

/// A `#[repr(C)]` structure that is pushed as its bytes lie; [`push_block!`](crate::push_block)
/// makes one.
pub trait PushBlock {
    /// Its scalars in the order of their offsets.
    fn scalars(&self) -> Vec<PushScalar>;

    /// Its scalars under the names of the members, as the kernel's declaration is held against.
    fn members(&self) -> Vec<HostMember> {
        let named = |scalar: PushScalar| HostMember {
            name: Some(scalar.path.trim_start_matches('.').to_owned().into()),
            // A block past 4 GiB fits no kernel, and the saturated offset none either.
            offset_bytes: u32::try_from(scalar.offset).unwrap_or(u32::MAX),
            dtype: scalar.dtype,
            value: scalar.value,
        };
        self.scalars().into_iter().map(named).collect()
    }
}

/// A type that a member of a push constant block may have: `u32`, `i32`, `f32`, `f16`, an array of
/// what may be a member, another block.
pub trait PushField {
    /// Its scalars, from its own start.
    fn scalars(&self) -> Vec<PushScalar>;
}

/// A scalar inside of a member.
#[derive(Clone, Debug, PartialEq)]
pub struct PushScalar {
    /// What follows the member's name: nothing, `[2]`, `.x`.
    pub path: String,
    /// Bytes from the start of what it lies in.
    pub offset: usize,
    /// Its type.
    pub dtype: Dtype,
    /// Its value.
    pub value: f64,
}

impl PushScalar {
    /// The same as part of something larger, which it lies in at `offset` under `name`.
    #[must_use]
    pub fn within(self, name: &str, offset: usize) -> Self {
        Self { path: format!("{name}{}", self.path), offset: self.offset + offset, ..self }
    }
}

impl<B: PushBlock> PushField for B {
    fn scalars(&self) -> Vec<PushScalar> {
        PushBlock::scalars(self)
    }
}

/// Scalars are numbered through all levels of nested arrays, as those of a GLSL array of vectors
/// or a matrix are.
impl<T: PushField, const N: usize> PushField for [T; N] {
    fn scalars(&self) -> Vec<PushScalar> {
        let mut all = Vec::new();
        for (at, element) in self.iter().enumerate() {
            for scalar in element.scalars() {
                let offset = at * size_of::<T>();
                let is_number = scalar.path.is_empty() || scalar.path.starts_with('[');
                let number = if is_number { all.len() } else { at };
                let path = if is_number { String::new() } else { scalar.path.clone() };
                all.push(PushScalar { path, ..scalar }.within(&format!("[{number}]"), offset));
            }
        }
        all
    }
}

fn scalar(dtype: Dtype, value: f64) -> Vec<PushScalar> {
    vec![PushScalar { path: String::new(), offset: 0, dtype, value }]
}

impl PushField for u32 {
    fn scalars(&self) -> Vec<PushScalar> {
        scalar(Dtype::U32, f64::from(*self))
    }
}

impl PushField for i32 {
    fn scalars(&self) -> Vec<PushScalar> {
        scalar(Dtype::I32, f64::from(*self))
    }
}

impl PushField for f32 {
    fn scalars(&self) -> Vec<PushScalar> {
        scalar(Dtype::F32, f64::from(*self))
    }
}

impl PushField for f16 {
    fn scalars(&self) -> Vec<PushScalar> {
        scalar(Dtype::F16, self.to_f64())
    }
}

/// A `#[repr(C)]` structure that a [`Dispatch`](crate::ops::Dispatch) can push.
///
/// ```
/// vklab::push_block! {
///     /// What `scale.comp` is given.
///     pub struct Scale {
///         pub len: u32,
///         pub factor: f32,
///         pub strides: [u32; 4],
///     }
/// }
/// use vklab::ops::PushBlock;
/// let block = Scale { len: 3, factor: 0.5, strides: [1, 2, 3, 4] };
/// assert_eq!(block.members()[5].name.as_deref(), Some("strides[3]"));
/// assert_eq!(block.members()[5].offset_bytes, 20);
/// ```
#[macro_export]
macro_rules! push_block {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident {
            $($(#[$about:meta])* $shown:vis $member:ident: $kind:ty),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        $visible struct $name { $($(#[$about])* $shown $member: $kind),* }

        impl $crate::ops::PushBlock for $name {
            fn scalars(&self) -> Vec<$crate::ops::PushScalar> {
                let mut all = Vec::new();
                $(
                    let (name, offset) =
                        (concat!(".", stringify!($member)), ::std::mem::offset_of!(Self, $member));
                    let scalars = $crate::ops::PushField::scalars(&self.$member).into_iter();
                    all.extend(scalars.map(|scalar| scalar.within(name, offset)));
                )*
                all
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::PushBlock;

    push_block! {
        struct Inner {
            x: f32,
            y: i32,
        }
    }

    push_block! {
        struct Outer {
            n: u32,
            pairs: [Inner; 2],
            rows: [[u32; 2]; 2],
        }
    }

    #[test]
    fn names_and_offsets_are_those_of_a_kernel() {
        let pair = |x, y| Inner { x, y };
        let outer = Outer { n: 7, pairs: [pair(0.5, -1), pair(1.5, -2)], rows: [[1, 2], [3, 4]] };
        let members = outer.members();
        let shown: Vec<String> = members
            .iter()
            .map(|m| format!("{} {} {}", m.offset_bytes, m.name.as_deref().unwrap_or(""), m.value))
            .collect();
        let want = [
            "0 n 7",
            "4 pairs[0].x 0.5",
            "8 pairs[0].y -1",
            "12 pairs[1].x 1.5",
            "16 pairs[1].y -2",
            "20 rows[0] 1",
            "24 rows[1] 2",
            "28 rows[2] 3",
            "32 rows[3] 4",
        ];
        assert_eq!(shown, want);
    }
}
