//! The command `veneer`: its path, and helpers to run it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use crate::folder::workspace;
use crate::process::{Process, event_timeout};

/// The path of the command.
///
/// If the variable `VENEER` is set, it is the path. Otherwise it is the release build of this
/// workspace, which is built (or found up to date) once per test process. Cargo's own lock
/// serialises the test processes.
///
/// # Panics
/// Panics if the build fails, because no test could run without the command.
pub fn path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| match std::env::var_os("VENEER") {
        Some(path) => PathBuf::from(path),
        None => build(),
    })
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = Process::new(cargo)
        .args([
            "build",
            "--quiet",
            "--release",
            "--no-default-features",
            "-p",
            "veneer-console",
            "-p",
            "veneer-agent",
        ])
        .folder(&workspace())
        .limit(Duration::from_secs(1800));
    if let Err(error) = build
        .run()
        .and_then(|output| output.succeeded("cargo build"))
    {
        panic!("the command cannot be built: {error}");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace().join("target"), PathBuf::from);
    target.join("release/veneer")
}

pub fn veneer() -> Process {
    Process::new(path())
}

/// Runs `veneer` with `words`, which must succeed, and returns the JSON that it prints.
pub fn json(words: &[&str]) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    let output = veneer()
        .args(words)
        .limit(event_timeout())
        .run()?
        .succeeded(&words.join(" "))?;
    Ok(serde_json::from_str(&output.out)?)
}

/// The process `veneer run OPTIONS -- COMMAND…`.
pub fn run(options: &[&str], command: &Process) -> Process {
    command.clone().under_veneer(path(), options)
}
