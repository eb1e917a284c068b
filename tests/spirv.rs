//! What reflection finds in real kernels, through a real compiler.
//!
//! Without the feature `glsl` these tests need the program `glslc` on the `PATH`.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use vklab::glsl::{Build, Compiler, CompilerOptions, Library, Modules, Source};
use vklab::glsl::{GlslError, Includes};
use vklab::spirv::{
    Access, ElementType, Interface, Touch, Touched, reflect, reflect_with, touched,
};

fn compile(text: &'static str) -> Modules {
    let compiler = Compiler::new(CompilerOptions::default()).unwrap();
    let build = Build::new(Source::new("k.comp", text));
    compiler.compile(&build, &Library).unwrap()
}

fn reflected(text: &'static str) -> Interface {
    reflect(&compile(text).debug).unwrap()
}

const RICH: &str = "#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
layout(constant_id = 0) const uint WG = 64;
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 3) const float EPS = 1e-5;
layout(constant_id = 4) const bool WIDE = true;
layout(constant_id = 5) const int SHIFT = -2;
struct Pair { float lo; uint hi; };
layout(binding = 0) readonly buffer A { float16_t a[]; };
layout(binding = 0) readonly buffer A4 { f16vec4 a4[]; };
layout(binding = 1) buffer B { uint n; vec4 b[]; };
layout(set = 1, binding = 0) writeonly buffer C { float y[]; } c;
layout(set = 1, binding = 1) coherent buffer D { Pair pairs[8]; } d;
layout(set = 1, binding = 2) buffer E { mat4 m; uint k; } e;
layout(set = 1, binding = 3) uniform U { vec3 u; };
layout(push_constant) uniform P {
    uint n; float eps; ivec2 k; uint xs[3]; Pair pair; mat2x3 m;
} p;
shared float tile[WG * 2 + 1];
shared uint perAxis[gl_WorkGroupSize.x * gl_WorkGroupSize.y];
shared uint counter;
void main() {
    uint i = gl_GlobalInvocationID.x;
    tile[gl_LocalInvocationID.x] = float(a[i]) + float(a4[i].x) + e.m[0][0] + u.x;
    perAxis[gl_LocalInvocationIndex] = counter;
    barrier();
    atomicAdd(n, uint(a.length()));
    if (i < p.n && WIDE) c.y[i] = tile[0] + b[i].x + EPS + d.pairs[0].lo + float(SHIFT);
}
";

#[test]
fn an_interface_reads_as_its_source() {
    assert_eq!(
        reflected(RICH).to_string(),
        "entry main
local size id 0 (default 1) x 2 x 1
set 0 binding 0: read f16 a[] in A, offset 0 stride 2, length
set 0 binding 0: read f16x4 a4[] in A4, offset 0 stride 8
set 0 binding 1: read-write f32x4 b[] in B, offset 16 stride 16, atomic
set 1 binding 0: write f32 y[] in C, offset 0 stride 4
set 1 binding 1: read-write struct pairs[8] in D, offset 0 stride 8, atomic
set 1 binding 2: read-write struct E in E, offset 0 stride 68
set 1 binding 3: uniform read f32x3 U in U, offset 0 stride 12
push 80 bytes
  offset 0 size 4: u32 n
  offset 4 size 4: f32 eps
  offset 8 size 8: i32x2 k
  offset 16 size 12: u32 xs[3]
  offset 28 size 4: f32 pair.lo
  offset 32 size 4: u32 pair.hi
  offset 48 size 32: f32x6 m
specialization constants
  id 0: u32 WG = 64
  id 3: f32 EPS = 1e-5
  id 4: bool WIDE = true
  id 5: i32 SHIFT = -2
shared 528 bytes
  tile: 516 bytes
  perAxis: 8 bytes
  counter: 4 bytes
capabilities Shader StorageBuffer16BitAccess
"
    );
}

#[test]
fn shared_memory_follows_the_specialization() {
    let debug = compile(RICH).debug;
    let bytes = |wg| reflect_with(&debug, &[(0, wg)]).unwrap().shared_bytes;
    assert_eq!(bytes(64), (64 * 2 + 1) * 4 + 64 * 2 * 4 + 4);
    assert_eq!(bytes(128), (128 * 2 + 1) * 4 + 128 * 2 * 4 + 4);
}

#[test]
fn the_optimised_module_has_the_same_layout() {
    let interface = reflect(&compile(RICH).optimized).unwrap();
    let layout = |i: &Interface| -> Vec<(u32, u32, Access, ElementType, u32)> {
        let of =
            |b: &vklab::spirv::Binding| (b.set, b.binding, b.access, b.element, b.stride_bytes);
        i.bindings.iter().map(of).collect()
    };
    let debug = layout(&reflected(RICH));
    for binding in layout(&interface) {
        assert!(debug.contains(&binding), "{binding:?}");
    }
}

#[test]
fn an_interface_survives_json() {
    let interface = reflected(RICH);
    let text = serde_json::to_string(&interface).unwrap();
    assert_eq!(serde_json::from_str::<Interface>(&text).unwrap(), interface);
}

#[test]
fn a_real_module_altered_anywhere_is_never_a_panic() {
    let words = compile(RICH).debug;
    let mut error_count = 0;
    for at in 0..words.len() {
        for bit in [0, 1, 2, 3, 5, 8, 16, 17, 31] {
            let mut altered = words.clone();
            altered[at] ^= 1 << bit;
            error_count += usize::from(reflect(&altered).is_err());
            let _ = touched(&altered);
        }
    }
    assert!(error_count > words.len(), "{error_count} errors");
}

/// One include, `store.glsl`, which writes line 2 and calls through a function.
struct OneInclude;

const INCLUDED: &str = "// Doubles what it is given.
void twice(inout float v) { v *= 2.0; }
void put(uint at, float v) {
    y[at] = v;
}
";

impl Includes for OneInclude {
    fn find(&self, name: &str, _from: &str) -> Result<Option<Source>, GlslError> {
        Ok((name == "store.glsl").then(|| Source::new("include/store.glsl", INCLUDED)))
    }

    fn names(&self, _from: &str) -> Vec<String> {
        vec!["store.glsl".to_owned()]
    }

    fn places(&self, _from: &str) -> Vec<String> {
        vec!["include".to_owned()]
    }
}

const TOUCHING: &str = "#version 450
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 8) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(set = 1, binding = 0) buffer Z { uint count; vec4 z[]; } out_z;
#include \"store.glsl\"
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= SIZE) {
        return;
    }
    float sum =
        x[i]
        + 1.0;
    for (uint k = 0; k < 4; k++) {
        sum += x[k];
    }
    put(i, sum);
    twice(y[i]);
    atomicAdd(out_z.count, 1u);
    out_z.z[i]
        .y = sum;
}
";

fn touching(preamble: Option<Source>) -> Vec<Touched> {
    let compiler = Compiler::new(CompilerOptions::default()).unwrap();
    let source = Source::new("dir/k.comp", TOUCHING);
    let build = Build { preamble, ..Build::new(source) };
    let build = if build.preamble.is_none() { build.define("SIZE", "64") } else { build };
    touched(&compiler.compile(&build, &OneInclude).unwrap().debug).unwrap()
}

/// Lines of a kind in a binding, each with its file.
fn lines(found: &[Touched], binding: (u32, u32), touch: Touch) -> Vec<String> {
    let is_asked = |t: &&Touched| (t.set, t.binding) == binding && t.touch == touch;
    found.iter().filter(is_asked).map(|t| format!("{}:{}", t.file, t.line)).collect()
}

#[test]
fn loads_and_stores_have_the_lines_of_their_own_files() {
    let preamble = Source::new("common.glsl", "const uint SIZE = 64;\n\n\n");
    for preamble in [None, Some(preamble)] {
        let found = touching(preamble);
        assert_eq!(lines(&found, (0, 0), Touch::Load), ["dir/k.comp:14", "dir/k.comp:17"]);
        assert!(lines(&found, (0, 0), Touch::Store).is_empty(), "{found:?}");
        // One copies an `inout` argument back; the other stands in the include's function.
        let stores = lines(&found, (0, 1), Touch::Store);
        assert_eq!(stores, ["dir/k.comp:20", "include/store.glsl:4"]);
        assert_eq!(lines(&found, (0, 1), Touch::Load), ["dir/k.comp:20"]);
        // The line of a store is that of its `=`.
        assert_eq!(lines(&found, (1, 0), Touch::Store), ["dir/k.comp:21", "dir/k.comp:23"]);
    }
}

#[test]
fn an_optimised_module_names_no_lines() {
    assert!(touched(&compile(RICH).optimized).unwrap().is_empty());
    assert!(!touched(&compile(RICH).debug).unwrap().is_empty());
}
