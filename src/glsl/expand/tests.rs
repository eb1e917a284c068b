//! The expander alone, with no compiler.

use std::collections::BTreeMap;

use super::flatten;
use crate::glsl::{Build, GlslError, Includes, Source};

/// Files in memory, found by their whole name.
struct Memory(BTreeMap<&'static str, String>);

impl Memory {
    fn new(files: &[(&'static str, &str)]) -> Self {
        Self(files.iter().map(|(n, t)| (*n, (*t).to_owned())).collect())
    }
}

impl Includes for Memory {
    fn find(&self, name: &str, _from: &str) -> Result<Option<Source>, GlslError> {
        let entry = self.0.get_key_value(name);
        Ok(entry.map(|(name, text)| Source::new(*name, text.clone())))
    }

    fn places(&self, _from: &str) -> Vec<String> {
        vec!["memory".to_owned()]
    }

    fn names(&self, _from: &str) -> Vec<String> {
        self.0.keys().map(|name| (*name).to_owned()).collect()
    }
}

fn build(text: &str) -> Build {
    Build::new(Source::new("k.comp", text.to_owned()))
}

fn expand(text: &str, files: &[(&'static str, &str)]) -> Result<String, GlslError> {
    flatten(&build(text), &Memory::new(files)).map(|f| f.text)
}

const HEAD: &str = "#version 450\n#extension GL_GOOGLE_cpp_style_line_directive : require\n";

#[test]
fn an_include_is_framed_by_line_directives() {
    let text =
        expand("#version 450\n#include \"a.glsl\"\nint b;", &[("a.glsl", "int a;")]).unwrap();
    let rest = "#line 2 \"k.comp\"\n#line 1 \"a.glsl\"\nint a;\n#line 3 \"k.comp\"\nint b;\n";
    assert_eq!(text, format!("{HEAD}{rest}"));
}

#[test]
fn lines_behind_a_skipped_include_are_still_counted() {
    let text = expand(
        "#version 450\n#if 0\n#include \"a.glsl\"\n#else\nint b;\n#endif\nint c;\n#if 1\n#endif\n",
        &[("a.glsl", "int a;")],
    )
    .unwrap();
    let rest = "#line 2 \"k.comp\"\n#if 0\n#line 1 \"a.glsl\"\nint a;\n#line 4 \"k.comp\"\n#else\n\
                #line 5 \"k.comp\"\nint b;\n#endif\n#line 7 \"k.comp\"\nint c;\n#if 1\n#endif\n";
    assert_eq!(text, format!("{HEAD}{rest}"));
}

#[test]
fn lines_above_the_version_are_kept_above_it() {
    let text = expand("\u{feff}// what\r\n\r\n#version 450\r\nint b;\r\n", &[]).unwrap();
    let rest = "#line 4 \"k.comp\"\nint b;\n";
    assert_eq!(text, format!("// what\n\n{HEAD}{rest}"));
}

#[test]
fn the_preamble_follows_the_extensions_of_the_head() {
    let mut build = build("#version 450\n// head\n#extension E : require\n\n#ifdef X\n#endif\n");
    build.preamble = Some(Source::new("p.glsl", "#version 460\n#define X"));
    let text = flatten(&build, &Memory::new(&[])).unwrap().text;
    let rest = "#line 2 \"k.comp\"\n// head\n#extension E : require\n\n#line 1 \"p.glsl\"\n\n\
                #define X\n#line 5 \"k.comp\"\n#ifdef X\n#endif\n";
    assert_eq!(text, format!("{HEAD}{rest}"));
}

#[test]
fn the_preamble_can_bring_the_version() {
    let mut build = build("int b;\n");
    build.preamble = Some(Source::new("p.glsl", "#version 450\nint a;\n"));
    let text = flatten(&build, &Memory::new(&[])).unwrap().text;
    let rest = "#line 1 \"k.comp\"\n#line 1 \"p.glsl\"\n\nint a;\n#line 1 \"k.comp\"\nint b;\n";
    assert_eq!(text, format!("{HEAD}{rest}"));
    build.preamble = None;
    let error = flatten(&build, &Memory::new(&[])).unwrap_err();
    assert!(matches!(error, GlslError::MissingVersion { .. }), "{error}");
}

#[test]
fn a_comment_around_an_include_stays_a_comment() {
    let text = "#version 450\n/* x\n*/ #include \"a.glsl\" /* y\nz */ int b;\n";
    let text = expand(text, &[("a.glsl", "int a;\n")]).unwrap();
    let rest = "#line 2 \"k.comp\"\n/* x\n*/\n#line 1 \"a.glsl\"\nint a;\n#line 3 \"k.comp\"\n/*\n\
                z */ int b;\n";
    assert_eq!(text, format!("{HEAD}{rest}"));
}

#[test]
fn a_file_that_ends_in_a_backslash_swallows_nothing() {
    let text = expand("#version 450\n#include \"a.glsl\"\n", &[("a.glsl", "#define A \\")]);
    assert!(text.unwrap().contains("#define A \\\n\n#line 3 \"k.comp\"\n"));
}

#[test]
fn pragma_once_counts() {
    let text = "#version 450\n#include \"a.glsl\"\n#include \"a.glsl\"\n";
    let text = expand(text, &[("a.glsl", "#pragma once\nint a;\n")]).unwrap();
    assert_eq!(text.matches("int a;").count(), 1);
}

#[test]
fn a_missing_include_names_its_line_and_the_nearest_file() {
    let files = [("a.glsl", "\n#include \"reduse.glsl\"\n"), ("reduce.glsl", "")];
    let error = expand("#version 450\n#include \"a.glsl\"\n", &files).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.glsl:2: error: include \"reduse.glsl\" not found\n    #include \"reduse.glsl\"\n  \
         looked in memory\n  did you mean \"reduce.glsl\"?"
    );
}

#[test]
fn a_cycle_names_every_include_on_it() {
    let files = [
        ("a.glsl", "#include \"b.glsl\"\n"),
        ("b.glsl", "int b;\n#include \"c.glsl\"\n"),
        ("c.glsl", "#include <b.glsl>\n"),
    ];
    let error = expand("#version 450\n#include \"a.glsl\"\n", &files).unwrap_err();
    assert_eq!(
        error.to_string(),
        "include cycle:\n  b.glsl:2: #include \"c.glsl\"\n  c.glsl:1: #include <b.glsl>"
    );
}

#[test]
fn inside_a_condition_an_include_error_waits_for_the_preprocessor() {
    let text = "#version 450\n#ifdef X\n#include \"absent.glsl\"\n#endif\n";
    let flat = flatten(&build(text), &Memory::new(&[])).unwrap();
    let placeholder = "#error vklab deferred include 0";
    assert!(flat.text.contains(&format!("#ifdef X\n{placeholder}\n")));
    let message = "'#error' : vklab deferred include 0";
    let error = flat.deferred(message).unwrap();
    assert!(error.to_string().starts_with("k.comp:3: error: include"), "{error}");
    assert_eq!(flat.deferred("'#error' : vklab deferred include 7"), None);
    assert_eq!(flat.deferred("'#error' : other"), None);
}

#[test]
fn a_comment_must_end_in_its_file() {
    let files = [("a.glsl", "int a;\n/* open\n\n")];
    let error = expand("#version 450\n#include \"a.glsl\"\n", &files).unwrap_err();
    assert_eq!(error.to_string(), "a.glsl:2: error: unterminated comment\n    /* open");
}

#[test]
fn includes_that_double_are_stopped() {
    let names: Vec<String> = (0..30).map(|i| format!("f{i}")).collect();
    let mut files = BTreeMap::new();
    for pair in names.windows(2) {
        let twice = format!("#include \"{0}\"\n#include \"{0}\"\n", pair[1]);
        files.insert(pair[0].clone(), twice);
    }
    files.insert("f29".to_owned(), "int a;\n".to_owned());
    struct Owned(BTreeMap<String, String>);
    impl Includes for Owned {
        fn find(&self, name: &str, _from: &str) -> Result<Option<Source>, GlslError> {
            let text = self.0.get(name);
            Ok(text.map(|text| Source::new(name.to_owned(), text.clone())))
        }
        fn places(&self, _from: &str) -> Vec<String> {
            Vec::new()
        }
        fn names(&self, _from: &str) -> Vec<String> {
            Vec::new()
        }
    }
    let kernel = build("#version 450\n#include \"f0\"\n");
    let error = flatten(&kernel, &Owned(files)).unwrap_err();
    assert!(matches!(error, GlslError::TooLarge { .. }), "{error}");
}

#[test]
fn ever_new_spellings_of_one_file_are_a_cycle() {
    struct Spiral;
    impl Includes for Spiral {
        fn find(&self, name: &str, from: &str) -> Result<Option<Source>, GlslError> {
            Ok(Some(Source::new(format!("{from}/{name}"), "#include \"x\"\n")))
        }
        fn places(&self, _from: &str) -> Vec<String> {
            Vec::new()
        }
        fn names(&self, _from: &str) -> Vec<String> {
            Vec::new()
        }
    }
    let error = flatten(&build("#version 450\n#include \"x\"\n"), &Spiral).unwrap_err();
    assert!(matches!(error, GlslError::IncludeCycle { .. }));
}
