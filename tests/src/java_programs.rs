//! Compiles and starts the programs of a folder of `tests/java`, and checks the results that they
//! print about themselves.

use crate::command::run;
use crate::folder::{Folder, files, workspace};
use crate::jdk::{self, CompileError, Jdk};
use crate::live::{Live, LiveError, number};
use crate::process::{Output, Process};
use crate::report::Report;

/// The result of a test that runs programs.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The compiled programs of a folder of `tests/java` for one JDK.
pub struct Programs {
    jdk: Jdk,
    classes: Folder,
}

impl Programs {
    /// Compiles the programs of `tests/java/live`.
    pub fn compile(jdk: Jdk) -> Result<Self, CompileError> {
        Self::compile_folder(jdk, "live")
    }

    /// Compiles the programs of a folder of `tests/java`.
    pub fn compile_folder(jdk: Jdk, folder: &str) -> Result<Self, CompileError> {
        let classes = Folder::new(folder)?;
        let sources = workspace().join("tests/java").join(folder);
        jdk.compile(&files(&sources, "java")?, classes.path())?;
        Ok(Self { jdk, classes })
    }

    /// The JDK that compiled the programs and runs them.
    pub fn jdk(&self) -> &Jdk {
        &self.jdk
    }

    /// The folder of the class files. It is removed on drop, with everything else that a test puts
    /// into it.
    pub fn classes(&self) -> &Folder {
        &self.classes
    }

    /// The launcher with full bytecode verification. If `VENEER_CHECK_JNI` is set, it also has
    /// `-Xcheck:jni`.
    pub fn launcher(&self) -> Process {
        let java = self.jdk.verifying_java();
        match std::env::var_os("VENEER_CHECK_JNI") {
            Some(_) => java.arg("-Xcheck:jni"),
            None => java,
        }
    }

    /// The process that runs a program without Veneer.
    pub fn java(&self, name: &str) -> Process {
        self.launcher()
            .arg("-cp")
            .arg(self.classes.path())
            .arg(name)
    }

    /// Starts a program under `veneer run` with all of its classes armed.
    pub fn armed(&self, name: &str) -> Result<Live, LiveError> {
        Live::start(&run(&[], &self.java(name)))
    }
}

/// Runs a test of `tests/java/live` on the JDKs for this test.
pub fn on_a_jdk(test: impl Fn(&Programs) -> Outcome) -> Outcome {
    on_a_jdk_with("live", test)
}

/// Runs a test of a folder of `tests/java` on the JDKs for this test.
pub fn on_a_jdk_with(folder: &str, test: impl Fn(&Programs) -> Outcome) -> Outcome {
    for jdk in jdk::for_this_test() {
        let name = jdk.to_string();
        test(&Programs::compile_folder(jdk, folder)?)
            .map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// Runs a program under a plan, and returns its output and its report.
pub fn run_with_report(
    java: &Process,
    plan: &str,
) -> Result<(Output, Report), Box<dyn std::error::Error>> {
    let folder = Folder::new("reported")?;
    let (file, report) = (folder.join("plan.rhai"), folder.join("report.json"));
    std::fs::write(&file, plan)?;
    let options = [
        "--plan",
        &file.to_string_lossy(),
        "--report",
        &report.to_string_lossy(),
    ]
    .map(String::from);
    let output = run(&options.each_ref().map(String::as_str), java).run()?;
    let report = Report::read(&report).map_err(|error| format!("{error}\n{output:?}"))?;
    Ok((output, report))
}

/// Checks the last line of the program `RunningLoop`: the sums that it prints must match its number
/// of iterations.
pub fn check_loop_result(out: &str) -> Outcome {
    let turns = number(out, "turns").ok_or("no turns")?;
    let (sum, half) = (number(out, "sum"), number(out, "half"));
    if sum != Some(turns.wrapping_mul(45).wrapping_add(7)) || half != Some(turns) || turns == 0 {
        return Err(format!("the loop lost or repeated something: {out}").into());
    }
    Ok(())
}
