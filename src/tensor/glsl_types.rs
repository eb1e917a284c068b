//! GLSL's names for element types, core and of the extensions for explicit types.

use super::Dtype;

/// Prefixes of vector and matrix types.
const PREFIXES: [(&str, Dtype); 16] = [
    ("", Dtype::F32),
    ("f32", Dtype::F32),
    ("f16", Dtype::F16),
    ("bf16", Dtype::BF16),
    ("d", Dtype::F64),
    ("f64", Dtype::F64),
    ("i8", Dtype::I8),
    ("u8", Dtype::U8),
    ("i16", Dtype::I16),
    ("u16", Dtype::U16),
    ("i", Dtype::I32),
    ("i32", Dtype::I32),
    ("u", Dtype::U32),
    ("u32", Dtype::U32),
    ("i64", Dtype::I64),
    ("u64", Dtype::U64),
];

impl Dtype {
    /// The type of the numbers that a GLSL type is made of: scalars, vectors and matrices. An array
    /// of three-element vectors has gaps in most block layouts, which this doesn't say.
    #[must_use]
    pub fn from_glsl(name: &str) -> Option<Self> {
        match name {
            "float" | "float32_t" => return Some(Self::F32),
            "float64_t" => return Some(Self::F64),
            "int32_t" => return Some(Self::I32),
            "uint32_t" => return Some(Self::U32),
            _ => {}
        }
        Self::ALL.into_iter().find(|dtype| dtype.glsl() == Some(name)).or_else(|| compound(name))
    }

    /// The GLSL scalar that stores an element; none where elements share a block.
    #[must_use]
    pub const fn glsl(self) -> Option<&'static str> {
        Some(match self {
            Self::F32 => "float",
            Self::F16 => "float16_t",
            Self::BF16 => "bfloat16_t",
            Self::F64 => "double",
            Self::I8 => "int8_t",
            Self::U8 => "uint8_t",
            Self::I16 => "int16_t",
            Self::U16 => "uint16_t",
            Self::I32 => "int",
            Self::U32 => "uint",
            Self::I64 => "int64_t",
            Self::U64 => "uint64_t",
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 | Self::Q4K => {
                return None;
            }
        })
    }
}

fn compound(name: &str) -> Option<Dtype> {
    let extent = |text: &str| matches!(text, "2" | "3" | "4");
    let (prefix, is_matrix) = match (name.split_once("vec"), name.split_once("mat")) {
        (Some((prefix, len)), _) if extent(len) => (prefix, false),
        (_, Some((prefix, size)))
            if size.split('x').count() <= 2 && size.split('x').all(extent) =>
        {
            (prefix, true)
        }
        _ => return None,
    };
    let (_, dtype) = PREFIXES.into_iter().find(|(known, _)| *known == prefix)?;
    (!is_matrix || dtype.is_float()).then_some(dtype)
}

#[cfg(test)]
mod tests {
    use super::Dtype;

    #[test]
    fn a_glsl_type_is_known_by_the_scalar_in_it() {
        for (name, dtype) in [
            ("float", Dtype::F32),
            ("vec4", Dtype::F32),
            ("f32vec4", Dtype::F32),
            ("mat2x3", Dtype::F32),
            ("float16_t", Dtype::F16),
            ("f16vec2", Dtype::F16),
            ("f16mat4", Dtype::F16),
            ("bfloat16_t", Dtype::BF16),
            ("double", Dtype::F64),
            ("float64_t", Dtype::F64),
            ("dvec3", Dtype::F64),
            ("int8_t", Dtype::I8),
            ("u8vec4", Dtype::U8),
            ("int16_t", Dtype::I16),
            ("u16vec2", Dtype::U16),
            ("int", Dtype::I32),
            ("ivec2", Dtype::I32),
            ("uint32_t", Dtype::U32),
            ("uvec4", Dtype::U32),
            ("i64vec2", Dtype::I64),
            ("uint64_t", Dtype::U64),
        ] {
            assert_eq!(Dtype::from_glsl(name), Some(dtype), "{name}");
        }
        for name in ["", "vec5", "vec", "bvec2", "imat2", "mat2x2x2", "block_q4_0", "f32", "bool"] {
            assert_eq!(Dtype::from_glsl(name), None, "{name}");
        }
    }

    #[test]
    fn the_scalar_of_each_type_is_read_back() {
        for dtype in Dtype::ALL {
            let back = dtype.glsl().map(Dtype::from_glsl);
            assert_eq!(back, (!dtype.is_quantised()).then_some(Some(dtype)));
        }
    }
}
