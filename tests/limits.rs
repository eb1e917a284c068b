//! Kernels, dispatches and bindings against what devices offer, on a device of closures that offers
//! no more than the specification requires and runs nothing.

#[path = "fake_device/mod.rs"]
#[expect(dead_code, reason = "shared with tests/ledger, which also kills devices")]
mod fake_device;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use fake_device::{FakeDevice, Log};
use serde_json::Value;
use vklab::check::{
    Check, Effort, Finding, Foreign, Kind, Outcome, Profile, Session, Subject, run,
};
use vklab::faulty;
use vklab::glsl::{Compiler, CompilerOptions};
use vklab::kernel_file::KernelFile;
use vklab::memory::LedgerOptions;
use vklab::ops::{self, Case, Need, Registry, Variant};

/// A kernel file with a kernel, in parts that a test replaces.
struct Sample {
    head: &'static str,
    spec: &'static str,
    body: &'static str,
    a_type: &'static str,
    a_len: &'static str,
    a_more: &'static str,
    push: &'static str,
    groups: &'static str,
    more: &'static str,
}

const HEAD: &str =
    "layout(local_size_x = 64) in;\nlayout(binding = 0) readonly buffer A { float a[]; };";

const PLAIN: Sample = Sample {
    head: HEAD,
    spec: "",
    body: "y[i] = float(a[i]);",
    a_type: "f32",
    a_len: "64",
    a_more: "",
    push: "",
    groups: "[1]",
    more: "",
};

impl Sample {
    fn kernel(&self) -> String {
        format!(
            "#version 450\n{}\nlayout(binding = 1) writeonly buffer Y {{ float y[]; }};\n\
             void main() {{\n    uint i = gl_GlobalInvocationID.x;\n    if (i < 64) {{ {} }}\n}}\n",
            self.head, self.body
        )
    }

    fn file(&self) -> String {
        format!(
            "version = 1\n[kernel.main]\nfile = \"k.comp\"\n{}\n\
             [buffer.a]\ntype = \"{}\"\nlen = {}\nrole = \"in\"\n{}\n\
             [buffer.y]\ntype = \"f32\"\nlen = 64\nrole = \"out\"\n\
             [[step]]\nkernel = \"main\"\nbind = {{ 0 = \"a\", 1 = \"y\" }}\n\
             push = [{}]\ngroups = {}\n{}\n",
            self.spec, self.a_type, self.a_len, self.a_more, self.push, self.groups, self.more
        )
    }

    /// Writes both files to a folder.
    fn write(&self, folder: &Path) {
        fs::write(folder.join("k.comp"), self.kernel()).expect("written");
        fs::write(folder.join("k.toml"), self.file()).expect("written");
    }

    /// What the limits check says; nothing is submitted for it.
    fn against(&self, profile: &str, needs: &str) -> Outcome {
        let folder = tempfile::tempdir().expect("a folder");
        self.write(folder.path());
        let path = folder.path().join("k.toml");
        if !needs.is_empty() {
            let text = format!("{}[needs]\n{needs}\n", self.file());
            fs::write(&path, text).expect("written");
        }
        let file = KernelFile::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let foreign = Foreign::new(file, &Registry::lab()).expect("it has no op");
        let log = Log::default();
        let mut session = session(profile, &log);
        let outcome = foreign.run(&mut session, Check::Limits, "only", 1, Effort::Full);
        assert!(log.borrow().is_empty(), "something was run");
        outcome.unwrap_or_else(|error| panic!("{error}\n{}", self.kernel()))
    }
}

fn session(profile: &str, log: &Log) -> Session {
    let compiler = Compiler::new(CompilerOptions::default()).expect("a compiler");
    let device = Box::new(FakeDevice::new().logging(log));
    let mut session = Session::new(device, compiler, LedgerOptions::default());
    session.set_profile(named(profile));
    session
}

fn named(profile: &str) -> Profile {
    Profile::named(profile).expect("a known name").expect("devices")
}

fn finding(outcome: Outcome) -> Finding {
    match outcome {
        Outcome::Fail { finding } => *finding,
        other => panic!("{other}"),
    }
}

/// A sample that exceeds what all devices offer, and everything that should be said of it.
struct Beyond {
    sample: Sample,
    /// What the message says.
    says: &'static str,
    /// The line that is blamed, and its file.
    at: (&'static str, Option<u32>),
    /// What declares it.
    needs: &'static str,
    /// A declaration that is too little.
    too_little: &'static str,
    /// A device that can't run it, and one that can.
    devices: (&'static str, &'static str),
}

/// One sample for each kind of limit.
fn beyond() -> Vec<Beyond> {
    let halves = "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n\
                  layout(local_size_x = 64) in;\nlayout(binding = 0) readonly buffer A { float a[]; };";
    vec![
        Beyond {
            sample: Sample { groups: "[65540]", ..PLAIN },
            says: "k.comp needs a dispatch of 65540 x 1 x 1 workgroups; common has 65535 x 65535 x \
                   65535; left behind: rx-580, rx-7800-xt, uhd-620, arc-a770, arc-b580, adreno-630, \
                   swiftshader, lavapipe",
            at: ("k.comp", Some(6)),
            needs: "workgroups = [65540]",
            too_little: "workgroups = [65539, 65539, 65539]",
            devices: ("uhd-620", "rtx-2060"),
        },
        Beyond {
            sample: Sample {
                head: "layout(local_size_x = 512) in;\n\
                       layout(binding = 0) readonly buffer A { float a[]; };",
                ..PLAIN
            },
            says: "k.comp needs a workgroup of 512 invocations; common has 256; left behind: \
                   swiftshader",
            at: ("k.comp", Some(2)),
            needs: "invocations = 512",
            too_little: "invocations = 511",
            devices: ("swiftshader", "lavapipe"),
        },
        Beyond {
            sample: Sample {
                spec: "spec.0 = 65",
                head: "layout(local_size_x = 1, local_size_z_id = 0) in;\n\
                       layout(binding = 0) readonly buffer A { float a[]; };",
                ..PLAIN
            },
            says: "k.comp needs a workgroup of 65 invocations along z; common has 64",
            at: ("k.comp", Some(2)),
            needs: "depth = 65",
            too_little: "invocations = 65",
            devices: ("swiftshader", "lavapipe"),
        },
        Beyond {
            sample: Sample {
                head: "layout(local_size_x = 64) in;\n\
                       layout(binding = 0) readonly buffer A { float a[]; };\n\
                       shared float tile[8193];",
                body: "tile[i] = a[i]; y[i] = tile[i];",
                ..PLAIN
            },
            says: "k.comp needs 32772 bytes of shared memory; common has 32768; left behind: rx-580, \
                   rx-6800-xt, uhd-620, apple-m1, adreno-630, swiftshader, lavapipe",
            at: ("k.comp", Some(4)),
            needs: "shared_bytes = 32772",
            too_little: "shared_bytes = 32771",
            devices: ("rx-580", "rx-7800-xt"),
        },
        Beyond {
            sample: Sample {
                head: "layout(local_size_x = 64) in;\n\
                       layout(binding = 0) readonly buffer A { float a[]; };\n\
                       layout(push_constant) uniform P { layout(offset = 128) float factor; };",
                body: "y[i] = factor * a[i];",
                push: "{ type = \"f32\", offset = 128, value = 1 }",
                ..PLAIN
            },
            says: "k.comp needs 132 bytes of push constants; common has 128; left behind: rx-580, \
                   rx-6800-xt, swiftshader",
            at: ("k.comp", Some(4)),
            needs: "push_bytes = 132",
            too_little: "push_bytes = 131",
            devices: ("rx-6800-xt", "gtx-1060"),
        },
        Beyond {
            sample: Sample { a_more: "offset_bytes = 16", a_len: "68", ..PLAIN },
            says: "`a` needs a binding that starts at a multiple of 16 bytes; common aligns offsets \
                   to 256; left behind: uhd-620, arc-a770, arc-b580, swiftshader",
            at: ("k.toml", Some(5)),
            needs: "offset_alignment = 16",
            too_little: "offset_alignment = 32",
            devices: ("arc-b580", "lavapipe"),
        },
        Beyond {
            sample: Sample { a_len: "33554433", ..PLAIN },
            says: "`a` needs a binding of 134217732 bytes; common has 134217728; left behind: \
                   adreno-630, lavapipe",
            at: ("k.toml", Some(5)),
            needs: "range_bytes = 134217732",
            too_little: "range_bytes = 134217731",
            devices: ("lavapipe", "swiftshader"),
        },
        Beyond {
            sample: Sample { more: "[subgroup]\nsizes = [16, 32]", ..PLAIN },
            says: "`subgroup.sizes` needs a subgroup size of 16 or 32; common has none that all \
                   devices offer; left behind: rx-580, adreno-630, swiftshader",
            at: ("", None),
            needs: "subgroup_sizes = [32]",
            too_little: "subgroup_sizes = [8, 64]",
            devices: ("rx-580", "lavapipe"),
        },
        Beyond {
            sample: Sample {
                head: halves,
                body: "float16_t half_of = float16_t(a[i]) * 0.5hf; y[i] = float(half_of);",
                ..PLAIN
            },
            says: "k.comp needs the feature Float16; common lacks it; left behind: gtx-1060, rx-580, \
                   swiftshader",
            at: ("k.comp", None),
            needs: "features = [\"Float16\"]",
            too_little: "features = [\"StorageBuffer16BitAccess\"]",
            devices: ("gtx-1060", "lavapipe"),
        },
    ]
}

#[test]
fn what_exceeds_all_devices_is_found_with_its_line_and_those_left_behind() {
    for case in beyond() {
        let finding = finding(case.sample.against("common", ""));
        assert_eq!(finding.kind, Kind::LimitExceeded);
        assert!(finding.message.contains(case.says), "{}", finding.message);
        let file = finding.file.unwrap_or_default();
        let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy();
        assert_eq!((name.as_ref(), finding.line), case.at, "{}", finding.message);
        assert!(finding.places.is_empty(), "{:?}", finding.places);
        assert!(!finding.repeat.contains("--profile"), "{}", finding.repeat);
    }
    assert_eq!(PLAIN.against("common", ""), Outcome::Pass { worst: 0.0 });
}

#[test]
fn what_is_declared_is_no_finding_and_unsupported_on_one_device() {
    for case in beyond() {
        let declared = case.sample.against("common", case.needs);
        assert_eq!(declared, Outcome::Pass { worst: 0.0 }, "{}", case.needs);
        let less = finding(case.sample.against("common", case.too_little));
        assert!(less.message.contains(case.says), "{}: {}", case.too_little, less.message);
        let (lacks, has) = case.devices;
        assert_eq!(case.sample.against(has, ""), Outcome::Pass { worst: 0.0 }, "{has}");
        let undeclared = finding(case.sample.against(lacks, ""));
        assert!(undeclared.repeat.contains(&format!("--profile {lacks} ")), "{undeclared}");
        match case.sample.against(lacks, case.needs) {
            Outcome::Unsupported { reason } => assert!(reason.contains(lacks), "{reason}"),
            other => panic!("{lacks}: {other}"),
        }
    }
}

#[test]
fn the_data_bring_their_storage_and_not_their_arithmetic() {
    let head = |ty: &str, extensions: &str| {
        format!(
            "{extensions}layout(local_size_x = 64) in;\n\
             layout(binding = 0) readonly buffer A {{ {ty} a[]; }};"
        )
    };
    let storage = "#extension GL_EXT_shader_16bit_storage : require\n\
                   #extension GL_EXT_shader_8bit_storage : require\n\
                   #extension GL_EXT_shader_explicit_arithmetic_types : require\n";
    // The compiler asks for `Int16` and `Int8` here, but only who lacks the storage lacks them.
    for (dtype, ty) in [
        ("f16", "float16_t"),
        ("i16", "int16_t"),
        ("u8", "uint8_t"),
        ("i64", "int64_t"),
        ("f64", "double"),
    ] {
        // Leaked, since the samples of the other tests are constants.
        let sample = Sample { head: head(ty, storage).leak(), a_type: dtype, ..PLAIN };
        assert_eq!(sample.against("common", ""), Outcome::Pass { worst: 0.0 }, "{dtype}");
        let outcome = sample.against("swiftshader", "");
        assert!(matches!(outcome, Outcome::Unsupported { .. }), "{dtype}: {outcome}");
    }
    let arithmetic = Sample {
        head: head("float16_t", storage).leak(),
        a_type: "f16",
        body: "y[i] = float(a[i] * a[i]);",
        ..PLAIN
    };
    let finding = finding(arithmetic.against("common", ""));
    let says = "the feature Float16; common lacks it; left behind: gtx-1060, rx-580";
    assert!(finding.message.ends_with(says), "{}", finding.message);
}

#[test]
fn several_limits_are_one_finding_with_places() {
    let sample = Sample {
        head: "layout(local_size_x = 512) in;\n\
               layout(binding = 0) readonly buffer A { float a[]; };\n\
               shared float tile[16384];",
        body: "tile[i] = a[i]; y[i] = tile[i];",
        ..PLAIN
    };
    let all = finding(sample.against("common", ""));
    assert!(all.message.contains("512 invocations"), "{}", all.message);
    let [place] = all.places.as_slice() else { panic!("{:?}", all.places) };
    assert!(place.contains("65536 bytes of shared memory"), "{place}");
    let rest = finding(sample.against("common", "invocations = 1024"));
    assert!(rest.message.contains("65536 bytes") && rest.places.is_empty(), "{rest}");
    // SwiftShader is left behind already, and all others have as much.
    let both = sample.against("common", "shared_bytes = 65536");
    assert_eq!(both, Outcome::Pass { worst: 0.0 });
    match sample.against("minimum", "shared_bytes = 65536") {
        Outcome::Unsupported { reason } => {
            assert!(reason.contains("not meant for minimum: it needs 65536 bytes"), "{reason}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn specialization_constants_decide_the_size() {
    let head = "layout(constant_id = 0) const uint N = 64;\nlayout(local_size_x_id = 0) in;\n\
                layout(binding = 0) readonly buffer A { float a[]; };\nshared float tile[N * 16];";
    let body = "tile[gl_LocalInvocationID.x] = a[i]; y[i] = tile[gl_LocalInvocationID.x];";
    let sample = Sample { head, body, ..PLAIN };
    let with = |n: u32| {
        let folder = tempfile::tempdir().expect("a folder");
        sample.write(folder.path());
        let path = folder.path().join("k.toml");
        let text = sample.file().replace("\"k.comp\"\n", &format!("\"k.comp\"\nspec.N = {n}\n"));
        fs::write(&path, text).expect("written");
        let file = KernelFile::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let case = file.id(&file.first_point());
        let foreign = Foreign::new(file, &Registry::lab()).expect("it has no op");
        let mut session = session("common", &Log::default());
        foreign.run(&mut session, Check::Limits, &case, 1, Effort::Full).expect("an outcome")
    };
    assert_eq!(with(256), Outcome::Pass { worst: 0.0 });
    let wide = finding(with(1024));
    assert!(wide.message.contains("1024 invocations"), "{wide}");
    assert!(wide.places[0].contains("65536 bytes of shared memory"), "{wide}");
}

#[test]
fn a_variant_declares_and_is_known_by_its_glsl_path() {
    let fault = faulty::find("relu_workgroup_of_512").expect("the fault");
    let (op, variant) = fault.place();
    let needing = variant.needing(&[Need::Invocations(512)]);
    let asked = |variant: &Variant, len: usize| {
        let mut subject = Subject::new(op, variant);
        fault.plant(&mut subject);
        let case = Case::parse(op, &format!("len={len}/normal"), 1).expect("a case");
        let mut session = session("common", &Log::default());
        run(&mut session, &subject, Check::Limits, &case).expect("an outcome")
    };
    let finding = finding(asked(variant, 1000));
    assert_eq!(finding.file.as_deref(), Some("glsl/relu/naive.comp"));
    assert_eq!(finding.smallest.as_deref(), Some("len=1/normal"));
    assert_eq!(asked(&needing, 1000), Outcome::Pass { worst: 0.0 });
    // An empty plan takes nothing.
    assert_eq!(asked(variant, 0), Outcome::Pass { worst: 0.0 });
}

/// Far more elements than x has workgroups for, which no other check could hold in memory.
#[test]
fn a_grid_that_spills_fits_every_profile() {
    let (op, variant) = ops::find("relu", "naive").expect("the op");
    let case =
        Case { dims: vec![30_000_000], ..Case::parse(op, "len=1/normal", 1).expect("a case") };
    for profile in ["common", "minimum", "rx-580", "swiftshader"] {
        let mut session = session(profile, &Log::default());
        let outcome = run(&mut session, &Subject::new(op, variant), Check::Limits, &case);
        assert_eq!(outcome.expect("an outcome"), Outcome::Pass { worst: 0.0 }, "{profile}");
    }
}

#[test]
fn wrong_needs_say_what_is_wrong() {
    let wrong = |needs: &str| {
        let text = format!("{}[needs]\n{needs}\n", PLAIN.file());
        let folder = tempfile::tempdir().expect("a folder");
        PLAIN.write(folder.path());
        let path = folder.path().join("k.toml");
        KernelFile::parse(&path, &text).expect_err(needs).to_string()
    };
    for (needs, says) in [
        ("shared = 1", "unknown key `shared` in [needs]; nearest: shared_bytes"),
        ("invocations = -1", "a number of 32 bits"),
        (
            "features = [\"Float32\"]",
            "no feature `Float32` that a device lacks; nearest: Float16, Float64",
        ),
        ("offset_alignment = 48", "48: alignments are powers of two"),
        ("offset_alignment = 0", "0: alignments are powers of two"),
        ("workgroups = []", "one to three numbers are wanted, not 0"),
        ("subgroup_sizes = [12]", "12: subgroup sizes are powers of two up to 128"),
    ] {
        let error = wrong(needs);
        assert!(error.contains(says), "{needs}: {error}");
    }
}

fn vklab(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    command.current_dir(folder).args(["check", "k.toml", "--device", "vk:llvmpipe", "--seed", "1"]);
    command.args(arguments).output().expect("the binary starts")
}

#[test]
fn the_profile_reaches_the_workers() {
    let folder = tempfile::tempdir().expect("a folder");
    beyond()[1].sample.write(folder.path());
    let code = |profile: &str, only: &str| {
        let output = vklab(folder.path(), &["--only", only, "--profile", profile, "--json"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said, error)
    };
    let (status, said, _) = code("common", "limits");
    let finding: Value = serde_json::from_str(&said).expect("one JSON object");
    assert_eq!((status, &finding["kind"]), (Some(1), &Value::from("limit-exceeded")));
    assert_eq!(finding["line"], 2, "{finding}");
    assert_eq!(code("lavapipe", "limits").0, Some(0));
    assert_eq!(code("minimum", "limits").0, Some(1));
    let (status, _, error) = code("none", "limits");
    assert_eq!(status, Some(2));
    assert!(error.contains("asks nothing"), "{error}");
    assert_eq!(code("none", "limits,memory").0, Some(0));
    let (status, _, error) = code("rtx-2070", "limits");
    assert_eq!(status, Some(2));
    assert!(error.contains("`rtx-2070`") && error.contains("nearest: rtx-2060"), "{error}");
}
