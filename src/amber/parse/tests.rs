//! What becomes of texts, right ones and others.

use std::path::Path;

use super::super::{Action, AmberError, Init, Script, parse};

/// One statement of every kind.
const EVERYTHING: &str = "#!amber
DEVICE_FEATURE shaderInt64
SET ENGINE_DATA fence_timeout_ms 100
VIRTUAL_FILE one.comp
#version 450
void main() {}
END
SHADER compute one GLSL TARGET_ENV spv1.3 VIRTUAL_FILE one.comp
SHADER compute two SPIRV-ASM
OpNop
END
STRUCT pair STRIDE 16
  vec3<float> a OFFSET 0
  uint8[2] b ARRAY_STRIDE 1 OFFSET 12
END
BUFFER x DATA_TYPE pair STD430 DATA 1 2 3 4 5 END
BUFFER y DATA_TYPE pair SIZE 1 FILL 0 # a comment
BUFFER z DATA_TYPE int32 SIZE 4 SERIES_FROM -1 INC_BY 2
BUFFER w DATA_TYPE int32 SIZE 4 FILE TEXT w.txt
PIPELINE compute p
  ATTACH one ENTRY_POINT main SPECIALIZE 1 AS uint32 2
  BIND BUFFER x AS push_constant
  BIND BUFFER_ARRAY y y AS storage DESCRIPTOR_SET 0 BINDING 1 DESCRIPTOR_RANGE 4 -1
  SUBGROUP one
    REQUIRED_SIZE 8
  END
END
DERIVE_PIPELINE q FROM p
END
REPEAT 2
  RUN q 1 2 3
  COPY x TO y
END
EXPECT y IDX 0 TOLERANCE 1 2% EQ 1 \\
    2 3
EXPECT x EQ_BUFFER y
EXPECT x RMSE_BUFFER y TOLERANCE 0.5
";

fn read(text: &str) -> Result<Script, AmberError> {
    parse(Path::new("s.amber"), text)
}

#[test]
fn every_statement_is_read() {
    let script = read(EVERYTHING).expect("a script");
    assert_eq!(script.unsupported, None);
    assert_eq!((script.shaders.len(), script.buffers.len()), (2, 4));
    assert_eq!(script.shaders[1].line, 9);
    assert_eq!(script.buffers[0].element.stride, 16);
    assert!(matches!(script.buffers[3].init, Init::TextFile(_)));
    let [p, q] = script.pipelines.as_slice() else { panic!("{:?}", script.pipelines) };
    assert_eq!((p.binds[0].parts.len(), p.binds[0].parts[0].range_bytes), (2, Some(4)));
    assert_eq!((&*q.name, q.push, q.spec[0].bits), ("q", Some(0), 2));
    let lines: Vec<u32> = script.commands.iter().map(|command| command.line).collect();
    assert_eq!(lines, [30, 34, 36, 37]);
    let Action::Repeat { count: 2, commands } = &script.commands[0].action else {
        panic!("{:?}", script.commands)
    };
    assert!(matches!(commands[0].action, Action::Run { pipeline: 1, groups: [1, 2, 3] }));
}

#[test]
fn a_text_cut_anywhere_ends_in_a_script_or_an_error() {
    for len in (0..EVERYTHING.len()).filter(|len| EVERYTHING.is_char_boundary(*len)) {
        // At the end of a line it may well be a whole script.
        if let Err(error) = read(&EVERYTHING[..len]) {
            assert!(error.to_string().starts_with("s.amber:"), "{error}");
        }
    }
}

#[test]
fn words_taken_out_or_put_elsewhere_end_in_a_script_or_an_error() {
    let words: Vec<&str> = EVERYTHING.split_inclusive([' ', '\n']).collect();
    let foreign =
        ["END\n", "-1 ", "99999999999999999999 ", "\u{e4}\u{0} ", "\" ", "[ ", "] ", "\\\n"];
    for at in 1..words.len() {
        let (before, after) = (words[..at].concat(), words[at + 1..].concat());
        for word in foreign.into_iter().chain(["", words[at - 1]]) {
            if let Err(error) = read(&format!("{before}{word}{after}")) {
                assert!(error.to_string().starts_with("s.amber:"), "{error}");
            }
        }
    }
}

#[test]
fn what_grows_fast_is_refused_before_it_does() {
    let mut nested = "#!amber\nSTRUCT s0\n float a\nEND\n".to_owned();
    for depth in 1..30 {
        let inner = depth - 1;
        nested += &format!("STRUCT s{depth}\n s{inner} a\n s{inner} b\nEND\n");
    }
    let error = read(&nested).expect_err("too many").to_string();
    assert!(error.contains("more than 1024 numbers"), "{error}");
    let single = nested.lines().filter(|line| !line.ends_with(" b"));
    let deep: String = single.map(|line| format!("{line}\n")).collect();
    let error = read(&deep).expect_err("too deep").to_string();
    assert!(error.contains("more than 16 nested structures"), "{error}");
    let long = "#!amber\nSTRUCT s\n float[4294967295] a\nEND\n";
    assert!(read(long).is_err());
    let mut pipelines =
        "#!amber\nSHADER compute a GLSL\nx\nEND\nPIPELINE compute p\nATTACH a\nEND\n".to_owned();
    for at in 0..1001 {
        pipelines += &format!("DERIVE_PIPELINE p{at} FROM p\nEND\n");
    }
    let error = read(&pipelines).expect_err("too many").to_string();
    assert!(error.contains("more than 1000 pipelines"), "{error}");
}

#[test]
fn an_index_beyond_everything_is_an_error() {
    let text = "#!amber\nBUFFER a DATA_TYPE int8 SIZE 2 FILL 1\nEXPECT a IDX 18446744073709551615 EQ 1 1\n";
    let error = read(text).expect_err("outside").to_string();
    assert!(error.contains("goes beyond the 2 elements"), "{error}");
}

#[test]
fn a_fill_may_be_of_any_length() {
    let script = read("#!amber\nBUFFER a DATA_TYPE double SIZE 4294967295 FILL 1\n").expect("one");
    assert_eq!(script.buffers[0].bytes(), 4_294_967_295_usize.checked_mul(8));
}
