//! A kernel's interface as data.

use serde::{Deserialize, Serialize};

use crate::tensor::Dtype;

/// Everything about a kernel that its caller has to agree with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Interface {
    /// The entry point's name.
    pub entry: String,
    /// Workgroup size along x, y, z.
    pub local_size: [LocalSize; 3],
    /// Sorted by set, binding and place in the module; several blocks may share one binding.
    pub bindings: Vec<Binding>,
    /// Sorted by offset; members of nested blocks by their dotted names.
    pub push: Vec<PushMember>,
    /// Where the last push member ends; 0 without push constants.
    pub push_bytes: u32,
    /// Sorted by id, each id once.
    pub spec_constants: Vec<SpecConstant>,
    /// Names as in the SPIR-V specification, sorted.
    pub capabilities: Vec<String>,
    /// Workgroup variables in the module's order.
    pub shared: Vec<SharedVariable>,
    /// The sum of the workgroup variables' sizes, with specialization constants at their defaults
    /// or as given to [`reflect_with`](super::reflect_with).
    pub shared_bytes: u32,
}

impl Interface {
    /// The workgroup size with these specialization constants (id, bits), the others at their
    /// defaults.
    #[must_use]
    pub fn local_size_with(&self, values: &[(u32, u32)]) -> [u32; 3] {
        self.local_size.map(|size| match size {
            LocalSize::Literal(size) => size,
            LocalSize::Spec { id, default } => {
                values.iter().find(|(other, _)| *other == id).map_or(default, |(_, bits)| *bits)
            }
        })
    }

    /// The constant with this name.
    #[must_use]
    pub fn spec_constant(&self, name: &str) -> Option<&SpecConstant> {
        self.spec_constants.iter().find(|c| c.name == name)
    }
}

/// The workgroup size along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LocalSize {
    /// Fixed in the module.
    Literal(u32),
    /// A specialization constant. For `local_size_x_id = 3` the default is the layout's own, 1
    /// unless `local_size_x` is given too, even where a `constant_id = 3` declares another: a
    /// kernel of that kind is right only if id 3 is always specialized.
    Spec {
        /// Its id.
        id: u32,
        /// Its value if it isn't specialized.
        default: u32,
    },
}

/// What kind of resource stands behind a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingKind {
    /// A storage buffer.
    Storage,
    /// A uniform buffer.
    Uniform,
    /// An image, a sampler, an acceleration structure.
    Opaque,
}

/// What a kernel declares that it does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    /// `readonly`, or a uniform buffer.
    ReadOnly,
    /// `writeonly`.
    WriteOnly,
    /// Neither; also `readonly writeonly` together, which only `.length()` fits.
    ReadWrite,
}

/// The type of a scalar, or what stands in its place.
#[expect(missing_docs, reason = "the names say it: kind and bits")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ElementType {
    F16,
    BF16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// Specialization constants only; buffers and push constants can't hold one.
    Bool,
    /// A structure.
    Struct,
    /// A type that isn't made of scalars in memory.
    Opaque,
}

impl ElementType {
    /// How a scalar is stored, where it is one that has a format.
    #[must_use]
    pub const fn dtype(self) -> Option<Dtype> {
        Some(match self {
            Self::F16 => Dtype::F16,
            Self::BF16 => Dtype::BF16,
            Self::F32 => Dtype::F32,
            Self::F64 => Dtype::F64,
            Self::I8 => Dtype::I8,
            Self::I16 => Dtype::I16,
            Self::I32 => Dtype::I32,
            Self::I64 => Dtype::I64,
            Self::U8 => Dtype::U8,
            Self::U16 => Dtype::U16,
            Self::U32 => Dtype::U32,
            Self::U64 => Dtype::U64,
            Self::Bool | Self::Struct | Self::Opaque => return None,
        })
    }

    /// Bytes of a scalar in memory; a word where it has no format.
    #[must_use]
    pub fn scalar_bytes(self) -> u32 {
        let bytes = self.dtype().map(Dtype::block_bytes);
        bytes.and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(4)
    }
}

/// A block that a kernel binds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding within the set.
    pub binding: u32,
    /// Descriptors in it: 1 unless the block itself is an array.
    pub descriptor_count: u32,
    /// Which resource.
    pub kind: BindingKind,
    /// The name of the block's last member if that is an array (`buffer X { float x[]; }` is
    /// `x`), else the block's.
    pub name: String,
    /// The name of the block's type.
    pub block: String,
    /// By the block's or all its members' qualifiers.
    pub access: Access,
    /// The scalar type of the elements: of the last member if that is an array, else of the only
    /// member; `Struct` for a block of several members without an array at its end.
    pub element: ElementType,
    /// Scalars in an element: 4 for `vec4`, 16 for `mat4`, 1 for a structure.
    pub components: u32,
    /// From one element to the next, in bytes.
    pub stride_bytes: u32,
    /// Where the elements begin, in bytes: what stands before the array in the block.
    pub offset_bytes: u32,
    /// The length of an array of fixed length, 1 for a block without array, none for `x[]`.
    pub len: Option<u32>,
    /// Whether `.length()` is asked of it, so that the bound range decides what the kernel does.
    pub uses_length: bool,
    /// Whether an atomic operation reaches it or it is declared `coherent`.
    pub atomic: bool,
}

/// A member of the push constant block.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PushMember {
    /// Its name, dotted where it lies in a nested structure.
    pub name: String,
    /// Bytes from the block's start.
    pub offset: u32,
    /// Bytes that it takes, padding within arrays included.
    pub size: u32,
    /// Its scalar type.
    pub ty: ElementType,
    /// Scalars in it, or in each element of an array.
    pub components: u32,
    /// The length where it is an array.
    pub len: Option<u32>,
}

/// A specialization constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SpecConstant {
    /// `constant_id` in GLSL.
    pub id: u32,
    /// Its name; `local_size_x` and so on for one that only a layout names, else empty.
    pub name: String,
    /// Booleans are 0 or 1; floats are their bit pattern.
    pub default_bits: u32,
    /// Its type.
    pub ty: ElementType,
}

/// A variable in shared memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SharedVariable {
    /// Its name.
    pub name: String,
    /// Its size, packed with each scalar on a multiple of its own size.
    pub bytes: u32,
}
