//! A program that loads a given number of H2 classes. It shows what arming costs for classes of a
//! real library.

use super::prepare::Compiled;
use crate::jars::jar;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::TrustError;

/// The compiled program and the jar of H2.
#[derive(Debug)]
pub struct Loading {
    compiled: Compiled,
    jar: std::path::PathBuf,
}

impl Loading {
    pub fn new(jdk: &Jdk) -> Result<Self, TrustError> {
        Ok(Self {
            compiled: Compiled::new(jdk, &["tests/bench/Load.java"], &["h2"])?,
            jar: jar("h2")?,
        })
    }

    /// The process that loads `classes` classes. It prints `pid N` after they are loaded, and then
    /// waits.
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
