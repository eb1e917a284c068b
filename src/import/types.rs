//! GLSL's names of what reflection found.

use crate::spirv::ElementType;
use crate::tensor::Dtype;

/// The name of a scalar or a vector; what is neither is counted.
pub(super) fn glsl_name(ty: ElementType, components: u32) -> String {
    let Some(scalar) = ty.dtype().and_then(Dtype::glsl) else { return ty.to_string() };
    let prefix = match ty {
        ElementType::F32 => "",
        ElementType::F64 => "d",
        ElementType::I32 => "i",
        ElementType::U32 => "u",
        _ => &ty.to_string(),
    };
    match components {
        1 => scalar.to_owned(),
        2..=4 => format!("{prefix}vec{components}"),
        _ => format!("{components} x {scalar}"),
    }
}

#[cfg(test)]
mod tests {
    use super::glsl_name;
    use crate::spirv::ElementType;

    #[test]
    fn vectors_are_named_as_glsl_does_and_matrices_counted() {
        assert_eq!(glsl_name(ElementType::F16, 4), "f16vec4");
        assert_eq!(glsl_name(ElementType::F32, 3), "vec3");
        assert_eq!(glsl_name(ElementType::U8, 2), "u8vec2");
        assert_eq!(glsl_name(ElementType::U32, 1), "uint");
        assert_eq!(glsl_name(ElementType::F32, 8), "8 x float");
        assert_eq!(glsl_name(ElementType::Struct, 1), ElementType::Struct.to_string());
    }
}
