//! The scripts in `ci/`, with stand-ins for what they would download or install.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const ARCHIVE: &str = "vklab-v9.9.9-x86_64-unknown-linux-gnu.tar.gz";
/// Stands in for curl: its last argument is the address, and a folder holds what is there.
const CURL: &str = r#"while [ $# -gt 1 ]; do [ "$1" != --output ] || to=$2; shift; done
echo "$1" >>"$CALLS"
cp "$SERVED/${1##*/}" "$to""#;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(file: &str) -> String {
    fs::read_to_string(repository().join(file)).expect(file)
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(TempDir::new().expect("temporary folder"));
        for folder in ["bin", "served"] {
            fs::create_dir(place.path(folder)).expect("folder");
        }
        place.program("uname", "echo Linux x86_64");
        place.program("id", "echo 1000");
        place.program("sudo", r#"echo "$*" >>"$CALLS""#);
        place.program("curl", CURL);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, name: &str, body: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("write");
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("chmod");
    }

    /// A release whose program says who it is.
    fn serve_release(&self) {
        fs::write(self.path("vklab"), "#!/bin/sh\necho released\n").expect("write");
        fs::set_permissions(self.path("vklab"), PermissionsExt::from_mode(0o755)).expect("chmod");
        let pack = format!(
            "tar -czf served/{ARCHIVE} vklab && cd served && sha256sum {ARCHIVE} >{ARCHIVE}.sha256"
        );
        let status = Command::new("sh").args(["-c", &pack]).current_dir(self.0.path()).status();
        assert!(status.expect("sh starts").success());
    }

    fn run(&self, script: &Path, arguments: &[&str]) -> Output {
        let system = std::env::var("PATH").unwrap_or_default();
        Command::new(script)
            .args(arguments)
            .env("PATH", format!("{}:{system}", self.path("bin").display()))
            .env("CALLS", self.path("calls"))
            .env("SERVED", self.path("served"))
            .env("VKLAB_VERSION", "v9.9.9")
            .env("VKLAB_RELEASES", "https://releases.example/vklab")
            .output()
            .expect("the script starts")
    }

    fn get_lab(&self) -> Output {
        let folder = self.path("lab");
        self.run(&repository().join("ci/get-lab"), &[folder.to_str().expect("UTF-8")])
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.path("calls")).unwrap_or_default()
    }
}

#[test]
fn a_release_is_fetched_once_and_runs() {
    let place = Place::new();
    place.serve_release();
    for _ in 0..2 {
        let output = place.get_lab();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let address = "https://releases.example/vklab/download/v9.9.9";
    assert_eq!(place.calls(), format!("{address}/{ARCHIVE}\n{address}/{ARCHIVE}.sha256\n"));
    let said = Command::new(place.path("lab/vklab")).output().expect("the program starts");
    assert_eq!(said.stdout, b"released\n");
}

#[test]
fn a_release_with_another_checksum_is_refused() {
    let place = Place::new();
    place.serve_release();
    let sums = place.path("served").join(format!("{ARCHIVE}.sha256"));
    fs::write(sums, format!("{}  {ARCHIVE}\n", "0".repeat(64))).expect("write");
    assert!(!place.get_lab().status.success());
    assert!(!place.path("lab/vklab").exists());
}

#[test]
fn only_the_script_for_it_names_packages() {
    for file in [
        "ci/Containerfile",
        "ci/action/action.yml",
        "ci/example",
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
    ] {
        assert!(!text(file).contains("apt-get install"), "{file} has a list of its own");
    }
    for (file, call) in [
        ("ci/Containerfile", "/ci/install run"),
        ("ci/Containerfile", "/ci/install build"),
        ("ci/action/action.yml", "/install\" run"),
        (".github/workflows/ci.yml", "ci/install build run"),
    ] {
        assert!(text(file).contains(call), "{file} lacks {call}");
    }
}

#[test]
fn packages_are_those_of_the_named_lists() {
    let place = Place::new();
    let install = repository().join("ci/install");
    assert!(place.run(&install, &["build"]).status.success());
    let packages = text("ci/build.packages").replace('\n', " ");
    assert_eq!(
        place.calls(),
        format!(
            "apt-get update\nenv DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends {packages}\n",
            packages = packages.trim_end()
        )
    );
    assert_eq!(place.run(&install, &[]).status.code(), Some(2));
    assert!(!place.run(&install, &["nothing"]).status.success());
}

#[test]
fn an_old_lavapipe_fails_the_installation() {
    let place = Place::new();
    // As dpkg would, on distributions that have none: `dpkg --compare-versions A ge B`.
    place.program("dpkg", r#"[ "$(printf '%s\n' "$2" "$4" | sort -V | head -n 1)" = "$4" ]"#);
    for (mesa, good) in [("22.3.6-1+deb12u2", false), ("25.0.7-2", true), ("26.2.1-1", true)] {
        place.program("dpkg-query", &format!("echo {mesa}"));
        let output = place.run(&repository().join("ci/install"), &["run"]);
        assert_eq!(output.status.success(), good, "{mesa}");
        assert_eq!(String::from_utf8_lossy(&output.stderr).contains(mesa), !good);
    }
}

#[test]
fn a_missing_example_is_an_error() {
    let place = Place::new();
    fs::create_dir(place.path("ci")).expect("folder");
    fs::copy(repository().join("ci/example"), place.path("ci/example")).expect("copy");
    let output = place.run(&place.path("ci/example"), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("examples/own-ops/Cargo.toml"));
}
