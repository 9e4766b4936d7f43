//! Builds the agent library and embeds it in the command, so that `cargo install --path console`
//! installs one file that works alone.
//!
//! ```text
//!   cargo build --release -p veneer-agent, in its own target directory
//!      └─▶ libveneer_agent.so ─▶ OUT_DIR, for include_bytes!
//! ```
//!
//! The agent has its own target directory because cargo holds a lock on the main one while this
//! script runs. Only optimised builds with the feature `carry-agent` embed the agent. In `make
//! build`, packages and tests, the library is a separate file beside the command.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The crates whose sources are part of the agent. A change in one of them runs this script again.
const CRATES: [&str; 8] = [
    "executor",
    "fragmenter",
    "frequency",
    "instruments",
    "liveness",
    "probes",
    "protocol",
    "scripts",
];

fn main() {
    println!("cargo:rustc-check-cfg=cfg(carries_agent)");
    println!("cargo:rerun-if-changed=build.rs");
    let wanted = env::var_os("CARGO_FEATURE_CARRY_AGENT").is_some();
    if !wanted || env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    for name in CRATES {
        for part in ["src", "Cargo.toml"] {
            println!("cargo:rerun-if-changed=../{name}/{part}");
        }
    }
    for part in ["executor/java", "executor/build.rs", "Cargo.lock"] {
        println!("cargo:rerun-if-changed=../{part}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let library = build(&out.join("agent"));
    fs::copy(&library, out.join("libveneer_agent.so")).expect("OUT_DIR can be written to");
    println!("cargo:rustc-cfg=carries_agent");
}

/// Builds the agent and returns the path of its library.
fn build(directory: &Path) -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--release", "-p", "veneer-agent", "--target-dir"])
        .arg(directory)
        // The embedded copy has no debug information, because it is not used for debugging.
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    let (target, host) = (env::var("TARGET"), env::var("HOST"));
    let mut release = directory.to_owned();
    if target != host
        && let Ok(target) = target
    {
        command.args(["--target", &target]);
        release.push(target);
    }
    let status = command.status().expect("cargo can be run");
    assert!(status.success(), "the agent cannot be built; see above");
    release.join("release/libveneer_agent.so")
}
