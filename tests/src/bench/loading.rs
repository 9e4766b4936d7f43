//! A program that loads so many classes of H2, for what arming costs a class that people have written.

use super::TrustError;
use super::prepare::Compiled;
use crate::jars::jar;
use crate::jdk::Jdk;
use crate::process::Process;

/// The program, compiled.
#[derive(Debug)]
pub struct Loading {
    compiled: Compiled,
    jar: std::path::PathBuf,
}

impl Loading {
    /// Compiles it.
    pub fn new(jdk: &Jdk) -> Result<Self, TrustError> {
        Ok(Self {
            compiled: Compiled::of(jdk, &["tests/bench/Load.java"], &["h2"])?,
            jar: jar("h2")?,
        })
    }

    /// The program with so many classes. It says `pid N` when they are loaded, and waits.
    pub fn java(&self, jdk: &Jdk, options: &[&str], classes: usize) -> Process {
        Process::new(jdk.tool("java"))
            .args(options)
            .arg("-cp")
            .arg(self.compiled.class_path(&[]))
            .arg("Load")
            .arg(&self.jar)
            .arg(classes.to_string())
    }
}
