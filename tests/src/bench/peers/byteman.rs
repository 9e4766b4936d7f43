//! Byteman: rules at the entry and the exit of a method, compiled to bytecode, which call a helper.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::source::{compile, source, written};
use super::timing::{Timing, all_calls};
use crate::bench::groups::Variant;
use crate::jars::jar;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::TrustError;

pub const NAME: &str = "Byteman, compiled rules";

/// Compiles rules to bytecode instead of interpreting them, which is the faster mode.
pub const COMPILED: &str = "-Dorg.jboss.byteman.compile.to.bytecode";

/// Compiles a helper into a folder, and returns the path of the agent's jar.
pub fn prepare(jdk: &Jdk, helper: &str, folder: &Path) -> Result<PathBuf, TrustError> {
    let byteman = jar("byteman")?;
    std::fs::create_dir_all(folder)?;
    compile(jdk, helper, &byteman, folder)?;
    Ok(byteman)
}

/// The variant with rules at the entry and the exit of the hot call.
pub fn timer(timing: &Timing) -> Variant {
    let process = || -> Result<Process, TrustError> {
        let folder = timing.folder("byteman")?;
        let byteman = prepare(timing.jdk, "Stopwatch.java", &folder)?;
        Ok(run_under_rules(
            timing,
            &byteman,
            &source("timing.btm"),
            &folder,
        ))
    };
    timing
        .variant(NAME, process())
        .checked(all_calls(timing.calls))
}

/// The variant with a rule at the entry of the hot method. `does` is its action in Byteman's
/// language.
pub fn probe(timing: &Timing, does: &str) -> Variant {
    let process = || -> Result<Process, TrustError> {
        let folder = timing.folder("byteman")?;
        let byteman = prepare(timing.jdk, "Tables.java", &folder)?;
        let rules = written("counting.btm", does, &folder)?;
        Ok(run_under_rules(timing, &byteman, &rules, &folder))
    };
    timing
        .variant(NAME, process())
        .checked(all_calls(timing.calls))
}

fn run_under_rules(timing: &Timing, byteman: &Path, rules: &Path, folder: &Path) -> Process {
    let agent = format!(
        "-javaagent:{}=script:{}",
        byteman.display(),
        rules.display()
    );
    timing.java(&[COMPILED.into(), agent], &[folder])
}

/// The option that makes the agent listen for rules on a port.
pub fn listening(byteman: &std::path::Path, port: u16) -> String {
    format!(
        "-javaagent:{}=listener:true,port:{port},boot:{}",
        byteman.display(),
        byteman.display()
    )
}

/// Sends rules to a listening agent, and returns its answer.
pub fn submit(port: u16, rules: &str) -> Result<String, TrustError> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(120)))?;
    stream
        .write_all(format!("LOAD\nSCRIPT rules.btm\n{rules}\nENDSCRIPT\nENDLOAD\n").as_bytes())?;
    stream.flush()?;
    let mut answer = Vec::new();
    let mut piece = [0u8; 4096];
    // The agent writes OK on a line of its own, and keeps the stream open for a while.
    while !String::from_utf8_lossy(&answer).lines().any(|l| l == "OK") {
        match stream.read(&mut piece)? {
            0 => break,
            n => answer.extend(piece.iter().take(n)),
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
