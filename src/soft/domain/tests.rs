//! Tangents through real kernels, against central differences of the same function in f64.

use std::time::Duration;

use crate::device::{Binding, BufferId, Command, Device, Extent, Kernel, Recording};
use crate::glsl::{Build, Compiler, CompilerOptions, Library, Source};
use crate::soft::{Dual, Soft, SoftOptions, Tie, Watching};
use crate::spirv;

/// Invocations, subgroup size and elements of each buffer.
const LEN: usize = 8;

/// What a kernel from `x` to `y` gave.
struct Ran {
    y: Vec<f32>,
    tangent: Vec<f64>,
    kinks: Vec<String>,
    lost: Vec<String>,
}

fn run(head: &str, body: &str, tie: Tie, x: &[f32; LEN], v: &[f64; LEN]) -> Ran {
    let text = format!(
        "#version 450\n{head}\nlayout(local_size_x = {LEN}) in;\n\
         layout(binding = 0) readonly buffer X {{ float x[]; }};\n\
         layout(binding = 1) buffer Y {{ float y[]; }};\n\
         void main() {{\nuint i = gl_LocalInvocationIndex; float a = x[i];\n{body}\n}}\n"
    );
    let build = Build::new(Source::new("test.comp", text));
    let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
    let modules = compiler.compile(&build, &Library).expect("a kernel");
    let interface = spirv::reflect(&modules.debug).expect("an interface");
    let dual = Dual::new();
    dual.begin(tie);
    dual.set_tangent("x", 4, v);
    let options =
        SoftOptions { subgroup_size: 4, watch: Watching::Nothing, ..SoftOptions::default() };
    let mut soft = Soft::open_dual(&options, &dual).expect("an interpreter");
    let kernel = soft.load(&Kernel {
        name: "test".to_owned(),
        optimized: modules.optimized,
        debug: modules.debug,
        entry: interface.entry,
        bindings: vec![(0, 0), (0, 1)],
        push_bytes: 0,
        spec: Vec::new(),
        subgroup_size: None,
        capabilities: interface.capabilities,
    });
    let kernel = kernel.expect("it loads");
    let bytes = 4 * LEN as u64;
    let buffers = ["x", "y"].map(|name| soft.allocate(name, bytes).expect("a buffer"));
    let bindings = (0..).zip(buffers).map(|(binding, buffer)| Binding {
        set: 0,
        binding,
        buffer,
        extent: Extent { offset_bytes: 0, range_bytes: bytes, logical_bytes: bytes },
    });
    let upload = |buffer: BufferId, data: &[f32; LEN]| Command::Upload {
        buffer,
        offset_bytes: 0,
        data: data.iter().flat_map(|x| x.to_le_bytes()).collect(),
    };
    let commands = vec![
        upload(buffers[0], x),
        upload(buffers[1], &[0.0; LEN]),
        Command::Dispatch { kernel, bindings: bindings.collect(), push: vec![], groups: [1; 3] },
        Command::Download { buffer: buffers[1], offset_bytes: 0, len_bytes: bytes },
    ];
    let ticket = soft.submit(&Recording { commands, schedule: 0 }).expect("it runs");
    let outcome = soft.wait(ticket, Duration::from_secs(1)).expect("it ran");
    let word = |part: &[u8]| f32::from_le_bytes(part.try_into().expect("four bytes"));
    Ran {
        y: outcome.downloads[0].chunks(4).map(word).collect(),
        tangent: dual.tangent("y", 4, LEN).iter().map(|tangent| tangent.value).collect(),
        kinks: dual.kinks(),
        lost: dual.lost(),
    }
}

const X: [f32; LEN] = [0.25, 0.75, 0.375, 0.5, 0.875, 0.125, 0.625, 0.3125];
const V: [f64; LEN] = [1.0, -0.5, 2.0, 0.25, -1.5, 0.75, 1.25, -2.0];

/// The tangents are those of `f`, which takes all of `x` and gives element `i` of `y`.
fn agrees(head: &str, body: &str, f: impl Fn(&[f64; LEN], usize) -> f64) {
    let ran = run(head, body, Tie::First, &X, &V);
    assert!(ran.lost.is_empty() && ran.kinks.is_empty(), "{body}: {:?} {:?}", ran.lost, ran.kinks);
    let moved = |h: f64| -> [f64; LEN] { std::array::from_fn(|at| f64::from(X[at]) + h * V[at]) };
    for i in 0..LEN {
        let difference = |h: f64| (f(&moved(h), i) - f(&moved(-h), i)) / (2.0 * h);
        let want = (4.0 * difference(5e-4) - difference(1e-3)) / 3.0;
        let got = ran.tangent[i];
        assert!((got - want).abs() <= 2e-6 * (1.0 + want.abs()), "{body} [{i}]: {got}, not {want}");
        let value = f(&moved(0.0), i);
        assert!((f64::from(ran.y[i]) - value).abs() <= 1e-5 * (1.0 + value.abs()), "{body} [{i}]");
    }
}

type Function = fn(f64) -> f64;

#[test]
fn every_operation_has_its_derivative() {
    let cases: [(&str, Function); 30] = [
        ("-a", |a| -a),
        ("a + a * a - a / (1.0 + a)", |a| a + a * a - a / (1.0 + a)),
        ("mod(a, 0.2)", |a| a % 0.2),
        ("fma(a, a, a)", |a| a * a + a),
        ("sqrt(a)", f64::sqrt),
        ("inversesqrt(a)", |a| 1.0 / a.sqrt()),
        ("exp(a) + exp2(a)", |a| a.exp() + a.exp2()),
        ("log(a) + log2(a)", |a| a.ln() + a.log2()),
        ("pow(a, a + 1.0)", |a| a.powf(a + 1.0)),
        ("sin(a) + cos(a) + tan(a)", |a| a.sin() + a.cos() + a.tan()),
        ("asin(a) + acos(a * a) + atan(a)", |a| a.asin() + (a * a).acos() + a.atan()),
        ("atan(a, 1.0 - a)", |a| a.atan2(1.0 - a)),
        ("sinh(a) + cosh(a) + tanh(a)", |a| a.sinh() + a.cosh() + a.tanh()),
        ("asinh(a) + acosh(a + 1.5)", |a| a.asinh() + (a + 1.5).acosh()),
        ("atanh(a)", f64::atanh),
        ("radians(a) + degrees(a)", |a| a.to_radians() + a.to_degrees()),
        ("max(a, 0.4) + min(a, 0.6)", |a| a.max(0.4) + a.min(0.6)),
        ("clamp(a, 0.3, 0.7)", |a| a.clamp(0.3, 0.7)),
        ("clamp(0.55, a, a + 0.1)", |a| 0.55_f64.max(a).min(a + 0.1)),
        ("mix(a, a * a, a)", |a| a * (1.0 - a) + a * a * a),
        ("smoothstep(0.2, 0.8, a)", |a| {
            let t = ((a - 0.2) / 0.6).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }),
        ("smoothstep(a - 1.0, a * a + 1.0, 0.3)", |a| {
            let t = (1.3 - a) / (a * a + 2.0 - a);
            t * t * (3.0 - 2.0 * t)
        }),
        ("abs(a - 0.4)", |a| (a - 0.4).abs()),
        ("fract(a * 3.0 + 0.1)", |a| (a * 3.0 + 0.1).fract()),
        ("floor(a * 3.0 + 0.1) + a", |a| (a * 3.0 + 0.1).floor() + a),
        ("ldexp(a, 3)", |a| 8.0 * a),
        ("a > 0.45 ? a * a : -a", |a| if a > 0.45 { a * a } else { -a }),
        ("float(int(a * 7.3)) + a", |a| (a * 7.3).trunc() + a),
        ("float(double(a) * double(a))", |a| a * a),
        ("length(vec3(a, 1.0, a * a))", |a| (a * a + 1.0 + a.powi(4)).sqrt()),
    ];
    for (expression, f) in cases {
        agrees("", &format!("y[i] = {expression};"), |x, i| f(x[i]));
    }
}

#[test]
fn tangents_go_through_memory_loops_and_calls() {
    agrees("shared float s[8];", "s[i] = a * a; barrier(); y[i] = s[7 - i];", |x, i| {
        x[7 - i] * x[7 - i]
    });
    agrees("", "float t = 0; for (uint k = 0; k <= i; k++) t += x[k] * a; y[i] = t;", |x, i| {
        x[..=i].iter().map(|k| k * x[i]).sum()
    });
    agrees(
        "",
        "float v[8]; for (uint k = 0; k < 8; k++) v[k] = x[k] * a; y[i] = v[(i + 3) % 8];",
        |x, i| x[(i + 3) % 8] * x[i],
    );
    agrees("float f(float b) { if (b > 0.45) return b * b; return sin(b); }", "y[i] = f(a);", {
        |x, i| if x[i] > 0.45 { x[i] * x[i] } else { x[i].sin() }
    });
    agrees("", "vec4 v = vec4(a, a * a, 1, 2); v[i % 2] = 3.0 * a; y[i] = v[0] + v[1];", |x, i| {
        if i % 2 == 0 { 3.0 * x[i] + x[i] * x[i] } else { 4.0 * x[i] }
    });
    // Bits that are only moved are still the number.
    agrees("shared uint s[8];", "s[i] = floatBitsToUint(a); y[i] = uintBitsToFloat(s[i]) * a;", {
        |x, i| x[i] * x[i]
    });
}

#[test]
fn tangents_go_through_subgroups() {
    const HEAD: &str = "#extension GL_KHR_shader_subgroup_arithmetic : require\n\
                        #extension GL_KHR_shader_subgroup_shuffle : require\n\
                        #extension GL_KHR_shader_subgroup_clustered : require\n";
    let part = |x: &[f64; LEN], i: usize| -> Vec<f64> { x[i / 4 * 4..i / 4 * 4 + 4].to_vec() };
    agrees(HEAD, "y[i] = subgroupAdd(a * a);", |x, i| part(x, i).iter().map(|a| a * a).sum());
    agrees(HEAD, "y[i] = subgroupMul(a);", |x, i| part(x, i).iter().product());
    agrees(HEAD, "y[i] = subgroupMax(a) - subgroupMin(a);", |x, i| {
        let part = part(x, i);
        part.iter().fold(0.0, |m: f64, a| m.max(*a)) - part.iter().fold(9.0, |m: f64, a| m.min(*a))
    });
    agrees(HEAD, "y[i] = subgroupInclusiveAdd(a);", |x, i| x[i / 4 * 4..=i].iter().sum());
    agrees(HEAD, "y[i] = subgroupExclusiveAdd(a);", |x, i| x[i / 4 * 4..i].iter().sum());
    agrees(HEAD, "y[i] = subgroupClusteredAdd(a, 2);", |x, i| x[i & !1] + x[i | 1]);
    agrees(HEAD, "y[i] = subgroupShuffleXor(a * a, 1);", |x, i| x[i ^ 1] * x[i ^ 1]);
}

#[test]
fn tangents_go_through_atomics() {
    agrees("#extension GL_EXT_shader_atomic_float : require", "atomicAdd(y[i / 2], a * a);", {
        |x, i| if i < 4 { x[2 * i].powi(2) + x[2 * i + 1].powi(2) } else { 0.0 }
    });
    let exchange = "uint old, new;\n\
                    do {\n\
                    old = floatBitsToUint(y[0]);\n\
                    new = floatBitsToUint(uintBitsToFloat(old) + a);\n\
                    } while (atomicCompSwap(bits[0], old, new) != old);";
    let head = "layout(binding = 1) buffer Bits { uint bits[]; };";
    agrees(head, exchange, |x, i| if i == 0 { x.iter().sum() } else { 0.0 });
}

#[test]
fn a_kink_shows_both_sides() {
    let x = [0.5; LEN];
    for (body, sides) in [
        ("y[i] = max(a, 0.5);", [1.0, 0.0]),
        ("y[i] = abs(a - 0.5);", [1.0, -1.0]),
        ("y[i] = a > 0.5 ? 3.0 * a : a;", [1.0, 3.0]),
    ] {
        for (tie, side) in [Tie::First, Tie::Second].into_iter().zip(sides) {
            let ran = run("", body, tie, &x, &V);
            assert_eq!(ran.kinks.len(), 1, "{body}: {:?}", ran.kinks);
            assert!(ran.kinks[0].contains("test.comp:"), "{:?}", ran.kinks);
            for (got, v) in ran.tangent.iter().zip(V) {
                assert_eq!(*got, side * v, "{body} {tie:?}");
            }
        }
    }
    // Numbers that are equal and move together have no kink.
    let same = run("", "y[i] = max(a, x[i]);", Tie::First, &X, &V);
    assert!(same.kinks.is_empty() && same.lost.is_empty());
    assert_eq!(same.tangent, V);
}

#[test]
fn what_can_not_be_carried_is_told_with_its_line() {
    for (body, what) in [
        ("y[i] = uintBitsToFloat(floatBitsToUint(a) + 1u);", "IAdd of a float's bits"),
        ("y[i] = unpackHalf2x16(packHalf2x16(vec2(a))).x;", "PackHalf2x16"),
        ("y[i] = floor(a * 8.0);", "Floor where it jumps"),
    ] {
        let ran = run("", body, Tie::First, &X, &V);
        assert_eq!(ran.lost.len(), 1, "{body}: {:?}", ran.lost);
        assert!(ran.lost[0].contains(what) && ran.lost[0].contains(body), "{:?}", ran.lost);
    }
    let still = run("", "y[i] = floor(2.0);", Tie::First, &X, &V);
    assert!(still.lost.is_empty() && still.tangent.iter().all(|tangent| *tangent == 0.0));
}
