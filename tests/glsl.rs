//! Real kernels through a real compiler: errors, the cache, and what reflection finds.
//!
//! Without the feature `glsl` these tests need the program `glslc` on the `PATH`.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use rspirv::dr::Operand;
use rspirv::spirv::Op;
use vklab::glsl::{
    Backend, Build, CacheCounts, Compiler, CompilerOptions, Folders, GlslError, Includes, Library,
    Modules, Source, Target,
};
use vklab::spirv::{ElementType, LocalSize, reflect};

fn kernel(text: &str) -> Build {
    Build::new(Source::new("k.comp", text.to_owned()))
}

fn compile_with(build: &Build, includes: &dyn Includes) -> Result<Modules, GlslError> {
    Compiler::new(CompilerOptions::default())?.compile(build, includes)
}

fn compile(text: &str) -> Result<Modules, GlslError> {
    compile_with(&kernel(text), &Library)
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(root.path().join(name), text).unwrap();
    }
    root
}

const EMPTY: &str = "#version 450\nlayout(local_size_x = 8) in;\nvoid main() {}\n";

#[test]
fn both_modules_are_for_vulkan_1_1() {
    let modules = compile(EMPTY).unwrap();
    for module in [&modules.debug, &modules.optimized] {
        assert_eq!(module[..2], [0x0723_0203, 0x0001_0300]);
    }
    assert!(modules.debug.len() > modules.optimized.len());
}

#[test]
fn a_newer_target_is_a_declared_need() {
    for (target, version) in [(Target::Vulkan12, 0x0001_0500), (Target::Vulkan13, 0x0001_0600)] {
        let mut build = kernel(EMPTY);
        build.target = target;
        let modules = compile_with(&build, &Library).unwrap();
        assert_eq!(modules.debug[1], version);
        let interface = reflect(&modules.debug).unwrap();
        assert_eq!(interface.local_size[0], LocalSize::Literal(8));
    }
}

#[test]
fn an_error_names_the_file_and_line_of_an_include() {
    let root = folder(&[("inc.glsl", "float twice(float v)\n{\n    return w * 2.0;\n}\n")]);
    let text = "#version 450\n#include \"inc.glsl\"\nlayout(local_size_x = 8) in;\n\
                void main() {\n    float a = b;\n}\n";
    let includes = Folders::new([root.path().to_path_buf()]);
    let error = compile_with(&kernel(text), &includes).unwrap_err();
    let inc = root.path().join("inc.glsl").display().to_string();
    let GlslError::Compile { diagnostics } = error else {
        panic!("{error}");
    };
    assert_eq!(
        diagnostics[0].to_string(),
        format!("{inc}:3: error: 'w' : undeclared identifier\n    return w * 2.0;")
    );
    let last = diagnostics.last().unwrap();
    assert_eq!(last.to_string(), "k.comp:5: error: 'b' : undeclared identifier\n    float a = b;");
}

#[test]
fn the_debug_module_knows_the_lines_of_every_file() {
    let root = folder(&[("inc.glsl", "\nfloat twice(float v) {\n    return v * 2.0;\n}\n")]);
    let text = "#version 450\n#include \"inc.glsl\"\nlayout(local_size_x = 8) in;\n\
                layout(binding = 0) buffer X { float x[]; };\n\
                void main() {\n    x[0] = twice(x[1]);\n}\n";
    let includes = Folders::new([root.path().to_path_buf()]);
    let modules = compile_with(&kernel(text), &includes).unwrap();
    let module = rspirv::dr::load_words(&modules.debug).unwrap();
    let mut files = HashMap::new();
    let mut lines = HashSet::new();
    for instruction in module.all_inst_iter() {
        match (instruction.class.opcode, instruction.operands.as_slice()) {
            (Op::String, [Operand::LiteralString(name)]) => {
                files.insert(instruction.result_id.unwrap(), name.clone());
            }
            (Op::Line, [Operand::IdRef(file), Operand::LiteralBit32(line), ..]) => {
                lines.insert((files[file].clone(), *line));
            }
            _ => {}
        }
    }
    let inc = root.path().join("inc.glsl").display().to_string();
    assert!(lines.contains(&(inc, 3)), "{lines:?}");
    assert!(lines.contains(&("k.comp".to_owned(), 6)), "{lines:?}");
}

#[test]
fn faults_that_no_line_can_be_blamed_for_name_the_file() {
    for text in [
        "#version 999\nvoid main() {}\n",
        "#version 450\nlayout(local_size_x = 8) in;\nfloat g();\nvoid main() { g(); }\n",
    ] {
        let error = compile(text).unwrap_err();
        assert!(matches!(error, GlslError::Compile { .. }), "{error:?}");
        assert!(error.to_string().starts_with("k.comp"), "{error}");
    }
}

#[test]
fn an_include_that_no_branch_reaches_may_be_missing() {
    let guarded = |condition: &str| {
        format!(
            "#version 450\n#if {condition}\n#include \"absent.glsl\"\n#endif\n\
             layout(local_size_x = 8) in;\nvoid main() {{}}\n"
        )
    };
    compile(&guarded("0")).unwrap();
    let error = compile(&guarded("1")).unwrap_err();
    let GlslError::MissingInclude { name, site, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((name.as_str(), site.file.as_str(), site.line), ("absent.glsl", "k.comp", 3));
}

#[test]
fn a_cycle_behind_guards_is_still_a_cycle() {
    let guarded = |name: &str, other: &str| {
        format!("#ifndef {name}\n#define {name}\n#include \"{other}\"\n#endif\n")
    };
    let (a, b) = (guarded("A", "b.glsl"), guarded("B", "a.glsl"));
    let root = folder(&[("a.glsl", &a), ("b.glsl", &b)]);
    let text = "#version 450\n#include \"a.glsl\"\nlayout(local_size_x = 8) in;\nvoid main() {}\n";
    let includes = Folders::new([root.path().to_path_buf()]);
    let error = compile_with(&kernel(text), &includes).unwrap_err();
    let GlslError::IncludeCycle { sites } = &error else {
        panic!("{error}");
    };
    let lines: Vec<u32> = sites.iter().map(|site| site.line).collect();
    assert_eq!(lines, [3, 3], "{error}");
}

#[test]
fn a_guarded_file_may_be_included_twice() {
    let guarded = "#ifndef A\n#define A\nfloat a() { return 1.0; }\n#endif\n";
    let root = folder(&[("a.glsl", guarded), ("b.glsl", "#include \"a.glsl\"\n")]);
    let text = "#version 450\n#include \"a.glsl\"\n#include \"b.glsl\"\n\
                layout(local_size_x = 8) in;\nvoid main() { a(); }\n";
    compile_with(&kernel(text), &Folders::new([root.path().to_path_buf()])).unwrap();
}

#[test]
fn preamble_and_defines_reach_the_kernel_and_its_extensions_stay_legal() {
    let text = "#version 450\n\
                #extension GL_EXT_shader_16bit_storage : require\n\
                #extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n\
                layout(local_size_x = WG) in;\n\
                layout(binding = 0) buffer X { TYPE x[]; };\n\
                void main() { x[0] = TYPE(half_of(3.0)); }\n";
    let mut build = kernel(text).define("WG", "32").define("TYPE", "float16_t");
    build.preamble = Some(Source::new(
        "p.glsl",
        "#extension GL_KHR_shader_subgroup_basic : require\nfloat half_of(float v) { return v / 2.0; }\n",
    ));
    let interface = reflect(&compile_with(&build, &Library).unwrap().debug).unwrap();
    assert_eq!(interface.local_size[0], LocalSize::Literal(32));
    assert_eq!(interface.bindings[0].element, ElementType::F16);

    build.defines.pop();
    let error = compile_with(&build, &Library).unwrap_err().to_string();
    assert!(error.starts_with("k.comp:5: error: "), "{error}");
}

#[test]
fn what_no_compiler_takes_is_refused() {
    for name in ["", "1A", "A B", "A=1"] {
        let error = compile_with(&kernel(EMPTY).define(name, "1"), &Library).unwrap_err();
        assert!(matches!(error, GlslError::InvalidDefine { .. }), "{error}");
    }
    let error = compile_with(&kernel(EMPTY).define("A", "1\n2"), &Library).unwrap_err();
    assert!(matches!(error, GlslError::InvalidDefine { .. }), "{error}");
    let error = compile("#version 450\nvoid main() {}\0").unwrap_err();
    assert!(matches!(error, GlslError::Io { .. }), "{error}");
}

#[test]
fn an_absent_program_is_an_error_that_says_what_to_install() {
    let compiler = Compiler::new(CompilerOptions {
        backend: Backend::Glslc("vklab-no-such-glslc".into()),
        cache: None,
    });
    let error = compiler.unwrap().compile(&kernel(EMPTY), &Library).unwrap_err();
    assert!(matches!(error, GlslError::NoCompiler { .. }), "{error}");
    assert!(error.to_string().contains("install glslc"), "{error}");
}

/// A program that answers as glslc does; it stands in where no glslc is installed.
#[cfg(unix)]
#[test]
fn a_program_is_given_the_text_and_its_answer_is_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let script = "#!/bin/sh\n\
        [ \"$1\" = --version ] && { echo 'fake 1'; exit 0; }\n\
        text=$(cat)\n\
        case \"$text\" in *broken*) echo '<stdin>:4: error: broken' >&2; exit 1;; esac\n\
        printf '\\003\\002\\043\\007\\000\\003\\001\\000'\n";
    let root = folder(&[("glslc", script)]);
    let program = root.path().join("glslc");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let compiler = Compiler::new(CompilerOptions {
        backend: Backend::Glslc(program),
        cache: Some(root.path().join("cache")),
    })
    .unwrap();
    let modules = compiler.compile(&kernel(EMPTY), &Library).unwrap();
    assert_eq!(modules.debug, [0x0723_0203, 0x0001_0300]);
    let broken = kernel("#version 450\n\n\nbroken\n");
    let error = compiler.compile(&broken, &Library).unwrap_err();
    assert_eq!(error.to_string(), "k.comp:4: error: broken\n    broken");
}

fn cached(folder: &Path) -> Compiler {
    Compiler::new(CompilerOptions { backend: Backend::Auto, cache: Some(folder.to_path_buf()) })
        .unwrap()
}

#[test]
fn the_cache_serves_what_is_the_same_and_only_that() {
    let root = tempfile::tempdir().unwrap();
    let compiler = cached(root.path());
    let first = compiler.compile(&kernel(EMPTY), &Library).unwrap();
    let again = compiler.compile(&kernel(EMPTY), &Library).unwrap();
    assert_eq!(first, again);
    let other = cached(root.path());
    assert_eq!(other.compile(&kernel(EMPTY), &Library).unwrap(), first);
    assert_eq!(other.cache_counts().hit_count, 1);

    let mut newer = kernel(EMPTY);
    newer.target = Target::Vulkan12;
    let mut renamed = kernel(EMPTY);
    renamed.source.path = "other.comp".into();
    let changed = [
        kernel(EMPTY).define("A", "1"),
        kernel(EMPTY).define("A", "2"),
        kernel(&EMPTY.replace("= 8", "= 9")),
        newer,
        renamed,
    ];
    for build in &changed {
        compiler.compile(build, &Library).unwrap();
    }
    let expected = CacheCounts { hit_count: 1, miss_count: 6, ..CacheCounts::default() };
    assert_eq!(compiler.cache_counts(), expected);
}

#[test]
fn a_damaged_entry_is_compiled_anew() {
    let root = tempfile::tempdir().unwrap();
    let compiler = cached(root.path());
    let first = compiler.compile(&kernel(EMPTY), &Library).unwrap();
    let entry = fs::read_dir(root.path()).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&entry).unwrap();
    let mut altered = whole.clone();
    *altered.last_mut().unwrap() ^= 1;
    for damaged in [&whole[..whole.len() / 2], &altered, b"other"] {
        fs::write(&entry, damaged).unwrap();
        assert_eq!(compiler.compile(&kernel(EMPTY), &Library).unwrap(), first);
        assert_eq!(fs::read(&entry).unwrap(), whole, "rewritten");
    }
    assert_eq!(compiler.cache_counts().damaged_count, 3);
}

#[test]
fn a_cache_that_cannot_be_written_costs_only_time() {
    let root = folder(&[("file", "")]);
    let compiler = cached(&root.path().join("file").join("cache"));
    compiler.compile(&kernel(EMPTY), &Library).unwrap();
    assert_eq!(compiler.cache_counts().unwritten_count, 1);
}
