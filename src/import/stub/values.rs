//! Values and keys as TOML writes them.

use half::f16;
use toml::Value;

use crate::spirv::{ElementType, SpecConstant};

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// A key, in quotes only where it needs them; a dotted name is one key and not a path.
pub(super) fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { quoted(key) }
}

/// The values of a define: one, or a list that makes a matrix.
pub(super) fn define(values: &[Option<String>]) -> String {
    let shown: Vec<String> = values.iter().map(|value| define_value(value.as_deref())).collect();
    match shown.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

fn define_value(value: Option<&str>) -> String {
    match value {
        None => "false".to_owned(),
        Some("") => "true".to_owned(),
        // Only what reads back as the same text may become a number: not 064, not 0x40.
        Some(text) => match text.parse::<i64>() {
            Ok(number) if number.to_string() == text => number.to_string(),
            _ => quoted(text),
        },
    }
}

/// The default of a specialization constant.
pub(super) fn spec_value(constant: &SpecConstant) -> String {
    let bits = constant.default_bits;
    match constant.ty {
        ElementType::Bool => (bits != 0).to_string(),
        ElementType::I8 | ElementType::I16 | ElementType::I32 => bits.cast_signed().to_string(),
        ElementType::F32 => float(f32::from_bits(bits)),
        ElementType::F16 => match u16::try_from(bits) {
            Ok(bits) => float(f16::from_bits(bits).to_f32()),
            Err(_) => bits.to_string(),
        },
        _ => bits.to_string(),
    }
}

/// The shortest digits that read back as the same f32, written so that TOML knows a float.
fn float(value: f32) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

#[cfg(test)]
mod tests {
    use super::{bare, define, quoted, spec_value};
    use crate::spirv::{ElementType, SpecConstant};

    /// Read back by the TOML parser.
    fn read(text: &str) -> toml::Value {
        let table: toml::Table = format!("x = {text}").parse().expect(text);
        table["x"].clone()
    }

    #[test]
    fn texts_read_back() {
        for text in ["a", "a\"b", "C:\\x", "tab\there", "new\nline", "it's \"both\"", ""] {
            assert_eq!(read(&quoted(text)).as_str(), Some(text));
        }
    }

    #[test]
    fn keys_are_quoted_where_they_must_be() {
        assert_eq!(bare("A_TYPE"), "A_TYPE");
        assert_eq!(bare("p.x"), "\"p.x\"");
    }

    #[test]
    fn defines_keep_their_text() {
        let shown = |values: &[Option<&str>]| {
            define(&values.iter().map(|v| v.map(str::to_owned)).collect::<Vec<_>>())
        };
        assert_eq!(shown(&[Some("64")]), "64");
        assert_eq!(shown(&[Some("064")]), "\"064\"");
        assert_eq!(shown(&[Some("+1")]), "\"+1\"");
        assert_eq!(shown(&[Some("")]), "true");
        assert_eq!(shown(&[None, Some("float")]), "[false, \"float\"]");
        assert!(read(&shown(&[None, Some("1"), Some("x")])).is_array());
    }

    #[test]
    fn defaults_read_back() {
        let shown = |ty, default_bits| {
            let name = String::new();
            spec_value(&SpecConstant { id: 0, name, default_bits, ty })
        };
        assert_eq!(shown(ElementType::I32, u32::MAX), "-1");
        assert_eq!(shown(ElementType::U32, u32::MAX), "4294967295");
        assert_eq!(shown(ElementType::Bool, 1), "true");
        for value in [1.0_f32, 1e-5, 3e38, f32::INFINITY, f32::NEG_INFINITY, -0.0] {
            let text = shown(ElementType::F32, value.to_bits());
            assert_eq!(read(&text).as_float(), Some(text.parse::<f64>().unwrap()), "{text}");
            assert_eq!(text.parse::<f32>().unwrap().to_bits(), value.to_bits());
        }
        assert!(read(&shown(ElementType::F32, f32::NAN.to_bits())).is_float());
        assert_eq!(shown(ElementType::F16, 0x3c00), "1.0");
    }
}
