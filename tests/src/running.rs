//! The programs of `tests/java/live`: compiled, started, and held to their own account.

use crate::command::run;
use crate::folder::{Folder, files, workspace};
use crate::jdk::{self, Jdk};
use crate::live::{Live, LiveError, number};
use crate::process::Process;

/// What a test of running programs gives.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The compiled programs of `tests/java/live` on one JDK.
pub struct Programs {
    jdk: Jdk,
    classes: Folder,
}

impl Programs {
    /// Compiles them.
    pub fn compile(jdk: Jdk) -> Result<Self, Box<dyn std::error::Error>> {
        let classes = Folder::new("live")?;
        jdk.compile(
            &files(&workspace().join("tests/java/live"), "java")?,
            classes.path(),
        )?;
        Ok(Self { jdk, classes })
    }

    /// A program, to be run plain.
    pub fn java(&self, name: &str) -> Process {
        let java = Process::new(self.jdk.tool("java"));
        java.arg("-XX:+UnlockDiagnosticVMOptions")
            .arg("-XX:+BytecodeVerificationLocal")
            .arg("-cp")
            .arg(self.classes.path())
            .arg(name)
    }

    /// Starts a program under `veneer run`, everything armed.
    pub fn armed(&self, name: &str) -> Result<Live, LiveError> {
        Live::start(&run(&[], &self.java(name)))
    }
}

/// Runs a test on the oldest and the newest JDK.
pub fn on_each_jdk(test: impl Fn(&Programs) -> Outcome) -> Outcome {
    for jdk in [Some(jdk::oldest()), jdk::newest()].into_iter().flatten() {
        let name = jdk.to_string();
        test(&Programs::compile(jdk)?).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// RunningLoop's own account of its turns must hold.
pub fn account(out: &str) -> Outcome {
    let turns = number(out, "turns").ok_or("no turns")?;
    let (sum, half) = (number(out, "sum"), number(out, "half"));
    if sum != Some(turns.wrapping_mul(45).wrapping_add(7)) || half != Some(turns) || turns == 0 {
        return Err(format!("the loop lost or repeated something: {out}").into());
    }
    Ok(())
}
