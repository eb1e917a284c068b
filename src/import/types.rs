//! GLSL's names of types.

use crate::spirv::ElementType;

/// Scalars, with the prefixes of vectors and matrices made of them.
const SCALARS: [(ElementType, &[&str], &[&str]); 13] = [
    (ElementType::F32, &["float", "float32_t"], &["vec", "f32vec", "mat", "f32mat"]),
    (ElementType::F16, &["float16_t"], &["f16vec", "f16mat"]),
    (ElementType::BF16, &["bfloat16_t"], &["bf16vec"]),
    (ElementType::F64, &["double", "float64_t"], &["dvec", "f64vec", "dmat", "f64mat"]),
    (ElementType::I8, &["int8_t"], &["i8vec"]),
    (ElementType::U8, &["uint8_t"], &["u8vec"]),
    (ElementType::I16, &["int16_t"], &["i16vec"]),
    (ElementType::U16, &["uint16_t"], &["u16vec"]),
    (ElementType::I32, &["int", "int32_t"], &["ivec", "i32vec"]),
    (ElementType::U32, &["uint", "uint32_t"], &["uvec", "u32vec"]),
    (ElementType::I64, &["int64_t"], &["i64vec"]),
    (ElementType::U64, &["uint64_t"], &["u64vec"]),
    (ElementType::Bool, &["bool"], &[]),
];

/// The scalar that a GLSL type is made of.
pub(super) fn scalar_of(name: &str) -> Option<ElementType> {
    let extent =
        |rest: &str| matches!(rest.as_bytes(), [b'2'..=b'4'] | [b'2'..=b'4', b'x', b'2'..=b'4']);
    let made_of = |prefix: &&str| name.strip_prefix(*prefix).is_some_and(extent);
    let found = SCALARS
        .iter()
        .find(|(_, scalars, prefixes)| scalars.contains(&name) || prefixes.iter().any(made_of));
    found.map(|(ty, ..)| *ty)
}

/// The name of a scalar or a vector; what is neither is counted.
pub(super) fn glsl_name(ty: ElementType, components: u32) -> String {
    let Some((_, scalars, prefixes)) = SCALARS.iter().find(|(scalar, ..)| *scalar == ty) else {
        return ty.to_string();
    };
    match (components, prefixes.first()) {
        (1, _) => scalars[0].to_owned(),
        (2..=4, Some(prefix)) => format!("{prefix}{components}"),
        _ => format!("{components} x {}", scalars[0]),
    }
}

/// Bytes of a scalar in memory; none for what isn't one.
pub(super) fn bytes(ty: ElementType) -> Option<u32> {
    match ty {
        ElementType::I8 | ElementType::U8 => Some(1),
        ElementType::F16 | ElementType::BF16 | ElementType::I16 | ElementType::U16 => Some(2),
        ElementType::F32 | ElementType::I32 | ElementType::U32 => Some(4),
        ElementType::F64 | ElementType::I64 | ElementType::U64 => Some(8),
        ElementType::Bool | ElementType::Struct | ElementType::Opaque => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{glsl_name, scalar_of};
    use crate::spirv::ElementType;

    #[test]
    fn names_are_read_and_written() {
        for (name, ty) in [
            ("float", ElementType::F32),
            ("mat2x4", ElementType::F32),
            ("f16vec4", ElementType::F16),
            ("uvec2", ElementType::U32),
            ("u16vec4", ElementType::U16),
            ("bfloat16_t", ElementType::BF16),
        ] {
            assert_eq!(scalar_of(name), Some(ty), "{name}");
        }
        for name in ["vec5", "vec", "block_q4_0", "1", "f16vec4x"] {
            assert_eq!(scalar_of(name), None, "{name}");
        }
        assert_eq!(glsl_name(ElementType::F16, 4), "f16vec4");
        assert_eq!(glsl_name(ElementType::U32, 1), "uint");
        assert_eq!(glsl_name(ElementType::F32, 8), "8 x float");
    }
}
