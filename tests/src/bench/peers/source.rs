//! The sources in `tests/bench/peers`.

use std::path::{Path, PathBuf};

use crate::folder::workspace;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::TrustError;

/// The path of a source in `tests/bench/peers`.
pub fn source(name: &str) -> PathBuf {
    workspace().join("tests/bench/peers").join(name)
}

/// Writes a source of `tests/bench/peers` to a folder, with `probe` in place of the comment `/*
/// probe */`.
pub fn written(name: &str, probe: &str, folder: &Path) -> Result<PathBuf, TrustError> {
    let text = std::fs::read_to_string(source(name))?;
    let file = folder.join(name);
    std::fs::write(&file, text.replace("/* probe */", probe))?;
    Ok(file)
}

/// Compiles a source of `tests/bench/peers` against a jar.
pub fn compile(jdk: &Jdk, name: &str, jar: &Path, into: &Path) -> Result<(), TrustError> {
    Process::new(jdk.tool("javac"))
        .args(["-g", "-nowarn", "-proc:none", "-cp"])
        .arg(jar)
        .arg("-d")
        .arg(into)
        .arg(source(name))
        .run()?
        .succeeded("javac")?;
    Ok(())
}
