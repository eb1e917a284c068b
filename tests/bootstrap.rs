//! `./vklab` on made-up machines: a PATH of our own, a system folder of our own, and stand-ins for
//! cargo, apt-get and sudo that write down how they were called.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

const DEBIAN_12: &str = "ID=debian\nVERSION_ID=\"12\"\n";
const UBUNTU_24_04: &str = "ID=ubuntu\nVERSION_ID=\"24.04\"\n";
/// What the script may use beside what it looks for.
const PLAIN_TOOLS: &[&str] = &[
    "awk", "cat", "cp", "date", "dirname", "env", "find", "grep", "mkdir", "mktemp", "mv", "rm",
    "sed", "sh", "tail", "tr", "uname",
];
/// Stands in for cargo: it leaves a shaderc library, or says where the lab's program is.
const CARGO: &str = r#"echo "cargo $* SHADERC_LIB_DIR=${SHADERC_LIB_DIR:-}" >>"$CALLS"
case $PWD in
    */building.*)
        [ -z "${SHADERC_FAILS:-}" ] || exit 101
        cat Cargo.toml >>"$CALLS"
        mkdir -p "$CARGO_TARGET_DIR/out" && echo archive >"$CARGO_TARGET_DIR/out/libshaderc_combined.a"
        exit ;;
esac
case $1 in build) echo "{\"executable\":\"$LAB\"}" ;; esac"#;

struct Machine {
    folder: TempDir,
}

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Machine {
    /// A machine with Rust, a plain system and nothing that the lab needs.
    fn bare(os_release: &str) -> Self {
        let machine = Self { folder: TempDir::new().expect("temporary folder") };
        let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
        for name in ["vklab", "Cargo.lock"] {
            machine.write(&format!("repo/{name}"), "");
            fs::copy(repository.join(name), machine.path("repo").join(name)).expect("copy");
        }
        // Scripts, not links: a test that replaces one must not write through to the real tool.
        for tool in PLAIN_TOOLS {
            let real = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
            let real = real.iter().find(|path| path.exists()).expect("an ordinary tool");
            machine.program(tool, &format!("exec {} \"$@\"", real.display()));
        }
        machine.write("root/etc/os-release", os_release);
        machine.program("cargo", CARGO);
        machine.program("rustc", "echo 'host: x86_64-unknown-linux-gnu'");
        machine.program("id", "echo 1000");
        machine.program("sudo", r#"echo "sudo $*" >>"$CALLS""#);
        machine.program("lab", r#"printf 'lab:'; printf ' <%s>' "$@""#);
        machine
    }

    /// Debian 12 with apt, whose sources are the given lines of `apt-get indextargets`.
    fn debian_12(sources: &str) -> Self {
        let machine = Self::bare(DEBIAN_12);
        machine.write("sources", sources);
        machine.program("apt-get", r#"cat "${CALLS%/*}/sources""#);
        machine
    }

    /// A machine where nothing is missing but shaderc.
    fn equipped() -> Self {
        let machine = Self::bare(UBUNTU_24_04);
        for tool in ["c++", "cc", "cmake", "python3", "ninja", "git"] {
            machine.program(tool, "");
        }
        machine.write("root/etc/ssl/certs/ca-certificates.crt", "");
        machine.write("root/usr/lib/libvulkan.so.1", "");
        machine.write("root/usr/share/vulkan/icd.d/nvidia_icd.json", "{}");
        machine
    }

    /// A machine where nothing is missing.
    fn ready() -> Self {
        let machine = Self::equipped();
        machine.write(&format!("{}/libshaderc_combined.a", shaderc_folder()), "archive");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("create folder");
        fs::write(path, text).expect("write");
    }

    fn program(&self, name: &str, body: &str) {
        self.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(self.path("bin").join(name), PermissionsExt::from_mode(0o755))
            .expect("chmod");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        let output = Command::new(self.path("repo/vklab"))
            .args(arguments)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("HOME", self.path("home"))
            .env("VKLAB_ROOT", self.path("root"))
            .env("VKLAB_CACHE", self.path("cache"))
            .env("CALLS", self.path("calls"))
            .env("LAB", self.path("bin/lab"))
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("the script starts");
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

fn locked_shaderc_version() -> String {
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"))
        .expect("Cargo.lock");
    let after =
        lock.split("name = \"shaderc-sys\"\nversion = \"").nth(1).expect("shaderc-sys is locked");
    after.split('"').next().expect("a version").to_owned()
}

fn shaderc_folder() -> String {
    format!("cache/shaderc-{}-x86_64-unknown-linux-gnu/lib", locked_shaderc_version())
}

#[track_caller]
fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in:\n{text}");
}

#[track_caller]
fn assert_lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "{part:?} is in:\n{text}");
}

#[test]
fn dry_run_shows_every_step_and_changes_nothing() {
    let machine = Machine::debian_12("");
    let outcome = machine.run(&["--dry-run", "check", "soft max"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for part in [
        "- a C++ compiler\n  - cmake\n  - python3\n  - ninja\n  - git\n",
        "- certificates for downloads\n  - the Vulkan loader\n  - a Vulkan driver\n",
        "deb http://deb.debian.org/debian bookworm-backports main",
        "install --yes --no-install-recommends g++ cmake python3 ninja-build git ca-certificates libvulkan1\n",
        "--target-release bookworm-backports mesa-vulkan-drivers/bookworm-backports\n",
        "8 to 10 minutes",
        "$ cargo build --release\n",
        "vklab check 'soft max'\n",
    ] {
        assert_has(&outcome.stderr, part);
    }
    assert_eq!(outcome.stdout, "");
    assert_eq!(machine.read("calls"), "");
    assert!(!machine.path("cache").exists() && !machine.path("repo/.cargo").exists());
}

#[test]
fn backports_come_from_the_mirror_and_key_of_debians_own_source() {
    let machine = Machine::debian_12("");
    machine.write("debian.sources", "Types: deb\nSigned-By: /usr/share/keyrings/own.gpg\n");
    let file = machine.path("debian.sources");
    let foreign = "Docker|main|bookworm|bookworm|https://docker.example/debian/|/nowhere:1";
    let own =
        format!("Debian|main|stable|bookworm|http://mirror.example/deb/|{}:1", file.display());
    machine.write("sources", &format!("{foreign}\n{own}\n"));
    let outcome = machine.run(&["--dry-run", "setup"]);
    assert_has(
        &outcome.stderr,
        "deb [signed-by=/usr/share/keyrings/own.gpg] http://mirror.example/deb bookworm-backports main",
    );
}

#[test]
fn a_source_with_backports_is_used_as_it_is() {
    let machine = Machine::debian_12(
        "$(ORIGIN)|main|bookworm-backports|$(CODENAME)|http://x.example/debian/|/nowhere:1\n",
    );
    let outcome = machine.run(&["setup"]);
    assert_has(&outcome.stderr, "mesa-vulkan-drivers/bookworm-backports");
    assert_lacks(&outcome.stderr, "vklab-backports.list");
    assert_has(&machine.read("calls"), "sudo apt-get update\n");
}

#[test]
fn a_source_is_not_added_without_consent() {
    let machine = Machine::debian_12("");
    let outcome = machine.run(&["setup"]);
    assert_eq!(outcome.code, Some(2));
    assert_has(&outcome.stderr, "--yes");
    assert_eq!(machine.read("calls"), "");

    let outcome = machine.run(&["--yes", "setup"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let calls = machine.read("calls");
    let order = [
        "vklab-backports.list",
        "apt-get update",
        "libvulkan1",
        "mesa-vulkan-drivers/bookworm-backports",
    ];
    let places: Vec<_> = order.iter().map(|part| calls.find(part)).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{calls}");
}

#[test]
fn without_sudo_the_commands_for_root_are_printed() {
    let machine = Machine::debian_12("");
    fs::remove_file(machine.path("bin/sudo")).expect("remove");
    let outcome = machine.run(&["--yes", "setup"]);
    assert_eq!(outcome.code, Some(2));
    assert_has(&outcome.stderr, "as root run:\n  $ sh -c ");
    assert_has(&outcome.stderr, "\n  $ apt-get update\n");
}

#[test]
fn ubuntu_needs_no_further_source() {
    let machine = Machine::debian_12("");
    machine.write("root/etc/os-release", UBUNTU_24_04);
    let outcome = machine.run(&["setup"]);
    assert_has(&outcome.stderr, "libvulkan1 mesa-vulkan-drivers\n");
    assert_lacks(&outcome.stderr, "backports");
}

/// `ci/run.packages` for machines without the script, where glslc compiles instead of shaderc.
#[test]
fn the_recipe_names_the_packages_that_the_script_installs() {
    let machine = Machine::debian_12("");
    machine.write("root/etc/os-release", UBUNTU_24_04);
    let shown = machine.run(&["--dry-run", "setup"]).stderr;
    let (_, listed) = shown.split_once("--no-install-recommends ").expect("an installation");
    let script: BTreeSet<_> = listed.lines().next().expect("a line").split(' ').collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci");
    let [run, build] = ["run.packages", "build.packages"]
        .map(|name| fs::read_to_string(folder.join(name)).expect(name));
    let run: BTreeSet<_> = run.lines().collect();
    let for_shaderc = ["cmake", "g++", "git", "ninja-build", "python3"];
    assert_eq!(run.difference(&script).collect::<Vec<_>>(), [&"glslc"]);
    assert_eq!(script.difference(&run).copied().collect::<Vec<_>>(), for_shaderc);
    assert!(build.lines().all(|package| !for_shaderc.contains(&package)), "{build}");
}

#[test]
fn an_old_lavapipe_is_replaced_unless_a_gpu_is_there() {
    let machine = Machine::equipped();
    machine.write("root/etc/os-release", DEBIAN_12);
    machine.program("apt-get", "");
    let lavapipe = machine.path("root/usr/share/vulkan/icd.d/lvp_icd.json");
    fs::rename(machine.path("root/usr/share/vulkan/icd.d/nvidia_icd.json"), &lavapipe)
        .expect("rename");
    let query = format!(
        "case $1 in -W) echo 'installed 22.3.6-1' ;; *) echo {} ;; esac",
        lavapipe.display()
    );
    machine.program("dpkg-query", &query);
    machine.program("dpkg", r#"[ "$*" = '--compare-versions 22.3.6-1 lt 25' ]"#);

    let outcome = machine.run(&["--dry-run", "setup"]);
    assert_has(&outcome.stderr, "lavapipe of Mesa 22.3.6-1");
    assert_has(&outcome.stderr, "mesa-vulkan-drivers/bookworm-backports");

    machine.write("root/dev/dri/renderD128", "");
    assert_lacks(&machine.run(&["--dry-run", "setup"]).stderr, "missing");
}

#[test]
fn elsewhere_the_exact_command_is_printed() {
    let expected = [
        (
            "dnf",
            "sudo dnf install gcc-c++ cmake python3 ninja-build git ca-certificates vulkan-loader mesa-vulkan-drivers",
        ),
        (
            "pacman",
            "sudo pacman -S --needed gcc cmake python ninja git ca-certificates vulkan-icd-loader vulkan-swrast",
        ),
        (
            "zypper",
            "sudo zypper install gcc-c++ cmake python3 ninja git ca-certificates libvulkan1 libvulkan_lvp",
        ),
    ];
    for (manager, command) in expected {
        let machine = Machine::bare("ID=other\n");
        machine.program(manager, r#"echo called >>"$CALLS""#);
        let outcome = machine.run(&["check"]);
        assert_eq!(outcome.code, Some(2));
        assert_has(&outcome.stderr, command);
        assert_eq!(machine.read("calls"), "");
    }
    let mac = Machine::bare("");
    mac.program("uname", "echo Darwin");
    let outcome = mac.run(&["check"]);
    assert_eq!(outcome.code, Some(2));
    assert_has(
        &outcome.stderr,
        "xcode-select --install\n  brew install cmake python ninja git vulkan-loader molten-vk\n",
    );
}

#[test]
fn no_install_reports_and_stops_only_if_something_is_missing() {
    let outcome = Machine::debian_12("").run(&["--no-install", "check"]);
    assert_eq!(outcome.code, Some(2));
    assert_has(&outcome.stderr, "- the Vulkan loader\n");
    assert_lacks(&outcome.stderr, "apt-get");

    let outcome = Machine::ready().run(&["--no-install", "check"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn without_cargo_rustup_is_named() {
    let machine = Machine::ready();
    fs::remove_file(machine.path("bin/cargo")).expect("remove");
    let outcome = machine.run(&["check"]);
    assert_eq!(outcome.code, Some(2));
    assert_has(&outcome.stderr, "https://rustup.rs");
}

#[test]
fn arguments_reach_the_lab_unchanged_and_alone_on_standard_output() {
    let machine = Machine::ready();
    let outcome = machine.run(&["--yes", "check", "a b", "--dry-run", "*"]);
    assert_eq!(outcome.stdout, "lab: <check> <a b> <--dry-run> <*>");

    machine.run(&["test", "soft max", "--", "--nocapture"]);
    assert_has(&machine.read("calls"), "cargo test --release soft max -- --nocapture");
}

#[test]
fn shaderc_is_built_once_in_the_locked_version() {
    let machine = Machine::equipped();
    let library = format!("{}/libshaderc_combined.a", shaderc_folder());
    let outcome = machine.run_with(&["setup"], &[("SHADERC_FAILS", "1")]);
    assert_eq!(outcome.code, Some(2));
    assert!(!machine.path(&library).exists());

    let outcome = machine.run(&["setup"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_has(&outcome.stderr, "shaderc took 0 min");
    assert_has(&machine.read("calls"), &format!("version = \"={}\"", locked_shaderc_version()));
    assert_eq!(machine.read(&library), "archive\n");
    assert_eq!(
        fs::read_dir(machine.path("cache")).expect("cache").count(),
        1,
        "a scratch folder was left"
    );

    fs::remove_file(machine.path("calls")).expect("remove");
    machine.run(&["setup"]);
    assert_eq!(machine.read("calls"), "");
}

#[test]
fn cargos_configuration_follows_the_cache_but_never_replaces_the_users_own() {
    let machine = Machine::ready();
    let setting = format!("SHADERC_LIB_DIR = \"{}\"", machine.path(&shaderc_folder()).display());
    machine.run(&["setup"]);
    let written = machine.read("repo/.cargo/config.toml");
    assert_has(&written, &format!("[env]\n{setting}\n"));

    machine.write("repo/.cargo/config.toml", &written.replace("cache", "elsewhere"));
    machine.run(&["setup"]);
    assert_eq!(machine.read("repo/.cargo/config.toml"), written);

    machine.write("repo/.cargo/config.toml", "[build]\njobs = 1\n");
    let outcome = machine.run(&["check"]);
    assert_eq!(machine.read("repo/.cargo/config.toml"), "[build]\njobs = 1\n");
    assert_has(&outcome.stderr, &setting);
    let folder = machine.path(&shaderc_folder());
    assert_has(&machine.read("calls"), &format!("SHADERC_LIB_DIR={}", folder.display()));
}
